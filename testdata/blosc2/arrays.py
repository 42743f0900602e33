"""Arrays as both releases write them: types, shapes, partitions, special values."""

import math

import numpy as np

import tool
from parts import Fixture, numbers

RECORD = [("a", "<i4"), ("b", "<f8", (2,)), ("c", [("x", ">i2"), ("y", "S3")])]
SPLIT = {"codec": "lz4", "clevel": 5}


def written(
    peer: tool.Peer, name: str, about: str, array: np.ndarray, chunks: tuple[int, ...], blocks: tuple[int, ...],
    *steps: list[object], sparse: bool = False, reference: bool = True, **more: object,
) -> Fixture:  # fmt: skip
    """`array` as `peer` writes it."""
    dtype = array.dtype.str if array.dtype.names is None else array.dtype.descr
    values = {} if "special" in more else {"hex": array.tobytes().hex()}
    data = tool.made(
        peer, "write", ".b2nd", *steps, dtype=dtype, shape=array.shape, chunks=chunks, blocks=blocks, sparse=sparse,
        **values, **more,
    )  # fmt: skip
    return Fixture(name, about, data, ".b2nd", producer=peer.producer, array=array, reference=reference)


def records(count: int) -> np.ndarray:
    made = np.zeros(count, RECORD)
    made["a"] = numbers("i4", count)
    made["b"] = numbers("f8", count, 2)
    made["c"]["x"] = numbers("i2", count, seed=3)
    made["c"]["y"] = [b"abc", b"de", b"", b"f"] * (count // 4)
    return made


def of_types() -> dict[str, np.ndarray]:
    found = {}
    for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
        found[dtype] = numbers(dtype, 6, 9)
    for dtype in "i2 u4 f8 c8 i8".split():
        found[f"big_{dtype}"] = numbers(f">{dtype}", 6, 9)
    found["bool"] = numbers("i4", 6, 9) % 3 == 0
    found["S5"] = np.array([b"a", b"bc", b"", b"defgh", b"x\0y"] * 6, "S5").reshape(5, 6)
    found["S300"] = np.array([bytes([65 + it]) * (7 * it) for it in range(8)], "S300").reshape(2, 4)
    found["U7"] = np.array(["a", "größe", "", "漢字かな", "🦀"] * 6, "<U7").reshape(5, 6)
    found["big_U3"] = np.array(["abc", "é", ""] * 4, ">U3").reshape(2, 6)
    found["M8_ns"] = np.array(["1970-01-01", "NaT", "2262-04-11", "1677-09-22"] * 6, "M8[ns]").reshape(4, 6)
    found["m8_s"] = np.array([-5, 0, 7, 2**40] * 6, "m8[s]").reshape(4, 6)
    found["M8_25_us"] = np.array([-5, 0, 7, 2**40] * 6, "M8[25us]").reshape(4, 6)
    found["record"] = records(24).reshape(4, 6)
    found["record_of_one"] = numbers("f4", 24).astype([("only", "<f4")]).reshape(4, 6)
    found["record_names"] = np.zeros(24, [("größe", "<i4"), ("it's", "u1"), ('"', "u1")]).reshape(4, 6)
    return found


SHAPES = {
    "0d": ((), (), ()),
    "1d": ((23,), (10,), (4,)),
    "2d_edges": ((5, 7), (4, 5), (2, 3)),
    "3d": ((5, 6, 7), (3, 4, 4), (2, 2, 3)),
    "4d": ((3, 4, 5, 2), (2, 3, 3, 2), (1, 2, 2, 2)),
    "5d": ((2, 3, 2, 3, 2), (2, 2, 2, 2, 2), (1, 2, 1, 2, 1)),
    "8d": ((2, 1, 2, 1, 3, 1, 2, 1), (1, 1, 2, 1, 2, 1, 2, 1), (1, 1, 1, 1, 2, 1, 2, 1)),
    "one_block": ((6, 6), (6, 6), (6, 6)),
    "one_item": ((1, 1), (1, 1), (1, 1)),
    "chunk_over_shape": ((3, 4), (8, 8), (4, 4)),
    "block_of_one": ((4, 3), (2, 3), (1, 1)),
    "long": ((3, 1000), (2, 300), (1, 128)),
}
EMPTY = {
    "0": ((0,), (1,), (1,)),
    "0_3": ((0, 3), (1, 3), (1, 2)),
    "3_0": ((3, 0), (3, 1), (2, 1)),
    "2_0_4": ((2, 0, 4), (2, 1, 4), (1, 1, 2)),
}


def partitions(array: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(max(1, size - 2) for size in array.shape), tuple(max(1, size // 2) for size in array.shape)


def many_axes() -> list[Fixture]:
    """More than 8 axes is more than the old release has."""
    found = []
    for nd in (9, 15, 16):
        array = numbers("i2", *([2, 1, 3] + [1] * (nd - 4) + [2]))
        chunks = tuple([1, 1, 2] + [1] * (nd - 4) + [2])
        blocks = tuple([1, 1, 2] + [1] * (nd - 4) + [1])
        about = f"{nd} axes" + (", the marker of whose lists is 0xA0" if nd == 16 else "")
        found.append(written(tool.new(), f"nd_{nd}", about, array, chunks, blocks))
    return found


def specials(peer: tool.Peer, start: str) -> list[Fixture]:
    shape, chunks, blocks = (7, 9), (4, 5), (2, 3)
    full = {
        "f8": np.float64(7.5), "i2": np.int16(-3), "S300": np.bytes_(b"abc" * 99), "record": records(4)[1],
    }  # fmt: skip
    found = [
        written(peer, f"{start}zeros", "zeros, no chunk is stored", np.zeros(shape, "i4"), chunks, blocks, special="zeros"),
        written(peer, f"{start}uninit", "uninitialised, no chunk is stored: read as zeros", np.zeros(shape, "f8"), chunks, blocks, special="uninit", reference=False),
        *(
            written(peer, f"{start}nans_{dtype}", "not a number, no chunk is stored", np.full(shape, np.nan, dtype), chunks, blocks, special="nans")
            for dtype in ("f4", "f8")
        ),
    ]  # fmt: skip
    for name, value in full.items():
        if peer is tool.old() and name == "S300":
            continue  # it repeats its first byte alone
        array = np.full(shape, value, value.dtype)
        about = "one value throughout, stored once for each chunk"
        found.append(written(peer, f"{start}full_{name}", about, array, chunks, blocks, special="full", value=value.tobytes().hex()))
    return found


def fixtures() -> list[Fixture]:
    new, old = tool.new(), tool.old()
    found = [
        written(new, f"type_{name}", f"elements {array.dtype}", array, *partitions(array), cparams=SPLIT)
        for name, array in of_types().items()
    ]
    found += [
        written(new, f"shape_{name}", f"shape {shape}, chunks {chunks}, blocks {blocks}", numbers("i4", *shape), chunks, blocks)
        for name, (shape, chunks, blocks) in {**SHAPES, **{f"empty_{name}": it for name, it in EMPTY.items()}}.items()
    ]
    found += [*many_axes(), *specials(new, "")]
    for name in ("i4", "big_i2", "f8", "U7", "record", "bool", "M8_ns"):
        array = of_types()[name]
        found.append(written(old, f"old_type_{name}", f"elements {array.dtype}", array, *partitions(array)))
    for name in ("0d", "2d_edges", "3d", "8d", "chunk_over_shape"):
        shape, chunks, blocks = SHAPES[name]
        found.append(written(old, f"old_shape_{name}", f"shape {shape}, chunks {chunks}, blocks {blocks}", numbers("i4", *shape), chunks, blocks))
    found += specials(old, "old_")
    assert all(math.prod(it.array.shape) < 10000 for it in found)
    return found
