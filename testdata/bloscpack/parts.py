"""What the lists of fixtures are made of: headers, sections, chunks, and what a reader should make of them."""

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

import findings
from values import spelling

MAGIC = b"blpk"
OFFSETS, METADATA, VARIABLE = 1, 2, 4
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")
HANDMADE = "make.py"


@dataclass
class Fixture:
    """One file, and what a reader should make of it."""

    name: str
    about: str
    data: bytes
    verdict: str = "sound"
    producer: str = HANDMADE
    dtype: str | None = None
    shape: Sequence[int] = ()
    order: str = "C"
    values: bytes | None = None  # in stored order, numbers little-endian
    items: Sequence[bytes] | None = None
    trailing: int = 0
    repaired: bytes | None = None
    repaired_items: Sequence[bytes] | None = None
    repaired_shape: Sequence[int] | None = None

    def __post_init__(self) -> None:
        assert len(self.data) < 65536, f"{self.name}: {len(self.data)} bytes"
        weights = findings.ERRORS if self.verdict == "damaged" else findings.WARNINGS | findings.NOTES
        assert not self.codes or self.codes[0] in weights, f"{self.name}: {self.codes}"
        assert self.codes or self.verdict != "damaged", f"{self.name}: what is wrong with it?"

    @property
    def codes(self) -> list[str]:
        return findings.of(self.name, self.verdict == "damaged")

    @property
    def path(self) -> str:
        folder = "bad" if self.verdict != "sound" else "odd" if self.codes else "ok"
        return f"{folder}/{self.name}.blp"


# Values


def digest(checksum: str, data: bytes) -> bytes:
    if checksum == "None":
        return b""
    if checksum in ("adler32", "crc32"):
        return getattr(zlib, checksum)(data).to_bytes(4, "little")
    return hashlib.new(checksum, data).digest()


# The file


def header(
    nchunks: int,
    *,
    version: int = 3,
    options: int = 0,
    checksum: str | int = "None",
    typesize: int = 8,
    chunk_size: int = -1,
    last_chunk: int = -1,
    tail: bytes | int = 0,
) -> bytes:
    """32 bytes. `tail` is max-app-chunks, or the last 8 bytes as they are."""
    code = CHECKSUMS.index(checksum) if isinstance(checksum, str) else checksum
    tail = struct.pack("<q", tail) if isinstance(tail, int) else tail
    fields = struct.pack("<4BiiQ", version, options, code, typesize, chunk_size, last_chunk, nchunks % 2**64)
    return MAGIC + fields + tail


def section(
    payload: bytes,
    *,
    size: int | None = None,
    area: int | None = None,
    stored: int | None = None,
    checksum: str | int = "adler32",
    codec: int = 0,
    level: int = 6,
    magic: bytes = b"JSON\0\0\0\0",
    options: int = 0,
    padding: bytes = b"",
    made_digest: bytes | None = None,
) -> bytes:
    """The metadata section of version 3; `payload` as stored."""
    area = len(payload) + len(padding) if area is None else area
    code = CHECKSUMS.index(checksum) if isinstance(checksum, str) else checksum
    head = magic + struct.pack(
        "<4BIII8x",
        options,
        code,
        codec,
        level,
        len(payload) if size is None else size,
        area,
        len(payload) if stored is None else stored,
    )
    if made_digest is None:
        made_digest = digest(checksum if isinstance(checksum, str) else "None", payload)
    return head + (payload + padding).ljust(area, b"\0") + made_digest


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def nbytes(chunk: bytes) -> int:
    return struct.unpack_from("<I", chunk, 4)[0]


def table(offsets: Iterable[int]) -> bytes:
    return b"".join(struct.pack("<q", offset) for offset in offsets)


def v3(
    chunks: Sequence[bytes],
    *,
    checksum: str = "adler32",
    typesize: int = 8,
    chunk_size: int | None = None,
    last_chunk: int | None = None,
    nchunks: int | None = None,
    spare: int = 0,
    offsets: bool = True,
    listed: Sequence[int] | None = None,
    metadata: bytes = b"",
    gap: int = 0,
    options: int = 0,
) -> bytes:
    """A file of version 3. `listed` are the offsets instead of the true ones; `gap` bytes follow each chunk."""
    options |= (OFFSETS if offsets else 0) | (METADATA if metadata else 0)
    start = 32 + len(metadata) + (8 * (len(chunks) + spare) if offsets else 0)
    body, places = bytearray(), []
    for chunk in chunks:
        places.append(start + len(body))
        body += chunk + digest(checksum, chunk) + b"\xaa" * gap
    sizes = [nbytes(chunk) for chunk in chunks]
    head = header(
        len(chunks) if nchunks is None else nchunks,
        options=options,
        checksum=checksum,
        typesize=typesize,
        chunk_size=(sizes[0] if sizes else 0) if chunk_size is None else chunk_size,
        last_chunk=(sizes[-1] if sizes else 0) if last_chunk is None else last_chunk,
        tail=spare,
    )
    entries = table([*(places if listed is None else listed), *[-1] * spare]) if offsets else b""
    return head + metadata + entries + bytes(body)


# What is read


def plain(data: bytes, typesize: int) -> dict[str, object]:
    """What bytes without numpy metadata are: opaque elements of the header's typesize, or single bytes."""
    if typesize > 1 and len(data) % typesize == 0:
        return {"dtype": f"|V{typesize}", "shape": [len(data) // typesize], "values": data}
    return {"dtype": "|u1", "shape": [len(data)], "values": data}


def numbers(array: np.ndarray) -> bytes:
    """The elements in stored order, numbers little-endian."""
    order = "F" if np.isfortran(array) else "C"
    swapped = array
    if np.dtype(array.dtype).newbyteorder("<") != array.dtype:
        swapped = array.astype(array.dtype.newbyteorder("<"))
    return swapped.tobytes(order)


def as_array(array: np.ndarray) -> dict[str, object]:
    """What a numpy array is read as."""
    return {
        "dtype": spelling(array.dtype),
        "shape": list(array.shape),
        "order": "F" if np.isfortran(array) else "C",
        "values": numbers(array),
    }


def of_shape(data: bytes, dtype: str, shape: Sequence[int], order: str = "C") -> dict[str, object]:
    """An array by its stored little-endian bytes."""
    assert math.prod(shape) * np.dtype(dtype).itemsize == len(data)
    return {"dtype": dtype, "shape": list(shape), "order": order, "values": data}
