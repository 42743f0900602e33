"""Sound files whose elements are stored as they are: every type, shape and byte order, no finding."""

import hashlib
import struct

import numpy as np

from parts import Fixture, array, header, ints, kind_of

# Bit patterns rather than numbers, so that NaN payloads and both zeros are what they are meant to be.
F16 = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x7BFF, 0x0400, 0x0001, 0x8001, 0x7C00, 0xFC00, 0x7E00, 0xFE55]
BF16 = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F7F, 0x0080, 0x0001, 0x8001, 0x7F80, 0xFF80, 0x7FC0, 0xFFD5]
F32 = [
    0x00000000, 0x80000000, 0x3F800000, 0xC0490FDB, 0x7F7FFFFF, 0x00800000,
    0x00000001, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF812345,
]  # fmt: skip
F64 = [
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xC00921FB54442D18,
    0x7FEFFFFFFFFFFFFF, 0x0010000000000000, 0x0000000000000001, 0x8000000000000001,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF0123456789ABC,
]  # fmt: skip
I32 = [-(2**31), -(2**31) + 1, -65537, -256, -1, 0, 1, 255, 65536, 2**31 - 1]
I64 = [-(2**63), -(2**32) - 1, -1, 0, 2**53 + 1, 2**63 - 1]

TEXT = "RawArray: naïve Ångström, Ωmega, 日本語\n".encode()


def seed_example() -> bytes:
    """The format's own test.ra: element k is k + i(-1/k) in single precision, the first one 0 - i inf."""
    k = np.arange(12, dtype="<f4")
    parts = np.empty((12, 2), "<f4")
    parts[:, 0] = k
    parts[1:, 1] = np.float32(-1) / k[1:]
    parts[0, 1] = -np.inf
    file = header(kind_of("c8"), [3, 4], 96) + parts.tobytes()
    assert hashlib.md5(file, usedforsecurity=False).hexdigest() == "1dd9f98a0d57ec3c4d8ad50343bd20cd"
    return file


def records() -> bytes:
    """The format description's `struct { char info[12]; uint32_t index; double v[8]; }`, four times."""
    rows = [(f"record {n}".encode(), 2**32 - 1 - n, [n + m / 8 for m in range(8)]) for n in range(4)]
    return b"".join(struct.pack("<12sI8d", info, index, *v) for info, index, v in rows)


def whole_file(n: int) -> bytes:
    """A small RawArray file to be the element of another."""
    return header(kind_of("i2"), [3], 6) + ints(2, [n, -n, 100 * n], signed=True)


def numbers() -> list[Fixture]:
    bools = [1, 0, 0, 1, 1, 1, 0, 1, 0]
    return [
        array(
            "i1_8",
            "8-bit signed integers to both ends of their range",
            "i1",
            [8],
            ints(1, [-128, -127, -1, 0, 1, 2, 126, 127], True),
        ),
        array(
            "i2_3x4",
            "16-bit signed integers in a matrix, column major",
            "i2",
            [3, 4],
            lambda i, j: (100 * i + j) * (-1) ** j,
        ),
        array("i4_10", "32-bit signed integers to both ends of their range", "i4", [10], ints(4, I32, True)),
        array(
            "i4_3x4",
            "element [i, j] is 10 i + j: tells column major from row major",
            "i4",
            [3, 4],
            lambda i, j: 10 * i + j,
        ),
        array(
            "i4_2x3x4",
            "element [i, j, k] is 100 i + 10 j + k, three dimensions",
            "i4",
            [2, 3, 4],
            lambda i, j, k: 100 * i + 10 * j + k,
        ),
        array(
            "i8_6",
            "64-bit signed integers, one of them beyond what a double holds",
            "i8",
            [6],
            ints(8, I64, True),
        ),
        array("u1_256", "every byte value once", "u1", [256], bytes(range(256))),
        array("u1_3x5", "bytes in a matrix", "u1", [3, 5], lambda i, j: 50 * i + 7 * j + 100),
        array(
            "u2_2x3x2",
            "16-bit unsigned integers above the signed range, three dimensions",
            "u2",
            [2, 3, 2],
            lambda i, j, k: 65535 - 100 * i - 10 * j - k,
        ),
        array(
            "u4_7",
            "32-bit unsigned integers with extremes",
            "u4",
            [7],
            ints(4, [0, 1, 255, 65536, 2**31 - 1, 2**31, 2**32 - 1]),
        ),
        array(
            "u8_2x4",
            "64-bit unsigned integers above the signed range",
            "u8",
            [2, 4],
            lambda i, j: 2**64 - 1 - 2 ** (8 * (4 * i + j)),
        ),
        array(
            "f2_12",
            "half precision with both zeros, subnormals, infinities and NaN payloads",
            "f2",
            [12],
            ints(2, F16),
        ),
        array(
            "f4_12",
            "single precision with both zeros, subnormals, infinities, a quiet and a signalling NaN",
            "f4",
            [12],
            ints(4, F32),
        ),
        array(
            "f4_3x4",
            "single precision matrix of inexact quotients",
            "f4",
            [3, 4],
            lambda i, j: (i - 1) / (j + 3),
        ),
        array(
            "f8_12",
            "double precision with both zeros, subnormals, infinities, a quiet and a signalling NaN",
            "f8",
            [12],
            ints(8, F64),
        ),
        array("c8_6", "single complex whose parts are special values", "c8", [6], ints(4, F32)),
        array(
            "c16_3",
            "double complex in one dimension: elements of 16 bytes start at byte 56",
            "c16",
            [3],
            lambda i: complex(i / 3, -i / 7),
        ),
        array("bf16_12", "bfloat16 as the Rust crate writes it, special values", "bf16", [12], ints(2, BF16)),
        array("bool_9", "Julia's Array{Bool}, a byte each", "bool", [9], bytes(bools)),
        array("text_utf8", "text is unsigned bytes; more bytes than characters", "u1", [len(TEXT)], TEXT),
    ]


