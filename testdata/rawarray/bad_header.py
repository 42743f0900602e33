"""Files that are something else, and headers that lie."""

import struct

from parts import Fixture, damaged, header, ints, kind_of, unreadable
from values import noise
from plain import F32, seed_example

HUGE = 2**64


def not_rawarray() -> list[Fixture]:
    good = seed_example()
    old = struct.pack("<6Q", 0, 3, 4, 8, 1, 2) + ints(4, F32[2:4])
    npy = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
    return [
        unreadable("empty", "no byte at all", b""),
        unreadable("magic_only", "the magic and nothing more", good[:8]),
        unreadable("header_47", "one byte short of the fixed header", good[:47]),
        unreadable(
            "realaudio",
            "RealAudio uses .ra too: magic 2e 72 61 fd",
            b".ra\xfd\x00\x04\x00\x00.ra4" + noise(88),
        ),
        unreadable("magic_one_bit_off", "rawarraq: one bit from the magic", b"rawarraq" + good[8:]),
        unreadable("before_2015", "the header had no magic until October 2015", old),
        unreadable(
            "numpy",
            "a .npy file with the wrong name",
            b"\x93NUMPY\x01\x00\x76\x00" + npy.ljust(117) + b"\n" + ints(4, F32[2:4]),
        ),
    ]


def dimensions() -> list[Fixture]:
    f4, u1 = kind_of("f4"), kind_of("u1")
    four = ints(4, F32[:4])
    inverse = pow(3, -1, HUGE)
    assert 3 * (4 * inverse % HUGE) % HUGE == 4
    return [
        damaged(
            "ndims_2e61",
            "8 * 2^61 wraps to 0: would pass for a scalar",
            header(f4, [], 4, ndims=2**61) + four[:4],
            "dims_truncated",
        ),
        damaged(
            "ndims_2e61_plus_1",
            "8 * (2^61 + 1) wraps to 8: would pass for a vector",
            header(f4, [4], 16, ndims=2**61 + 1) + four,
            "dims_truncated",
        ),
        damaged(
            "ndims_max", "2^64 - 1 dimensions", header(f4, [4], 16, ndims=2**64 - 1) + four, "dims_truncated"
        ),
        damaged(
            "ndims_past_end",
            "three dimensions claimed, the file ends after two",
            header(u1, [2, 3], 6, ndims=3),
            "dims_truncated",
        ),
        damaged(
            "header_48",
            "the fixed header alone, one dimension claimed",
            header(f4, [], 16, ndims=1),
            "dims_truncated",
        ),
        damaged(
            "ndims_65",
            "one dimension more than is accepted without asking, all present",
            header(f4, [1] * 65, 4) + four[:4],
            "ndims_limit",
        ),
        damaged(
            "dims_wrap_to_0",
            "2^32 x 2^32 wraps to 0 elements, and the size says 0",
            header(u1, [2**32, 2**32], 0),
            "dims_overflow",
        ),
        damaged(
            "dims_wrap_to_4",
            "3 x 12297829382473034412 wraps to 4 elements, and four are there",
            header(f4, [3, 4 * inverse % HUGE], 16) + four,
            "dims_overflow",
        ),
        damaged(
            "elbyte_wrap_to_0",
            "2^62 elements of 8 bytes wrap to 0 bytes",
            header(kind_of("f8"), [2**62], 0),
            "dims_overflow",
        ),
        damaged(
            "elbyte_wrap_to_16",
            "2^60 + 1 elements of 16 bytes wrap to 16",
            header(kind_of("c16"), [2**60 + 1], 16) + four,
            "dims_overflow",
        ),
        damaged(
            "elbyte_2e63_twice",
            "two elements of 2^63 bytes wrap to 0",
            header((0, 2**63), [2], 0),
            "dims_overflow",
        ),
        damaged(
            "elbyte_2e63",
            "one element of 2^63 bytes: more than any file",
            header((0, 2**63), [1], 2**63) + four,
            "data_truncated",
        ),
        damaged(
            "elbyte_max",
            "one element of 2^64 - 1 bytes: its end is past 2^64",
            header((0, HUGE - 1), [1], HUGE - 1) + four,
            "data_truncated",
        ),
    ]


def types_and_flags() -> list[Fixture]:
    f4 = kind_of("f4")
    four = ints(4, F32[:4])

    def typed(name: str, about: str, eltype: int, elbyte: int, *codes: str, flags: int = 0) -> Fixture:
        data = header((eltype, elbyte), [2], 2 * elbyte, flags=flags) + noise(
            2 * elbyte, seed=eltype + elbyte
        )
        return damaged(name, about, data, *codes)

    return [
        typed("eltype_6", "the first code nobody has defined", 6, 4, "unknown_eltype"),
        damaged(
            "eltype_max", "element type 2^64 - 1", header((HUGE - 1, 4), [4], 16) + four, "unknown_eltype"
        ),
        typed("brain_of_3_bytes", "element type 5 has no 3-byte meaning", 5, 3, "impossible_elbyte"),
        typed(
            "bits_without_flag",
            "8-byte elements of type 5 need the bit-array flag",
            5,
            8,
            "impossible_elbyte",
        ),
        typed("complex_of_7_bytes", "complex elements have two equal parts", 4, 7, "impossible_elbyte"),
        damaged(
            "elbyte_0_huge", "2^40 elements of no bytes", header((2, 0), [2**40], 0), "impossible_elbyte"
        ),
        damaged(
            "flag_bit_3",
            "the first flag nobody has defined; the Rust crate lets it pass",
            header(f4, [4], 16, flags=8) + four,
            "unknown_flag",
        ),
        damaged(
            "flag_bit_63", "the highest flag bit", header(f4, [4], 16, flags=2**63) + four, "unknown_flag"
        ),
        damaged(
            "flag_and_eltype",
            "two unknowns in one header",
            header((6, 4), [4], 16, flags=2**32) + four,
            "unknown_flag",
            "unknown_eltype",
        ),
        damaged(
            "reversed_magic_only",
            "magic of a big-endian header, all else little-endian",
            seed_example()[7::-1] + seed_example()[8:],
            "dims_truncated",
            "unknown_eltype",
            "big_endian_header",
        ),
        damaged(
            "reversed_magic_garbage",
            "magic of a big-endian header before garbage",
            b"yarrawar" + b"\xff" * 40 + noise(64),
            "dims_truncated",
            "unknown_flag",
            "unknown_eltype",
            "big_endian_header",
        ),
    ]


def fixtures() -> list[Fixture]:
    return [*not_rawarray(), *dimensions(), *types_and_flags()]
