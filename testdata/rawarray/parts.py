"""What the lists of fixtures are made of: headers, element types, arrays and their expectations."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import lz4_block
import packing

Rule = Callable[..., complex]  # element at an index

MAGIC = b"rawarray"
BIG_ENDIAN, ENCODED, BITS = 1, 2, 4

CODES = [
    # errors
    "dims_truncated", "ndims_limit", "dims_overflow", "unknown_flag", "unknown_eltype", "impossible_elbyte",
    "size_mismatch", "data_truncated", "reshape_bug", "undecodable_data", "flag_on_raw_data",
    "empty_without_dims",
    # warnings
    "bits_beyond_count", "bool_not_0_or_1",
    # notes
    "odd_width", "opaque_big_endian", "big_endian_header", "trailing_bytes",
]  # fmt: skip
FIRST_WARNING = CODES.index("bits_beyond_count")


@dataclass(frozen=True)
class Kind:
    """An element type: its two header words, and how numpy spells it in a little-endian file."""

    eltype: int
    elbyte: int
    dtype: str
    part: int  # bytes of one number, the unit that byte order turns round; 1 where there is nothing to turn

    def spelling(self, big: bool) -> str:
        return self.dtype.replace("<", ">") if big else self.dtype

    @property
    def is_integer(self) -> bool:
        """Whether LEB128 is defined for it."""
        return self.eltype in (1, 2) or (self.eltype, self.elbyte) == (5, 1)


def kind_of(name: str) -> Kind:
    """`i4`, `u3`, `f8`, `c16`, `v80`, `bf16`, `bool`: letter and bytes per element."""
    if name == "bf16":
        return Kind(5, 2, "bfloat16", 2)
    if name == "bool":
        return Kind(5, 1, "|b1", 1)
    letter, width = name[0], int(name[1:])
    eltype = "viufc".index(letter)
    known = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "v": ()}[letter]
    if width not in known:
        return Kind(eltype, width, f"|V{width}", 1)
    return Kind(
        eltype, width, f"{'|' if width == 1 else '<'}{letter}{width}", width // 2 if letter == "c" else width
    )


@dataclass
class Fixture:
    """One file, and what a reader should make of it."""

    name: str
    about: str
    data: bytes
    verdict: str
    codes: Sequence[str] = ()
    kind: Kind | None = None
    big: bool = False
    shape: Sequence[int] = ()
    encoding: str = "plain"
    values: bytes | None = None  # None where the file as it stands does not give them
    trailer: int = 0
    repaired: tuple[Sequence[int], bytes] | None = None

    def __post_init__(self) -> None:
        at = [CODES.index(code) for code in self.codes]
        assert at == sorted(set(at)), f"{self.name}: codes out of order"
        if self.verdict != "unreadable":
            damaged = any(code < FIRST_WARNING for code in at)
            assert self.verdict == ("damaged" if damaged else "sound"), self.name
        assert len(self.data) < 65536, f"{self.name}: too large"

    @property
    def path(self) -> str:
        folder = "bad" if self.verdict != "sound" else "odd" if self.codes else "ok"
        return f"{folder}/{self.name}.ra"


def header(
    kind: Kind | tuple[int, int],
    dims: Sequence[int],
    size: int,
    *,
    flags: int = 0,
    ndims: int | None = None,
    native_big: bool = False,
) -> bytes:
    """48 + 8n bytes. `ndims` differs from the words present only where the fixture is about that."""
    eltype, elbyte = (kind.eltype, kind.elbyte) if isinstance(kind, Kind) else kind
    words = [flags, eltype, elbyte, size, len(dims) if ndims is None else ndims, *dims]
    order: Literal["big", "little"] = "big" if native_big else "little"
    return (MAGIC[::-1] if native_big else MAGIC) + b"".join(word.to_bytes(8, order) for word in words)


def turned(data: bytes, part: int) -> bytes:
    """Every number's bytes reversed."""
    return np.frombuffer(data, np.uint8).reshape(-1, part)[:, ::-1].tobytes()


def ints(width: int, values: Iterable[int], signed: bool = False) -> bytes:
    """Little-endian two's complement of any width."""
    return b"".join(value.to_bytes(width, "little", signed=signed) for value in values)


def grid(dtype: str, dims: Sequence[int], rule: Rule) -> bytes:
    """Element [i, j, ...] is rule(i, j, ...), laid out with the first index fastest."""
    array = np.zeros(tuple(dims), dtype)
    for index in np.ndindex(*dims):
        array[index] = rule(*index)
    return array.tobytes(order="F")


