"""Arrays by hand: every element type, where elements stand in a block, what stands in the tree, and masks."""

import numpy as np

from parts import Fixture, block, file, ndarray, numbers
from values import noise

SCALARS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?", "S3", "U3")
BASE = numbers("<i4", 24)
BLOCK = block(BASE.tobytes())


def ok(name: str, about: str, body: str, *blocks: bytes, **more: object) -> Fixture:
    return Fixture(name, about, file(body, *blocks), **more)


def types() -> list[Fixture]:
    made = []
    for order, word in (("<", "little"), (">", "big")):
        kinds = {f"t{it.lower() if it != '?' else 'bool'}": np.dtype(order + it) for it in SCALARS}
        values = {name: numbers(kind.str, 2, 5, seed=at) for at, (name, kind) in enumerate(kinds.items())}
        body = "".join(
            ndarray(name, at, order + kind.str[1:], [2, 5]) for at, (name, kind) in enumerate(kinds.items())
        )
        blocks = [block(it.tobytes()) for it in values.values()]
        made.append(ok(f"types_{word}", f"every scalar type, {word}-endian", body, *blocks, arrays=values))
    odd = "".join(
        f"{name}: !core/ndarray-1.0.0 {{source: {at}, datatype: {name}, byteorder: little, shape: [2]}}\n"
        for at, name in enumerate(("int128", "uint128", "complex32"))
    )
    blocks = [block(noise(size)) for size in (32, 32, 8)]
    extreme = np.array([0, 1, -1, np.inf, -np.inf, np.nan, -0.0, 5e-324, 1.7976931348623157e308], "<f8")
    whole = np.array([-(2**63), 2**63 - 1, 0, -1], ">i8")
    nans = np.array([0x7FC00001, 0xFFC00000, 0x7F800001], "<u4").view("<f4")
    body = ndarray("f", 0, "<f8", [9]) + ndarray("i", 1, ">i8", [4]) + ndarray("n", 2, "<f4", [3])
    return [
        *made,
        ok("types_wide", "types of 16 bytes and half complex numbers, as ASDF.jl and asdf-cxx write them", odd, *blocks, reference="it has no such types"),
        ok("extremes", "the ends of number types, infinities, and NaN of several bits", body, *[block(it.tobytes()) for it in (extreme, whole, nans)], arrays={"f": extreme, "i": whole, "n": nans}),
    ]  # fmt: skip


def geometry() -> list[Fixture]:
    grid = BASE.reshape(4, 6)

    def one(name: str, about: str, array: np.ndarray, *, data: np.ndarray = BASE, **more: str) -> Fixture:
        offset = array.__array_interface__["data"][0] - data.__array_interface__["data"][0]
        keys = {"offset": offset} if offset else {}
        if not array.flags.c_contiguous or more.pop("always", False):
            keys["strides"] = list(array.strides)
        body = ndarray("a", 0, "<i4", array.shape, **keys)
        return ok(f"view_{name}", about, body, block(data.tobytes()), arrays={"a": array}, **more)

    raw = np.frombuffer(noise(41), "u1")
    wide = np.frombuffer(raw, "<i4", 10, 1)
    lapping = np.lib.stride_tricks.as_strided(BASE, (5, 4), (8, 4))
    still = np.lib.stride_tricks.as_strided(BASE, (3, 4), (0, 4))
    shared = ndarray("whole", 0, "<i4", [24]) + ndarray("row", 0, "<i4", [6], offset=24) + ndarray("column", 0, "<i4", [4], offset=8, strides=[24])
    shared += ndarray("bytes", 0, "|u1", [96]) + ndarray("other", 0, ">i2", [48]) + "nested:\n- " + ndarray("x", 0, "<i4", [2], offset=88).replace("\n", "\n  ").rstrip() + "\n"
    sources = ndarray("a", -1, "<i4", [24]) + ndarray("b", -2, "<i4", [6]) + ndarray("c", 0, "<i4", [6])
    star = ndarray("a", 0, "<i4", ["'*'", 2], strides=[24, 8]) + ndarray("b", 0, "<i4", ["'*'", 6], offset=48)
    return [
        one("offset", "behind an offset", BASE[5:]),
        one("rows", "every second row", grid[::2]),
        one("columns", "some columns", grid[:, 1:4]),
        one("steps", "every second row, every third column", grid[1::2, ::3]),
        one("fortran", "column by column", np.asarray(BASE.reshape(6, 4).T)),
        one("fortran_3d", "column by column, of three axes", np.asarray(BASE.reshape(2, 3, 4).transpose(2, 1, 0))),
        one("swapped", "two of three axes swapped", np.asarray(BASE.reshape(2, 3, 4).swapaxes(0, 1))),
        one("backwards", "backwards", BASE[::-1]),
        one("backwards_both", "both axes backwards, with steps", grid[::-2, ::-3]),
        one("mixed_signs", "one axis backwards", grid[:, ::-1]),
        one("zero_axes", "no axis: one number", BASE[7:8].reshape(())),
        one("axis_of_one", "axes of one element, and strides that are never taken", BASE[3:5].reshape(1, 2, 1), always=True),
        one("no_rows", "an axis of length 0", grid[2:2]),
        one("no_columns", "the last axis of length 0", grid[:, 3:3].reshape(4, 0)),
        one("unaligned", "an offset that is no multiple of the size", wide, data=raw),
        one("overlapping", "rows that overlap", lapping),
        one("zero_stride", "the same row three times, by a stride of 0", still, reference="its default refuses none, but its schema does"),
        one("eight_axes", "eight axes", BASE.reshape(1, 2, 1, 3, 1, 2, 1, 2).transpose(7, 6, 5, 4, 3, 2, 1, 0)),
        ok("view_shared", "several arrays on one block, of several types", shared, BLOCK),
        ok("source_negative", "blocks counted from the end", sources, block(BASE[:6].tobytes()), BLOCK),
        ok("star_strides", "a first axis of any length, with strides and behind an offset", star, BLOCK, reference="it counts rows from the start of the block"),
    ]  # fmt: skip


