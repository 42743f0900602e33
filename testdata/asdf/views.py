"""Views of one base, orders, masks and records, as three releases of Python asdf write them."""

import numpy as np

from parts import Fixture, numbers
from written import PEERS, asked, one

BASE = numbers("<f4", 4, 6)
SAVE = {"default_array_save_base": True}


def views(release: str) -> list[Fixture]:
    slices = {
        "rows": [[None, None, 2]], "columns": [[None, None, None], [1, 4, None]], "back": [[None, None, -1], [None, None, -2]], "row": [2], "one": [1, 1],
        "none": [[0, 0, None]],
    }  # fmt: skip
    tree = {"base": asked(BASE, name="base")} | {name: {"$array": {"of": "base", "slices": it}} for name, it in slices.items() if name != "one"}
    arrays = {name: BASE[tuple(slice(*it) if isinstance(it, list) else it for it in parts)] for name, parts in slices.items() if name != "one"}
    fortran = {"f": asked(BASE, order="F"), "g": asked(numbers(">i2", 2, 3, 4), order="F"), "back": asked(numbers("<i4", 9), slices=[[None, None, -1]])}
    return [
        one(release, "views_written", "views that share one block", tree, config=SAVE, more={"arrays": {"base": BASE} | arrays}),
        one(release, "views_apart", "views, as saved by default", tree, more={"arrays": {"base": BASE} | arrays}),
        one(release, "orders_written", "arrays column by column, and one backwards", fortran, more={"arrays": {"f": BASE, "g": numbers(">i2", 2, 3, 4)}}),
        one(release, "same_written", "one array at two places", {"a": {"$named": ["x", asked(BASE)]}, "b": {"$same": "x"}}, more={"arrays": {"a": BASE, "b": BASE}}),
    ]  # fmt: skip


def masks(release: str) -> list[Fixture]:
    holes = np.arange(24).reshape(4, 6) % 5 == 0
    tree = {"a": asked(BASE, mask=asked(holes)), "b": asked(numbers(">i2", 3), mask=asked(np.array([True, False, True])))}
    return [one(release, "masks_written", "masked arrays", tree)]


def records(release: str) -> list[Fixture]:
    dtype = np.dtype([("id", "<u4"), ("pos", ">f8", (3,)), ("name", "S5"), ("word", "<U3"), ("in", [("x", ">i2"), ("flag", "?")])])
    rows = np.zeros((2, 2), dtype)
    rows["id"] = [[1, 2], [3, 4]]
    rows["pos"] = numbers(">f8", 2, 2, 3)
    rows["name"] = [[b"a", b"bcd"], [b"", b"efghi"]]
    rows["word"] = [["é", ""], ["xyz", "日"]]
    rows["in"]["x"] = [[-1, 2], [300, -400]]
    rows["in"]["flag"] = [[True, False], [False, True]]
    described = [["id", "<u4"], ["pos", ">f8", [3]], ["name", "|S5"], ["word", "<U3"], ["in", [["x", ">i2"], ["flag", "|b1"]]]]
    node = {"$array": {"dtype": described, "shape": [2, 2], "hex": rows.tobytes().hex()}}
    return [one(release, "records_written", "records in records, and arrays in them", {"a": node}, more={"arrays": {"a": rows}})]


def fixtures() -> list[Fixture]:
    return [it for release in PEERS for make in (views, masks, records) for it in make(release)]