def elements(name: str, kind: Kind, dims: Sequence[int], values: bytes | Rule) -> bytes:
    """The values in stored order, little-endian."""
    plain = values if isinstance(values, bytes) else grid(kind.dtype, dims, values)
    assert len(plain) == math.prod(dims) * kind.elbyte, name
    return plain


def array(
    name: str,
    about: str,
    type_name: str,
    dims: Sequence[int],
    values: bytes | Rule,
    *,
    big: bool = False,
    native_big: bool = False,
    flags: int = 0,
    trailer: bytes = b"",
    codes: Sequence[str] = (),
) -> Fixture:
    """A sound plain array."""
    kind = kind_of(type_name)
    plain = elements(name, kind, dims, values)
    if big:
        flags |= BIG_ENDIAN
    big = big or native_big
    stored = turned(plain, kind.part) if big else plain
    data = header(kind, dims, len(stored), flags=flags, native_big=native_big) + stored + trailer
    return Fixture(name, about, data, "sound", codes, kind, big, dims, "plain", plain, len(trailer))


def lz4_array(
    name: str,
    about: str,
    type_name: str,
    dims: Sequence[int],
    values: bytes | Rule,
    *,
    block: bytes | None = None,
    big: bool = False,
    trailer: bytes = b"",
    codes: Sequence[str] = (),
) -> Fixture:
    """A sound LZ4 array: `size` counts the compressed bytes."""
    kind = kind_of(type_name)
    plain = elements(name, kind, dims, values)
    stored = turned(plain, kind.part) if big else plain
    block = lz4_block.compress(stored) if block is None else block
    assert lz4_block.decompress(block, len(plain)) == stored, name
    leb128 = kind.is_integer and packing.leb128_fits(block + trailer, kind.elbyte, math.prod(dims))
    assert not leb128, f"{name}: could be LEB128 as well"
    data = header(kind, dims, len(block), flags=ENCODED | (BIG_ENDIAN if big else 0)) + block + trailer
    return Fixture(name, about, data, "sound", codes, kind, big, dims, "lz4", plain, len(trailer))


def leb128_array(
    name: str,
    about: str,
    type_name: str,
    dims: Sequence[int],
    numbers: Sequence[int],
    codes: Sequence[str] = (),
) -> Fixture:
    """A sound LEB128 array: `size` counts the decoded bytes, the encoded ones run to the end of the file."""
    kind = kind_of(type_name)
    signed = kind.eltype == 1
    plain = elements(name, kind, dims, ints(kind.elbyte, numbers, signed))
    stored = packing.leb128(numbers, signed)
    assert packing.leb128_fits(stored, kind.elbyte, len(numbers)), name
    lz4 = len(plain) <= len(stored) and lz4_block.fits(stored[: len(plain)], len(plain))
    assert not lz4, f"{name}: could be LZ4 as well"
    data = header(kind, dims, len(plain), flags=ENCODED) + stored
    return Fixture(name, about, data, "sound", codes, kind, False, dims, "leb128", plain)


BIT_ARRAY = Kind(5, 8, "|b1", 1)


def bit_array(
    name: str,
    about: str,
    dims: Sequence[int],
    bits: Sequence[int],
    *,
    flags: int = ENCODED | BITS,
    unused: int = 0,
    trailer: bytes = b"",
    codes: Sequence[str] = (),
) -> Fixture:
    """A sound bit array: `size` counts whole 8-byte words."""
    assert len(bits) == math.prod(dims), name
    words = packing.bit_words(bits, unused)
    data = header(BIT_ARRAY, dims, len(words), flags=flags) + words + trailer
    return Fixture(
        name, about, data, "sound", codes, BIT_ARRAY, False, dims, "bits", bytes(bits), len(trailer)
    )


def unreadable(name: str, about: str, data: bytes) -> Fixture:
    return Fixture(name, about, data, "unreadable")


def damaged(name: str, about: str, data: bytes, *codes: str) -> Fixture:
    """Damaged, and nothing that a repair could be sure of."""
    return Fixture(name, about, data, "damaged", codes)


def repairable(
    name: str,
    about: str,
    data: bytes,
    codes: Sequence[str],
    kind: Kind,
    shape: Sequence[int],
    repaired_shape: Sequence[int],
    repaired_values: bytes,
    *,
    big: bool = False,
    encoding: str = "plain",
) -> Fixture:
    """Damaged, with what a repair should come to. `shape` is what the header says, true or not."""
    width = 1 if encoding == "bits" else kind.elbyte
    assert len(repaired_values) == math.prod(repaired_shape) * width, name
    repaired = (repaired_shape, repaired_values)
    return Fixture(name, about, data, "damaged", codes, kind, big, shape, encoding, repaired=repaired)