def records() -> list[Fixture]:
    nested = np.dtype([("a", "<i2"), ("b", [("x", ">f4"), ("y", "<c8", (2,))]), ("c", "S3"), ("d", ">U2", (2, 2)), ("e", "?")])
    values = np.frombuffer(noise(nested.itemsize * 3), nested).copy()
    values["c"], values["d"], values["e"] = [b"ab", b"", b"xyz"], "né", [True, False, True]
    fields = """
  - {name: a, datatype: int16}
  - name: b
    datatype:
    - {name: x, datatype: float32, byteorder: big}
    - {name: y, datatype: complex64, shape: [2]}
  - {name: c, datatype: [ascii, 3]}
  - {name: d, datatype: [ucs4, 2], byteorder: big, shape: [2, 2]}
  - {name: e, datatype: bool8}"""
    plain = np.dtype([("f0", "<i2"), ("f1", "<f8"), ("f2", "S5")])
    simple = np.frombuffer(noise(plain.itemsize * 4), plain).copy()
    simple["f2"] = [b"a", b"bc", b"def", b""]

    def one(name: str, about: str, datatype: str, array: np.ndarray, order: str = "little", **more: object) -> Fixture:
        body = f"a: !core/ndarray-1.1.0\n  source: 0\n  datatype: {datatype}\n  byteorder: {order}\n  shape: {list(array.shape)}\n"
        return ok(f"record_{name}", about, body, block(array.tobytes()), arrays={"a": array}, **more)

    pair = np.dtype([("f0", ">i4"), ("f1", "<i4")])
    single = np.dtype([("only", "<f4")])
    twelve = np.frombuffer(noise(24), pair)
    spelled = np.dtype([("é", "<i2"), ("a/b", "<i2"), ("x y", "<i2")])
    return [
        one("nested", "records in records, arrays in them, and an order of bytes for each", fields, values),
        one("unnamed", "fields without names", "[int16, float64, [ascii, 5]]", simple),
        one("orders", "fields of both orders, of an array that is big-endian", "[int32, {datatype: int32, byteorder: little}]", twelve, "big"),
        one("one_field", "one field", "[{name: only, datatype: float32}]", np.frombuffer(noise(12), single)),
        one("names", "names with signs of their own", "[{name: é, datatype: int16}, {name: a/b, datatype: int16}, {name: x y, datatype: int16}]", np.frombuffer(noise(12), spelled).reshape(2, 1)),
        one("strings", "two strings: no record of [ascii, 5]", "[[ascii, 5], [ucs4, 1]]", np.array([(b"abc", "é"), (b"", "z")], [("f0", "S5"), ("f1", "<U1")])),
    ]  # fmt: skip


