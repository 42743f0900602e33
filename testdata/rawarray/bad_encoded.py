"""Damage under flag bits 1 and 2: blocks, varints and bits that do not decode."""

import math
from collections.abc import Sequence

import lz4_block
import packing
from encoded import BIT_PATTERN
from parts import (
    BIT_ARRAY,
    BITS,
    ENCODED,
    Fixture,
    Kind,
    Rule,
    damaged,
    elements,
    header,
    ints,
    kind_of,
    repairable,
)
from values import noise
from plain import F64


def fits_neither(kind: Kind, dims: Sequence[int], size: int, stored: bytes) -> bool:
    full = math.prod(dims) * kind.elbyte
    lz4 = size <= len(stored) and lz4_block.fits(stored[:size], full)
    return not lz4 and not (kind.is_integer and packing.leb128_fits(stored, kind.elbyte, math.prod(dims)))


def hopeless(name: str, about: str, type_name: str, dims: Sequence[int], stored: bytes) -> Fixture:
    """Flag bit 1, yet neither form; `size` counts the stored bytes, as LZ4 has it."""
    kind = kind_of(type_name)
    assert fits_neither(kind, dims, len(stored), stored), name
    return damaged(name, about, header(kind, dims, len(stored), flags=ENCODED) + stored, "undecodable_data")


def cut_lz4(
    name: str, about: str, type_name: str, dims: Sequence[int], values: bytes | Rule, keep: int, slabs: int
) -> Fixture:
    """A block cut after `keep` bytes: `slabs` whole slabs, with or without the broken run of literals."""
    kind = kind_of(type_name)
    plain = elements(name, kind, dims, values)
    block = lz4_block.compress(plain)
    stored, slab = block[:keep], len(plain) // dims[-1]
    assert keep < len(block) and fits_neither(kind, dims, len(block), stored), name
    sure, broken = lz4_block.salvage(stored)
    assert plain.startswith(sure + broken) and broken, name
    assert len(sure) // slab == len(sure + broken) // slab == slabs, name
    data = header(kind, dims, len(block), flags=ENCODED) + stored
    kept = [*dims[:-1], slabs]
    codes = ["data_truncated"]
    return repairable(name, about, data, codes, kind, dims, kept, plain[: slabs * slab], encoding="lz4")


def lz4() -> list[Fixture]:
    good = lz4_block.compress(bytes(range(16)) * 8)
    outside = lz4_block.sequence(b"abcd", 5, 20) + lz4_block.sequence(noise(12))
    zero = lz4_block.sequence(b"abcd", 0, 20) + lz4_block.sequence(noise(12))
    bomb = b"\x1f\x00\x01\x00" + b"\xff" * 6
    doubles = ints(8, F64) * 4

    def waves(i: int, j: int) -> int:
        return (i * i) % 17 - 40 * j

    return [
        hopeless("lz4_claims_4_gib", "4 GiB claimed from 10 bytes: a match without end", "u1", [2**32], bomb),
        hopeless("lz4_claims_4_eib", "2^60 floats claimed from a block of 128 bytes", "f4", [2**60], good),
        hopeless("lz4_offset_outside", "a match that starts before the first byte", "f4", [9], outside),
        hopeless("lz4_offset_zero", "offset 0 is not valid, though the C library takes it", "f4", [9], zero),
        hopeless("lz4_decodes_short", "a block of 128 bytes, dimensions for 132", "f4", [33], good),
        hopeless("lz4_decodes_long", "a block of 128 bytes, dimensions for 124", "f4", [31], good),
        hopeless("lz4_noise", "noise under the flag for encoded data", "f4", [64], noise(99, seed=3)),
        hopeless("encoded_user_type", "raw user-defined data under that flag", "v5", [4], noise(20, seed=3)),
        cut_lz4("truncated_lz4", "an LZ4 vector cut within its last literals", "f8", [48], doubles, 74, 47),
        cut_lz4("truncated_lz4_20x10", "an LZ4 matrix cut in the middle", "i2", [20, 10], waves, 200, 5),
    ]


def bad_leb128(name: str, about: str, type_name: str, dims: Sequence[int], stored: bytes) -> Fixture:
    """LEB128 that is wrong rather than short. `size` counts the decoded bytes."""
    kind = kind_of(type_name)
    full = math.prod(dims) * kind.elbyte
    assert fits_neither(kind, dims, full, stored), name
    return damaged(name, about, header(kind, dims, full, flags=ENCODED) + stored, "undecodable_data")