def opaque() -> list[Fixture]:
    nested = [whole_file(n) for n in (1, 2, 3)]
    width = len(nested[0])
    return [
        array("v1_4", "user-defined elements of one byte are not integers", "v1", [4], b"\x00\x7f\x80\xff"),
        array(
            "v5_3x2",
            "user-defined elements of an odd size in a matrix",
            "v5",
            [3, 2],
            b"".join(b"rec-%c" % letter for letter in b"abcdef"),
        ),
        array(
            "v16_ucs4",
            "what Python writes for a numpy array of four-character strings: user-defined, 16 bytes",
            "v16",
            [3],
            "".join(word.ljust(4, "\0") for word in ("ab", "żółć", "")).encode("utf-32-le"),
        ),
        array(
            "v80_records",
            "the format description's example record: 12 characters, a u32, eight doubles",
            "v80",
            [4],
            records(),
        ),
        array(
            "v_nested_files",
            "three whole RawArray files as the elements of one",
            f"v{width}",
            [3],
            b"".join(nested),
        ),
    ]


def shapes() -> list[Fixture]:
    bart = [4, 3, 1, 2] + [1] * 12
    return [
        Fixture(
            "test",
            "the format's own example file, byte for byte",
            seed_example(),
            "sound",
            (),
            kind_of("c8"),
            False,
            [3, 4],
            "plain",
            seed_example()[64:],
        ),
        array("scalar_f8", "no dimensions: one element", "f8", [], struct.pack("<d", -2.5)),
        array("ones_1x1x7x1", "dimensions of one are kept", "i2", [1, 1, 7, 1], ints(2, range(-3, 4), True)),
        array(
            "bart_16d",
            "BART's sixteen dimensions, most of them one",
            "c8",
            bart,
            lambda *at: complex(at[0] + 10 * at[1], -100 * at[3]),
        ),
        array(
            "dims_64",
            "as many dimensions as are accepted without asking",
            "i2",
            [1] * 64,
            ints(2, [-12345], True),
        ),
        array("empty_0", "an empty vector: the file ends with its dimensions", "f4", [0], b""),
        array("empty_3x0", "an empty matrix, zero last", "i4", [3, 0], b""),
        array(
            "empty_2e63x0x5",
            "2^63 x 0 x 5 is empty, although 2^63 * 8 overflows on the way",
            "f8",
            [2**63, 0, 5],
            b"",
        ),
        array("empty_v0", "no elements of no bytes", "v0", [0], b""),
    ]


def big_endian() -> list[Fixture]:
    """As Python writes arrays of `>` dtypes: little-endian header, flag bit 0, big-endian numbers."""
    return [
        array(
            "be_i2_4",
            "big-endian 16-bit integers",
            "i2",
            [4],
            ints(2, [-32768, -2, 258, 32767], True),
            big=True,
        ),
        array(
            "be_i4_3x4",
            "big-endian 32-bit matrix, element [i, j] is 1000 i + j",
            "i4",
            [3, 4],
            lambda i, j: 1000 * i + j,
            big=True,
        ),
        array("be_i8_6", "big-endian 64-bit integers", "i8", [6], ints(8, I64, True), big=True),
        array(
            "be_u1_4", "the flag means nothing for single bytes", "u1", [4], bytes([1, 2, 128, 255]), big=True
        ),
        array("be_f2_12", "big-endian half precision, special values", "f2", [12], ints(2, F16), big=True),
        array("be_f4_12", "big-endian single precision, special values", "f4", [12], ints(4, F32), big=True),
        array("be_f8_12", "big-endian double precision, special values", "f8", [12], ints(8, F64), big=True),
        array(
            "be_c8_6",
            "big-endian complex: each part turned round, real still first",
            "c8",
            [6],
            ints(4, F32),
            big=True,
        ),
        array("be_c16_2x3", "big-endian double complex matrix", "c16", [2, 3], ints(8, F64), big=True),
    ]


def fixtures() -> list[Fixture]:
    return [*numbers(), *opaque(), *shapes(), *big_endian()]
