"""`holdall.asdf` against the package asdf: what one writes the other reads, and edits are those of a dict."""

from __future__ import annotations

import copy
import datetime
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asdf
import asdf.util
import numpy as np
import pytest
from asdf.exceptions import AsdfBlockIndexWarning
from conftest import TESTDATA, files, same_bits
from test_asdf_trees import asdf_files, compare, reference

import holdall
import holdall.asdf
from holdall.asdf import Tagged, TaggedDict, TaggedList, TaggedStr

UNIT = "tag:stsci.edu:asdf/unit/unit-1.0.0"
UTC = datetime.UTC


def arrays() -> dict[str, Any]:
    """Arrays of all types of elements, orders and forms."""
    chance = np.random.default_rng(7)
    made: dict[str, Any] = {}
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "S3", "U4", "?"):
        for order in "<>":
            dtype = np.dtype(kind).newbyteorder(order)
            values = chance.integers(0, 2 if kind == "?" else 100, (3, 4))
            made[f"{kind}{order}"] = values.astype(dtype if dtype.kind not in "c" else "i8").astype(dtype)
    big = chance.normal(size=(7, 5, 3))
    record = np.dtype([("a", "<i2"), ("b", ">f8", (2,)), ("c", "U2"), ("d", [("e", "u1")])])
    made |= {
        "nan": np.array([np.nan, np.inf, -np.inf, -0.0]),
        "fortran": np.asfortranarray(big),
        "steps": np.arange(60.0).reshape(6, 10)[::2, ::3],
        "backwards": np.arange(10)[::-1],
        "broadcast": np.broadcast_to(np.arange(3), (4, 3)),
        "none": np.zeros((0, 3)),
        "scalar": np.array(5),
        "record": np.zeros(4, record),
        "padded": np.zeros(3, np.dtype([("a", "u1"), ("b", "<f8")], align=True)),
        "masked": np.ma.masked_equal(np.arange(6).reshape(2, 3), 4),
        "not_masked": np.ma.MaskedArray(np.arange(3)),
        "masked_fortran": np.ma.masked_greater(np.asfortranarray(big), 0),
    }
    made["record"]["a"] = [1, -2, 3, 4]
    made["record"]["c"] = ["é", "ab", "", "z"]
    return made


def values() -> dict[str, Any]:
    """Values of all kinds that a tree has."""
    shared = [1, {"x": 2}]
    return {
        "none": None,
        "true": True,
        "int": -5,
        "most": 2**63 - 1,
        "least": -(2**62),
        "float": 0.1,
        "tiny": 5e-324,
        "whole": 1e22,
        "inf": float("inf"),
        "minus": float("-inf"),
        "complex": complex(1.5, -2),
        "text": "a: b # c\n  d\té",
        "empty": "",
        "number": "12",
        "yes": "yes",
        "null": "null",
        "date": datetime.date(2026, 2, 3),
        "time": datetime.datetime(2026, 2, 3, 4, 5, 6, 789),
        "zone": datetime.datetime(2026, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))),
        "utc": datetime.datetime(2026, 2, 3, 1, tzinfo=UTC),
        "bytes": b"\x00\xffabc",
        "list": [1, [2, []], {"a": [3]}],
        "tuple": (1, (2, 3)),
        "map": {1: "a", True if False else 2: "b", "c/d~e": {"": 1}},
        "shared": shared,
        "again": {"it": shared},
        "set": {"x", "y"},
        "ordered": OrderedDict([("b", 1), ("a", 2)]),
        "numpy": [np.float32(1.1), np.int16(3), np.bool_(False), np.str_("s"), np.float64(2.5), np.uint64(7)],
        "lines": "one\ntwo\n",
        "long": "word " * 60,
        "control": "a\x07b\u2028c",
        "emoji": "🪐",
    }


@pytest.mark.parametrize("codec", [None, "zlib", "bzp2", "lz4"])
def test_asdf_reads_the_arrays(tmp_path: Path, codec: str | None) -> None:
    tree = arrays()
    holdall.asdf.write(tmp_path / "a.asdf", tree, codec=codec)
    with asdf.open(tmp_path / "a.asdf", lazy_load=False) as theirs, holdall.asdf.open(tmp_path / "a.asdf") as ours:
        for name, expected in tree.items():
            read = theirs[name]._make_array() if hasattr(theirs[name], "_make_array") else theirs[name]
            own = ours[name].masked() if ours[name].has_mask else ours[name][...]
            for found in (read, own):
                assert same_bits(np.ma.getdata(found), np.ma.getdata(expected)), name
                assert np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected)), name
            if name != "padded":
                assert np.ma.getdata(read).dtype == np.ma.getdata(expected).dtype, name
    assert holdall.verify(tmp_path / "a.asdf")
    words = {None: "none"}
    stored = {dataset.codec for dataset in holdall.open(tmp_path / "a.asdf").values() if dataset.size}
    assert stored == {words.get(codec, codec)}