def cut_leb128(
    name: str, about: str, type_name: str, dims: Sequence[int], numbers: Sequence[int], cut: int, slabs: int
) -> Fixture:
    """The last `cut` bytes of the numbers are missing. No header word counts them: only decoding shows it."""
    kind = kind_of(type_name)
    signed = kind.eltype == 1
    stored = packing.leb128(numbers, signed)
    stored = stored[: len(stored) - cut]
    full, slab = math.prod(dims) * kind.elbyte, math.prod(dims[:-1])
    assert fits_neither(kind, dims, full, stored), name
    assert packing.leb128_count(stored, kind.elbyte)[0] // slab == slabs, name
    data = header(kind, dims, full, flags=ENCODED) + stored
    kept = ints(kind.elbyte, numbers[: slabs * slab], signed)
    codes = ["data_truncated"]
    return repairable(name, about, data, codes, kind, dims, [*dims[:-1], slabs], kept, encoding="leb128")


def leb128() -> list[Fixture]:
    numbers = [(-7) ** (k % 9) + k for k in range(17)]
    five = packing.leb128([1, 2, 3, 4, 5], signed=True)
    over_long = b"\x02\x80\x80\x80\x80\x80\x00\x04"
    return [
        bad_leb128("leb128_over_long", "six groups where 32 bits take five at most", "i4", [3], over_long),
        bad_leb128("leb128_too_wide", "300 in a single byte", "u1", [3], b"\x01\xac\x02\x03"),
        bad_leb128("leb128_bytes_left", "five numbers where the dimensions ask for four", "i4", [4], five),
        cut_leb128("leb128_no_terminator", "the last number promises more", "u2", [3], [1, 300, 40000], 1, 2),
        cut_leb128(
            "leb128_claims_2e40", "2^40 numbers claimed from ten bytes", "u2", [2**40], range(10), 0, 10
        ),
        cut_leb128("truncated_leb128", "cut between two numbers of 30", "i4", [30], numbers, 0, 17),
        cut_leb128("truncated_leb128_5x6", "cut in column 4, within a number", "i4", [5, 6], numbers, 1, 3),
    ]


def flag_on_raw(name: str, about: str, type_name: str, dims: Sequence[int], values: bytes) -> Fixture:
    kind = kind_of(type_name)
    assert fits_neither(kind, dims, len(values), values), name
    data = header(kind, dims, len(values), flags=ENCODED) + values
    return repairable(name, about, data, ["flag_on_raw_data"], kind, dims, dims, values)


def cut_bits(
    name: str, about: str, dims: Sequence[int], size: int, bits: Sequence[int], words: int, slabs: int
) -> Fixture:
    """A bit array of which `words` whole words are there, and `slabs` whole slabs in them."""
    slab = math.prod(dims[:-1])
    assert 64 * words // slab == slabs, name
    data = header(BIT_ARRAY, dims, size, flags=ENCODED | BITS) + packing.bit_words(bits)[: 8 * words]
    kept, codes = [*dims[:-1], slabs], ["data_truncated"]
    return repairable(
        name, about, data, codes, BIT_ARRAY, dims, kept, bytes(bits[: slabs * slab]), encoding="bits"
    )


def julia() -> list[Fixture]:
    """Floats marked as encoded though they are not, and bit arrays with words missing."""
    floats = ints(4, [0x3F800000 + k * 0x12345 for k in range(10)])
    doubles = ints(8, F64)
    bits = BIT_PATTERN[:200]
    return [
        flag_on_raw("flag_on_raw_f4", "compress=true on floats: flag set, data raw", "f4", [10], floats),
        flag_on_raw("flag_on_raw_f8_4x3", "the same for a matrix of doubles", "f8", [4, 3], doubles),
        cut_bits("truncated_bits", "two words of four", [200], 32, bits, 2, 128),
        cut_bits("truncated_bits_5x30", "128 bits are 25 columns and a rest", [5, 30], 24, bits[:150], 2, 25),
        cut_bits("bits_claim_2e40", "2^40 bits claimed, 64 there", [2**40], 2**37, bits[:64], 1, 64),
    ]


def fixtures() -> list[Fixture]:
    return [*lz4(), *leb128(), *julia()]
