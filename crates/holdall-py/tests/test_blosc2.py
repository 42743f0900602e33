"""`holdall.blosc2`: arrays and frames that python-blosc2 wrote and reads."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blosc2
import numpy as np
import pytest
from conftest import TESTDATA, same_bits

import holdall
import holdall.blosc2

DTYPES = ("<f4", ">i4", "|u1", "<c8", "<M8[s]", "|S5", "<U3", "|b1", "<f2")


def values_of(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Values of a type that differ from zero and from each other."""
    numbers = np.random.default_rng(seed).integers(1, 100, shape)
    return numbers.astype(dtype) if dtype[1] not in "SU" else numbers.astype("U2").astype(dtype)


def theirs(path: Path) -> np.ndarray:
    """The array as python-blosc2 reads it."""
    return np.asarray(blosc2.open(str(path))[...])


def their_vlmeta(path: Path) -> dict[str, Any]:
    """The user metadata as python-blosc2 reads them."""
    peer = blosc2.open(str(path))
    found: dict[str, Any] = getattr(peer, "schunk", peer).vlmeta.getall()
    return found


def their_array(path: Path, values: np.ndarray, **words: Any) -> None:
    """An array that python-blosc2 writes."""
    blosc2.asarray(values, urlpath=str(path), mode="w", **words)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_made_and_read_by_the_peer(tmp_path: Path, dtype: str) -> None:
    values = values_of(dtype, (10, 7), 1)
    path = tmp_path / "a.b2nd"
    words: dict[str, Any] = {"chunks": (4, 3), "blocks": (2, 2), "codec": "lz4:4", "filter": "bitshuffle"}
    with holdall.blosc2.create(path, values.shape, dtype, **words) as array:
        assert (array.shape, array.chunks, array.blocks, array.dtype) == ((10, 7), (4, 3), (2, 2), np.dtype(dtype))
        array[...] = values
        assert same_bits(array[...], values)
        assert not path.exists()
    peer = blosc2.open(str(path))
    assert (peer.shape, peer.chunks, peer.blocks) == ((10, 7), (4, 3), (2, 2))
    assert (peer.cparams.codec, peer.cparams.clevel) == (blosc2.Codec.LZ4, 4)
    assert peer.cparams.filters[-1] == blosc2.Filter.BITSHUFFLE
    assert peer.dtype == np.dtype(dtype) and same_bits(peer[...], values)
    assert holdall.verify(path)


def test_records_and_fill_values(tmp_path: Path) -> None:
    kind = np.dtype([("x", "<f8"), ("n", "<i2", (2,))])
    with holdall.blosc2.create(tmp_path / "r.b2nd", 6, kind, chunks=(4,)) as array:
        array[1] = (2.5, (3, 4))
        array["x"] = np.arange(6.0)
    peer = theirs(tmp_path / "r.b2nd")
    assert peer["x"].tolist() == [0, 1, 2, 3, 4, 5] and peer["n"][1].tolist() == [3, 4] and not peer["n"][2].any()
    for number, (dtype, fill) in enumerate([("<i4", 7), (">f8", np.nan), ("|S3", b"ab"), ("<M8[D]", "2026-01-02")]):
        path = tmp_path / f"{number}.b2nd"
        with holdall.blosc2.create(path, (5, 300), dtype, fill_value=fill, chunks=(2, 100)) as array:
            expected = np.full((5, 300), np.asarray(fill, dtype), dtype)
            assert same_bits(array[...], expected)
        assert same_bits(theirs(path), expected) and path.stat().st_size < 2000
    with holdall.blosc2.create(tmp_path / "one.b2nd", (), "<f4", fill_value=1.5) as array:
        assert array[()] == 1.5
        array[...] = 2.5
    assert theirs(tmp_path / "one.b2nd")[()] == 2.5
    with pytest.raises(OverflowError):
        holdall.blosc2.create(tmp_path / "none.b2nd", 3, "u1", fill_value=300)
    with pytest.raises(holdall.UnsupportedError):
        holdall.blosc2.create(tmp_path / "none.b2nd", 3, object)
    with pytest.raises(holdall.UsageError, match="filter|has no"):
        holdall.blosc2.create(tmp_path / "none.b2nd", 3, filter="nonsense")
    assert not (tmp_path / "none.b2nd").exists()


