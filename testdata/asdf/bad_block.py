"""Blocks that do not hold what their headers say, by hand: each file has a sound one too."""

import bz2
import hashlib
import lzma
import struct
import zlib

import blosc
import blosc2
import lz4.block
import lz4.frame
import zstandard

from labels import DATA, VALUES, behind_length, blosc1, cframe, lz4_pieces, pieces
from parts import Fixture, block, file, ndarray, numbers
from values import changed, noise

GOOD = numbers("<i4", 24)
BODY = ndarray("good", 0, "<i4", [24]) + ndarray("a", 1, "<u4", VALUES.shape)


def bad(name: str, about: str, *args: object, **fields: object) -> Fixture:
    """`args` are those of a block."""
    data = file(BODY, block(GOOD.tobytes()), block(*args, **fields))
    return Fixture(f"block_{name}", about, data, verdict="damaged", arrays=None)


def flipped(data: bytes, at: int) -> bytes:
    return changed(data, at, bytes([data[at % len(data)] ^ 0x10]))


def payload(name: str, about: str, label: bytes, stored: bytes, **fields: object) -> Fixture:
    return bad(name, about, DATA, label, stored, **fields)


def sums() -> list[Fixture]:
    compressed = zlib.compress(DATA)
    return [
        bad("checksum_plain", "a plain block that is not what its checksum says", DATA, md5=noise(16)),
        bad("checksum_flipped", "one bit of a plain block was flipped", flipped(DATA, 5000), md5=hashlib.md5(DATA).digest()),
        payload("checksum_zlib", "a checksum that is of neither the stored nor the decoded bytes", b"zlib", compressed, md5=noise(16)),
        payload("checksum_room", "a checksum of the room behind the data too, as asdf-cxx makes it", b"", DATA, allocated=len(DATA) + 10, md5=hashlib.md5(DATA + bytes(10)).digest()),
    ]  # fmt: skip


