"""Files that end early, at every kind of place, and what interrupted writers leave."""

import numpy as np

from labels import DATA, VALUES, lz4_pieces, pieces
from layout import A, B, BLOCKS, BOTH, SIMPLE, TWO
from parts import HEAD, Fixture, block, file, index, ndarray, numbers, places, tree

TEXT = len(HEAD + tree(TWO))
FIRST, SECOND = places(TEXT, BLOCKS)
END = SECOND + len(BLOCKS[1])


def cut(name: str, about: str, data: bytes, at: int, **more: object) -> Fixture:
    return Fixture(f"cut_{name}", about, data[:at], verdict="damaged", **more)


def simple() -> list[Fixture]:
    none = B[:0].astype("<f8")  # within the tree, where no order of bytes is told
    one, two = {"a": A, "b": none}, {"a": A, "b": B[:1]}
    return [
        cut("in_tree", "the file ends within the tree", SIMPLE, TEXT - 80),
        cut("in_directive", "the file ends within the first directive", SIMPLE, len(HEAD) + 6),
        cut("before_dots", "the file ends before the three dots", SIMPLE, TEXT - 4),
        cut("in_dots", "the file ends within the three dots", SIMPLE, TEXT - 2),
        cut("after_tree", "the file ends behind the tree, which has arrays", SIMPLE, TEXT),
        cut("in_magic", "the file ends within the first magic", SIMPLE, FIRST + 2),
        cut("in_block_header", "the file ends within the header of the first block", SIMPLE, FIRST + 30),
        cut("after_block_header", "the file ends behind the header of the first block", SIMPLE, FIRST + 54),
        cut("in_first_block", "the file ends within the first block", SIMPLE, FIRST + 54 + 10, repaired={"a": A[:2], "b": none}),
        cut("after_first_block", "the file ends behind the first block", SIMPLE, SECOND, repaired=one),
        cut("in_second_header", "the file ends within the header of the second block", SIMPLE, SECOND + 53, repaired=one),
        cut("in_second_block", "the file ends within the second block, after its first row", SIMPLE, END - 20, repaired=two),
        cut("last_byte", "the last byte of the last block is missing", SIMPLE, END - 1, repaired=two),
    ]  # fmt: skip


def others() -> list[Fixture]:
    packed = file(ndarray("a", 0, "<u4", VALUES.shape), block(DATA, b"lz4", lz4_pieces(pieces(1000))))
    padded = file(ndarray("a", 0, "<i4", [6]), block(A.tobytes(), allocated=100), indexed=False)
    zeros = SIMPLE[: SECOND + 54] + bytes(len(SIMPLE) - SECOND - 54)
    return [
        cut("lz4", "the file ends within a block of LZ4, in the middle of a piece", packed, len(packed) - 900),
        cut("room", "the file ends within what is set aside for the last block, behind its data", padded, len(padded) - 50, arrays={"a": A}),
        Fixture("cut_zeros", "zeros where the last block's data and the index were, as a lost write leaves them", zeros, verdict="damaged"),
        Fixture("cut_old_end", "the end of a longer file behind a shorter one: half a block, and an index of other places", SIMPLE[:END] + BLOCKS[0][30:] + index([FIRST, SECOND, END]), arrays=BOTH),
        Fixture("cut_tree_twice", "a tree that was written over a longer one, of which the end is left", HEAD + tree("x: 1\n") + b"hape: [6]\n...\n" + BLOCKS[0]),
        Fixture("cut_copied_down", "a block that was copied down, before the old one was cut off", file(TWO, *BLOCKS, indexed=False) + BLOCKS[1] + index([FIRST, SECOND]), arrays=BOTH),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*simple(), *others()]
