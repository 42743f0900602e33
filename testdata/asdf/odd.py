"""Sound files with something to note, by hand: what readers differ on, and what edits by hand and other writers leave behind."""

import hashlib

import numpy as np

from labels import DATA, lz4_pieces, pieces
from layout import A, B, BLOCKS, BOTH, ONE, SIMPLE, TWO
from parts import HEAD, LEGACY, MAGIC, TAGS, Fixture, block, file, head, index, ndarray, numbers, places, streamed, tree, zipped
from values import changed, noise


def one(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, **more)


def headers() -> list[Fixture]:
    def fronted(front: bytes) -> bytes:
        return file(TWO, *BLOCKS, front=front)

    text = tree(TWO)
    refused = {"reference": "it refuses it", "arrays": BOTH}
    return [
        one("version_1_1", "version 1.1.0 of the file format", fronted(head("1.1.0")), **refused),
        one("standard_9_9", "a standard that was never published", fronted(head("1.0.0", "1.99.0")), **refused),
        one("standard_word", "a standard that is no version", file(TWO.replace("ndarray-1.1.0", "ndarray-1.0.0"), *BLOCKS, front=head("1.0.0", "one")), arrays=BOTH),
        one("blank_line_before_tree", "an empty line before the tree", file(b"\n" + text, *BLOCKS), **refused),
        one("blanks_before_tree", "blanks before the directive", file(b"  " + text, *BLOCKS), **refused),
        one("no_directive", "a tree without %YAML", file(f"--- {{a: 1, b: [yes]}}\n...\n".encode()), nodes=True, reference="it refuses it"),
        one("tree_end_blanks", "a blank behind the three dots", file(text[:-1] + b" \n", *BLOCKS), **refused),
    ]  # fmt: skip


def paddings() -> list[Fixture]:
    roomy = [block(it.tobytes(), allocated=it.nbytes + 30, fill=fill) for it, fill in ((A, b"\0"), (B, b"\xd3BLK"))]
    return [
        one("padding_blanks", "blanks behind the tree, as the specification advises", file(TWO, *BLOCKS, pad=b" " * 100), arrays=BOTH),
        one("padding_nul", "NULs behind the tree, as Python asdf writes them", file(TWO, *BLOCKS, pad=bytes(100)), arrays=BOTH),
        one("padding_text", "text behind the tree", file(TWO, *BLOCKS, pad=b"# a text that is no part of the tree\n...\n"), arrays=BOTH),
        one("padding_magic_half", "half a magic behind the tree", file(TWO, *BLOCKS, pad=b"\xd3BL\xd3B"), arrays=BOTH),
        one("padding_blocks", "more room than data in blocks, with a magic in it", file(TWO, *roomy), arrays=BOTH),
        one("padding_blockless", "NULs behind the tree of a file without blocks", file("x: 1\n", pad=bytes(64)), nodes=True),
        one("padding_treeless", "NULs between header and first block", file(None, *BLOCKS, pad=bytes(10)), reference="it refuses it"),
        one("junk_after_tree", "text behind the tree of a file without blocks", file("x: 1\n", pad=b"and more text\n"), nodes=True),
        Fixture("gap", "bytes between blocks that no block has set aside, and no index: a block may be lost in them", file(TWO, BLOCKS[0] + noise(20), BLOCKS[1], indexed=False), verdict="damaged"),
        one("gap_nul", "NULs between blocks that no block has set aside", file(TWO, BLOCKS[0] + bytes(10), BLOCKS[1]), arrays=BOTH),
        one("junk_after_blocks", "bytes behind the last block that are no index", file(TWO, *BLOCKS, indexed=False) + b"more", arrays=BOTH),
        one("junk_after_index", "bytes behind the index", SIMPLE + b"more bytes\n", arrays=BOTH),
        one("nuls_after_blocks", "NULs behind the last block, and no index", file(TWO, *BLOCKS, indexed=False) + bytes(8), arrays=BOTH),
        one("nuls_after_index", "NULs behind the index, which the specification allows", SIMPLE + bytes(20), arrays=BOTH),
        one("block_flags", "flags without a meaning", file(TWO, block(A.tobytes(), flags=2), BLOCKS[1]), arrays=BOTH),
    ]  # fmt: skip


