"""Headers, blocks and ends that are damaged, by hand."""

from layout import A, B, BLOCKS, BOTH, ONE, SIMPLE, TWO
from parts import HEAD, Fixture, block, file, head, index, ndarray, numbers, places, streamed, tree
from values import changed, noise

TEXT = HEAD + tree(TWO)


def whole(name: str, about: str, data: bytes, **more: object) -> Fixture:
    """Nothing can be read."""
    return Fixture(name, about, data, verdict="unreadable", **more)


def bad(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, verdict="damaged", **more)


def heads() -> list[Fixture]:
    rest = SIMPLE[len(b"#ASDF 1.0.0\n") :]
    return [
        whole("head_empty", "no byte", b""),
        whole("head_cut", "the file ends within the first word", b"#ASD"),
        whole("head_word_alone", "no version", b"#ASDF\n" + rest),
        whole("head_bom", "a byte order mark before the header", b"\xef\xbb\xbf" + SIMPLE),
        whole("head_lower", "the first word in small letters", b"#asdf 1.0.0\n" + rest),
        whole("head_no_blank", "no blank before the version", b"#ASDF1.0.0\n" + rest),
        whole("head_version_2", "version 2.0.0 of the file format", b"#ASDF 2.0.0\n" + rest),
        whole("head_version_word", "a version that is none", b"#ASDF one\n" + rest),
        whole("head_version_short", "a version of two numbers", b"#ASDF 1.0\n" + rest),
        whole("head_version_huge", "a version beyond all numbers", b"#ASDF 1.0.99999999999999999999\n" + rest),
        whole("head_more", "more than a version", b"#ASDF 1.0.0 x\n" + rest),
        whole("head_newline_first", "an empty line before the header", b"\n" + SIMPLE),
        whole("head_utf16", "UTF-16", SIMPLE[:200].decode("latin-1").encode("utf-16-le")),
        whole("head_zeros", "a file of zeros, as a lost write leaves it", bytes(1000)),
        whole("head_yaml", "YAML alone", tree("a: 1\n")),
    ]  # fmt: skip


def blocks() -> list[Fixture]:
    def first(**fields: object) -> bytes:
        return file(TWO, block(A.tobytes(), **fields), BLOCKS[1])

    rows = numbers("<f4", 5, 3).tobytes()
    star = ndarray("s", -1, "<f4", ["'*'", 3])
    return [
        bad("block_header_size_47", "a header of 47 bytes", first(header_size=47)),
        bad("block_header_size_0", "a header of no byte", first(header_size=0)),
        bad("block_header_size_max", "a header that ends behind the file", changed(SIMPLE, len(TEXT) + 4, b"\xff\xff")),
        bad("block_used_over_allocated", "more bytes are used than set aside", first(allocated=20)),
        bad("block_plain_short", "a plain block with fewer bytes stored than data", first(used=20)),
        bad("block_plain_long", "a plain block with more bytes stored than data", first(size=20)),
        bad("block_allocated_2_63", "2^63 bytes set aside", first(allocated=2**63, present=24)),
        bad("block_allocated_max", "2^64 - 1 bytes set aside", first(allocated=2**64 - 1, present=24)),
        bad("block_allocated_huge", "2^40 bytes set aside", first(allocated=2**40, present=24)),
        bad("block_used_max", "2^64 - 1 bytes used", first(used=2**64 - 1, allocated=24)),
        bad("block_size_max", "2^64 - 1 bytes of data", first(size=2**64 - 1)),
        bad("block_allocated_short", "fewer bytes set aside than there are: the next block is missed", first(allocated=24 - 8, used=16, size=16)),
        bad("block_allocated_long", "more bytes set aside than there are: the next block is in them", first(allocated=60, present=24)),
        bad("block_wiped_first", "NULs where the header of the first block was, of which the index tells", changed(SIMPLE, len(TEXT), bytes(54))),
        bad("block_wiped_last", "NULs where the header of the last block was, of which the index tells", changed(SIMPLE, len(TEXT + BLOCKS[0]), bytes(54))),
        bad("stream_compressed", "a streamed block with a codec", file(star, streamed(rows, label=b"zlib"), indexed=False)),
        bad("stream_not_last", "a streamed block, and a block behind it, which is a part of it", file(star.replace("-1", "0") + ndarray("a", 1, "<i4", [6]), streamed(rows), BLOCKS[0], indexed=False)),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*heads(), *blocks()]