def an_index(chance: random.Random, shape: tuple[int, ...]) -> Any:
    """An index of any kind that numpy takes for assignment."""
    terms: list[Any] = []
    listed = chance.random() < 0.25
    for length in shape:
        kind = chance.randrange(5)
        if kind == 0 and length:
            terms.append(chance.randrange(-length, length))
        elif kind == 1:
            terms.append(slice(None))
        elif kind == 2 and listed and length:
            terms.append([chance.randrange(-length, length) for _ in range(chance.randrange(1, 4))])
            listed = False
        else:
            step = chance.choice([None, 1, 2, 3, -1, -2])
            ends = [chance.choice([None, chance.randrange(-length - 2, length + 3)]) for _ in range(2)]
            terms.append(slice(ends[0], ends[1], step))
    if chance.random() < 0.3:
        del terms[chance.randrange(len(terms) + 1) :]
        if chance.random() < 0.5:
            terms.append(Ellipsis)
    return tuple(terms)


@pytest.mark.parametrize("seed", range(12))
def test_random_assignments_are_numpys(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    shape = tuple(chance.randrange(1, 12) for _ in range(chance.randrange(1, 4)))
    chunks = tuple(chance.randrange(1, length + 1) for length in shape)
    blocks = tuple(chance.randrange(1, length + 1) for length in chunks)
    dtype = chance.choice(DTYPES[:3])
    path, other = tmp_path / "a.b2nd", tmp_path / "b.b2nd"
    model = values_of(dtype, shape, seed)
    if seed % 2:
        their_array(path, model, chunks=chunks, blocks=blocks)
    else:
        with holdall.blosc2.create(path, shape, dtype, chunks=chunks, blocks=blocks) as new:
            new[...] = model
    array = holdall.blosc2.open(path, "r+")
    assert isinstance(array, holdall.blosc2.Array)
    for step in range(60):
        kind = chance.randrange(12)
        if kind == 0:
            axis = chance.randrange(-model.ndim, model.ndim)
            size = list(model.shape)
            size[axis] = chance.randrange(0, 5)
            added = values_of(dtype, tuple(size), step)
            model = np.concatenate([model, added], axis)
            assert array.append(added, axis) == model.shape[axis]
        elif kind == 1:
            size = [max(1, length + chance.randrange(-4, 5)) for length in model.shape]
            bigger = np.zeros([max(a, b) for a, b in zip(size, model.shape, strict=True)], dtype)
            bigger[tuple(slice(0, length) for length in model.shape)] = model
            model = bigger[tuple(slice(0, length) for length in size)].copy()
            array.resize(size)
        elif kind == 2:
            array.commit(durable=False)
            shutil.copy(path, other)
            assert same_bits(theirs(other), model)
        elif kind == 3:
            mask = np.random.default_rng(step).random(model.shape) < 0.3
            array[mask] = 5
            model[mask] = 5
        else:
            index = an_index(chance, model.shape)
            target = model[index]
            value: Any = values_of(dtype, np.shape(target), step)
            if kind < 6:
                value = chance.randrange(1, 100)
            elif kind == 7 and value.ndim:
                value = value[:1]
            elif kind == 8:
                value = value.astype("f8")
            array[index] = value
            model[index] = value
        assert array.shape == model.shape
        assert same_bits(array[...], model)
    index = an_index(chance, model.shape)
    assert same_bits(array[index], model[index])
    array.commit()
    array.close()
    assert same_bits(theirs(path), model)
    assert holdall.verify(path)
    assert same_bits(holdall.blosc2.open(path)[...], model)


def test_assignments_that_numpy_refuses_change_nothing(tmp_path: Path) -> None:
    values = np.arange(12, dtype="<i4").reshape(3, 4)
    with holdall.blosc2.create(tmp_path / "a.b2nd", (3, 4), "<i4") as array:
        array[...] = values
        bad: list[tuple[Any, Any, type[Exception]]] = [
            (slice(0, 2), np.zeros((2, 3)), ValueError),
            (3, 0, IndexError),
            ((0, 0, 0), 0, IndexError),
            ([0, 7], 0, IndexError),
            (np.zeros(4, bool), 0, IndexError),
            ("x", 0, KeyError),
            (0, "text", ValueError),
            (0, object(), TypeError),
        ]
        for index, value, error in bad:
            with pytest.raises(error):
                array[index] = value
        with pytest.raises(ValueError, match="does not take"):
            array.append(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="axis"):
            array.append(np.zeros((2, 3)), axis=2)
        with pytest.raises(holdall.UsageError):
            array.resize((3,))
        with pytest.raises(ValueError, match="0 or more"):
            array.resize((-1, 4))
        assert (array[...] == values).all()
    assert (theirs(tmp_path / "a.b2nd") == values).all()


def test_values_may_be_arrays_in_files(tmp_path: Path) -> None:
    values = np.arange(12, dtype="<f4").reshape(3, 4)
    their_array(tmp_path / "b.b2nd", values, chunks=(2, 2))
    peer, own = blosc2.open(str(tmp_path / "b.b2nd")), holdall.blosc2.open(tmp_path / "b.b2nd")
    with holdall.blosc2.create(tmp_path / "a.b2nd", (3, 4), "<i4", chunks=(2, 3)) as array:
        for source in (peer, own, own.dataset):
            array[...] = 0
            array[::-1] = source
            assert (array[...] == values[::-1]).all()
        array[peer[...] > 5] = -1
        array[None, 1:, ..., [0, 0]] = [[[7, 8], [9, 10]]]
        array[1:] = array[:-1]
        array[...] += 1
        array.append(own)
    model = values[::-1].astype("<i4")
    model[values > 5] = -1
    model[None, 1:, ..., [0, 0]] = [[[7, 8], [9, 10]]]
    model[1:] = model[:-1].copy()
    assert (theirs(tmp_path / "a.b2nd") == np.r_[model + 1, values.astype("<i4")]).all()


def test_arrays_without_elements_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    blosc2.zeros((0, 5), dtype="<i4", urlpath=str(path), mode="w")
    with holdall.blosc2.open(path, "r+") as array:
        array[...] = 1
        array[5:2, ::-1] = 2
        assert array[...].shape == (0, 5) and list(array) == []
        assert array.append(np.ones((3, 5))) == 3
        array.resize((4, 5))
        array.append([[2]] * 4, axis=-1)
        assert array.shape == (4, 6)
    assert theirs(path).tolist() == [[1, 1, 1, 1, 1, 2]] * 3 + [[0, 0, 0, 0, 0, 2]]
    with holdall.blosc2.open(path, "r+") as array:
        array.resize((0, 6))
    assert theirs(path).shape == (0, 6) and holdall.verify(path)


VLMETA: dict[str, Any] = {
    "int": 7,
    "float": 2.5,
    "text": "größe",
    "bytes": b"\x00\xff",
    "none": None,
    "list": [1, [True, "a"], {"b": 2}],
    "map": {"k": {"deep": [1.5]}},
}


def test_vlmeta_goes_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    with holdall.blosc2.create(path, 3, vlmeta=VLMETA) as array:
        assert array.vlmeta[:] == VLMETA
    assert their_vlmeta(path) == VLMETA
    peer = blosc2.open(str(path), mode="a")
    peer.vlmeta["complex"] = 1 + 2j
    peer.vlmeta["set"] = {1, 2}
    peer.vlmeta["array"] = np.arange(6, dtype="<i2").reshape(2, 3)
    del peer.vlmeta["int"]
    del peer
    with holdall.blosc2.open(path, "r+") as array:
        meta = array.vlmeta
        assert meta["complex"] == 1 + 2j and meta["set"] == {1, 2}
        assert same_bits(meta["array"], np.arange(6, dtype="<i2").reshape(2, 3))
        assert "int" not in meta and len(meta) == 9 and list(meta)[:2] == ["float", "text"]
        with pytest.raises(KeyError, match="did you mean 'float'"):
            meta["floats"]
        del meta["set"]
        del meta["complex"]
        with pytest.raises(KeyError):
            del meta["complex"]
        meta.update({"numpy": np.float32(1.5), "shape": np.array([1, 2])})
        meta[:] = {"more": "x"}
        with pytest.raises(TypeError):
            meta["bad"] = object()
        with pytest.raises(holdall.UsageError):
            meta["n" * 32] = 1
        with pytest.raises(holdall.UsageError):
            meta["holdall.checksums"] = 1
    kept = their_vlmeta(path)
    del kept["array"]
    expected = {key: value for key, value in VLMETA.items() if key != "int"}
    assert kept == expected | {"numpy": 1.5, "shape": [1, 2], "more": "x"}
    with holdall.blosc2.open(path, "r+") as array:
        with pytest.raises(holdall.UsageError):
            array.vlmeta.update({f"k{number}": number for number in range(17)})
        array.discard()
    assert len(their_vlmeta(path)) == len(expected) + 4


def test_nothing_is_seen_before_the_commit(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    their_array(path, np.zeros(10, "<i4"), chunks=(4,))
    array = holdall.blosc2.open(path, "a")
    array[2] = 5
    array.vlmeta["a"] = 1
    assert array.is_changed and array[2] == 5
    assert theirs(path)[2] == 0 and holdall.load(path)[2] == 0
    array.commit()
    assert not array.is_changed and theirs(path)[2] == 5 and array.dataset[2] == 5
    with pytest.raises(holdall.UsageError, match="another program"):
        holdall.blosc2.open(path, "r+")
    array[3] = 6
    array.discard()
    assert array[3] == 0 and not array.is_changed
    array[3] = 6
    with pytest.warns(UserWarning, match="not committed"):
        array.close()
    array.close()
    assert theirs(path).tolist() == [0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="closed"):
        array[0] = 1
    with pytest.raises(ValueError, match="closed"):
        array[0]

    with pytest.raises(ZeroDivisionError), holdall.blosc2.open(path, "r+") as array:
        array[0] = 1
        raise ZeroDivisionError
    assert theirs(path)[0] == 0
    with holdall.blosc2.open(path) as reading:
        with pytest.raises(holdall.UsageError, match="reading") as refused:
            reading[0] = 1
        assert "r+" in str(refused.value.hint)
        with pytest.raises(holdall.UsageError):
            reading.vlmeta["a"] = 2
        with pytest.raises(holdall.UsageError):
            reading.commit()
        assert pickle.loads(pickle.dumps(reading))[2] == 5


def test_a_new_file_is_placed_by_its_first_commit(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    with pytest.raises(ZeroDivisionError), holdall.blosc2.create(path, 3) as array:
        array[0] = 1
        raise ZeroDivisionError
    array = holdall.blosc2.create(path, 3)
    array[0] = 1
    with pytest.raises(holdall.UsageError, match="first commit"):
        _ = array.dataset
    array.discard()
    assert array.closed and os.listdir(tmp_path) == []
    array = holdall.blosc2.create(path, 3)
    del array
    assert os.listdir(tmp_path) == []

    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        holdall.blosc2.create(path, 3)
    array = holdall.blosc2.create(path, 3, "<i4", overwrite=True)
    array[1] = 4
    assert path.read_bytes() == b"old"
    array.commit()
    assert theirs(path).tolist() == [0, 4, 0]
    # It goes on as an open file.
    array.append([7, 8])
    assert theirs(path).tolist() == [0, 4, 0]
    array.commit()
    array.close()
    assert theirs(path).tolist() == [0, 4, 0, 7, 8] and os.listdir(tmp_path) == ["a.b2nd"]
    with pytest.raises(FileNotFoundError):
        holdall.blosc2.create(tmp_path / "no/such/a.b2nd", 3)
    with pytest.raises(FileNotFoundError):
        holdall.blosc2.open(tmp_path / "none.b2nd", "r+")
    with pytest.raises(ValueError, match="create"):
        holdall.blosc2.open(path, "w")  # type: ignore[arg-type]


def test_rows_that_are_set_one_by_one_leave_no_dead_space(tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(0, 1 << 30, (300, 64), dtype="<i4")
    with holdall.blosc2.create(tmp_path / "a.b2nd", values.shape, "<i4", chunks=(100, 32)) as array:
        for row, new in enumerate(values):
            array[row] = new
    whole = tmp_path / "b.b2nd"
    holdall.save(whole, values, chunks=(100, 32))
    assert (theirs(tmp_path / "a.b2nd") == values).all()
    assert (tmp_path / "a.b2nd").stat().st_size < 1.5 * whole.stat().st_size
    grown = tmp_path / "c.b2nd"
    with holdall.blosc2.create(grown, (0, 64), "<i4", chunks=(100, 32)) as array:
        for new in values:
            array.append(new[None])
    # A chunk that grows does not fit where it was.
    assert (theirs(grown) == values).all() and grown.stat().st_size < 6 * whole.stat().st_size


def test_words_are_those_of_the_peer(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    cparams = {"codec": blosc2.Codec.ZLIB, "clevel": 3, "filters": [blosc2.Filter.SHUFFLE]}
    their_array(path, np.arange(60, dtype="<f8").reshape(6, 10), chunks=(3, 5), blocks=(2, 5), cparams=cparams)
    peer, array = blosc2.open(str(path)), holdall.blosc2.open(path)
    for name in ("shape", "chunks", "blocks", "dtype", "ndim", "size", "nbytes", "typesize"):
        expected = peer.schunk.typesize if name == "typesize" else getattr(peer, name)
        assert getattr(array, name) == expected, name
    assert array.cbytes > 0 and array.cratio == array.nbytes / array.cbytes
    assert array.info["cparams"] == {
        "codec": "zlib",
        "clevel": 3,
        "use_dict": False,
        "typesize": 8,
        "blocksize": 80,
        "filters": ["shuffle"],
    }
    assert set(dict(peer.info_items)) - set(array.info) == {"dparams"}
    assert len(array) == 6 and [row[0] for row in array] == [0, 10, 20, 30, 40, 50]
    assert np.asarray(array).shape == (6, 10) and "float64" in repr(array)
    assert array.meta["b2nd"][2] == [6, 10] and array.nchunks == 4
    assert array.schunk.decompress_chunk(3) == peer.schunk.decompress_chunk(3)
    assert same_bits(array[::-2, [1, 3]], peer[...][::-2, [1, 3]])


def test_several_filters_and_digests(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    values = np.linspace(1, 2, 1000, dtype="<f4")
    words: dict[str, Any] = {"filter": ["trunc_prec:10", "shuffle"], "checksum": "sha256", "split": "never"}
    with holdall.blosc2.create(path, 1000, "<f4", chunks=(300,), **words) as array:
        array[:] = values
        array[10] = 1.5
        assert len(array.vlmeta) == 0
    peer = blosc2.open(str(path))
    assert peer.cparams.filters[-2:] == [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE]
    assert np.allclose(peer[:], np.r_[values[:10], 1.5, values[11:]], rtol=2e-3)
    with holdall.blosc2.open(path, "r+") as array:
        array.append(values)
    assert holdall.verify(path).verdict == "sound"
    assert "holdall.checksums" in their_vlmeta(path)


def their_frame(path: Path, count: int = 1000, **words: Any) -> None:
    """A super-chunk of numbers that python-blosc2 writes."""
    data = np.arange(count, dtype="<i4")
    blosc2.SChunk(chunksize=400, data=data, cparams={"typesize": 4}, urlpath=str(path), mode="w", **words)


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_frame_of_the_peer_is_read_and_changed(tmp_path: Path, contiguous: bool) -> None:
    path = tmp_path / "s.b2frame"
    their_frame(path, 1050, contiguous=contiguous)
    model = np.arange(1050, dtype="<i4")
    frame = holdall.blosc2.open(path, "r+")
    assert isinstance(frame, holdall.blosc2.Frame)
    peer = blosc2.open(str(path))
    for name in ("typesize", "nchunks", "chunksize", "nbytes", "contiguous"):
        assert getattr(frame, name) == getattr(peer, name), name
    assert len(frame) == 1050 and frame[3] == peer[3] and frame[-1] == model[-1:].tobytes()
    assert frame[95:305] == peer[95:305] and frame[5:2] == b"" and list(frame.iterchunks())[2] == frame[200:300]
    assert frame.decompress_chunk(-1) == peer.decompress_chunk(10)
    assert frame.get_chunk(1) == peer.get_chunk(1)
    del peer
    frame[95:105] = model[:10]
    model[95:105] = model[:10]
    frame[7] = np.int32(9)
    model[7] = 9
    assert frame.extend(model[:60]) == 12
    model = np.r_[model, model[:60]]
    frame[1100:1120] = model[:20]
    model = np.r_[model[:1100], model[:20]]
    frame.vlmeta["a"] = [1]
    assert frame[90:110] == model[90:110].tobytes()
    frame.commit()
    assert blosc2.open(str(path))[:] == model.tobytes()
    frame.insert_data(1, model[:100])
    frame.update_data(0, np.zeros(100, "<i4"))
    frame.insert_chunk(2, frame.get_chunk(4))
    frame.update_chunk(3, frame.get_chunk(0))
    frame.delete_chunk(5)
    order = [1, 0, *range(2, frame.nchunks)]
    frame.reorder_offsets(order)
    parts = [model[at : at + 100] for at in range(0, len(model), 100)]
    parts.insert(1, model[:100])
    parts[0] = np.zeros(100, "<i4")
    parts.insert(2, parts[4])
    parts[3] = parts[0]
    del parts[5]
    parts[0], parts[1] = parts[1], parts[0]
    frame.commit()
    peer = blosc2.open(str(path))
    assert peer[:] == np.concatenate(parts).tobytes() and peer.vlmeta["a"] == [1] and peer.nchunks == frame.nchunks
    for wrong in (frame.nchunks, -frame.nchunks - 1):
        with pytest.raises(IndexError):
            frame.decompress_chunk(wrong)
    with pytest.raises(IndexError):
        frame[len(frame)]
    with pytest.raises(IndexError, match="step"):
        frame[::2]
    with pytest.raises(ValueError, match="for a slice"):
        frame[0:3] = b"12345678"
    with pytest.raises(holdall.UsageError, match="shorter|only the last"):
        frame.append_data(b"1234")
    frame.close()
    assert holdall.blosc2.open(path)[0:4] == np.concatenate(parts)[:4].tobytes()


def test_a_frame_is_made_and_read_by_the_peer(tmp_path: Path) -> None:
    path = tmp_path / "s.b2frame"
    data = np.arange(1000, dtype="<f8")
    words: dict[str, Any] = {"codec": "lz4", "filter": "shuffle", "vlmeta": {"a": 1}}
    with holdall.blosc2.create_frame(path, 8, chunksize=800, data=data[:250], **words) as frame:
        frame.extend(data[250:])
        assert not path.exists() and frame.nchunks == 10 and "Frame" in repr(frame)
    peer = blosc2.open(str(path))
    assert peer[:] == data.tobytes() and (peer.typesize, peer.chunksize, peer.nchunks) == (8, 800, 10)
    assert peer.cparams.codec == blosc2.Codec.LZ4 and peer.vlmeta["a"] == 1
    peer = blosc2.open(str(path), mode="a")
    peer.append_data(data[:100])
    del peer
    with holdall.blosc2.open(path, "r+") as frame:
        assert frame.nchunks == 11 and frame[1000:1100] == data[:100].tobytes()
    varied = tmp_path / "v.b2frame"
    with holdall.blosc2.create_frame(varied, variable_chunks=True) as frame:
        for text in (b"one", b"three", b"", b"eleven"):
            frame.append_data(text)
        assert frame[2:5] == b"eth" and frame.chunksize == 0
    assert [blosc2.open(str(varied)).decompress_chunk(n) for n in range(4)] == [b"one", b"three", b"", b"eleven"]


def test_stores_are_read(tmp_path: Path) -> None:
    values = np.arange(20, dtype="<i4").reshape(4, 5)
    for name, kind in (("a.b2z", blosc2.DictStore), ("b.b2d", blosc2.DictStore), ("c.b2z", blosc2.TreeStore)):
        store = kind(str(tmp_path / name), mode="w")
        store["/x"] = values
        store["/deep/y"] = values + 1
        store.close()
        file = holdall.blosc2.open(tmp_path / name)
        assert isinstance(file, holdall.File) and set(file) == {"x", "deep/y"}
        assert (file["x"][...] == values).all() and (file["deep/y"][1:3, ::2] == values[1:3, ::2] + 1).all()
        with pytest.raises(holdall.UnsupportedError, match="store"):
            holdall.blosc2.open(tmp_path / name, "r+")
    embed = blosc2.EmbedStore(str(tmp_path / "e.b2e"), mode="w")
    embed["/x"] = values
    del embed
    file = holdall.blosc2.open(tmp_path / "e.b2e")
    assert isinstance(file, holdall.File) and (file["x"][...] == values).all()


def test_values_that_other_metadata_describe_are_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "v.b2frame"
    lists = blosc2.ObjectArray(urlpath=str(path), mode="w")
    lists.append({"a": 1})
    del lists
    with holdall.blosc2.open(path, "r+") as frame:
        assert isinstance(frame, holdall.blosc2.Frame)
        with pytest.raises(holdall.UnsupportedError, match="depend on") as refused:
            frame.append_data(b"x")
        assert refused.value.hint
        frame.vlmeta["note"] = "kept"
    assert blosc2.open(str(path))[0] == {"a": 1} and their_vlmeta(path)["note"] == "kept"


def fixtures(kind: str) -> list[Path]:
    """Fixtures of Blosc2."""
    found = sorted((TESTDATA / "blosc2" / kind).iterdir())
    assert len(found) > 20
    return found


@pytest.mark.parametrize("path", fixtures("ok"), ids=lambda path: path.name)
def test_fixtures_are_opened_and_edited(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        shutil.copy(path, copy)
    opened = holdall.blosc2.open(copy)
    if isinstance(opened, holdall.File):
        assert opened.format == "blosc2"
        return
    names = dict(opened.vlmeta)
    opened.close()
    try:
        edited = holdall.blosc2.open(copy, "r+")
        edited.vlmeta["holdall"] = 1
        if isinstance(edited, holdall.blosc2.Array) and edited.size:
            before = edited[...]
            index = (0,) * edited.ndim
            edited[index] = before[index]
        edited.commit()
        edited.close()
    except (holdall.UnsupportedError, holdall.UsageError) as error:
        assert error.hint or "16" in str(error), error
        return
    again = holdall.blosc2.open(copy)
    kept = dict(again.vlmeta)
    assert kept.pop("holdall") == 1 and repr(kept) == repr(names)
    if isinstance(again, holdall.blosc2.Array) and again.size:
        # Filters that round do it again.
        is_lossy = any(name.startswith(("ndmean", "trunc_prec", "int_trunc")) for name in again.cparams["filters"])
        assert np.allclose(again[...], before) if is_lossy else same_bits(again[...], before)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", fixtures("bad"), ids=lambda path: path.name)
def test_hostile_files_raise_only_ours(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        shutil.copy(path, copy)
    works: list[Callable[[Any], object]] = [
        lambda opened: opened.vlmeta.getall(),
        lambda opened: (opened.meta, opened.info, repr(opened)),
        lambda opened: opened.vlmeta.update({"a": 1}),
        lambda opened: opened.commit(durable=False),
    ]
    of_arrays: list[Callable[[Any], object]] = [
        lambda opened: opened[...],
        lambda opened: opened.__setitem__(Ellipsis, 1),
        lambda opened: opened.resize([3] * opened.ndim),
    ]
    of_frames: list[Callable[[Any], object]] = [
        lambda opened: opened[:],
        lambda opened: opened.__setitem__(slice(0, 1), opened[0:1]),
        lambda opened: opened.append_data(b"1"),
        lambda opened: list(opened.iterchunks()),
    ]
    for mode in ("r", "r+"):
        try:
            opened: Any = holdall.blosc2.open(copy, mode, max_memory=1 << 26)  # type: ignore[arg-type]
        except (holdall.HoldallError, OSError):
            continue
        if isinstance(opened, holdall.File):
            continue
        more = of_arrays if isinstance(opened, holdall.blosc2.Array) else of_frames
        for work in [*more, *works]:
            with contextlib.suppress(holdall.HoldallError, OSError):
                work(opened)
        opened.close()


def test_other_formats_are_refused(tmp_path: Path, image: Path) -> None:
    with pytest.raises(holdall.WrongFormatError, match="asdf"):
        holdall.blosc2.open(image)
    (tmp_path / "text").write_text("hello")
    for mode in ("r", "r+"):
        with pytest.raises(holdall.WrongFormatError):
            holdall.blosc2.open(tmp_path / "text", mode)  # type: ignore[arg-type]


KILLED = """
import sys, numpy as np, holdall.blosc2
array = holdall.blosc2.open(sys.argv[1], "r+")
print("ready", flush=True)
for number in range(1, 1 << 20):
    array[...] = number
    array.vlmeta["number"] = number
    array.resize((100 + number % 7,))
    array.commit(durable=False)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_killed_program_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    chance = random.Random(1)
    seen = set()
    for _ in range(8):
        their_array(path, np.zeros(100, "<i8"), chunks=(30,), blocks=(10,))
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0.005, 0.15))
        child.kill()
        child.wait(60)
        child.stdout.close()
        assert holdall.verify(path).verdict == "sound"
        peer = blosc2.open(str(path))
        number = peer.vlmeta.get("number", 0)
        expected = np.zeros(100 + number % 7 if number else 100, "<i8")
        expected[:100] = number
        # New elements are zeros until the next step sets them.
        values = peer[:]
        assert values.shape == expected.shape and set(values[:100].tolist()) == {number}
        del peer
        with holdall.blosc2.open(path, "r+") as array:
            array[0] = -1
        assert theirs(path)[0] == -1
        seen.add(number)
    assert len(seen) > 2


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_ends_long_work_and_leaves_no_target(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(64, 1 << 16))

    def interrupted(work: Callable[[], object]) -> float:
        sent: list[float] = []
        timer = threading.Timer(0.2, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        late = time.monotonic() - sent[0]
        timer.join()
        return late

    def fill(array: holdall.blosc2.Array) -> None:
        for _ in range(100):
            array[...] = values

    def made() -> None:
        with holdall.blosc2.create(tmp_path / "new.b2nd", values.shape, chunks=(1, 1 << 16), codec="zlib:9") as array:
            fill(array)

    # A tenth of a second and the rest of a chunk on a quiet machine; all of the work takes minutes.
    assert interrupted(made) < 5.0
    assert os.listdir(tmp_path) == []

    path = tmp_path / "a.b2nd"
    with holdall.blosc2.create(path, (0, 1 << 16), chunks=(1, 1 << 16), codec="zlib:9") as array:
        array.append(values[:2])
    before = path.read_bytes()
    array = holdall.blosc2.open(path, "r+")
    assert interrupted(lambda: [array.append(values) for _ in range(100)]) < 5.0
    if array.is_changed:
        with pytest.raises(holdall.UsageError, match="earlier change") as refused:
            array.commit()
        assert refused.value.hint
    array.discard()
    assert array.shape == (2, 1 << 16) and (array[1] == values[1]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array.close()
    assert path.read_bytes() == before


def test_threads_share_an_array(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    array = holdall.blosc2.create(path, (8, 1000), "<i4", chunks=(2, 100))

    def write(row: int) -> None:
        for number in range(20):
            array[row] = number
            array.vlmeta[f"row{row}"] = number
            assert (array[row] == number).all()

    threads = [threading.Thread(target=write, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    array.commit()
    array.close()
    assert (theirs(path) == 19).all() and len(their_vlmeta(path)) == 8
