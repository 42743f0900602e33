"""What the lists of fixtures are made of: files built field by field, and what a reader should make of them."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import findings
from values import noise

MAGIC = 0x65DF65DF65DF65DF
V03, V10, V20, V21 = 3, 0x10000, 0x20000, 0x20001
HANDMADE = "make.py"
# Type codes of the index; 11 is a character of a string.
CODES = {
    "u1": 1, "u2": 2, "u4": 3, "u8": 4, "i1": 5, "i2": 6, "i4": 7, "i8": 8, "f4": 9, "f8": 10, "S1": 11,
}  # fmt: skip
NAMES = {code: name for name, code in CODES.items()}
SIZES = {code: int(name[1:]) for code, name in NAMES.items()}


@dataclass
class Fixture:
    """One file, and what a reader should make of it."""

    name: str
    about: str
    data: bytes
    verdict: str = "sound"
    producer: str = HANDMADE
    listed_of: bytes | None = None  # the file whose datasets this one still has; a sound one's are its own
    repaired_of: bytes | None = None  # the file that a repair comes to
    ambiguous: bool = False  # a sound file of whose values readers think differently
    reference: bool = True  # whether gsd reads it too

    def __post_init__(self) -> None:
        assert len(self.data) < 65536, f"{self.name}: {len(self.data)} bytes"
        if self.verdict == "sound" and not self.ambiguous:
            self.listed_of = self.data

    @property
    def codes(self) -> list[str]:
        return findings.of(self.name, self.verdict)

    @property
    def path(self) -> str:
        folder = "bad" if self.verdict != "sound" else "odd" if self.codes else "ok"
        return f"{folder}/{self.name}.gsd"


@dataclass
class Entry:
    """32 bytes of the index."""

    frame: int
    n: int
    location: int
    m: int
    id: int
    type: int
    flags: int = 0

    def pack(self, order: str = "<") -> bytes:
        fields = (self.frame, self.n, self.location % 2**64, self.m, self.id, self.type, self.flags)
        return struct.pack(order + "QQQIHBB", *fields)


def header(order: str = "<", **fields: int | bytes) -> bytes:
    """256 bytes. Fields by the names of the format page."""
    have = {
        "magic": MAGIC,
        "index_location": 256,
        "index_allocated": 8,
        "namelist_location": 512,
        "namelist_allocated": 4,
        "schema_version": 0x10002,
        "gsd_version": V21,
        "application": b"make.py",
        "schema": b"none",
        "reserved": b"",
    }
    assert fields.keys() <= have.keys(), fields
    return struct.pack(order + "QQQQQII64s64s80s", *(have | fields).values())


@dataclass
class Hand:
    """A file built by hand: header, index, namelist, data, in this order unless moved."""

    version: int = V21
    schema: str = "none"
    schema_version: int = 0x10002
    big: bool = False
    slots: int = 8
    units: int = 4
    sort: bool = True  # as version 2 wants it
    names: list[bytes] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    changes: dict[str, int | bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.index_at = 256
        self.names_at = 256 + 32 * self.slots
        self.blob = bytearray(self.names_at + 64 * self.units)

    @property
    def order(self) -> str:
        return ">" if self.big else "<"

    def id_of(self, name: str | bytes) -> int:
        raw = name.encode() if isinstance(name, str) else name
        if raw not in self.names:
            self.names.append(raw)
        return self.names.index(raw)

    def put(self, data: bytes, align: int = 1) -> int:
        """Appends bytes that no entry need know; gives their place."""
        self.blob += bytes(-len(self.blob) % align)
        self.blob += data
        return len(self.blob) - len(data)

    def chunk(self, frame: int, name: str | bytes, array: np.ndarray | str, align: int = 1) -> Entry:
        """Appends data and an entry for them. Text becomes a string chunk."""
        if isinstance(array, str):
            array = np.frombuffer(array.encode(), "S1")
        code = CODES[array.dtype.str[1:]]
        data = array.astype(array.dtype.newbyteorder(self.order)).tobytes()
        m = array.shape[1] if array.ndim == 2 else 1
        entry = Entry(frame, array.shape[0], self.put(data, align), m, self.id_of(name), code)
        self.entries.append(entry)
        return entry

    def move_index(self, slots: int) -> int:
        """A larger index at the end; what was written of the old one so far stays where it is."""
        self.write_index()
        old, self.index_at, self.slots = self.index_at, self.put(bytes(32 * slots)), slots
        return old

    def move_names(self, units: int) -> int:
        self.write_names()
        old, self.names_at, self.units = self.names_at, self.put(bytes(64 * units)), units
        return old

    def write_index(self) -> None:
        entries = self.entries
        if self.sort and self.version >= V20:
            entries = sorted(entries, key=lambda entry: (entry.frame, entry.id))
        data = b"".join(entry.pack(self.order) for entry in entries)
        assert len(entries) <= self.slots
        self.blob[self.index_at : self.index_at + len(data)] = data

    def name_bytes(self) -> bytes:
        if self.version < V20:
            return b"".join(name[:63].ljust(64, b"\0") for name in self.names)
        return b"".join(name + b"\0" for name in self.names)

    def write_names(self) -> None:
        data = self.name_bytes()
        assert len(data) <= 64 * self.units, len(data)
        self.blob[self.names_at : self.names_at + len(data)] = data

    def done(self, **changes: int | bytes) -> bytes:
        """The file; `changes` are header fields that lie."""
        self.write_index()
        self.write_names()
        fields: dict[str, int | bytes] = {
            "index_location": self.index_at,
            "index_allocated": self.slots,
            "namelist_location": self.names_at,
            "namelist_allocated": self.units,
            "schema_version": self.schema_version,
            "gsd_version": self.version,
            "schema": self.schema.encode(),
        }
        self.blob[:256] = header(self.order, **(fields | changes))
        return bytes(self.blob)


# Values


def numbers(dtype: str, *shape: int, seed: int = 1) -> np.ndarray:
    """Exact in every type: small integers of either sign, or quarters for floats."""
    count = int(np.prod(shape))
    raw = np.frombuffer(noise(count, seed), "u1").astype("i2").reshape(shape)
    if dtype[0] == "f":
        return ((raw - 128) / 4).astype(dtype)
    return (raw if dtype[0] == "u" else raw - 128).astype(dtype)


def edges(dtype: str) -> np.ndarray:
    """The ends of an integer type; of a float also infinities, NaN, minus zero and the smallest."""
    if dtype[0] == "f":
        info = np.finfo(dtype)
        values = [0.0, -0.0, 1.0, info.max, info.min, info.tiny, info.smallest_subnormal]
        return np.array([*values, np.inf, -np.inf, np.nan], dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, info.max // 3], dtype)


def grid(n: int, seed: int) -> np.ndarray:
    """Quarters from -3.75 to 3.75, within a box of edge 8."""
    steps = (np.arange(3 * n) * 7 + 3 * seed) % 31
    return (steps.reshape(n, 3) / 4 - 3.75).astype("f4")


def three_frames(**options: object) -> Hand:
    """Three frames of a step and five positions, what most of the damage is done to."""
    hand = Hand(**options)
    frames(hand, range(3))
    return hand


def frames(hand: Hand, which: Sequence[int]) -> Hand:
    for frame in which:
        hand.chunk(frame, "step", np.array([10 * frame], "u8"))
        hand.chunk(frame, "position", numbers("f4", 5, 3, seed=frame + 1))
    return hand


def changed(data: bytes, at: int, patch: bytes) -> bytes:
    return data[:at] + patch + data[at + len(patch) :]


def patched(entry: Entry, **fields: int) -> Entry:
    return replace(entry, **fields)
