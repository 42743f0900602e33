"""Blosc1 chunks put together byte by byte, sharing nothing with any Blosc library."""

import struct
from collections.abc import Sequence

import numpy as np

SHUFFLE, MEMCPY, BITSHUFFLE, RESERVED, UNSPLIT = 1, 2, 4, 8, 16
BLOSCLZ, LZ4, SNAPPY, ZLIB, ZSTD = (code << 5 for code in range(5))


def header(
    nbytes: int,
    blocksize: int,
    cbytes: int,
    *,
    flags: int = 0,
    typesize: int = 1,
    version: int = 2,
    versionlz: int = 1,
) -> bytes:
    return struct.pack("<4BIII", version, versionlz, flags, typesize, nbytes, blocksize, cbytes)


def stored(data: bytes, typesize: int = 1, flags: int = 0, blocksize: int | None = None, version: int = 2) -> bytes:
    """A chunk that holds its bytes as they are."""
    blocksize = max(len(data), 1) if blocksize is None else blocksize
    head = header(
        len(data), blocksize, 16 + len(data), flags=flags | MEMCPY, typesize=typesize, version=version
    )
    return head + data


def stream(payload: bytes) -> bytes:
    """A stream with its length."""
    return struct.pack("<i", len(payload)) + payload


def chunk(
    nbytes: int,
    blocksize: int,
    blocks: Sequence[bytes],
    *,
    flags: int = 0,
    typesize: int = 1,
    starts: Sequence[int] | None = None,
    cbytes: int | None = None,
    version: int = 2,
    versionlz: int = 1,
) -> bytes:
    """A chunk of `blocks`, each its streams with their lengths, one after the other."""
    at, places = 16 + 4 * len(blocks), []
    for block in blocks:
        places.append(at)
        at += len(block)
    listed = places if starts is None else starts
    head = header(
        nbytes,
        blocksize,
        at if cbytes is None else cbytes,
        flags=flags,
        typesize=typesize,
        version=version,
        versionlz=versionlz,
    )
    return head + b"".join(struct.pack("<i", start) for start in listed) + b"".join(blocks)


def cut(data: bytes, blocksize: int) -> list[bytes]:
    return [data[at : at + blocksize] for at in range(0, len(data), blocksize)]


def shuffled(data: bytes, typesize: int) -> bytes:
    """Byte j of every element, then byte j + 1 of every element; what is left over stays at the end."""
    whole = len(data) // typesize * typesize
    planes = np.frombuffer(data[:whole], np.uint8).reshape(-1, typesize).T
    return planes.tobytes() + data[whole:]


def bitshuffled(data: bytes, typesize: int) -> bytes:
    """Bit k of every element, then bit k + 1; the whole block as it is unless the elements are a multiple of 8."""
    count = len(data) // typesize
    if count % 8:
        return data
    whole = count * typesize
    bits = np.unpackbits(np.frombuffer(data[:whole], np.uint8).reshape(count, typesize), axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes() + data[whole:]


def snappy_literals(data: bytes) -> bytes:
    """Snappy without a single copy: the length as a varint, then literals of up to 60 bytes."""
    out, length = bytearray(), len(data)
    while length >= 128:
        out.append(length & 127 | 128)
        length >>= 7
    out.append(length)
    for piece in cut(data, 60):
        out.append((len(piece) - 1) << 2)
        out += piece
    return bytes(out)


def lz4_run(byte: int, length: int) -> bytes:
    """An LZ4 block for `length` times `byte`: one literal, a match of distance 1, five literals."""
    match = length - 6 - 4
    assert match >= 15
    more = match - 15
    run = b"\x1f" + bytes([byte]) + b"\x01\x00" + b"\xff" * (more // 255) + bytes([more % 255])
    return run + b"\x50" + bytes([byte]) * 5


def blosclz_run(byte: int, length: int) -> bytes:
    """A BloscLZ stream for `length` times `byte`: four literals, a match of distance 1, three literals."""
    extra = length - 4 - 3 - 9
    assert extra >= 0
    run = bytes([0x23]) + bytes([byte]) * 4
    run += b"\xe0" + b"\xff" * (extra // 255) + bytes([extra % 255]) + b"\x00"
    return run + bytes([2]) + bytes([byte]) * 3
