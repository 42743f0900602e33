"""Sound files under flag bits 1 and 2: LZ4 blocks (the C tool), LEB128 and bit arrays (Julia). No finding."""

import itertools

import lz4_block
from parts import BITS, Fixture, bit_array, grid, ints, leb128_array, lz4_array
from values import noise
from plain import F32, records

PAGE_VECTORS = [0, -1, 1, 63, 64, -65, 300]  # 00 01 02 7e 8001 8101 d804
BIT_PATTERN = [int(bit) for bit in "1011000111101001010000011"] * 9


def signed_edges(width: int) -> list[int]:
    """Both ends, and the values on either side of each extra byte of LEB128."""
    steps = (2 ** (7 * n - 1) for n in range(1, 8 * width // 7 + 1))
    inner = {value for step in steps for value in (step - 1, step, -step, -step - 1)}
    top = 2 ** (8 * width - 1)
    return sorted({-top, top - 1, 0, -1, 1} | {value for value in inner if -top <= value < top})


def unsigned_edges(width: int) -> list[int]:
    steps = (2 ** (7 * n) for n in range(1, 8 * width // 7 + 1))
    inner = {value for step in steps for value in (step - 1, step)}
    top = 2 ** (8 * width)
    return sorted({0, 1, top - 1} | {value for value in inner if value < top})


def same_size() -> Fixture:
    """Floats whose block is as long as they are: only decoding tells it from mislabelled raw data."""
    # The match turns ten bytes into eight; a last run of 15 literals or more takes two on top.
    repeat = b"\x00\x00\x80\x3f\x00"
    values = repeat * 2 + noise(22)
    block = lz4_block.sequence(repeat, 5, 5) + lz4_block.sequence(values[10:])
    assert len(block) == len(values) == 32
    return lz4_array(
        "lz4_f4_same_size",
        "the compressed size equals the plain size: not Julia's mislabelled raw floats",
        "f4",
        [8],
        values,
        block=block,
    )


def lz4() -> list[Fixture]:
    ramp = grid("|u1", [64, 32], lambda i, j: (i + 3 * j) % 16)
    far = noise(4000) + bytes(61000) + noise(4000) + bytes(range(200))
    overlap = b"ab" * 500
    return [
        lz4_array("lz4_u1_64x32", "LZ4, compressible bytes", "u1", [64, 32], ramp),
        lz4_array("lz4_i2_10x20", "LZ4 of 16-bit integers", "i2", [10, 20], lambda i, j: i - 5 * (j // 4)),
        lz4_array(
            "lz4_f4_16x16",
            "LZ4 of single precision, special values among them",
            "f4",
            [16, 16],
            (ints(4, F32) * 22)[:1024],
        ),
        lz4_array("lz4_v80_records", "LZ4 of user-defined records", "v80", [4], records()),
        lz4_array(
            "lz4_grown_128",
            "incompressible: 130 stored bytes for 128, kept as the C tool does",
            "u1",
            [128],
            noise(128),
        ),
        lz4_array(
            "lz4_far_matches",
            "long literals, a match of 61 KB, one from 65000 bytes back",
            "u1",
            [len(far)],
            far,
        ),
        lz4_array(
            "lz4_overlap",
            "a match that runs into its own output",
            "u1",
            [1000],
            overlap,
            block=lz4_block.sequence(b"ab", 2, 990) + lz4_block.sequence(overlap[992:]),
        ),
        lz4_array("lz4_one_byte", "the smallest block with content", "u1", [], b"\xa5"),
        lz4_array("lz4_empty", "an empty array is still a block of one byte", "f8", [0, 4], b""),
        lz4_array(
            "lz4_be_i4_8x8",
            "decompressed first, then turned to little-endian",
            "i4",
            [8, 8],
            lambda i, j: i - 70000 * (j // 2),
            big=True,
        ),
        same_size(),
    ]


def leb128() -> list[Fixture]:
    return [
        leb128_array(
            "leb128_i2_vectors", "zig-zag LEB128: 00 01 02 7e 8001 8101 d804", "i2", [7], PAGE_VECTORS
        ),
        leb128_array(
            "leb128_i1_256",
            "every 8-bit value; more bytes than plain, so LZ4 has to be ruled out by decoding",
            "i1",
            [256],
            range(-128, 128),
        ),
        leb128_array(
            "leb128_i4", "both ends and every step in length", "i4", [len(signed_edges(4))], signed_edges(4)
        ),
        leb128_array(
            "leb128_i8",
            "both ends and every step in length, up to ten bytes",
            "i8",
            [len(signed_edges(8))],
            signed_edges(8),
        ),
        leb128_array("leb128_u1_256", "every byte value; two bytes from 128 on", "u1", [256], range(256)),
        leb128_array(
            "leb128_u2_2x3", "unsigned matrix; no zig-zag", "u2", [2, 3], [0, 127, 128, 16383, 16384, 65535]
        ),
        leb128_array(
            "leb128_u4",
            "both ends and every step in length",
            "u4",
            [len(unsigned_edges(4))],
            unsigned_edges(4),
        ),
        leb128_array(
            "leb128_u8",
            "both ends and every step in length, up to ten bytes",
            "u8",
            [len(unsigned_edges(8))],
            unsigned_edges(8),
        ),
        leb128_array(
            "leb128_i4_2x3x4",
            "three dimensions, memory order",
            "i4",
            [2, 3, 4],
            [100 * i + 10 * j - k for k in range(4) for j in range(3) for i in range(2)],
        ),
        leb128_array(
            "leb128_bool_9", "Julia's compressed Array{Bool}", "bool", [9], [1, 0, 0, 1, 1, 1, 0, 1, 0]
        ),
        leb128_array("leb128_empty", "no number, no byte", "u4", [0], []),
    ]


def bits() -> list[Fixture]:
    def flat(count: int, about: str) -> Fixture:
        return bit_array(
            f"bits_{count}", about, [count], list(itertools.islice(itertools.cycle(BIT_PATTERN), count))
        )

    return [
        flat(0, "no bit, no word"),
        flat(1, "one bit takes a word"),
        flat(63, "one bit short of a word"),
        flat(64, "a full word"),
        flat(65, "one bit over a word"),
        flat(128, "two full words"),
        bit_array("bits_5x13", "a matrix of bits runs on from word to word", [5, 13], BIT_PATTERN[:65]),
        bit_array(
            "bits_flag_4",
            "the bit-array flag alone, without the one for encoded data",
            [20],
            BIT_PATTERN[:20],
            flags=BITS,
        ),
    ]


def fixtures() -> list[Fixture]:
    return [*lz4(), *leb128(), *bits()]