def test_asdf_reads_the_values(tmp_path: Path) -> None:
    tree = values()
    holdall.asdf.write(tmp_path / "a.asdf", tree)
    with asdf.open(tmp_path / "a.asdf") as theirs, holdall.asdf.open(tmp_path / "a.asdf") as ours:
        for found in (theirs, ours):
            for name, expected in tree.items():
                value = found[name]
                if name == "tuple":
                    assert value == [1, [2, 3]]
                elif name == "numpy":
                    assert value == [float(np.float32(1.1)), 3, False, "s", 2.5, 7]
                else:
                    assert value == expected and type(value) is type(expected), (name, value)
            assert found["again"]["it"] is found["shared"]
            assert list(found["ordered"]) == ["b", "a"]
        compare(ours.root, reference(tmp_path / "a.asdf"))
        assert ours.validate() == []


def test_whole_numbers_have_any_size(tmp_path: Path) -> None:
    numbers = [2**63, -(2**63) - 1, 2**64, 2**127, -(2**128), 10**400, -(7**3000)]
    holdall.asdf.write(tmp_path / "a.asdf", {"n": numbers})
    with asdf.open(tmp_path / "a.asdf") as theirs, holdall.asdf.open(tmp_path / "a.asdf") as ours:
        assert [int(number) for number in theirs["n"]] == numbers
        assert ours["n"] == numbers
    theirs = asdf.AsdfFile({"n": [asdf.IntegerType(number) for number in numbers]})
    theirs.write_to(tmp_path / "b.asdf")
    with holdall.asdf.open(tmp_path / "b.asdf") as ours:
        assert ours["n"] == numbers


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"])
def test_every_version_of_the_standard_is_written(tmp_path: Path, version: str) -> None:
    tree = {"a": np.arange(5), "t": "x", "c": 1 + 2j}
    holdall.asdf.write(tmp_path / "a.asdf", tree, version=version)
    with asdf.open(tmp_path / "a.asdf") as theirs:
        assert str(theirs.version) == version
        assert np.array_equal(theirs["a"], tree["a"]) and theirs["c"] == 1 + 2j


def test_codecs_of_single_arrays(tmp_path: Path) -> None:
    tree = {"a": np.zeros(1000), "b": {"c": np.zeros(1000)}, "d": [np.ones(1000)]}
    codecs = {"b/c": "lz4", "/d/0": None}
    holdall.asdf.write(tmp_path / "a.asdf", tree, codec="zlib:9", codecs=codecs)
    with holdall.open(tmp_path / "a.asdf") as file:
        assert [file[name].codec for name in ("a", "b/c", "d/0")] == ["zlib", "lz4", "none"]
    for codec in ("zstd:5", ("blosc", 3)):
        holdall.asdf.write(tmp_path / "b.asdf", tree, codec=codec, overwrite=True)
        with holdall.asdf.open(tmp_path / "b.asdf") as file:
            assert np.array_equal(file["d"][0], tree["d"][0])
    with pytest.raises(KeyError, match="b/c"):
        holdall.asdf.write(tmp_path / "c.asdf", tree, codecs={"b/d": "lz4"})
    with pytest.raises(holdall.UsageError, match="zlip"):
        holdall.asdf.write(tmp_path / "c.asdf", tree, codec="zlip")
    assert not (tmp_path / "c.asdf").exists()


def test_small_arrays_stand_in_the_tree(tmp_path: Path) -> None:
    tree = {"a": np.arange(3), "b": np.arange(4), "m": np.ma.masked_equal([1, 2, 3], 2), "t": np.array(["x", "y"])}
    holdall.asdf.write(tmp_path / "a.asdf", tree, inline=3)
    with asdf.open(tmp_path / "a.asdf") as theirs:
        assert len(theirs._blocks.blocks) == 1
        for name, expected in tree.items():
            assert np.array_equal(theirs[name], expected), name
        assert np.ma.getmaskarray(theirs["m"]._make_array()).tolist() == [False, True, False]


def test_arrays_of_one_memory_share_a_block(tmp_path: Path) -> None:
    base = np.arange(24.0).reshape(4, 6)
    tree = {
        "base": base,
        "again": base,
        "rows": base[::2],
        "turned": base.T[1:],
        "back": base[::-1, ::-2],
        "bytes": base.view("u1"),
        "other": np.arange(3),
        "part": np.arange(1000)[10:20],
    }
    holdall.asdf.write(tmp_path / "a.asdf", tree, codecs={"base": "lz4"})
    with asdf.open(tmp_path / "a.asdf") as theirs:
        # Of the last array, of which the memory is a hundred times as much, its own elements alone.
        assert len(theirs._blocks.blocks) == 3
        assert theirs["base"] is theirs["again"]
        for name, expected in tree.items():
            assert np.array_equal(theirs[name], expected) and theirs[name].dtype == expected.dtype, name
    assert (tmp_path / "a.asdf").stat().st_size < 3000