def streams() -> list[Fixture]:
    made = []
    frame = lz4.frame.compress(DATA, content_checksum=True, block_checksum=True)
    stored = {
        b"zlib": zlib.compress(DATA), b"bzp2": bz2.compress(DATA), b"zstd": zstandard.ZstdCompressor(write_checksum=True).compress(DATA),
        b"xz": lzma.compress(DATA), b"lz4f": frame,
    }  # fmt: skip
    for label, good in stored.items():
        name = label.decode()
        made += [
            payload(f"{name}_flipped", f"{name} with a bit flipped, and a checksum of that", label, flipped(good, len(good) // 2)),
            payload(f"{name}_cut", f"{name} that ends early", label, good[: len(good) // 2]),
            payload(f"{name}_empty", f"{name} of no byte", label, b""),
            payload(f"{name}_short", f"{name} of fewer bytes than the block says", label, good, size=len(DATA) + 1),
            payload(f"{name}_long", f"{name} of more bytes than the block says", label, good, size=len(DATA) - 1),
            payload(f"{name}_noise", f"bytes that are no {name}", label, noise(200)),
        ]
    million = bytes(1 << 26)
    return [
        *made,
        payload("zlib_more", "bytes behind the stream of zlib", b"zlib", stored[b"zlib"] + b"more"),
        payload("bzp2_bomb", "64 MiB of zeros in a few bytes, of a block that says 4", b"bzp2", bz2.compress(million), size=4),
        payload("zstd_bomb", "64 MiB of zeros in a few bytes, of a block that says 4", b"zstd", zstandard.ZstdCompressor().compress(million), size=4),
        payload("zlib_huge", "a block that says 2^27 bytes, and holds few", b"zlib", stored[b"zlib"], size=2**27),
        payload("zlib_size_max", "a block that says 2^64 - 1 bytes, and holds few", b"zlib", stored[b"zlib"], size=2**64 - 1),
        payload("lz4f_huge", "a frame that says 2^60 bytes", b"lz4f", b"\x04\x22\x4d\x18\x6c\x40" + struct.pack("<Q", 2**60) + b"\0" + noise(50), size=2**60),
    ]  # fmt: skip


def in_pieces() -> list[Fixture]:
    good = lz4_pieces(pieces(3000))
    first = struct.unpack_from(">I", good)[0]
    return [
        payload("lz4_flipped", "LZ4 in pieces with a bit flipped in the first token", b"lz4", changed(good, 8, b"\xff\xff\xff")),
        payload("lz4_cut", "the last piece ends early", b"lz4", good[:-5]),
        payload("lz4_cut_length", "the file ends within a length", b"lz4", good[: 4 + first + 2]),
        payload("lz4_length_0", "a piece of no byte", b"lz4", bytes(4) + good),
        payload("lz4_length_4", "a piece without data", b"lz4", struct.pack(">I", 4) + bytes(4) + good),
        payload("lz4_length_max", "a piece of 2^32 - 1 bytes", b"lz4", b"\xff" * 4 + good[4:]),
        payload("lz4_inner_max", "a piece that says 2^32 - 1 decoded bytes", b"lz4", good[:4] + b"\xff" * 4 + good[8:]),
        payload("lz4_inner_short", "a piece that says fewer decoded bytes than it has", b"lz4", good[:4] + struct.pack("<I", 2999) + good[8:]),
        payload("lz4_inner_long", "a piece that says more decoded bytes than it has", b"lz4", good[:4] + struct.pack("<I", 3001) + good[8:]),
        payload("lz4_piece_missing", "one piece too few", b"lz4", lz4_pieces(pieces(3000)[:-1])),
        payload("lz4_piece_more", "one piece too many", b"lz4", lz4_pieces([*pieces(3000), DATA[:10]])),
        payload("lz4_little", "lengths in the other order of bytes", b"lz4", struct.pack("<I", first) + good[4:]),
    ]  # fmt: skip


def bloscs() -> list[Fixture]:
    chunk = blosc1(DATA, typesize=4)
    frame = cframe(pieces(4000), codec=blosc2.Codec.ZSTD)
    chunk2 = blosc2.compress2(DATA, typesize=4, nthreads=1)

    def field(at: int, value: int) -> bytes:
        return changed(chunk, at, struct.pack("<I", value))

    return [
        payload("blsc_nbytes", "a chunk of Blosc that says more bytes than the block", b"blsc", field(4, len(DATA) + 4)),
        payload("blsc_nbytes_max", "a chunk of Blosc that says 2^32 - 1 bytes", b"blsc", field(4, 2**32 - 1)),
        payload("blsc_blocksize_0", "a chunk of Blosc with blocks of no byte", b"blsc", field(8, 0)),
        payload("blsc_cbytes", "a chunk of Blosc that says more stored bytes than there are", b"blsc", field(12, len(chunk) + 1)),
        payload("blsc_flipped", "a chunk of Blosc with starts of blocks that lead out", b"blsc", changed(chunk, 16, b"\xff\xff\xff\x7f")),
        payload("blsc_cut", "a chunk of Blosc that ends early", b"blsc", chunk[:-20]),
        payload("blsc_noise", "bytes that are no Blosc", b"blsc", noise(100)),
        payload("blsc_pieces_cut", "pieces of Blosc of which the last ends early", b"blsc", behind_length([blosc1(it, typesize=4) for it in pieces(4096)])[:-9]),
        payload("blsc_pieces_missing", "one piece of Blosc too few", b"blsc", behind_length([blosc1(it, typesize=4) for it in pieces(4096)[:-1]])),
        payload("bls2_cut", "a frame of Blosc2 that ends early", b"bls2", frame[:-30]),
        payload("bls2_nbytes", "a frame of Blosc2 of another length than the block", b"bls2", cframe(pieces(4000)[:-1])),
        payload("bls2_chunk_cut", "a chunk of Blosc2 that ends early", b"bls2", chunk2[:-10]),
        payload("bls2_noise", "bytes that are no Blosc2", b"bls2", noise(100)),
        payload("bsc2_noise", "bytes that are no frame of Blosc2", b"bsc2", noise(100)),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*sums(), *streams(), *in_pieces(), *bloscs()]
