"""Headers and trailers that lie, or are not there; frames that are cut."""

import struct

import numpy as np

from hand import packed
from parts import Fixture, Frame, copied
from values import changed, noise, steps

# Not of whole offsets, so that no chunk is taken for an index.
FOUR = [steps(404, 4, seed) for seed in range(4)]
WHOLE = b"".join(FOUR)
CHUNKS = [copied(data, 4) for data in FOUR]


def four(**changes: object) -> Frame:
    return Frame(CHUNKS, typesize=4, **changes)


FRAME = four(vlmetas=[(b"key", packed({"a": 1}))], metas=[(b"layer", b"\x01")])
GOOD = FRAME.done()
SIZE = len(GOOD)
HEADER = len(GOOD) - len(four(vlmetas=FRAME.vlmetas).done()) + 97
INDEX = HEADER + sum(len(chunk) for chunk in CHUNKS)
TRAILER = SIZE - struct.unpack(">I", GOOD[-22:-18])[0]
VALUES = np.frombuffer(WHOLE, "V4")


def bad(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, verdict="damaged", **more)


def whole(name: str, about: str, data: bytes) -> Fixture:
    """All chunks can be brought back."""
    return bad(name, about, data, repaired=VALUES)


def unreadable(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, verdict="unreadable", **more)


def patched(at: int, form: str, value: int) -> bytes:
    return changed(GOOD, at, struct.pack(">" + form, value))


def not_frames() -> list[Fixture]:
    return [
        unreadable("empty", "no byte", b""),
        unreadable("magic_alone", "10 bytes", GOOD[:10]),
        unreadable("header_cut_50", "50 bytes of header", GOOD[:50]),
        unreadable("header_cut_86", "all of the header before the metalayers but a byte", GOOD[:86]),
        unreadable("magic_wrong", "a bit of the magic is wrong", changed(GOOD, 3, b"\x33")),
        unreadable("magic_zero", "zeros where the magic was", bytes(10) + GOOD[10:]),
        unreadable("all_zero", "a file of zeros, as a lost write leaves it", bytes(1024)),
        unreadable("not_at_start", "a frame that begins at byte 1000 of a larger file", noise(1000) + GOOD + b"end", facts={"offset": 1000}),
        *(unreadable(f"version_{it}", f"version {it} of the frame", four(general=0x10 | it).done()) for it in (0, 4, 15)),
        *(unreadable(f"offsets_{bits}_bits", f"offsets of {bits} bits", four(general=2 | code << 4).done()) for code, bits in ((0, 32), (2, 128), (3, 256))),
        *(unreadable(f"frame_type_{it}", f"frame type {it}", four(kind=it).done()) for it in (2, 15)),
        bad("sparse_alone", "the index of a sparse frame as a file", four(kind=1, body=b"", offsets=range(4)).done()),
    ]  # fmt: skip


def markers() -> list[Fixture]:
    """Each byte of msgpack that says what follows."""
    places = {
        10: "header_len", 15: "frame_len", 24: "flags", 29: "nbytes", 38: "cbytes", 47: "typesize",
        52: "blocksize", 57: "chunksize", 62: "threads", 68: "has_vlmetas", 69: "filters",
    }  # fmt: skip
    made = [
        unreadable(f"marker_{name}", f"another marker at byte {at}", changed(GOOD, at, b"\xc1"))
        for at, name in places.items()
    ]
    return [*made, bad("marker_metalayers", "another marker at byte 87", changed(GOOD, 87, b"\xc1"))]


def lengths() -> list[Fixture]:
    return [
        whole("frame_len_0", "a frame of no byte", patched(16, "Q", 0)),
        whole("frame_len_short", "the frame ends in its trailer", patched(16, "Q", SIZE - 10)),
        whole("frame_len_long", "the frame ends after the file", patched(16, "Q", SIZE + 10)),
        whole("frame_len_max", "2^64 - 1 bytes", patched(16, "Q", 2**64 - 1)),
        whole("header_len_0", "a header of no byte", patched(11, "I", 0)),
        whole("header_len_86", "a header that is shorter than its fields", patched(11, "I", 86)),
        whole("header_len_short", "the header ends in its metalayers", patched(11, "I", HEADER - 1)),
        whole("header_len_long", "the header ends in the first chunk", patched(11, "I", HEADER + 8)),
        whole("header_len_over_frame", "the header ends after the frame", patched(11, "I", SIZE + 1)),
        whole("header_len_max", "2^32 - 1 bytes of header", patched(11, "I", 2**32 - 1)),
        whole("cbytes_minus_1", "-1 bytes of chunks", patched(39, "q", -1)),
        whole("cbytes_0", "no byte of chunks, and four chunks", patched(39, "q", 0)),
        whole("cbytes_short", "the chunks end a byte early", patched(39, "q", INDEX - HEADER - 1)),
        whole("cbytes_long", "the chunks end a byte late", patched(39, "q", INDEX - HEADER + 1)),
        whole("cbytes_max", "2^63 - 1 bytes of chunks", patched(39, "q", 2**63 - 1)),
        whole("nbytes_minus_1", "-1 bytes", patched(30, "q", -1)),
        whole("nbytes_0", "no byte, and four chunks", patched(30, "q", 0)),
        whole("nbytes_short", "as many bytes as three chunks hold", patched(30, "q", 1212)),
        whole("nbytes_long", "as many bytes as five chunks hold", patched(30, "q", 2020)),
        whole("nbytes_max", "2^63 - 1 bytes", patched(30, "q", 2**63 - 1)),
        whole("chunksize_unset", "the size of chunks is not set, and there are four", patched(58, "i", -1)),
        whole("chunksize_minus_2", "chunks of -2 bytes", patched(58, "i", -2)),
        whole("chunksize_0", "chunks of any size in a frame whose chunks are of one", patched(58, "i", 0)),
        whole("chunksize_1", "chunks of 1 byte", patched(58, "i", 1)),
        whole("chunksize_wrong", "chunks of 396 bytes", patched(58, "i", 396)),
        whole("chunksize_max", "chunks of 2^31 - 1 bytes", patched(58, "i", 2**31 - 1)),
        bad("typesize_0", "elements of no byte", patched(48, "i", 0)),
        bad("typesize_minus_1", "elements of -1 bytes", patched(48, "i", -1)),
        bad("blocksize_minus_1", "blocks of -1 bytes", patched(53, "i", -1)),
        bad("filters_7", "seven filters", patched(70, "B", 7)),
    ]  # fmt: skip