def has_a_name(dataset: holdall.Dataset, folder: Path) -> bool:
    """Whether ASDF has a name for the type of elements."""
    try:
        holdall.asdf.write(folder / "one.asdf", {"a": dataset}, overwrite=True, durable=False)
    except holdall.UnsupportedError:
        return False
    return True


@pytest.mark.parametrize("path", files("ok"), ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_datasets_of_all_formats_are_copied(tmp_path: Path, path: Path) -> None:
    with holdall.open(path) as file:
        tree: dict[str, Any] = {}
        for name in list(file)[:30]:
            try:
                if file[name].dtype.kind in "mM" or file[name].nbytes > 1 << 22:
                    continue
                file[name].has_mask  # noqa: B018 - reads it
                file[name][...]
                tree[f"a{len(tree)}"] = file[name]
            except holdall.HoldallError:
                continue
        try:
            holdall.asdf.write(tmp_path / "a.asdf", tree)
        except holdall.UnsupportedError:
            tree = {name: dataset for name, dataset in tree.items() if has_a_name(dataset, tmp_path)}
            if not tree:
                pytest.skip("types that ASDF has no name for")
            holdall.asdf.write(tmp_path / "a.asdf", tree)
        with warnings.catch_warnings():
            # Of data that look like an index, as those of some fixtures.
            warnings.simplefilter("ignore", AsdfBlockIndexWarning)
            theirs = asdf.open(tmp_path / "a.asdf")
        with holdall.open(tmp_path / "a.asdf") as copied, theirs:
            for name, dataset in tree.items():
                assert same_bits(copied[name][...], dataset[...]), name
                mask = dataset.mask()
                assert (mask is None) == (copied[name].mask() is None), name
                if mask is not None:
                    assert np.array_equal(copied[name].mask(), mask), name
                elif dataset.dtype.names is None and dataset.dtype.itemsize:
                    assert same_bits(theirs[name]._make_array(), dataset[...]), name


@pytest.mark.parametrize("path", asdf_files("ok"), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_trees_that_were_read_are_written(tmp_path: Path, path: Path) -> None:
    """What is read is written and read again as the same tree, with its tags; what asdf reads of both is the same."""
    if path.stat().st_size > 1 << 20:
        pytest.skip("a tree that takes long in Python")
    with holdall.asdf.open(path) as file:
        if not isinstance(file.root, dict):
            pytest.skip("a root that is not a mapping")
        try:
            holdall.asdf.write(tmp_path / "a.asdf", file)
        except (holdall.UnsupportedError, holdall.LimitError) as refused:
            pytest.skip(str(refused))
        with holdall.asdf.open(tmp_path / "a.asdf") as again:
            before, after = dict(file.tree), dict(again.tree)
            for name in ("asdf_library", "history"):
                before.pop(name, None), after.pop(name, None)
            same_trees(after, before)
            compare(again.root, reference(tmp_path / "a.asdf"))


def same_trees(ours: Any, other: Any, where: str = "", seen: set[int] | None = None) -> None:
    """Compares trees of Python's own types and arrays."""
    seen = set() if seen is None else seen
    if isinstance(other, (holdall.Dataset, np.ndarray)):
        a = ours.masked() if isinstance(ours, holdall.Dataset) else ours
        b = other.masked() if isinstance(other, holdall.Dataset) else other
        assert same_bits(np.ma.getdata(a), np.ma.getdata(b)), where
        assert np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)), where
        return
    if isinstance(other, (dict, list)):
        if id(other) in seen:
            return
        seen.add(id(other))
    assert getattr(ours, "tag", None) == getattr(other, "tag", None), where
    if isinstance(other, dict):
        assert list(map(repr, ours)) == list(map(repr, other)), where
        for a, b in zip(ours, other, strict=True):
            same_trees(ours[a], other[b], f"{where}/{b}", seen)
    # Pairs are tuples when they are read, as all tuples lists when they are written.
    elif isinstance(other, (list, tuple)):
        assert len(ours) == len(other), where
        for at, (a, b) in enumerate(zip(ours, other, strict=True)):
            same_trees(a, b, f"{where}/{at}", seen)
    elif isinstance(other, set):
        assert ours == other, where
    else:
        assert repr(ours) == repr(other), where


