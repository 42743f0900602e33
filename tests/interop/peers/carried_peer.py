"""What other programs see of metadata that conversions carried.

make FOLDER    writes tree.asdf and many.b2nd
check FOLDER   reads what holdall made of them: plain values are plain values, and the tree that came back is the tree
"""

import collections
import collections.abc
import datetime
import json
import struct
import sys
import warnings
from pathlib import Path

# Bloscpack 0.16, the last release, looks for it where Python had it up to 3.9.
collections.MutableMapping = collections.abc.MutableMapping

import asdf
import blosc2
import bloscpack
import gsd.fl
import numpy as np

warnings.simplefilter("ignore")

PLAIN = {"name": "frame é", "count": 3, "list": [1, 2.5, None, True, "1"], "deep": {"a": {"b": [[], {}]}}}
ARRAY = np.arange(24, dtype="<f4").reshape(4, 6)


def tree():
    shared = {"gain": 1.5}
    return {
        "meta": PLAIN,
        "odd": {
            "when": datetime.datetime(2020, 1, 2, 3, 4, 5),
            "complex": 1 + 2j,
            "keys": {1: "one", 2: "two"},
            "nan": float("nan"),
            "large": 1 << 51,
            "bytes": b"\x00\xff",
        },
        "first": shared,
        "second": shared,
        "roman": {"data": ARRAY, "unit": "Jy"},
    }


MANY = {f"key {index:02}": {"index": index, "name": "x" * index} for index in range(20)}


def make(folder):
    asdf.AsdfFile(tree()).write_to(folder / "tree.asdf")
    array = blosc2.asarray(ARRAY, urlpath=str(folder / "many.b2nd"), mode="w")
    for key, value in list(MANY.items())[:12]:
        array.schunk.vlmeta[key] = value
    (folder / "many.json").write_text(json.dumps(MANY))
    # A RawArray file by its description: 24 floats, then a trailer of JSON.
    words = struct.pack("<8s6Q", b"rawarray", 0, 3, 4, ARRAY.nbytes, 1, 24)
    (folder / "many.ra").write_bytes(words + ARRAY.tobytes() + json.dumps(MANY).encode())


def same(a, b):
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(one, other) for one, other in zip(a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, float) and a != a:
        return b != b
    return type(a) is type(b) and a == b


def expect(what, a, b):
    if not same(a, b):
        sys.exit(f"{what}: {a!r} and {b!r}")


def check(folder):
    array = blosc2.open(str(folder / "tree.b2nd"), mode="r")
    expect("b2nd", array[()], ARRAY)
    vlmeta = array.schunk.vlmeta[:]
    expect("vlmeta", vlmeta["meta"], PLAIN)
    expect("vlmeta bytes", vlmeta["odd"]["bytes"], b"\x00\xff")
    expect("vlmeta keys", vlmeta["odd"]["keys"], {"$holdall:pairs": [[1, "one"], [2, "two"]]})
    expect("vlmeta unit", vlmeta["roman"], {"unit": "Jy"})
    opened = blosc2.open(str(folder / "many.ra.b2nd"), mode="r")
    many = opened.schunk.vlmeta[:]
    many.update(many.pop("attrs"))
    expect("vlmeta of many", many, MANY)
    expect("numpy of blp", bloscpack.unpack_ndarray_from_file(str(folder / "tree.blp")), ARRAY)
    _, metadata = bloscpack.unpack_bytes_from_bytes((folder / "tree.blp").read_bytes())
    expect("blp", metadata["meta"], PLAIN)
    raw = (folder / "tree.ra").read_bytes()
    dims = struct.unpack_from("<Q", raw, 40)[0]
    trailer = json.loads(raw[48 + 8 * dims + ARRAY.nbytes :])
    expect("ra", trailer["meta"], PLAIN)
    with gsd.fl.open(folder / "tree.gsd", "r") as file:
        chunk = file.read_chunk(0, "holdall/metadata")
        expect("gsd", json.loads(bytes(chunk))["meta"], PLAIN)
        expect("gsd chunk", file.read_chunk(0, "roman/data"), ARRAY)
    with asdf.open(folder / "many.asdf") as file:
        expect("asdf of many", {key: file.tree[key] for key in MANY}, MANY)
    for name in ["b2nd", "blp", "ra", "gsd"]:
        with asdf.open(folder / f"{name}.asdf", lazy_load=False, memmap=False) as file:
            found = {key: value for key, value in file.tree.items() if key not in ("asdf_library", "history")}
            want = tree()
            expect(f"array of {name}", np.asarray(found["roman"].pop("data")), want["roman"].pop("data"))
            if found["first"] is not found["second"]:
                sys.exit(f"{name}: what was shared is not")
            expect(f"asdf of {name}", plain(found), want)


def plain(value):
    """Plain dicts and lists for those of asdf."""
    if hasattr(value, "items"):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__.endswith("ListNode"):
        return [plain(item) for item in value]
    return value


{"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
