"""Every label of a codec, with each payload that is known to stand under it."""

import bz2
import lzma
import struct
import zlib
from collections.abc import Sequence

import blosc
import blosc2
import lz4.block
import lz4.frame
import numpy as np
import zstandard

from parts import Fixture, block, file, ndarray, numbers

VALUES = np.concatenate([numbers("<u4", 1500), np.arange(1500, dtype="<u4")]).reshape(60, 50)
DATA = VALUES.tobytes()
BODY = ndarray("a", 0, "<u4", VALUES.shape)


def one(name: str, about: str, label: bytes, payload: bytes, **more: object) -> Fixture:
    # asdf 6.0.0 knows zlib, bzp2 and lz4, and by asdf-compression lz4f, blsc and zstd.
    unknown = "" if label in (b"zlib", b"bzp2", b"lz4", b"lz4f", b"blsc", b"zstd") else "it has no such codec"
    more = {"reference": unknown, "arrays": {"a": VALUES}} | more
    return Fixture(f"label_{name}", about, file(BODY, block(DATA, label, payload)), **more)


def pieces(size: int) -> list[bytes]:
    return [DATA[at : at + size] for at in range(0, len(DATA), size)]


def behind_length(parts: Sequence[bytes]) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def lz4_pieces(parts: Sequence[bytes]) -> bytes:
    """As Python asdf: each behind two lengths, that of what follows big-endian, and that of the decoded one little-endian."""
    return behind_length([lz4.block.compress(it) for it in parts])


def blosc1(data: bytes, **options: object) -> bytes:
    blosc.set_nthreads(1)
    return blosc.compress(data, **({"typesize": 8, "cname": "blosclz"} | options))


def cframe(parts: Sequence[bytes], **cparams: object) -> bytes:
    made = blosc2.SChunk(chunksize=len(parts[0]), cparams={"typesize": 4, "nthreads": 1} | cparams, contiguous=True)
    for part in parts:
        made.append_data(part)
    return made.to_cframe()


def streams() -> list[Fixture]:
    zopened = zlib.compressobj(6)
    flushed = b"".join(zopened.compress(it) + zopened.flush(zlib.Z_FULL_FLUSH) for it in pieces(3000)) + zopened.flush()
    frame = lz4.frame.compress
    big = np.arange(12_000, dtype="<u4") % 997
    blocks = bz2.compress(big.tobytes(), 1) if big.nbytes > 0 else b""
    return [
        one("zlib", "zlib", b"zlib", zlib.compress(DATA, 6)),
        one("zlib_stored", "zlib of level 0", b"zlib", zlib.compress(DATA, 0)),
        one("zlib_best", "zlib of level 9", b"zlib", zlib.compress(DATA, 9)),
        one("zlib_flushed", "zlib with full flushes in between, as writers on several threads leave them", b"zlib", flushed),
        one("bzp2", "bzip2", b"bzp2", bz2.compress(DATA, 9)),
        one("bzp2_small_blocks", "bzip2 of level 1, with several blocks", b"bzp2", bz2.compress(DATA, 1)),
        one("zstd", "a frame of zstd", b"zstd", zstandard.ZstdCompressor(level=3).compress(DATA)),
        one("zstd_no_size", "a frame of zstd that does not say its size", b"zstd", zstandard.ZstdCompressor(level=22, write_content_size=False).compress(DATA)),
        one("xz", "xz, as ASDF.jl writes it", b"xz", lzma.compress(DATA)),
        one("lz4f", "a frame of LZ4", b"lz4f", frame(DATA)),
        one("lz4f_linked", "a frame of LZ4 with linked blocks, sums and a size", b"lz4f", frame(DATA, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=True, content_checksum=True, block_checksum=True, store_size=True)),
        one("lz4_frame", "a frame of LZ4 under the label of pieces, as ASDF.jl writes it", b"lz4", frame(DATA), reference="it knows pieces alone"),
    ]  # fmt: skip