def test_cycles_are_kept(tmp_path: Path) -> None:
    loop: dict[str, Any] = {"list": []}
    loop["list"].append(loop)
    holdall.asdf.write(tmp_path / "a.asdf", {"loop": loop})
    with holdall.asdf.open(tmp_path / "a.asdf") as file:
        assert file["loop"]["list"][0] is file["loop"]
        copied = holdall.asdf.plain(file.tree)
    assert copied["loop"]["list"][0] is copied["loop"]
    with asdf.open(tmp_path / "a.asdf") as theirs:
        assert theirs["loop"]["list"][0] is theirs["loop"]


def test_what_a_tree_does_not_hold_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.asdf"
    for value, kind, match in [
        (object(), TypeError, "/x/0: object"),
        (datetime.time(1), TypeError, "/x/0"),
        (np.datetime64(1, "ns"), holdall.UnsupportedError, "/x/0"),
        (np.longdouble(1), holdall.UnsupportedError, "/x/0"),
        ({(1, 2): 3}, holdall.UnsupportedError, "tuple"),
        ({None: 3}, holdall.UnsupportedError, "NoneType"),
        (np.array([object()]), holdall.UnsupportedError, "objects"),
        (np.array(["2020"], "M8[s]"), holdall.UnsupportedError, "M8|datetime"),
        (np.zeros(2, "g"), holdall.UnsupportedError, "type"),
    ]:
        with pytest.raises(kind, match=match):
            holdall.asdf.write(path, {"x": [value]})
    with pytest.raises(holdall.UsageError, match="mapping"):
        holdall.asdf.write(path, [1])  # type: ignore[arg-type]
    with pytest.raises(holdall.UsageError, match=r"1\.9"):
        holdall.asdf.write(path, {}, version="1.9.0")
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(RecursionError):
        holdall.asdf.write(path, {"x": deep})
    assert os.listdir(tmp_path) == []
    holdall.asdf.write(path, {})
    with pytest.raises(FileExistsError):
        holdall.asdf.write(path, {})
    with pytest.raises(FileNotFoundError):
        holdall.asdf.write(tmp_path / "none/a.asdf", {})