def inline() -> list[Fixture]:
    def one(name: str, about: str, node: str, array: np.ndarray | None = None, **more: object) -> Fixture:
        arrays = {"a": array} if array is not None else None
        return ok(f"inline_{name}", about, f"a: !core/ndarray-1.1.0 {node}\n", arrays=arrays, **more)

    record = np.array([(1, b"abc"), (2, b"de")], [("f0", "<i2"), ("f1", "S5")])
    return [
        one("bare", "a bare list", "[1, 2, 3]", np.array([1, 2, 3], "<i8")),
        one("nested", "a list of lists", "[[1, 2], [3, 4], [5, 6]]", np.array([[1, 2], [3, 4], [5, 6]], "<i8")),
        one("floats", "floats and integers", "[1, 2.5, .inf, -.inf, .nan, 1.0e+300]", np.array([1, 2.5, np.inf, -np.inf, np.nan, 1e300], "<f8"), reference="its NaN has a sign"),
        one("bools", "booleans", "[true, no, ON]", np.array([True, False, True])),
        one("mixed", "a boolean among numbers", "[true, 2, 0.5]", np.array([1, 2, 0.5], "<f8")),
        one("strings", "strings, of which the longest counts", "[a, bcd, '', é]", np.array(["a", "bcd", "", "é"], "<U3")),
        one("complex", "complex numbers", "[!core/complex-1.0.0 1+2j, 3, 0.5]", np.array([1 + 2j, 3, 0.5], "<c16")),
        one("empty", "an empty list", "[]", np.array([], "<f8")),
        one("empty_rows", "two empty lists", "[[], []]", np.zeros((2, 0), "<f8")),
        one("typed", "with a type", "{data: [[1, 2], [3, 4]], datatype: int16, byteorder: little, shape: [2, 2]}", np.array([[1, 2], [3, 4]], "<i2")),
        one("typed_float", "integers as floats of 32 bits", "{data: [1, 0.1, 3], datatype: float32}", np.array([1, 0.1, 3], "<f4")),
        one("typed_ascii", "ASCII with a type that is longer", "{data: [abc, d], datatype: [ascii, 5]}", np.array([b"abc", b"d"], "S5")),
        one("typed_ucs4", "text with a type that is longer", "{data: [é, 😀], datatype: [ucs4, 3]}", np.array(["é", "😀"], "<U3")),
        one("typed_uint64", "the largest integer of 64 bits", "{data: [0, 18446744073709551615], datatype: uint64}", np.array([0, 2**64 - 1], "<u8")),
        one("record", "records", "{data: [[1, abc], [2, de]], datatype: [int16, [ascii, 5]], shape: [2]}", record, reference="it cannot tell rows from records"),
        one("masked", "elements that are missing", "{data: [1, null, 3], datatype: int32}", np.array([1, 0, 3], "<i4"), reference="what stands under the mask is its own"),
        one("masked_bare", "elements that are missing, of a bare list", "[1.5, null, 3]", np.array([1.5, 0, 3], "<f8"), reference="it makes them objects"),
        one("block_style", "one element a line", "\n  data:\n  - - 1\n    - 2\n  - - 3\n    - 4\n  datatype: uint8", np.array([[1, 2], [3, 4]], "u1")),
    ]  # fmt: skip


def masks() -> list[Fixture]:
    a = numbers("<f8", 4, 3)
    a[1, 1] = np.nan
    holes = (np.arange(12).reshape(4, 3) % 3 == 0)

    def one(name: str, about: str, mask: str, *blocks: bytes, **more: object) -> Fixture:
        return ok(f"mask_{name}", about, ndarray("a", 0, "<f8", [4, 3], mask=mask), block(a.tobytes()), *blocks, arrays={"a": a}, **more)

    of_blocks = "!core/ndarray-1.1.0 {source: 1, datatype: bool8, byteorder: big, shape: %s}"
    small = holes[0]
    return [
        one("value", "a number that means missing", "-4.75"),
        one("integer", "an integer that means missing", "5"),
        one("nan", "NaN means missing", ".nan"),
        one("complex", "a complex number that means missing", "!core/complex-1.0.0 1+1j", reference="it wants a real number"),
        one("array", "an array of booleans", of_blocks % "[4, 3]", block(holes.tobytes())),
        one("broadcast", "an array of booleans, for every row the same", of_blocks % "[3]", block(small.tobytes()), reference="it wants masks of the same shape"),
        one("inline", "booleans in the tree", "!core/ndarray-1.1.0 {data: [[true], [false], [true], [false]], datatype: bool8}", reference="it wants masks of the same shape"),
        one("same_inline", "a boolean for each element, in the tree", "!core/ndarray-1.1.0 [[true, false, true], [false, false, false], [no, yes, no], [on, off, true]]"),
    ]  # fmt: skip


def paths() -> list[Fixture]:
    node = "!core/ndarray-1.1.0 {source: 0, datatype: int32, byteorder: little, shape: [24]}"
    twice = f"a: &x {node}\nb: *x\nc:\n- *x\n- {{d: *x}}\n"
    cycle = f"a: &m\n  data: {node}\n  self: *m\n  list: &l [*m, *l]\n"
    names = f"'a/b': {node}\n'~': {node}\n'~1': {{'': {node}}}\n'é x': {node}\n2: {node}\ntrue: {node}\nnull: [{node}]\n1.5: {node}\n"
    merged = f"base: &b\n  data: {node}\n  x: 1\nderived:\n  <<: *b\n  y: 2\n"
    deep = "a: " + "{a: " * 40 + node + "}" * 40 + "\n"
    return [
        ok("path_aliases", "one array that is reached by four paths", twice, BLOCK),
        ok("path_cycle", "a mapping and a list that hold themselves", cycle, BLOCK, reference="it follows the cycle once more"),
        ok("path_names", "names with slashes and tildes, and keys that are no text", names, BLOCK, reference="its paths spell keys otherwise"),
        ok("path_merge", "an array that comes by a merge key", merged, BLOCK),
        ok("path_deep", "an array 40 levels down", deep, BLOCK),
        Fixture("path_root", "the root is an array", file(f"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- {node}\n...\n".encode(), BLOCK), reference="it wants a mapping"),
        Fixture("path_root_list", "the root is a list", file(f"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n- {node}\n- 1\n...\n".encode(), BLOCK), reference="it wants a mapping"),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*types(), *geometry(), *records(), *inline(), *masks(), *paths()]