def in_pieces() -> list[Fixture]:
    uneven = [DATA[:5], DATA[5:4000], DATA[4000:4001], DATA[4001:]]
    return [
        one("lz4", "LZ4 in one piece", b"lz4", lz4_pieces([DATA])),
        one("lz4_pieces", "LZ4 in pieces of 1024 bytes", b"lz4", lz4_pieces(pieces(1024))),
        one("lz4_uneven", "LZ4 in pieces of any size", b"lz4", lz4_pieces(uneven)),
        one("lz4_high", "LZ4 HC in pieces", b"lz4", behind_length([lz4.block.compress(it, mode="high_compression") for it in pieces(4096)])),
        one("blsc", "one chunk of Blosc, blosclz with shuffle", b"blsc", blosc1(DATA)),
        one("blsc_bitshuffle", "one chunk of Blosc, with bitshuffle, as asdf-cxx writes it", b"blsc", blosc1(DATA, typesize=4, shuffle=blosc.BITSHUFFLE)),
        one("blsc_lz4", "one chunk of Blosc, LZ4", b"blsc", blosc1(DATA, typesize=4, cname="lz4")),
        one("blsc_zlib", "one chunk of Blosc, zlib", b"blsc", blosc1(DATA, typesize=4, cname="zlib")),
        one("blsc_zstd", "one chunk of Blosc, zstd", b"blsc", blosc1(DATA, typesize=4, cname="zstd")),
        one("blsc_copied", "one chunk of Blosc that is a copy", b"blsc", blosc1(DATA, clevel=0)),
        one("blsc_pieces", "chunks of Blosc behind their lengths, as abacusutils writes them", b"blsc", behind_length([blosc1(it, typesize=4, cname="zstd") for it in pieces(4096)]), reference="it knows one chunk alone"),
        one("blsc_one_piece", "one chunk of Blosc behind its length", b"blsc", behind_length([blosc1(DATA, typesize=4)]), reference="it knows one chunk alone"),
        one("bls2_frame", "a frame of Blosc2, as asdf-cxx writes it", b"bls2", cframe(pieces(4000), codec=blosc2.Codec.ZSTD)),
        one("bls2_chunk", "one chunk of Blosc2, as asdf-compression writes it", b"bls2", blosc2.compress2(DATA, typesize=4, nthreads=1)),
        one("bsc2", "a frame of Blosc2, as abacusutils reads it", b"bsc2", cframe(pieces(6000), codec=blosc2.Codec.LZ4)),
    ]  # fmt: skip


def several() -> list[Fixture]:
    part = DATA[:800]
    payloads = {b"": part, b"zlib": zlib.compress(part), b"bzp2": bz2.compress(part), b"lz4": lz4_pieces([part]), b"zstd": zstandard.ZstdCompressor().compress(part)}
    blocks = [block(part, label, payload) for label, payload in payloads.items()]
    body = "".join(ndarray(f"a{at}", at, "<u4", [10, 20]) for at in range(len(blocks)))
    empty = [block(b"", label, payload) for label, payload in ((b"zlib", zlib.compress(b"")), (b"bzp2", bz2.compress(b"")))]
    views = ndarray("a", 0, "<u4", [10, 50], offset=4000) + ndarray("b", 0, "<u4", [60], offset=196, strides=[200]) + ndarray("c", 0, "<u4", [60, 50], offset=11996, strides=[-200, -4])
    return [
        Fixture("labels_mixed", "blocks of several codecs", file(body, *blocks)),
        Fixture("labels_empty", "blocks of codecs that hold nothing", file("".join(ndarray(f"a{at}", at, "<u4", [0]) for at in range(2)), *empty)),
        Fixture("labels_views", "parts of a block of LZ4 in pieces", file(views, block(DATA, b"lz4", lz4_pieces(pieces(500))))),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*streams(), *in_pieces(), *several()]