@pytest.mark.parametrize(
    "path", asdf_files("bad") + asdf_files("odd"), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_bad_files_raise_only_what_is_told(path: Path) -> None:
    try:
        with holdall.asdf.open(path) as file:
            holdall.asdf.plain(file.root)
            file.validate()
            file.search("a")
    except (holdall.HoldallError, OSError):
        pass


@pytest.mark.parametrize("path", asdf_files("bad"), ids=lambda path: path.name)
def test_bad_files_are_changed_or_left(tmp_path: Path, path: Path) -> None:
    data = path.read_bytes()
    (tmp_path / "a.asdf").write_bytes(data)
    try:
        with holdall.asdf.open(tmp_path / "a.asdf", "rw") as file:
            file.set("/new", [1, np.arange(3)])
            file.commit()
    except (holdall.HoldallError, OSError):
        assert (tmp_path / "a.asdf").read_bytes() == data
    assert os.listdir(tmp_path) == ["a.asdf"]


# Changes in place.


def blocks(path: Path) -> list[bytes]:
    """The bytes of each block, header and all."""
    data = path.read_bytes()
    return [data[one.start : one.stop] for one in holdall.open(path).layout() if one.role == "data"]


class Edits:
    """Random edits of a file and of a dict."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        pick = self.chance.randrange(14 if depth < 3 else 10)
        if pick < 10:
            return [None, True, -3, 1.5, "text", "", "a: b", "line\nline\n", "017", b"\x00bytes"][pick]
        if pick == 10:
            return datetime.date(2020, 1, self.chance.randrange(1, 29))
        if pick < 13:
            return [self.value(depth + 1) for _ in range(self.chance.randrange(4))]
        return {self.key(): self.value(depth + 1) for _ in range(self.chance.randrange(4))}

    def key(self) -> str:
        return self.chance.choice(["a", "b", "key with blanks", "c/d", "~", "1", "true", "é", "-", "x"])

    def place(self, tree: Any) -> tuple[Any, list[Any]]:
        """A collection and the steps to it."""
        at, steps = tree, []
        while True:
            inner = at.items() if isinstance(at, dict) else enumerate(at)
            below = [
                (key, value)
                for key, value in inner
                if isinstance(value, (dict, list)) and key not in ("asdf_library", "history")
            ]
            if not below or self.chance.random() < 0.3:
                return at, steps
            key, at = self.chance.choice(below)
            steps.append(key)

    def edit(self, file: holdall.asdf.AsdfFile, tree: Any) -> None:
        holder, steps = self.place(tree)
        base = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
        keys = [key for key in (holder if isinstance(holder, dict) else range(len(holder))) if key not in KEPT]
        if keys and self.chance.random() < 0.4:
            key = self.chance.choice(keys)
            file.unset(f"{base}/{str(key).replace('~', '~0').replace('/', '~1')}")
            del holder[key]
            return
        value = self.value()
        if isinstance(holder, dict):
            key = self.chance.choice([*keys, self.key()])
            holder[key] = value
            file.set(f"{base}/{str(key).replace('~', '~0').replace('/', '~1')}", value)
        elif keys and self.chance.random() < 0.5:
            at = self.chance.choice(keys)
            holder[at] = value
            file.set(f"{base}/{at}", value)
        else:
            holder.append(value)
            file.set(f"{base}/-", value)


KEPT = ("asdf_library", "history", "data")


@pytest.mark.parametrize("seed", range(12))
def test_edits_are_those_of_a_dict(tmp_path: Path, seed: int) -> None:
    edits = Edits(seed)
    tree = {key: edits.value() for key in ("a", "b", "c", "d")}
    path = tmp_path / "a.asdf"
    source = asdf.AsdfFile(tree | {"data": np.arange(100.0), "more": {"data": np.ones(5, ">i2")}})
    source.write_to(path, all_array_compression=["zlib", None][seed % 2], pad_blocks=bool(seed % 3))
    with holdall.asdf.open(path) as file:
        expected = holdall.asdf.plain(file.tree, tags=True)
        kept = blocks(path)
    with holdall.asdf.open(path, "rw", durable=False) as file:
        for _ in range(10):
            for _ in range(edits.chance.randrange(1, 5)):
                edits.edit(file, expected)
                same_trees(dict(file.tree), expected)
            assert file.commit() in ("in place", "new file", "unchanged")
            same_trees(holdall.asdf.plain(file.tree, tags=True), expected)
            assert blocks(path) == kept
            compare(file.root, reference(path))
            with asdf.open(path) as theirs:
                for name in expected:
                    if name not in (*KEPT, "more"):
                        assert theirs[name] == expected[name], name
                assert np.array_equal(theirs["data"], np.arange(100.0))
    assert os.listdir(tmp_path) == ["a.asdf"]


def test_the_rest_of_the_tree_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.asdf"
    text = (
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
        "# A comment\nb:   0x10   # sixteen\na: {x: 1,   y: 'two'}\nu: !unit/unit-1.0.0 m\nl:\n- 1\n\n- 2\n...\n"
    )
    path.write_text(text)
    with holdall.asdf.open(path, "rw") as file:
        file.set("/a/y", 3)
        file.set("/u", "km")
        assert file["u"].tag == UNIT and file["u"] == "km"
        assert path.read_text() == text
        file.commit()
        assert path.read_text() == text.replace("'two'", "3").replace(" m\n", " km\n")
        file.set("/u", "s", keep_tag=False)
        file.set("/l/0", Tagged("kg", UNIT))
        file.unset("/b")
        file.commit()
        assert file["u"] == "s" and not isinstance(file["u"], Tagged) and file["l"][0].tag == UNIT
    assert path.read_text() == text.replace("b:   0x10   # sixteen\n", "").replace("'two'", "3").replace(
        "!unit/unit-1.0.0 m", "s"
    ).replace("- 1", "- !unit/unit-1.0.0 kg")


def test_arrays_are_set(tmp_path: Path) -> None:
    path, other = tmp_path / "a.asdf", tmp_path / "b.b2nd"
    asdf.AsdfFile({"old": np.arange(5), "text": "x"}).write_to(path)
    holdall.save(other, np.arange(1000.0).reshape(10, 100), codec="zstd")
    kept = blocks(path)
    array = np.arange(6.0).reshape(2, 3)
    value = {"a": array, "again": array, "part": array[1], "m": np.ma.masked_equal([1, 2], 2), "n": 2**80}
    with holdall.asdf.open(path, "rw") as file, holdall.open(other) as source:
        file.set("/new", value)
        file.set("/copy", source["data"], codec="lz4")
        file.set("/text", np.arange(3, dtype=">u2"))
        file.set("/gone", np.zeros(4))
        file.unset("/gone")
        assert file["new"]["a"] is array and file["new"]["again"] is file["new"]["a"] and file["new"]["n"] == 2**80
        assert isinstance(file["old"], holdall.Dataset) and isinstance(file["copy"], holdall.Dataset)
        assert file.commit() in ("in place", "new file")
        assert blocks(path)[: len(kept)] == kept
        assert file["copy"].codec == "lz4" and np.array_equal(file["copy"], source["data"])
        with pytest.raises(holdall.UnsupportedError):
            file.set("/bad", np.zeros(2, "g"))
        file.set("/old", file["new"]["part"])
        file.commit()
    with asdf.open(path) as theirs:
        assert np.array_equal(theirs["new"]["a"], array) and theirs["new"]["again"] is theirs["new"]["a"]
        assert np.array_equal(theirs["new"]["part"], array[1]) and np.array_equal(theirs["old"], array[1])
        assert np.array_equal(theirs["copy"], np.arange(1000.0).reshape(10, 100))
        assert theirs["text"].dtype == ">u2" and theirs["text"].tolist() == [0, 1, 2]
        assert theirs["new"]["m"]._make_array().tolist() == [1, None] and int(theirs["new"]["n"]) == 2**80
    assert holdall.verify(path)


def test_edits_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.asdf"
    holdall.asdf.write(path, {"map": {"key": 1}, "list": [1]})
    data = path.read_bytes()
    with holdall.asdf.open(path) as file:
        with pytest.raises(holdall.UsageError, match="to be read"):
            file.set("/x", 1)
        with pytest.raises(KeyError, match="did you mean 'map'"):
            file["mab"]
        with pytest.raises(KeyError, match="did you mean 'key'"):
            file.find("/map/kee")
        with pytest.raises(TypeError, match="file.set"):
            file.tree["x"] = 1  # type: ignore[index]
    with holdall.asdf.open(path, "rw") as file:
        with pytest.raises(KeyError, match="did you mean 'key'"):
            file.unset("/map/kay")
        with pytest.raises(KeyError):
            file.unset("/list/1")
        for pointer in ("", "map", "/map/~2", "/none/x", "/list/5", "/list/x"):
            with pytest.raises(holdall.UsageError):
                file.set(pointer, 1)
        with pytest.raises(TypeError, match="object"):
            file.set("/map/key", object())
        with pytest.raises(holdall.UsageError, match="another"):
            holdall.asdf.open(path, "rw")
        file["map"]["key"] = 2
        with pytest.raises(holdall.UsageError, match="by hand"):
            file.commit()
        assert file["map"]["key"] == 1
        assert file.commit() == "unchanged"
        file.set("/map/key", 5)
    assert path.read_bytes() == data
    with pytest.raises(ValueError, match="closed"):
        file.tree  # noqa: B018
    with pytest.raises(ValueError, match="closed"):
        file.commit()
    with pytest.raises(ValueError, match="mode"):
        holdall.asdf.open(path, "w")  # type: ignore[arg-type]
    with pytest.raises(holdall.WrongFormatError):
        holdall.asdf.open(next((TESTDATA / "gsd/ok").glob("*.gsd")))
    with pytest.raises(FileNotFoundError):
        holdall.asdf.open(tmp_path / "none.asdf", "rw")


KILLED = """
import sys, numpy as np
import holdall.asdf
path = sys.argv[1]
turn = 0
while True:
    with holdall.asdf.open(path, "rw", durable=False) as file:
        for _ in range(20):
            turn += 1
            file.set("/a", "v" * (turn * 37 % 5000))
            file.set("/b", len(file["a"]))
            if turn % 5 == 0:
                file.set("/new", np.full(3000, len(file["a"])))
            elif turn % 7 == 0 and "new" in file:
                file.unset("/new")
            file.commit()
            print(turn, flush=True)
"""


def test_a_kill_leaves_the_old_tree_or_the_new(tmp_path: Path) -> None:
    chance = random.Random(1)
    for turn in range(12):
        path = tmp_path / f"{turn}.asdf"
        source = asdf.AsdfFile({"a": "", "b": 0, "data": np.arange(5000)})
        source.write_to(path, pad_blocks=bool(turn % 2))
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.random() * 0.1)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        with holdall.asdf.open(path, "rw") as file:
            assert len(file["a"]) == file["b"]
            assert np.array_equal(file["data"], np.arange(5000))
            if "new" in file:
                assert len(file["new"]) == 3000 and len(set(file["new"][...])) == 1
        with asdf.open(path) as theirs:
            assert len(theirs["a"]) == theirs["b"]
        assert holdall.verify(path)


# Searching, validation, history.


def as_pointer(path: str) -> str:
    """asdf's `root['a'][0]` as a JSON pointer."""
    steps: list[Any] = []

    class Root:
        def __getitem__(self, key: Any) -> Root:
            steps.append(key)
            return self

    eval(path, {"root": Root()})
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


@pytest.mark.parametrize(
    "query",
    [
        {"key": "a"},
        {"key": "^x$"},
        {"key": 1},
        {"value": 2},
        {"value": "e"},
        {"value": 2.5},
        {"value": None},
        {"type_": int},
        {"type_": "str"},
        {"type_": "^(list|dict)$"},
        {"type_": float, "key": "[bc]"},
        {"filter_": lambda node: isinstance(node, list) and len(node) == 2},
        {"filter_": lambda node, key: key == "x"},
        {},
    ],
    ids=str,
)
def test_a_search_finds_what_asdf_finds(tmp_path: Path, query: dict[str, Any]) -> None:
    shared = {"x": 2, "y": [2.5, "text"]}
    tree = {"a": shared, "b": {"x": None, "a": ["one", 2, shared]}, "c": 2.5, "xa": "he/llo", "e/f": {"~": True}}
    theirs = asdf.AsdfFile(tree)
    theirs.write_to(tmp_path / "a.asdf")
    with holdall.asdf.open(tmp_path / "a.asdf") as file, asdf.open(tmp_path / "a.asdf") as other:
        kept = {key: value for key, value in query.items()}
        expected = [as_pointer(path) for path in other.search(**kept).paths]
        # The class of the root is one of asdf's.
        expected = [path for path in expected if path]
        inner = ("/history", "/asdf_library")
        found = file.search(**kept)
        assert [path for path in found.paths if path and not path.startswith(inner)] == [
            path for path in expected if not path.startswith(inner)
        ]
        for match in found:
            assert file.find(match.path) is match.node
        repr(found)


def test_a_search_narrows_and_finds_arrays_and_tags(image: Path) -> None:
    with holdall.asdf.open(image) as file:
        found = file.search(type_=np.ndarray)
        assert found.paths and all(isinstance(node, holdall.Dataset) for node in found.nodes)
        assert file.search(type_="ndarray").paths == found.paths
        assert file.search(type_="software-1").paths
        assert found.search(key="data").paths == [path for path in found.paths if "data" in path.rsplit("/", 1)[1]]
        assert file.search("no such key").path is None
        with pytest.raises(holdall.UsageError):
            found.path  # noqa: B018
        one = file.search(filter_=lambda node: node is found[0].node)
        assert one.path == found[0].path and one.node is found[0].node


def test_schemas_are_asked(tmp_path: Path) -> None:
    path, schema = tmp_path / "a.asdf", tmp_path / "schema.yaml"
    holdall.asdf.write(path, {"x": 1, "s": Tagged({"name": "n"}, "tag:stsci.edu:asdf/core/software-1.0.0")})
    schema.write_text("properties: {x: {type: string}}\nrequired: [y]\n")
    with holdall.asdf.open(path, "rw") as file:
        tags = file.validate()
        assert [one.code for one in tags] == ["schema"] and "version" in tags[0].message
        with asdf.config_context() as config:
            config.validate_on_read = True
            with pytest.raises(asdf.ValidationError), asdf.open(path):
                pass
        file.set("/s/version", "1")
        assert file.validate() == []
        assert len(file.validate(schema)) == 2
        file.set("/x", "text")
        file.set("/y", None)
        assert file.validate(schema) == []
        file.commit()
        schema.write_text("properties: [1\n")
        with pytest.raises(holdall.HoldallError):
            file.validate(schema)
        with pytest.raises(FileNotFoundError):
            file.validate(tmp_path / "none")
    with asdf.open(path, custom_schema=None) as theirs:
        assert theirs["x"] == "text"


@pytest.mark.parametrize("version", ["1.0.0", "1.6.0"])
def test_history_grows(tmp_path: Path, version: str) -> None:
    path = tmp_path / "a.asdf"
    first = asdf.AsdfFile({"a": 1}, version=version)
    if version == "1.6.0":
        first.add_history_entry("made")
    first.write_to(path)
    with holdall.asdf.open(path, "rw") as file:
        count = len(file.history)
        file.add_history("flat-fielded", {"name": "mine", "version": "2"})
        file.add_history("again")
        assert [entry["description"] for entry in file.history][count:] == ["flat-fielded", "again"]
        file.commit()
        assert file.validate() == []
    with asdf.open(path) as theirs:
        entries = theirs.get_history_entries()
        assert [entry["description"] for entry in entries][-2:] == ["flat-fielded", "again"]
        assert entries[-2]["software"]["name"] == "mine"


# Both together.


def test_both_work_on_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.asdf"
    data = np.arange(10000, dtype="f4").reshape(100, 100)
    asdf.AsdfFile({"meta": {"n": asdf.IntegerType(2**90)}, "data": data}).write_to(path, all_array_compression="zlib")
    # Opened by both: values by asdf's converters, parts of arrays and raw blocks by ours.
    with asdf.open(path) as theirs, holdall.asdf.open(path) as ours:
        assert isinstance(theirs["meta"]["n"], asdf.IntegerType) and ours["meta"]["n"] == 2**90
        assert np.array_equal(ours["data"][10:20, ::7], theirs["data"][10:20, ::7])
        block = ours.file["blocks/1"]
        assert np.array_equal(np.asarray(block).view("f4"), data.ravel())
        # Theirs takes our arrays and plain trees.
        tree = holdall.asdf.plain({"cut": ours["data"], "text": Tagged("x", "!t"), "meta": {"k": [1]}})
        assert type(tree["text"]) is str and isinstance(tree["cut"], np.ndarray)
        asdf.AsdfFile(tree | {"half": ours["data"][:50]}).write_to(tmp_path / "b.asdf")
        # Ours takes their trees: lazy arrays among them.
        holdall.asdf.write(tmp_path / "c.asdf", {"data": theirs["data"], "n": int(theirs["meta"]["n"])}, codec="lz4")
    with asdf.open(tmp_path / "b.asdf") as theirs:
        assert np.array_equal(theirs["cut"], data) and np.array_equal(theirs["half"], data[:50])
    with asdf.open(tmp_path / "c.asdf") as theirs:
        assert np.array_equal(theirs["data"], data) and int(theirs["n"]) == 2**90
    # Trees without converters keep their tags in both directions.
    raw = asdf.util.load_yaml(path, tagged=True)
    holdall.asdf.write(tmp_path / "d.asdf", {"library": raw["asdf_library"], "list": raw["history"]["extensions"]})
    with holdall.asdf.open(tmp_path / "d.asdf") as ours:
        assert ours["library"].tag == raw["asdf_library"]._tag and ours["library"]["name"] == "asdf"
        assert ours["list"][0].tag == raw["history"]["extensions"][0]._tag
    # A lazy tree, as it is.
    with asdf.open(path, lazy_tree=True) as theirs:
        holdall.asdf.write(tmp_path / "e.asdf", {"tree": {"data": theirs["data"], "list": [1]}})
    # One changes what the other reads next.
    with holdall.asdf.open(path, "rw") as ours:
        ours.set("/meta/quality", "good")
        ours.commit()
    with asdf.open(path, mode="rw") as theirs:
        assert theirs["meta"]["quality"] == "good"
        theirs["meta"]["seen"] = [1, 2]
        theirs.update()
    with holdall.asdf.open(path) as ours:
        assert ours.find("/meta/seen/1") == 2 and np.array_equal(ours["data"], data)


def test_tagged_values_are_of_pythons_types() -> None:
    for value, kind in (({"a": 1}, TaggedDict), ([1], TaggedList), ("t", TaggedStr)):
        tagged = Tagged(value, "!t/u")
        assert type(tagged) is kind and tagged.tag == "!t/u" and tagged == value and isinstance(tagged, type(value))
        for copied in (copy.copy(tagged), copy.deepcopy(tagged), pickle.loads(pickle.dumps(tagged))):
            assert type(copied) is kind and copied.tag == tagged.tag and copied == value
        assert "!t/u" in repr(tagged)
        json.dumps(tagged)
    assert Tagged({"a": 1}, "!t").copy().tag == "!t"
    with pytest.raises(TypeError):
        Tagged(1, "!t")


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[dict[str, Any]]:
    yield {"a": np.random.default_rng(1).integers(0, 50, 1 << 23), "b": np.zeros(10)}


def test_a_write_tells_of_its_progress_and_ends_at_ctrl_c(tmp_path: Path, slow: dict[str, Any]) -> None:
    told: list[tuple[int, int]] = []
    holdall.asdf.write(tmp_path / "a.asdf", slow, codec="lz4", progress=lambda *now: told.append(now))
    total = sum(array.nbytes for array in slow.values())
    assert told[-1] == (total, total) and told == sorted(told)
    os.unlink(tmp_path / "a.asdf")
    timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        holdall.asdf.write(tmp_path / "a.asdf", slow, codec="bzp2")
    assert time.monotonic() - started < 1
    deadline = time.monotonic() + 5
    while os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert os.listdir(tmp_path) == []


def test_metadata_of_a_file_go_into_a_new_one_without_its_arrays(image: Path, tmp_path: Path) -> None:
    with holdall.open(image) as file:
        cut = file["roman/data"][:4, :6]
        assert holdall.save(tmp_path / "cut.asdf", {"roman/data": cut}, meta=file.meta) == []
    with asdf.open(tmp_path / "cut.asdf") as new, asdf.open(image) as old:
        assert sorted(new["roman"]) == ["data", "meta"]
        assert np.array_equal(new["roman"]["data"], cut)
        assert new["roman"]["meta"]["exposure"] == old["roman"]["meta"]["exposure"]
        assert new["asdf_library"]["name"] == "holdall"
    with holdall.open(tmp_path / "cut.asdf") as file:
        assert list(file) == ["roman/data"]
        assert not any(key.startswith("$holdall") for key in file.meta)
    # A mapping of the user's own stays, whatever its keys.
    holdall.save(tmp_path / "own.asdf", cut, meta={"asdf_library": "mine", "source": {"source": "a", "shape": [1]}})
    with asdf.open(tmp_path / "own.asdf") as new:
        assert new["source"] == {"source": "a", "shape": [1]}
