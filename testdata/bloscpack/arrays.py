"""numpy arrays, as Bloscpack writes them."""

import numpy as np

import tool
from parts import Fixture, as_array, compact, section, v3

COUNT = 60


def simple(dtype: str) -> np.ndarray:
    """0, 1, 2, … in whatever way the type has of saying it."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.arange(COUNT) % 3 == 0
    if kind.kind in "SU":
        return np.array([f"{number:x}" if number % 7 else "\u00e9\u65e5"[: kind.kind == "U"] for number in range(COUNT)]).astype(kind)
    if kind.kind == "V":
        return np.arange(COUNT * kind.itemsize, dtype="u1").view(kind)
    if kind.kind in "mM":
        return (np.arange(COUNT, dtype="i8") * 86_400_007 - 5).astype("i8").view(kind.str.replace(">", "<")).astype(kind)
    numbers = np.arange(COUNT, dtype="f8")
    if kind.kind == "c":
        return (numbers - 1j / (numbers + 1)).astype(kind)
    if kind.kind == "f":
        return (numbers / 7 - 3).astype(kind)
    return (numbers - (20 if kind.kind == "i" else 0)).astype(kind)


SIMPLE = (
    "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
    ">i2", ">i4", ">u8", ">f2", ">f8", ">c16", "|S5", "|S1", "<U3", ">U3", "<M8[ms]", ">M8[D]", "<m8[25us]",
    "|V4", "|V13",
)  # fmt: skip

RECORDS = (
    ("plain", "three fields, one big-endian", [("a", "<i4"), ("b", ">f8"), ("c", "|S2")]),
    ("nested", "a field of fields, with a sub-array", [("a", "<i4"), ("b", [("x", "<f8"), ("y", "<i2", (2,))])]),
    ("title", "a field with a title", [(("the title", "n"), "<i4"), ("m", "<u2")]),
    ("matrix", "a field of 2 by 3 numbers", [("m", "<f4", (2, 3)), ("flag", "|b1")]),
    ("names", "field names outside ASCII and with quotes", [("\u00e9", "<i4"), ('say "it\'s"', "<i2")]),
    ("one", "a single field", [("only", "<f8")]),
)  # fmt: skip


def fixtures() -> list[Fixture]:
    found = [made(f"np_{word(dtype)}", f"numpy {dtype}", simple(dtype), chunk(dtype)) for dtype in SIMPLE]
    for name, about, fields in RECORDS:
        dtype = np.dtype(fields)
        raw = (np.arange(40 * dtype.itemsize) % 59).astype("u1")
        if "flag" in dtype.names:
            raw = raw % 2
        found.append(made(f"np_record_{name}", f"numpy record: {about}", raw.view(dtype), 7 * dtype.itemsize))
    return [*found, aligned(), *shapes(), long_double()]


def word(dtype: str) -> str:
    """The type as a part of a file name."""
    order = "be_" if dtype[0] == ">" else ""
    return order + dtype[1:].lower().replace("[", "_").replace("]", "")


def chunk(dtype: str) -> int:
    return 16 * np.dtype(dtype).itemsize


def made(name: str, about: str, array: np.ndarray, chunk_size: int, **options: object) -> Fixture:
    file = tool.pack(array, chunk_size=max(chunk_size, 1), **options)
    back = tool.array(file)
    assert back.tobytes() == array.tobytes() and back.shape == array.shape, name
    return Fixture(name, about, file, producer=tool.PRODUCER, **as_array(array))


def aligned() -> Fixture:
    """Padding is a field without a name; what it holds is kept."""
    dtype = np.dtype([("a", "|i1"), ("b", "<f8")], align=True)
    array = np.arange(30 * dtype.itemsize, dtype="u1").view(dtype)
    file = tool.pack(array, chunk_size=10 * dtype.itemsize)
    # Bloscpack itself calls the padding f1.
    assert tool.array(file).dtype.names == ("a", "f1", "b")
    return Fixture(
        "np_record_aligned", "numpy record with padding", file, producer=tool.PRODUCER, **as_array(array)
    )


def shapes() -> list[Fixture]:
    cube = np.arange(2 * 3 * 4, dtype="<i4").reshape(2, 3, 4)
    wide = np.arange(900, dtype="<f8").reshape(30, 30) / 8
    rows = np.arange(1000, dtype=">i2").reshape(50, 20)
    cases = (
        ("np_2x3x4", "three axes", cube, 1 << 20),
        ("np_2x3x4_f", "three axes, column-major", np.asfortranarray(cube), 1 << 20),
        ("np_30x30", "chunks that end inside rows", wide, 1000),
        ("np_30x30_f", "column-major, chunks that end inside columns", np.asfortranarray(wide), 1000),
        ("np_50x20_be_f", "big-endian and column-major", np.asfortranarray(rows), 250),
        ("np_0d", "no axis: one element", np.array(2.5, "<f8"), 1 << 20),
        ("np_empty", "no element", np.zeros(0, "<i4"), 1 << 20),
        ("np_3x0x2", "no element, three axes", np.zeros((3, 0, 2), "<f4"), 1 << 20),
        ("np_1x7_f", "one row is in both orders, and said to be row-major", np.asfortranarray(np.arange(7, dtype="<i8").reshape(1, 7)), 16),
        ("np_strided", "every other element of an array, copied", np.arange(200, dtype="<u4")[::2], 100),
        ("np_transposed_3d", "axes in no order, copied row-major", cube.transpose(1, 0, 2), 40),
        ("np_8d", "eight axes", np.arange(256, dtype="|u1").reshape([2] * 8), 64),
    )  # fmt: skip
    found = [made(*case) for case in cases]
    found.append(made("np_bitshuffle", "bit shuffle, zstd, sha256", wide, 2000, codec="zstd", shuffle=2, checksum="sha256"))
    found.append(made("np_no_offsets", "without offsets and checksums", wide, 2000, offsets=False, checksum="None"))
    return found


def long_double() -> Fixture:
    """The type of another machine's C compiler, said in numpy's words."""
    raw = bytes(range(64))
    described = {"dtype": "'<f16'", "shape": [4], "order": "C", "container": "numpy"}
    file = v3([tool.chunk(raw, 16, 0)], typesize=16, metadata=section(compact(described)))
    return Fixture(
        "np_f16",
        "x87 long doubles as numpy names them on x86",
        file,
        producer=f"make.py, {tool.PRODUCER}",
        dtype="<f16",
        shape=[4],
        values=raw,
    )