def indices() -> list[Fixture]:
    text = HEAD + tree(TWO)
    right = places(len(text), BLOCKS)
    end = len(text) + sum(map(len, BLOCKS))

    def listing(name: str, about: str, offsets: list[object], **more: object) -> Fixture:
        return one(f"index_{name}", about, text + b"".join(BLOCKS) + index(offsets), arrays=BOTH, **more)

    def ended(name: str, about: str, last: bytes, **more: object) -> Fixture:
        return one(f"index_{name}", about, text + b"".join(BLOCKS) + last, arrays=BOTH, **more)

    good = index(right)
    rows = np.frombuffer(b"0123456789", "|u1")
    behind = file(ndarray("s", 0, "|u1", ["'*'"]), streamed(rows.tobytes()), indexed=False)
    behind += index([behind.find(MAGIC)])
    edited = SIMPLE.replace(b"--- !core", b"# a line that was put in by hand\n--- !core", 1)
    return [
        one("no_index_by_hand", "no index", file(TWO, *BLOCKS, indexed=False), arrays=BOTH),
        one("index_edited", "a line was put into the tree by hand, and the index says what was", edited, arrays=BOTH),
        listing("short", "the first block alone", right[:1], reference="it loses the blocks behind"),
        listing("twice", "the first block twice", [right[0]] * 2, reference="it reads the wrong block"),
        listing("long", "one block more than there is", [*right, end]),
        listing("backwards", "the blocks in the other order", right[::-1]),
        listing("middle_wrong", "an offset within a block", [right[0], right[1] + 7], reference="it refuses the block"),
        listing("beyond", "an offset beyond the file", [right[0], 10**9], reference="it refuses the block"),
        listing("empty", "no offset", []),
        listing("words", "words in place of offsets", ["one", "two"]),
        listing("huge", "an offset of 2^80", [right[0], 2**80], reference="it refuses the block"),
        ended("mapping", "a mapping", b"#ASDF BLOCK INDEX\n%YAML 1.1\n--- {a: 1}\n...\n", reference="it refuses the file"),
        ended("cut", "the file ends within the index", good[:-8]),
        ended("cut_marker", "the file ends within the marker of the index", good[:10]),
        ended("no_end", "no three dots end the index", good[:-4]),
        ended("broken", "an index that is no YAML", b"#ASDF BLOCK INDEX\n%YAML 1.1\n--- [1, {\n...\n"),
        ended("behind_nul", "NULs between the last block and the index", bytes(3) + good, reference=""),
        one("index_alone", "an index in a file without blocks", HEAD + tree("x: 1\n") + index([]), nodes=True),
        one("index_in_stream", "an index in the last block, which is streamed", file(ndarray("s", 0, "|u1", ["'*'"]), streamed(b"0123456789" + index([600])), indexed=False)),
        one("index_behind_stream", "an index that lists a streamed block, after its rows", behind, arrays={"s": rows}, reference="it takes the index for rows"),
    ]  # fmt: skip


def checksums() -> list[Fixture]:
    spare = file(ONE, BLOCKS[0], block(noise(30)), BLOCKS[1])
    legacy_lz4 = block(DATA, b"lz4", lz4_pieces(pieces(3000)), md5=hashlib.md5(DATA).digest())
    return [
        one("legacy_zlib", "a checksum of what the block decodes to, as asdf before 5.3 wrote it", file(ONE, zipped(A.tobytes(), md5=LEGACY)), arrays={"a": A}),
        one("legacy_lz4", "the same of LZ4", file(ndarray("a", 0, "<u4", [60, 50]), legacy_lz4)),
        one("legacy_padded", "the same with room behind the data", file(ONE, zipped(A.tobytes(), md5=LEGACY, allocated=100)), arrays={"a": A}),
        one("unreferenced", "blocks that no array uses", spare, arrays={"a": A}),
        one("unreferenced_label", "a block of an unknown codec that no array uses", file(ONE, BLOCKS[0], block(noise(30), b"what")), arrays={"a": A}),
        one("unreferenced_blockless", "blocks behind a tree without arrays", file("x: 1\n", *BLOCKS)),
    ]  # fmt: skip


def references() -> list[Fixture]:
    stars = file(ndarray("s", -1, "<f4", ["'*'", 3]), streamed(numbers("<f4", 5, 3).tobytes() + b"\1\2\3\4\5"), indexed=False)
    return [
        one("stream_torn", "a stream that ends within a row", stars, arrays={"s": numbers("<f4", 5, 3)}),
        one("stream_torn_first", "a stream that ends within its first row", file(ndarray("s", -1, "<f4", ["'*'", 3]), streamed(b"\1\2\3"), indexed=False), arrays={"s": numbers("<f4", 0, 3)}),
        one("missing_external", "an array in a file that is not there", file(ndarray("a", 0, "<i4", [6]) + ndarray("b", "gone.asdf", "<i4", [6]), BLOCKS[0]), unread=True),
        one("outside_external", "arrays in files outside the folder", file("".join(ndarray(f"a{at}", f"'{name}'", "<i4", [6]) for at, name in enumerate(("../up.asdf", "/etc/hostname", "file:///etc/hostname", "http://example.org/a.asdf", "s3://bucket/a.asdf", "a/../../up.asdf", "%2e%2e/up.asdf"))))  , unread=True),
        one("reference_missing", "a reference to a file that is not there, and one to nothing", file("a: {$ref: 'gone.asdf#/x'}\nb: {$ref: '#/none'}\n")),
        one("duplicate_keys", "a key twice, of which the last counts", file("a: 1\nb: 2\na: 3\nc: {d: 1, d: 2}\n"), nodes=True),
        one("duplicate_keys_equal", "keys that are equal as numbers, though spelled otherwise", file("1: a\n0x1: b\ntrue: c\n"), nodes=True),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*headers(), *paddings(), *indices(), *checksums(), *references()]
