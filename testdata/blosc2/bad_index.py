"""Indexes that lie: offsets anywhere, too few, too many, no chunk at all; and sparse frames without a part."""

import blosc2
import numpy as np

from bad_header import bad
from hand import CHUNKS, FOUR, four
from parts import Fixture, Frame, chunk_header, copied, repeated, special, ZEROS
from values import noise

SIZE = len(CHUNKS[0])
PLACES = [SIZE * it for it in range(4)]
VALUES = np.frombuffer(b"".join(FOUR), "V4")


def whole(name: str, about: str, data: bytes) -> Fixture:
    """All chunks can be brought back."""
    return bad(name, about, data, repaired=VALUES)


def offsets() -> list[Fixture]:
    def lie(name: str, about: str, value: int, at: int = 1) -> Fixture:
        places = [*PLACES[:at], value, *PLACES[at + 1 :]]
        return whole(name, about, four(offsets=places).done())

    return [
        lie("offset_index", "a chunk where the index is", 4 * SIZE),
        lie("offset_trailer", "a chunk where the trailer is", 4 * SIZE + 64),
        lie("offset_end", "a chunk where the frame ends", 4 * SIZE + 64 + 35),
        lie("offset_beyond_end", "a chunk after the end of the file", 2**40),
        lie("offset_max", "a chunk at 2^63 - 1", 2**63 - 1),
        lie("offset_in_chunk", "a chunk that begins inside another", 40),
        lie("offset_overlap", "a chunk that begins 16 bytes before its place", SIZE - 16),
        lie("offset_last_overlap", "a last chunk that ends in the index", 3 * SIZE + 8, 3),
        lie("offset_special_3", "a special chunk of two kinds", 0x83 << 56),
        lie("offset_special_0", "a special chunk of no kind", 0x80 << 56),
        lie("offset_special_low_bits", "a special chunk with bits where there are none", (0x81 << 56) | 1),
        lie("offset_minus_1", "an offset of -1", -1),
    ]  # fmt: skip


def indexes() -> list[Fixture]:
    good = b"".join(it.to_bytes(8, "little") for it in PLACES)
    broken = bytearray(blosc2.compress2(bytes(range(200)) * 8, typesize=8, nthreads=1))
    huge = chunk_header(2**31 - 8, 2**31 - 8, 32, flags=0x05, typesize=8, special=ZEROS << 4)
    bomb = Frame(typesize=1, chunksize=1, nbytes=2**28 - 1, index=huge)
    wide = Frame(typesize=1, chunksize=1, nbytes=2**60, index=huge)
    many = Frame(typesize=1, chunksize=2**31 - 33, nbytes=(2**31 - 33) * 2**20, index=repeated((0x81 << 56).to_bytes(8, "little"), 2**23))
    return [
        whole("index_short", "offsets of three chunks, of which there are four", four(index=copied(good[:24], 8)).done()),
        whole("index_long", "offsets of five chunks, of which there are four", four(index=copied(good + bytes(8), 8)).done()),
        whole("index_not_8", "an index that ends in an offset", four(index=copied(good[:30], 1)).done()),
        whole("index_noise", "noise where the index was", four(index=noise(64)).done()),
        whole("index_zero", "zeros where the index was", four(index=bytes(64)).done()),
        whole("index_missing", "no index", Frame(CHUNKS, typesize=4, index=b"").done()),
        whole("index_special_zeros", "an index of zeros: each chunk is the first", four(index=special(ZEROS, 32, 8)).done()),
        bad("index_undecodable", "an index that cannot be decoded", Frame(typesize=1, chunksize=8, nbytes=8 * 200, index=bytes(broken[:60]) + b"\xff" * (len(broken) - 60)).done()),
        bad("index_bomb", "an index of 2^31 bytes in 32", bomb.done()),
        bad("index_2_60_chunks", "2^60 chunks", wide.done()),
        Fixture("zeros_2_51", "2^20 chunks of zeros, 2^51 bytes of them, in 172", many.done(), reference=False),
    ]  # fmt: skip


def sparse() -> list[Fixture]:
    parts = {f"{it:08X}.chunk": chunk for it, chunk in enumerate(CHUNKS)}
    index = four(kind=1, body=b"", offsets=range(4), cbytes=4 * SIZE).done()
    good = {"chunks.b2frame": index} | parts

    def lie(name: str, about: str, changes: dict[str, bytes], without: str = "", **more: object) -> Fixture:
        data = {name: data for name, data in (good | changes).items() if name != without}
        return bad(name, about, data, **more)

    ahead = four(kind=1, body=b"", offsets=[0, 1, 2, 2**33], cbytes=4 * SIZE).done()
    return [
        Fixture("hand_sparse", "a sparse frame by hand", good, plain=(b"".join(FOUR), 4)),
        Fixture("sparse_stray", "a file of a chunk that the index does not name", good | {"00000009.chunk": CHUNKS[0]}, plain=(b"".join(FOUR), 4)),
        Fixture("sparse_stray_empty", "an empty file of a chunk that the index does not name", good | {"00000009.chunk": b""}, plain=(b"".join(FOUR), 4)),
        lie("sparse_missing", "the file of a chunk is missing", {}, "00000002.chunk"),
        lie("sparse_cut", "the file of a chunk is cut", {"00000002.chunk": CHUNKS[2][:100]}),
        lie("sparse_long", "the file of a chunk goes on", {"00000002.chunk": CHUNKS[2] + b"more"}),
        Fixture("sparse_no_index", "there is no index", parts, ".sparse", verdict="unreadable"),
        lie("sparse_index_cut", "the index is cut", {"chunks.b2frame": index[:120]}),
        lie("sparse_number_2_33", "a file whose number has no name", {"chunks.b2frame": ahead}),
        lie("sparse_contiguous", "the index says that it is a frame of one file", {"chunks.b2frame": four(body=b"", offsets=range(4)).done()}),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*offsets(), *indexes(), *sparse()]
