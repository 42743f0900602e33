"""Sound files with something to say: widths numpy lacks, foreign byte orders, bytes after the data."""

from encoded import BIT_PATTERN, signed_edges, unsigned_edges
from parts import BIG_ENDIAN, Fixture, Kind, array, bit_array, header, ints, kind_of, leb128_array, lz4_array
from values import noise
from plain import F16, F32, F64, whole_file

I24 = [-(2**23), -1, 0, 1, 2**23 - 1]
U40 = [0, 1, 2**39, 2**40 - 1, 0x0102030405, 0xFFFEFDFCFB]
I128 = [-(2**127), -1, 0, 2**127 - 1]


def widths() -> list[Fixture]:
    """Kept as opaque bytes with their element type. Sound, whoever wrote them."""
    quad = ints(16, [0x3FFF << 112, 0x4000_80000000_00000000])  # 1 in IEEE quad, 2 in x87
    note = ["odd_width"]
    return [
        Fixture(
            "brain_of_4_bytes",
            "element type 5 in 4 bytes, to which nothing gives a meaning",
            header((5, 4), [2], 8) + bytes(range(8)),
            "sound",
            note,
            kind=Kind(5, 4, "|V4", 4),
            shape=[2],
            values=bytes(range(8)),
        ),
        array("i3_5", "24-bit signed integers, as audio has them", "i3", [5], ints(3, I24, True), codes=note),
        array(
            "u3_2x2",
            "24-bit unsigned integers in a matrix",
            "u3",
            [2, 2],
            ints(3, [0, 1, 0x010203, 2**24 - 1]),
            codes=note,
        ),
        array("u5_3x2", "40-bit unsigned integers", "u5", [3, 2], ints(5, U40), codes=note),
        array(
            "i16_4",
            "128-bit signed integers at byte 56, not aligned to 16",
            "i16",
            [4],
            ints(16, I128, True),
            codes=note,
        ),
        array(
            "u16_2x2",
            "128-bit unsigned integers in a matrix",
            "u16",
            [2, 2],
            ints(16, [0, 1, 2**64, 2**128 - 1]),
            codes=note,
        ),
        array("f16_2", "16-byte floats: x87 or quad, the file does not say", "f16", [2], quad, codes=note),
        array("c4_6", "Julia's ComplexF16", "c4", [6], ints(2, F16), codes=note),
        array("c32_2", "complex of two 16-byte floats", "c32", [2], quad + quad[::-1], codes=note),
        lz4_array(
            "lz4_u16_64",
            "LZ4 of 128-bit integers",
            "u16",
            [64],
            ints(16, range(2**64, 2**64 + 64)),
            codes=note,
        ),
        leb128_array(
            "leb128_i16",
            "128-bit LEB128, both ends, up to 19 bytes; Julia's own writer corrupts the large ones",
            "i16",
            [len(signed_edges(16))],
            signed_edges(16),
            codes=note,
        ),
        leb128_array(
            "leb128_u16",
            "unsigned 128-bit LEB128, up to 19 bytes",
            "u16",
            [len(unsigned_edges(16))],
            unsigned_edges(16),
            codes=note,
        ),
    ]


def byte_orders() -> list[Fixture]:
    """Flag bit 0 over bytes of unknown structure, and the header a big-endian machine would write."""
    user = noise(24, seed=7)
    native = ["big_endian_header"]
    return [
        Fixture(
            "be_v8_3",
            "big-endian flag on user-defined elements: their bytes stay as they are",
            header(kind_of("v8"), [3], 24, flags=BIG_ENDIAN) + user,
            "sound",
            ["opaque_big_endian"],
            kind_of("v8"),
            False,
            [3],
            "plain",
            user,
        ),
        array(
            "native_be_i4_3x4",
            "everything big-endian, element [i, j] is 1000 i + j",
            "i4",
            [3, 4],
            lambda i, j: 1000 * i + j,
            native_big=True,
            codes=native,
        ),
        array(
            "native_be_f8_12",
            "everything big-endian, special doubles",
            "f8",
            [12],
            ints(8, F64),
            native_big=True,
            codes=native,
        ),
        array(
            "native_be_c8_6",
            "everything big-endian, complex",
            "c8",
            [6],
            ints(4, F32),
            native_big=True,
            codes=native,
        ),
        array(
            "native_be_flag_f4_12",
            "big-endian header that also sets the big-endian flag: turned round once",
            "f4",
            [12],
            ints(4, F32),
            native_big=True,
            flags=BIG_ENDIAN,
            codes=native,
        ),
        array(
            "native_be_trailer",
            "big-endian header and bytes after the data",
            "i2",
            [2],
            ints(2, [-2, 258], True),
            native_big=True,
            trailer=b"note",
            codes=[*native, "trailing_bytes"],
        ),
    ]


def trailers() -> list[Fixture]:
    """Volatile metadata: whatever follows the data up to the end of the file."""
    note = ["trailing_bytes"]
    i4 = ints(4, [1, -2, 3], True)
    json = '{"units": "µT", "echo_times": [0.5, 1.5]}\n'.encode()
    return [
        array(
            "trailer_text",
            "a line of text after the data",
            "i4",
            [3],
            i4,
            trailer=b"acquired on a rainy day\n",
            codes=note,
        ),
        array(
            "trailer_json",
            "a JSON object after the data",
            "f8",
            [2, 2],
            ints(8, F64[2:6]),
            trailer=json,
            codes=note,
        ),
        array(
            "trailer_binary",
            "every byte value after the data",
            "i4",
            [3],
            i4,
            trailer=bytes(range(256)),
            codes=note,
        ),
        array(
            "trailer_one_byte",
            "a single NUL after the data",
            "c8",
            [6],
            ints(4, F32),
            trailer=b"\0",
            codes=note,
        ),
        array(
            "trailer_rawarray",
            "two files run together: the second is only the trailer of the first",
            "i4",
            [3],
            i4,
            trailer=whole_file(5),
            codes=note,
        ),
        array(
            "trailer_empty",
            "an array without elements, all bytes are trailer",
            "f4",
            [3, 0],
            b"",
            trailer=b"nothing above",
            codes=note,
        ),
        array(
            "trailer_odd_width",
            "two notes on one file",
            "i3",
            [5],
            ints(3, I24, True),
            trailer=b"24 bit",
            codes=["odd_width", *note],
        ),
        lz4_array(
            "trailer_lz4",
            "the trailer starts after the compressed bytes",
            "i4",
            [100],
            ints(4, range(100)),
            trailer=b"after the block",
            codes=note,
        ),
        bit_array(
            "trailer_bits",
            "the trailer starts after the last word",
            [65],
            BIT_PATTERN[:65],
            trailer=b"after the words",
            codes=note,
        ),
    ]


def warnings() -> list[Fixture]:
    return [
        bit_array(
            "bits_beyond_5",
            "bits set past the count of five",
            [5],
            [1, 0, 1, 1, 0],
            unused=2**59 - 1,
            codes=["bits_beyond_count"],
        ),
        bit_array(
            "bits_beyond_65_trailer",
            "one bit set past the count, in the second word, and a trailer",
            [65],
            BIT_PATTERN[:65],
            unused=2**62,
            trailer=b"x",
            codes=["bits_beyond_count", "trailing_bytes"],
        ),
        array(
            "bool_other_values",
            "booleans of 2 and 255; the values are the bytes as stored",
            "bool",
            [5],
            bytes([0, 1, 2, 255, 1]),
            codes=["bool_not_0_or_1"],
        ),
    ]


def fixtures() -> list[Fixture]:
    return [*widths(), *byte_orders(), *trailers(), *warnings()]