def metalayers() -> list[Fixture]:
    value = HEADER - 6
    at = 94 + 1 + 5 + 1
    assert GOOD[value : value + 5] == b"\xc6\0\0\0\x01" and GOOD[at - 1] == 0xD2
    return [
        bad("meta_offset_0", "a metalayer at byte 0", patched(at, "I", 0)),
        bad("meta_offset_max", "a metalayer at 2^32 - 1", patched(at, "I", 2**32 - 1)),
        bad("meta_offset_chunk", "a metalayer inside a chunk", patched(at, "I", HEADER + 40)),
        bad("meta_length_max", "a metalayer of 2^32 - 1 bytes", patched(value + 1, "I", 2**32 - 1)),
        bad("meta_length_long", "a metalayer that ends in a chunk", patched(value + 1, "I", 2)),
        bad("meta_count_max", "65535 metalayers", patched(92, "H", 65535)),
        bad("meta_count_2", "two metalayers, of which there is one", patched(92, "H", 2)),
        bad("meta_index_size", "another size of the index of metalayers", patched(89, "H", 60)),
        bad("meta_name_not_utf8", "a name that is not UTF-8", changed(GOOD, 95, b"\xff\xfe")),
        bad("meta_twice", "two metalayers of one name", four(metas=[(b"a", b"\1"), (b"a", b"\2")]).done()),
        bad("meta_17", "17 metalayers, one more than there may be", four(metas=[(b"%d" % it, b"\1") for it in range(17)]).done()),
    ]  # fmt: skip


def trailers() -> list[Fixture]:
    lengths_ = SIZE - 22
    at = TRAILER + 9 + 1 + 3 + 1
    assert GOOD[at - 1] == 0xD2 and GOOD[lengths_ - 1] == 0xCE
    value = GOOD.index(b"\xc6", at)
    flipped = packed({"a": 1})
    flipped = flipped[:3] + b"\0" + flipped[4:]
    return [
        whole("trailer_len_0", "a trailer of no byte", patched(lengths_, "I", 0)),
        whole("trailer_len_34", "a trailer that is shorter than its fields", patched(lengths_, "I", 34)),
        whole("trailer_len_short", "the trailer begins in itself", patched(lengths_, "I", SIZE - TRAILER - 1)),
        whole("trailer_len_long", "the trailer begins in the index", patched(lengths_, "I", SIZE - TRAILER + 8)),
        whole("trailer_len_max", "a trailer of 2^32 - 1 bytes", patched(lengths_, "I", 2**32 - 1)),
        whole("trailer_marker", "another marker before the trailer's length", changed(GOOD, lengths_ - 1, b"\xc1")),
        whole("trailer_array", "the trailer is no array", changed(GOOD, TRAILER, b"\xc1")),
        whole("trailer_zero", "zeros where the trailer was", GOOD[:TRAILER] + bytes(SIZE - TRAILER)),
        whole("trailer_version_9", "version 9 of the trailer", changed(GOOD, TRAILER + 1, b"\x09")),
        whole("vlmeta_offset_max", "user metadata at 2^32 - 1", patched(at, "I", 2**32 - 1)),
        whole("vlmeta_length_max", "user metadata of 2^32 - 1 bytes", patched(value + 1, "I", 2**32 - 1)),
        whole("vlmeta_count_max", "65535 pieces of user metadata", patched(TRAILER + 7, "H", 65535)),
        whole("vlmeta_chunk", "user metadata whose chunk is broken", four(vlmetas=[(b"key", flipped)]).done()),
    ]  # fmt: skip


def cuts() -> list[Fixture]:
    three = VALUES[:303]
    return [
        bad("cut_after_header", "nothing but the header", GOOD[:HEADER]),
        bad("cut_in_first_chunk", "the file ends in the first chunk", GOOD[: HEADER + 100]),
        bad("cut_in_last_chunk", "the file ends in the last chunk", GOOD[: INDEX - 10], repaired=three),
        bad("cut_after_third_chunk", "the file ends after the third chunk", GOOD[: INDEX - len(CHUNKS[3])], repaired=three),
        whole("cut_after_chunks", "the file ends before the index", GOOD[:INDEX]),
        whole("cut_in_index", "the file ends in the index", GOOD[: INDEX + 40]),
        whole("cut_after_index", "the file ends before the trailer", GOOD[:TRAILER]),
        whole("cut_in_trailer", "the file ends in the trailer", GOOD[: TRAILER + 10]),
        whole("cut_last_byte", "the last byte is missing", GOOD[:-1]),
        bad("cut_in_metalayers", "the file ends in the metalayers", GOOD[: HEADER - 3]),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*not_frames(), *markers(), *lengths(), *metalayers(), *trailers(), *cuts()]
