"""Plain data that do not fit their header: wrong sizes, files cut short, the Rust crate's slips."""

import math
import struct
from collections.abc import Sequence

from parts import (
    BIG_ENDIAN,
    Fixture,
    Rule,
    damaged,
    elements,
    grid,
    header,
    ints,
    kind_of,
    repairable,
    turned,
)
from plain import F32, F64, I32

HUGE = 2**64
TEN = ints(4, I32, True)


def wrong_size(
    name: str, about: str, type_name: str, dims: Sequence[int], size: int, values: bytes, kept: Sequence[int]
) -> Fixture:
    """`values` is all that follows the dimensions. Nothing tells data from trailer: none is noted."""
    kind = kind_of(type_name)
    data = header(kind, dims, size) + values
    codes = ["size_mismatch", "data_truncated"] if size > len(values) else ["size_mismatch"]
    return repairable(name, about, data, codes, kind, dims, kept, values[: math.prod(kept) * kind.elbyte])


def sizes() -> list[Fixture]:
    """The size word against the dimensions, with everything or only part of it there."""
    matrix = grid("<f4", [5, 4], lambda i, j: i - j / 4)
    return [
        wrong_size(
            "size_beyond_file", "size 1000 for 40 bytes that are all there", "i4", [10], 1000, TEN, [10]
        ),
        wrong_size("size_max", "size 2^64 - 1: the end of the data wraps", "i4", [10], HUGE - 1, TEN, [10]),
        wrong_size("size_too_small", "size 16 for 40 bytes that are all there", "i4", [10], 16, TEN, [10]),
        wrong_size("size_off_by_one", "size 39 for 40 bytes that are all there", "i4", [10], 39, TEN, [10]),
        wrong_size("size_0", "size 0 for 40 bytes that are all there", "i4", [10], 0, TEN, [10]),
        wrong_size(
            "size_too_large", "size and file have 40 bytes, the dimensions 24", "i4", [6], 40, TEN, [10]
        ),
        wrong_size("size_of_nothing", "no element, yet 16 bytes", "i4", [0], 16, TEN[:16], [4]),
        wrong_size(
            "size_partial", "size and file have 24 bytes, the dimensions 40", "i4", [10], 24, TEN[:24], [6]
        ),
        wrong_size(
            "size_partial_5x4", "size and file end within column 3", "f4", [5, 4], 50, matrix[:50], [5, 2]
        ),
    ]


def cut(
    name: str,
    about: str,
    type_name: str,
    dims: Sequence[int],
    values: bytes | Rule,
    keep: int,
    slabs: int,
    *,
    big: bool = False,
    native_big: bool = False,
) -> Fixture:
    """The file ends after `keep` bytes of data: `slabs` whole slabs of the last dimension and a rest."""
    kind = kind_of(type_name)
    plain = elements(name, kind, dims, values)
    slab = len(plain) // dims[-1]
    assert keep < len(plain) and keep // slab == slabs, name
    stored = turned(plain, kind.part) if big or native_big else plain
    flags = BIG_ENDIAN if big else 0
    data = header(kind, dims, len(plain), flags=flags, native_big=native_big) + stored[:keep]
    codes = ["data_truncated", "big_endian_header"] if native_big else ["data_truncated"]
    kept = [*dims[:-1], slabs]
    return repairable(
        name, about, data, codes, kind, dims, kept, plain[: slabs * slab], big=big or native_big
    )


