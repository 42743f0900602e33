"""The other side of tests/targets/main.rs: numpy digests, zarr-python and astropy read what was converted.

    targets.py write DIR      writes NAME.npy, a file for each type, order and shape
    targets.py digest DIR     prints "NAME DIGEST" for each, by the program of docs/digest.md
    targets.py bytes DIR      writes NAME.bytes for each: the values alone, packed, little-endian, the last axis fastest
    targets.py compare DIR    compares each NAME.*.zarr and NAME.*.fits with NAME.npy, and prints how many there were

NAME.KIND.c0_1.zarr has chunks, codecs and so on as the test asked for; only values, types and shapes are looked at.
"""

import os
import sys
import warnings

import numpy as np

SHAPES = [(), (7,), (3, 4), (4, 3, 5), (0, 3)]
NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = [
    "S5", "U3", "V7", "M8[ns]", "m8[25s]",
    [("x", "f4"), ("name", "S3"), ("at", "M8[s]"), ("inner", [("a", ">i2"), ("b", "?")])],
    {"names": ["a", "b"], "formats": ["i4", ">f8"], "offsets": [0, 8], "itemsize": 24},
]
# Zarr has no word for this one; its digest is looked at all the same.
NO_ZARR = [[("position", "f4", (3,)), ("matrix", ">c8", (2, 2)), ("inner", [("a", "i1"), ("b", "f8")], (2,))]]
SWAPPED = ["i2", "u8", "f4", "f8", "c16", "U3", "M8[ns]"]
IMAGES = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


# The program of the page makes `packed`, `words` and `digest`.
PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "digest.md")
with open(PAGE, encoding="utf-8") as page:
    exec(page.read().split("```python\n")[1].split("```")[0])


def values(dtype, count):
    """Every byte pattern that is legal for the type; NaN with payloads and -0.0 among them."""
    if dtype.names is not None:
        array = np.zeros(count, dtype)
        for name in dtype.names:
            field = array[name]
            field[...] = values(field.dtype, field.size).reshape(field.shape)
        return array
    if dtype.kind == "b":
        return np.arange(count) % 3 == 1
    if dtype.kind == "S":
        return np.array([b"ab\xff\0z"[: i % 5 + 1] for i in range(count)], dtype)
    if dtype.kind == "U":
        return np.array(["aé\U0001f600"[: i % 3 + 1] for i in range(count)], dtype)
    random = np.random.default_rng(count * 7 + dtype.itemsize)
    bytes_ = random.integers(0, 256, count * dtype.itemsize, dtype=np.uint8)
    array = bytes_.view(np.dtype(dtype).newbyteorder("<") if dtype.kind != "V" else dtype)[:count]
    if dtype.kind in "fc" and count > 3:
        flat = array.view(f"<f{dtype.itemsize // (2 if dtype.kind == 'c' else 1)}")
        flat[:3] = [-0.0, np.nan, np.inf]
    return array.view(dtype) if dtype.byteorder == "<" else array.astype(dtype)


def write(folder):
    plain = [np.dtype(name) for name in NUMBERS + OTHERS + NO_ZARR]
    swapped = [np.dtype(name).newbyteorder(">") for name in SWAPPED]
    number = 0
    for dtype in plain + swapped:
        kind = "none" if dtype.names and any(dtype[name].shape for name in dtype.names) else "zarr"
        image = dtype.names is None and dtype.str[1:] in IMAGES
        for shape in SHAPES:
            array = values(dtype, int(np.prod(shape))).reshape(shape)
            for order in "CF" if len(shape) > 1 else "C":
                name = f"{number:03}_{kind}_{'image' if image else 'other'}_{order}"
                np.save(os.path.join(folder, name + ".npy"), np.asarray(array, order=order))
                number += 1


def same(name, a, b):
    """The same bits, byte order aside."""
    b = np.asarray(b)
    assert a.shape == b.shape, (name, a.shape, b.shape)
    assert packed(a.dtype) == packed(b.dtype), (name, a.dtype, b.dtype)
    assert a.astype(packed(a.dtype)).tobytes() == b.astype(packed(b.dtype)).tobytes(), name


def compare(folder):
    import zarr
    from astropy.io import fits

    # What has no specification that all agree on, zarr-python says of each.
    warnings.filterwarnings("ignore", category=zarr.errors.UnstableSpecificationWarning)
    warnings.filterwarnings("ignore", message=".*generic.*")
    counts = [0, 0]
    for entry in sorted(os.listdir(folder)):
        name, _, rest = entry.partition(".")
        path = os.path.join(folder, entry)
        if rest.endswith("zarr"):
            array = zarr.open(path, mode="r")
            # Of no axis comes a scalar, which has lost its width.
            same(entry, np.load(os.path.join(folder, name + ".npy")), np.asarray(array[...], array.dtype))
            counts[0] += 1
        elif rest.endswith("fits"):
            wanted = np.load(os.path.join(folder, name + ".npy"))
            with fits.open(path, checksum=True) as file:
                file.verify("exception")
                assert len(file) == 1 and "CHECKSUM" in file[0].header and "DATASUM" in file[0].header
                got = file[0].data
                if wanted.size == 0:
                    assert got is None or got.size == 0
                else:
                    same(entry, wanted.reshape(wanted.shape or (1,)), got)
            counts[1] += 1
    print(*counts)


def plain(folder):
    for entry in os.listdir(folder):
        if entry.endswith(".npy"):
            array = np.load(os.path.join(folder, entry))
            with open(os.path.join(folder, entry[:-4] + ".bytes"), "wb") as file:
                file.write(array.astype(packed(array.dtype)).tobytes())


def digests(folder):
    for entry in sorted(os.listdir(folder)):
        if entry.endswith(".npy"):
            print(entry, digest(np.load(os.path.join(folder, entry))))


if __name__ == "__main__":
    {"write": write, "digest": digests, "bytes": plain, "compare": compare}[sys.argv[1]](sys.argv[2])
