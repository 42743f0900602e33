"""Chunks inside a frame that is right otherwise: headers that lie, what no file may hold, blocks that cannot be decoded."""

import struct

import blosc2

from bad_header import bad
from hand import CHUNKS, FOUR
from parts import NANS, Fixture, Frame, chunk_header, copied, repeated, special, vl_chunk
from values import changed, noise, text

PACKED = blosc2.compress2(FOUR[1], codec=blosc2.Codec.ZSTD, typesize=4, nthreads=1)
LZ4 = blosc2.compress2(FOUR[1], codec=blosc2.Codec.LZ4, typesize=4, blocksize=200, nthreads=1)


def second(chunk: bytes, **changes: object) -> bytes:
    """Three chunks, of which the second is `chunk`."""
    fields = {"typesize": 4, "chunksize": 400, "nbytes": 1200} | changes
    return Frame([CHUNKS[0], chunk, CHUNKS[2]], **fields).done()


def lying(form: str, at: int, value: int, chunk: bytes = PACKED) -> bytes:
    return second(changed(chunk, at, struct.pack("<" + form, value)))


def headers() -> list[Fixture]:
    old = struct.pack("<4B3I", 2, 1, 0x03, 4, 400, 400, 416) + FOUR[1]
    lazy = bytearray(PACKED)
    lazy[31] |= 8
    return [
        bad("chunk_version_0", "version 0 of a chunk", lying("B", 0, 0)),
        bad("chunk_version_7", "version 7 of a chunk", lying("B", 0, 7)),
        bad("chunk_typesize_0", "a chunk of elements of no byte", lying("B", 3, 0)),
        bad("chunk_nbytes_short", "a chunk that holds less than its place", lying("I", 4, 396)),
        bad("chunk_nbytes_other", "a chunk that holds more than its place, and rightly so", second(copied(noise(404), 4))),
        bad("chunk_nbytes_less", "a chunk that holds less than its place, and rightly so", second(copied(noise(396), 4))),
        bad("chunk_nbytes_max", "a chunk of 2^31 - 1 bytes", lying("I", 4, 2**31 - 1)),
        bad("chunk_nbytes_negative", "a chunk of -1 bytes", lying("I", 4, 2**32 - 1)),
        bad("chunk_blocksize_0", "blocks of no byte", lying("I", 8, 0)),
        bad("chunk_blocksize_1", "400 blocks, and no room for their starts", lying("I", 8, 1)),
        bad("chunk_blocksize_negative", "blocks of -1 bytes", lying("I", 8, 2**32 - 1)),
        bad("chunk_cbytes_0", "a chunk of no stored byte", lying("I", 12, 0)),
        bad("chunk_cbytes_31", "a chunk that ends in its header", lying("I", 12, 31)),
        bad("chunk_cbytes_long", "a chunk that ends in the next one", lying("I", 12, len(PACKED) + 8)),
        bad("chunk_cbytes_max", "a chunk that ends after the file", lying("I", 12, 2**31 - 1)),
        bad("chunk_16", "a chunk with a header of 16 bytes, of Blosc 1", second(old)),
        bad("chunk_lazy", "the lazy flag, which no file may hold", second(bytes(lazy))),
        bad("chunk_instrumented", "what an instrumented codec measured, and no data", lying("B", 31, 0x80)),
        bad("chunk_filter_31", "a filter that nobody has", lying("B", 21, 31)),
        bad("chunk_codec_7", "a codec format that nobody has", lying("B", 2, PACKED[2] | 0xE0)),
        bad("chunk_zero", "zeros where a chunk was", second(bytes(432))),
        bad("chunk_noise", "noise where a chunk was", second(noise(432))),
    ]  # fmt: skip


