"""That python-blosc2 itself reads what the sound fixtures are said to hold: 4.14.1 all of them, 3.1.1 those it wrote."""

import hashlib
import tempfile
from pathlib import Path

import blosc2
import numpy as np

import tool
import view
from parts import Fixture
from values import spelling

# What the old release wrote and does not read.
OLD_UNREAD = {"old_dict_zstd"}


def disagreements(fixtures: list[Fixture]) -> list[str]:
    """What is not as python-blosc2 reads it."""
    problems = []
    for fixture in fixtures:
        if fixture.verdict != "sound" or not fixture.reference:
            continue
        peers = [tool.new()]
        if fixture.producer == tool.old().producer and fixture.name not in OLD_UNREAD:
            peers.append(tool.old())
        for peer in peers:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"a{fixture.suffix}"
                tool.place(path, fixture.data)
                try:
                    agree(peer, path, fixture)
                except (AssertionError, tool.Refused) as error:
                    problems.append(f"{peer.producer} reads {fixture.path} otherwise: {error}")
    return problems


def agree(peer: tool.Peer, path: Path, fixture: Fixture) -> None:
    if fixture.datasets is not None:
        store(path, fixture)
        return
    if fixture.facts.get("rows") is not None:
        with blosc2.open(str(path)) as table:
            assert len(table) == fixture.facts["rows"], len(table)
        return
    if fixture.suffix in (".b2f", ".b2b"):
        objects(path, fixture)
        return
    found = peer.ask("read", path=str(path))
    expected = values(fixture)
    assert found["sha256"] == hashlib.sha256(expected).hexdigest(), "other values"
    seen = view.facts(fixture.data)
    for name in ("nchunks", "typesize", "nbytes", "cbytes"):
        assert found[name] == seen[name], f"{name} {found[name]}"
    for kind in ("meta", "vlmeta"):
        listed = {it["name"]: it["hex"] for it in seen[kind]}
        assert found[kind] == listed, f"{kind} {found[kind]}"
    if fixture.tensor is not None:
        loaded = blosc2.load_tensor(str(path))
        assert loaded.dtype == fixture.tensor.dtype, f"dtype {loaded.dtype}"
        assert np.array_equal(loaded, fixture.tensor), "another tensor"
    if fixture.array is not None:
        array = fixture.array
        for name, value in (("shape", list(array.shape)), ("chunks", seen["chunks"]), ("blocks", seen["blocks"])):
            assert found[name] == value, f"{name} {found[name]}"
        if array.dtype.names is None:
            assert found["dtype"] == spelling(array.dtype), found["dtype"]


def objects(path: Path, fixture: Fixture) -> None:
    """What has a class of its own, by the chunks below it."""
    schunk = blosc2.open(str(path)).schunk
    found = [schunk.decompress_chunk(n) for n in range(schunk.nchunks)]
    assert found == list(fixture.chunks), "other chunks"
    for n, sizes in enumerate(fixture.blocks or []):
        assert [len(schunk.get_vlblock(n, at)) for at in range(len(sizes))] == list(sizes), f"blocks of chunk {n}"


def values(fixture: Fixture) -> bytes:
    if fixture.array is not None:
        return np.ascontiguousarray(fixture.array).tobytes()
    if fixture.tensor is not None:
        return fixture.tensor.tobytes()
    if fixture.plain is not None:
        return fixture.plain[0]
    return b"".join(fixture.chunks)


def store(path: Path, fixture: Fixture) -> None:
    opened = blosc2.EmbedStore(str(path), mode="r") if fixture.suffix == ".b2e" else blosc2.open(str(path))
    names = [name.strip("/") for name in opened.keys()]
    leaves = {name: opened["/" + name] for name in names}
    arrays = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, blosc2.NDArray)}
    assert arrays.keys() == fixture.datasets.keys(), f"keys {names}"
    for name, expected in fixture.datasets.items():
        found = arrays[name][...]
        assert found.dtype == expected.dtype and np.array_equal(found, expected), name
