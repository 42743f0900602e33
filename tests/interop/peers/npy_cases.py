"""numpy's side of the tests in tests/numpy.rs: writes .npy files, and compares what came of them.

    npy_cases.py write DIR       every dtype, order and shape of the list below, by numpy.save
    npy_cases.py compare A B C   each file of A was converted to B by way of RawArray, and to C directly
    npy_cases.py expect DIR      DIR holds numbered .npy files converted from RawArray files of the numbers 0, 1, 2, …

Nothing is ever unpickled.
"""

import os
import sys

import numpy as np

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (1, 5), (5, 1), (3, 4), (4, 3, 2), (2, 1, 3, 2)]

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]

# What RawArray has no type for, and keeps as opaque bytes.
OPAQUE = [
    "S1", "S5", "U1", "U3", "V1", "V7",
    "M8[ns]", "M8[D]", "M8[25s]", "m8[us]",
    [("x", "f4"), ("y", "i2")],
    [("id", "u8"), ("name", "U4"), ("at", "M8[s]"), ("ok", "?")],
    [("position", "f4", (3,)), ("matrix", "c8", (2, 2)), ("inner", [("a", "i1"), ("b", "f8")])],
    {"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [0, 8], "itemsize": 24},
]

SWAPPED = ["i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16", "U3", "M8[ns]", [("x", ">f4"), ("y", ">i2"), ("s", "S3")]]


def dtypes():
    for name in NUMBERS + OPAQUE:
        yield np.dtype(name)
    yield np.dtype("?")
    for name in SWAPPED:
        yield np.dtype(name).newbyteorder(">")


def values(dtype, count):
    """Bytes that are legal for the type, all different where they can be."""
    if dtype.names is not None:
        array = np.zeros(count, dtype)
        for name in dtype.names:
            field = array[name]
            field[...] = values(field.dtype, field.size).reshape(field.shape)
        return array
    if dtype.kind == "b":
        return np.arange(count) % 3 == 1
    if dtype.kind == "f":
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.1])
        return np.resize(np.concatenate([special, np.arange(8) / 3]), count).astype(dtype)
    if dtype.kind == "c":
        real = values(np.dtype("f8"), count)
        return (real + 1j * np.arange(count)).astype(dtype)
    if dtype.kind in "Mm":
        return (np.arange(count, dtype="i8") * 86399 - 5).view(dtype.newbyteorder("=")).astype(dtype)
    if dtype.kind == "U":
        letters = "aé\u20ac\U0001f600"
        return np.array([letters[i % 4] * (i % 3 + 1) for i in range(count)], dtype)
    if dtype.kind == "S":
        return np.array([bytes([97 + i % 26]) * (i % 5 + 1) for i in range(count)], dtype)
    # Integers of both signs, and opaque bytes.
    return np.frombuffer(bytes(i * 89 % 251 + 3 for i in range(count * dtype.itemsize)), dtype)


def little(dtype):
    return dtype.newbyteorder("<")


def cases():
    for number, dtype in enumerate(dtypes()):
        for shape in SHAPES:
            array = values(dtype, int(np.prod(shape, dtype=int))).reshape(shape)
            for order in "CF":
                if order == "F" and len(shape) < 2:
                    continue
                name = f"{number:02}_{'x'.join(map(str, shape)) or 'scalar'}_{order}.npy"
                yield name, np.asarray(array, order=order)


def write(folder):
    for name, array in cases():
        np.save(os.path.join(folder, name), array, allow_pickle=False)


def same(a, b):
    """Equal byte by byte, but for what lies between the fields of a record, which numpy itself does not copy."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.names is not None:
        return all(same(a[name], b[name]) for name in a.dtype.names)
    return a.tobytes() == b.tobytes()


def header(path):
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return read(file)


def load(folder, name):
    return np.load(os.path.join(folder, name), allow_pickle=False)


def compare(folder, by_rawarray, direct):
    problems = []
    names = sorted(os.listdir(folder))
    for other in (by_rawarray, direct):
        if sorted(os.listdir(other)) != names:
            problems.append(f"{other}: other files")
    for name in names:
        source = load(folder, name)
        back = load(by_rawarray, name)
        wanted = source.astype(little(source.dtype))
        kept = source.dtype.kind in "biufc"
        dtype = wanted.dtype if kept else np.dtype(f"V{source.dtype.itemsize}")
        if back.dtype != dtype or back.dtype.str != dtype.str:
            problems.append(f"{name}: {source.dtype} came back as {back.dtype}, not {dtype}")
        # By way of RawArray every array is column major.
        if not back.flags.f_contiguous:
            problems.append(f"{name}: came back in another order")
        if back.dtype.itemsize != wanted.dtype.itemsize or not same(back.view(wanted.dtype), wanted):
            problems.append(f"{name}: other values by way of RawArray")
        with open(os.path.join(folder, name), "rb") as a, open(os.path.join(direct, name), "rb") as b:
            if a.read() != b.read():
                problems.append(f"{name}: a direct conversion is not the same file")
    return len(names), problems


def expect(folder):
    """Names are NUMBER_DTYPE_SHAPE.npy; element k in column-major order is k, complex ones k - 1j * k."""
    problems = []
    names = sorted(os.listdir(folder))
    for name in names:
        _, dtype, shape = name.removesuffix(".npy").split("_")
        dtype = np.dtype(dtype)
        shape = () if shape == "scalar" else tuple(int(dim) for dim in shape.split("x"))
        numbers = np.arange(np.prod(shape, dtype=int))
        numbers = (numbers - 1j * numbers if dtype.kind == "c" else numbers).astype(dtype)
        wanted = numbers.reshape(shape, order="F")
        path = os.path.join(folder, name)
        array = load(folder, name)
        if array.dtype.str != wanted.dtype.str or array.shape != shape or not np.array_equal(array, wanted):
            problems.append(f"{name}: {array.dtype.str} {array.shape} {array.ravel(order='F')[:8]}")
        # numpy marks what lies the same in both orders as C.
        plain = sum(dim > 1 for dim in shape) < 2 or 0 in shape
        if header(path)[1] == plain:
            problems.append(f"{name}: fortran_order is {header(path)[1]}")
    return len(names), problems


def main():
    command, *folders = sys.argv[1:]
    if command == "write":
        write(*folders)
        return
    count, problems = {"compare": compare, "expect": expect}[command](*folders)
    print("\n".join(problems[:20]), file=sys.stderr)
    if problems or not count:
        sys.exit(f"{len(problems)} problems in {count} files")
    print(count)


if __name__ == "__main__":
    main()