def specials() -> list[Fixture]:
    reserved = chunk_header(400, 400, 32, flags=0x05, typesize=4, special=5 << 4)
    repeat = changed(repeated(b"abcd", 2**31 - 36), 8, struct.pack("<I", 2**20))
    repeats = Frame([repeat] * 300, typesize=4, chunksize=2**31 - 36)
    return [
        bad("special_reserved", "a special value that nobody has", second(reserved)),
        bad("special_value_3", "a value of 3 bytes, repeated in 400", second(repeated(b"abc", 400))),
        bad("special_value_none", "a value of no byte, repeated", second(chunk_header(400, 400, 32, flags=0x05, typesize=4, special=0x30))),
        bad("special_value_wide", "a value that is wider than its chunk", Frame([repeated(b"abcdefgh", 4)], typesize=4).done()),
        bad("special_nan_2", "not a number, in 2 bytes", second(special(NANS, 400, 2), typesize=2)),
        Fixture("repeats_600_gib", "36 bytes that are 2 GiB, 300 times", repeats.done(), reference=False),
    ]  # fmt: skip


def blocks() -> list[Fixture]:
    (start,) = struct.unpack_from("<I", LZ4, 32)
    whole = blosc2.compress2(text(400), codec=blosc2.Codec.ZSTD, filters=[blosc2.Filter.NOFILTER], typesize=4, nthreads=1)
    (packed,) = struct.unpack_from("<I", whole, 32)
    return [
        bad("block_magic", "a stream that is not of its codec", second(changed(whole, packed + 4, b"\0"))),
        bad("block_start_0", "a block that begins in the header", lying("I", 32, 0, LZ4)),
        bad("block_start_negative", "a block that begins at -1", lying("I", 32, 2**32 - 1, LZ4)),
        bad("block_start_end", "a block that begins where the chunk ends", lying("I", 32, len(LZ4), LZ4)),
        bad("block_size_max", "a stream of 2^31 - 1 bytes", lying("I", start, 2**31 - 1, LZ4)),
        bad("block_size_negative", "a stream of -500 bytes", lying("i", start, -500, LZ4)),
        bad("block_noise", "noise where a block was", second(LZ4[:start + 4] + noise(len(LZ4) - start - 4))),
    ]  # fmt: skip


def unequal() -> list[Fixture]:
    parts = [b"one", b"two and more"]
    good = vl_chunk(parts)
    short = changed(good, 40, struct.pack("<I", 2))

    def vl(chunk: bytes, general: int = 0xD3) -> bytes:
        return Frame([good, chunk], typesize=1, chunksize=0, general=general, nbytes=30).done()

    return [
        bad("vl_sum", "blocks that are less than their chunk", vl(short)),
        bad("vl_block_negative", "a block of -1 bytes", vl(changed(good, 40, b"\xff" * 4))),
        bad("vl_starts_back", "blocks that are not in order", vl(changed(good, 32, good[36:40] + good[32:36]))),
        bad("vl_count_max", "2^31 - 1 blocks", vl(changed(good, 8, struct.pack("<I", 2**31 - 1)))),
        bad("vl_regular", "a chunk of equal blocks among those of unequal ones", vl(copied(b"x" * 15))),
        bad("variable_nbytes", "chunks of other sizes than their frame adds up", Frame([copied(noise(40)), copied(noise(8))], typesize=1, chunksize=0, general=0x53, nbytes=60).done()),
        bad("variable_zeros", "zeros whose size nobody knows any more", Frame([copied(noise(40)), copied(noise(8))], typesize=1, chunksize=0, general=0x53, nbytes=148, offsets=[0, 0x81 << 56, 0x81 << 56, 72]).done()),
        Fixture("variable_one_zeros", "zeros whose size is what is left, as C-Blosc2 writes them", Frame([copied(noise(40)), copied(noise(8))], typesize=1, chunksize=0, general=0x53, nbytes=148, offsets=[0, 0x81 << 56, 72]).done(), chunks=[noise(40), bytes(100), noise(8)], reference=False),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*headers(), *specials(), *blocks(), *unequal()]