def truncated() -> list[Fixture]:
    """Files that end before their data do. A repair keeps whole slabs of the last dimension."""
    i4, f8, c8 = kind_of("i4"), kind_of("f8"), kind_of("c8")
    bart_dims = [4, 3, 1, 2] + [1] * 12
    bart = grid("<c8", bart_dims, lambda *at: complex(at[0], at[1]))
    return [
        cut("truncated_1d", "a vector cut between elements", "i4", [10], TEN, 28, 7),
        cut("truncated_mid_element", "a vector cut within its fourth element", "i4", [10], TEN, 14, 3),
        cut("truncated_one_byte", "the last byte is missing", "i4", [10], TEN, 39, 9),
        cut("truncated_3x4", "cut within the third column", "i4", [3, 4], lambda i, j: 1000 * i + j, 31, 2),
        cut(
            "truncated_2x3x4",
            "cut within the fourth slab",
            "f8",
            [2, 3, 4],
            lambda i, j, k: i - j + k / 9,
            180,
            3,
        ),
        cut(
            "truncated_be",
            "big-endian, cut in column 3",
            "i4",
            [3, 4],
            lambda i, j: 9999 * i - j,
            31,
            2,
            big=True,
        ),
        cut(
            "truncated_native_be",
            "big-endian header and data, cut within the third column",
            "i4",
            [3, 4],
            lambda i, j: 9999 * i - j,
            31,
            2,
            native_big=True,
        ),
        repairable(
            "claims_4_tib",
            "4 TiB claimed, 16 bytes there",
            header(i4, [2**40], 2**42) + TEN[:16],
            ["data_truncated"],
            i4,
            [2**40],
            [4],
            TEN[:16],
        ),
        repairable(
            "claims_8_eib",
            "2^60 doubles claimed: 2^63 bytes fit a u64 but no i64",
            header(f8, [2**60], 2**63) + TEN,
            ["data_truncated"],
            f8,
            [2**60],
            [5],
            TEN,
        ),
        damaged(
            "truncated_no_data", "the file ends with its dimensions", header(i4, [3, 4], 48), "data_truncated"
        ),
        damaged("truncated_scalar", "no dimension to cut", header(f8, [], 8) + b"\0" * 7, "data_truncated"),
        damaged(
            "truncated_bart_16d",
            "one element is missing; the last dimension is 1, the last one that can be cut is the fourth",
            header(c8, bart_dims, len(bart)) + bart[:-8],
            "data_truncated",
        ),
    ]


def reshaped(
    name: str, about: str, type_name: str, ndims: int, dims: Sequence[int], values: bytes
) -> Fixture:
    """Up to 0.1.4 the crate's `reshape` leaves ndims as it was: data do not begin where the header says."""
    kind = kind_of(type_name)
    data = header(kind, dims, len(values), ndims=ndims) + values
    seen = struct.unpack(f"<{ndims}Q", data[48 : 48 + 8 * ndims])
    return repairable(name, about, data, ["reshape_bug"], kind, seen, dims, values)


def rust_new(type_name: str, rust_type: str) -> Fixture:
    kind = kind_of(type_name)
    about = f"RawArray::<{rust_type}>::new() written by the Rust crate: no dimension, size 0 and no element"
    codes = ["empty_without_dims"]
    return repairable(f"rust_new_{type_name}", about, header(kind, [], 0), codes, kind, [], [0], b"")


def rust_crate() -> list[Fixture]:
    signed, positive = ints(4, range(-5, 7), True), ints(4, range(1, 13))
    zero_first = bytes(8) + ints(4, F32)[:40]
    return [
        reshaped("reshape_1_to_2", "one dimension claimed, 3 x 4 there", "i4", 1, [3, 4], signed),
        reshaped(
            "reshape_1_to_3", "one dimension claimed, 2 x 3 x 2 there", "f8", 1, [2, 3, 2], ints(8, F64)
        ),
        reshaped("reshape_2_to_3", "two dimensions claimed, 2 x 2 x 3 there", "i4", 2, [2, 2, 3], signed),
        reshaped("reshape_2_to_1", "two dimensions claimed, 12 alone there", "i4", 2, [12], positive),
        reshaped("reshape_3_to_1", "three dimensions claimed, 12 alone there", "i4", 3, [12], positive),
        reshaped(
            "reshape_overflow",
            "a data word, read as a dimension, overflows the product",
            "i4",
            2,
            [12],
            signed,
        ),
        reshaped(
            "reshape_zero", "a data word, read as a dimension, is 0: looks empty", "f4", 2, [12], zero_first
        ),
        rust_new("f4", "f32"),
        rust_new("f8", "f64"),
    ]


def fixtures() -> list[Fixture]:
    return [*sizes(), *truncated(), *rust_crate()]
