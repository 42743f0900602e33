"""What the lists of fixtures are made of: chunks and frames field by field, and what a reader should make of them."""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import findings
from values import noise

MAGIC = b"\x9e\xa8b2frame\0"
HANDMADE = "make.py"
CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
ZEROS, NANS, UNINIT = 1, 2, 4
Stored = bytes | dict[str, bytes]


@dataclass
class Fixture:
    """A file or a folder, and what a reader should make of it."""

    name: str
    about: str
    data: Stored
    suffix: str = ".b2frame"
    verdict: str = "sound"
    producer: str = HANDMADE
    array: np.ndarray | None = None  # what an array holds
    tensor: np.ndarray | None = None  # what was packed as a super-chunk
    plain: tuple[bytes, int] | None = None  # what a frame of equal chunks holds, and its typesize
    chunks: Sequence[bytes] | None = None  # what the chunks of a frame of unequal ones hold
    blocks: Sequence[Sequence[int]] | None = None  # the lengths of their blocks, where those differ
    datasets: Mapping[str, np.ndarray] | None = None  # what a store holds
    repaired: np.ndarray | None = None  # what a repair comes to
    trailing: int = 0  # bytes behind the frame
    reference: bool = True  # whether python-blosc2 4.14.1 reads it so
    facts: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        files = [self.data] if isinstance(self.data, bytes) else list(self.data.values())
        assert self.codes or self.verdict != "damaged", f"{self.name}: what is wrong with it?"
        assert all(len(data) < 65536 for data in files), f"{self.name}: {[len(data) for data in files]}"

    @property
    def codes(self) -> list[str]:
        return findings.of(self.name, self.verdict)

    @property
    def path(self) -> str:
        folder = "bad" if self.verdict != "sound" else "odd" if self.codes else "ok"
        return f"{folder}/{self.name}{self.suffix}"


# Values


def numbers(dtype: str, *shape: int, seed: int = 1) -> np.ndarray:
    """Exact in every type: small integers that grow slowly, of either sign where there are signs."""
    count = math.prod(shape)
    raw = np.cumsum(np.frombuffer(noise(count, seed), "u1") % 5, dtype="i8").reshape(shape) % 127
    kind = np.dtype(dtype).kind
    if kind == "u":
        return raw.astype(dtype)
    if kind == "c":
        return (raw - 20 - 1j * raw).astype(dtype)
    return ((raw - 20) / 4 if kind == "f" else raw - 20).astype(dtype)


# Chunks


def chunk_header(
    nbytes: int, blocksize: int, cbytes: int, *, version: int = 5, flags: int = 0x17, typesize: int = 1,
    filters: Sequence[int] = (0,) * 6, codec: int = 0, codec_meta: int = 0, metas: Sequence[int] = (0,) * 6,
    flags2: int = 0, special: int = 0,
) -> bytes:  # fmt: skip
    """32 bytes."""
    head = struct.pack("<4B3I", version, 1, flags, typesize, nbytes, blocksize, cbytes)
    return head + bytes([*filters, codec, codec_meta, *metas, flags2, special])


def copied(data: bytes, typesize: int = 1, **changes: int) -> bytes:
    """A chunk that holds `data` as they are."""
    fields = {"nbytes": len(data), "blocksize": max(len(data), 1), "cbytes": len(data) + 32} | changes
    return chunk_header(**fields, typesize=typesize) + data


def special(kind: int, nbytes: int, typesize: int = 1, **changes: int) -> bytes:
    """A chunk of 32 bytes: zeros (1), NaN (2) or nothing in particular (4)."""
    fields = {"nbytes": nbytes, "blocksize": max(nbytes, 1), "cbytes": 32} | changes
    return chunk_header(**fields, flags=0x05, typesize=typesize, special=kind << 4)


def repeated(value: bytes, nbytes: int) -> bytes:
    """A chunk that repeats `value`."""
    typesize = len(value) if len(value) < 256 else 1
    head = chunk_header(nbytes, nbytes, 32 + len(value), flags=0x05, typesize=typesize, special=3 << 4)
    return head + value


def vl_chunk(blocks: Sequence[bytes]) -> bytes:
    """A chunk of blocks of any length, each as it is."""
    body, places = bytearray(), []
    for block in blocks:
        places.append(32 + 4 * len(blocks) + len(body))
        body += struct.pack("<I", len(block)) + block
    starts = b"".join(struct.pack("<I", at) for at in places)
    total = sum(len(block) for block in blocks)
    size = 32 + len(starts) + len(body)
    return chunk_header(total, len(blocks), size, version=6, flags=0x15, flags2=1) + starts + bytes(body)


# Metalayers


def pairs(entries: Sequence[tuple[bytes, bytes]], start: int, base: int, extra: int = 0) -> bytes:
    """A section of metalayers; offsets are counted from `start` bytes before it, and its index is `base` longer."""
    size = base + sum((1 if len(name) < 32 else 2) + len(name) + 5 for name, _ in entries)
    at = start + size + 1 + 2
    index, values = bytearray(), bytearray()
    for name, value in entries:
        mark = bytes([0xA0 | len(name)]) if len(name) < 32 else bytes([0xD9, len(name)])
        index += mark + name + b"\xd2" + struct.pack(">I", at + len(values))
        values += b"\xc6" + struct.pack(">I", len(value)) + value
    head = b"\xcd" + struct.pack(">H", size) + b"\xde" + struct.pack(">H", len(entries) + extra)
    return b"\x93" + head + bytes(index) + b"\xdc" + struct.pack(">H", len(entries) + extra) + bytes(values)


