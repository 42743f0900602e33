"""Files that belong together: each array in a file of its own, by Python asdf and by hand."""

import tempfile
from pathlib import Path

import numpy as np

import tool
from parts import Fixture, block, file, ndarray, numbers
from written import PEERS, asked

A, B = numbers("<i4", 6), numbers(">f8", 2, 3)


def written() -> list[Fixture]:
    made = []
    tree = {"a": asked(A), "list": [asked(B)], "inline": asked(A, storage="inline")}
    for release, peer in PEERS.items():
        prefix = "" if release == "new" else f"{release}_"
        for label in (None, "zlib"):
            options = {"all_array_storage": "external"} | ({"all_array_compression": label} if label else {})
            data = tool.made(peer(), tree, options=options, main="set.asdf")
            name = f"{prefix}exploded{'_zlib' if label else ''}"
            made.append(Fixture(name, "each array in a file of its own" + (", compressed" if label else ""), data, main="set.asdf", producer=peer().producer))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.asdf"
        tool.new().ask("write", path=str(path), tree=tree)
        done = tool.new().ask("tool", args=["explode", str(path)])
        assert done["status"] == 0, done
        path.unlink()
        data = tool.stored(Path(folder), "x_exploded.asdf")
    made.append(Fixture("exploded_by_tool", "as asdftool explodes a file", data, main="x_exploded.asdf", producer=tool.new().producer))
    return made


def by_hand() -> list[Fixture]:
    part = file("x: 1\n", block(A.tobytes()), block(bytes(4)))
    two = ndarray("a", "'parts/a%20b.asdf'", "<i4", [6])
    deep = file(ndarray("a", "parts/a.asdf", "<i4", [6]) + ndarray("b", "./parts/a.asdf", "<i4", [2], offset=4))
    own = file(ndarray("a", 0, ">f8", [2, 3]) + ndarray("b", "other.asdf", "<i4", [3], offset=8, strides=[4]), block(B.tobytes()))
    treeless = file(None, block(A.tobytes()))
    refs = "a: {$ref: 'other.asdf#/data'}\nb: {$ref: 'other.asdf#/list/1'}\nc: 1\n"
    other = file("data: !core/ndarray-1.1.0 {source: 0, datatype: int32, byteorder: little, shape: [6]}\nlist: [x, {y: z}]\n", block(A.tobytes()))
    return [
        Fixture("set_folder", "a part in a folder below", {"main.asdf": deep, "parts/a.asdf": part}, main="main.asdf", arrays={"a": A, "b": A[1:3]}),
        Fixture("set_mixed", "a block of its own, and one of another file", {"main.asdf": own, "other.asdf": treeless}, main="main.asdf", arrays={"a": B, "b": A[2:5]}),
        Fixture("set_escaped", "a blank in a name, escaped as in a URI", {"main.asdf": file(two), "parts/a b.asdf": part}, main="main.asdf"),
        Fixture("set_references", "references into another file", {"main.asdf": file(refs), "other.asdf": other}, main="main.asdf"),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*written(), *by_hand()]