def b2nd(
    shape: Sequence[int], chunks: Sequence[int], blocks: Sequence[int], dtype: str | None = "|u1", version: int = 0
) -> bytes:
    """The metalayer of an array; without a dtype that of Caterva."""
    nd = len(shape)
    mark = bytes([0x90 + nd]) if nd < 16 else b"\xa0"
    out = bytes([0x97 if dtype is not None else 0x95, version, nd])
    out += mark + b"".join(b"\xd3" + struct.pack(">q", it) for it in shape)
    for sizes in (chunks, blocks):
        out += mark + b"".join(b"\xd2" + struct.pack(">i", it) for it in sizes)
    if dtype is None:
        return out
    return out + b"\0\xdb" + struct.pack(">I", len(dtype)) + dtype.encode()


# Frames


def trailer(vlmetas: Sequence[tuple[bytes, bytes]] = (), *, length: int | None = None, fingerprint: bytes = b"") -> bytes:
    """The trailer; `vlmetas` are names and chunks."""
    # Counted from the trailer's start, of which three bytes are before the index; its size is one less than in a header.
    body = b"\x94\x01" + pairs(vlmetas, 3, 6)
    total = len(body) + 5 + 18
    print_ = fingerprint or b"\0" + bytes(16)
    return body + b"\xce" + struct.pack(">I", total if length is None else length) + b"\xd8" + print_


@dataclass
class Frame:
    """A frame by hand. What is `None` follows from the chunks."""

    chunks: Sequence[bytes] = ()
    typesize: int = 1
    chunksize: int | None = None
    blocksize: int = 0
    metas: Sequence[tuple[bytes, bytes]] = ()
    vlmetas: Sequence[tuple[bytes, bytes]] = ()
    offsets: Sequence[int] | None = None
    index: bytes | None = None  # the chunk of the offsets as it is
    body: bytes | None = None  # the chunks section as it is
    header_len: int | None = None
    frame_len: int | None = None
    nbytes: int | None = None
    cbytes: int | None = None
    general: int = 0x12
    kind: int = 0
    codec_flags: int = 0x50
    other_flags: int = 3
    filters: Sequence[int] = (0,) * 6
    udcodec: int = 0
    other2: int = 0
    trailer_len: int | None = None
    fingerprint: bytes = b""
    has_vlmetas: bool | None = None

    def sizes(self) -> list[int]:
        return [struct.unpack_from("<I", chunk, 4)[0] for chunk in self.chunks]

    def places(self) -> list[int]:
        """Offsets of the chunks, one behind the other."""
        at = [0]
        for chunk in self.chunks:
            at.append(at[-1] + len(chunk))
        return at[:-1]

    def index_chunk(self) -> bytes:
        if self.index is not None:
            return self.index
        offsets = self.places() if self.offsets is None else self.offsets
        if not offsets:
            return b""
        return copied(b"".join(struct.pack("<Q", it % 2**64) for it in offsets), 8)

    def head(self, frame_len: int, cbytes: int) -> bytes:
        sizes = self.sizes()
        chunksize = (sizes[0] if sizes else -1) if self.chunksize is None else self.chunksize
        nbytes = sum(sizes) if self.nbytes is None else self.nbytes
        section = pairs(self.metas, 87, 7)
        length = 87 + len(section) if self.header_len is None else self.header_len
        frame_len = frame_len if self.frame_len is None else self.frame_len
        has = bool(self.vlmetas) if self.has_vlmetas is None else self.has_vlmetas
        return b"".join([
            MAGIC,
            b"\xd2" + struct.pack(">I", length),
            b"\xcf" + struct.pack(">Q", frame_len % 2**64),
            b"\xa4" + bytes([self.general, self.kind, self.codec_flags, self.other_flags]),
            b"\xd3" + struct.pack(">q", nbytes),
            b"\xd3" + struct.pack(">q", cbytes if self.cbytes is None else self.cbytes),
            b"\xd2" + struct.pack(">I", self.typesize),
            b"\xd2" + struct.pack(">I", self.blocksize),
            b"\xd2" + struct.pack(">i", chunksize),
            b"\xd1\0\x01\xd1\0\x01",
            b"\xc3" if has else b"\xc2",
            b"\xd8\x06" + bytes([*self.filters, self.udcodec, 0, *(0,) * 6, self.other2, 0]),
            section,
        ])  # fmt: skip

    def done(self) -> bytes:
        body = b"".join(self.chunks) if self.body is None else self.body
        index = self.index_chunk()
        tail = trailer(self.vlmetas, length=self.trailer_len, fingerprint=self.fingerprint)
        length = 87 + len(pairs(self.metas, 87, 7)) + len(body) + len(index) + len(tail)
        return self.head(length, len(body)) + body + index + tail
