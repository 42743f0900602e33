"""Indexing: what numpy gives for the whole array, for all files of testdata."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import files, same_bits

import holdall


def basic(chance: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A basic index of an array of `shape`, by chance."""
    index: list[Any] = []
    for length in shape:
        kind = chance.random()
        ends = (
            [None, *range(-length - 1, length + 2)]
            if length < 20
            else [None, -1, 0, 3, length, length + 1, -length - 1]
        )
        if kind < 0.25 and length:
            index.append(chance.randrange(-length, length))
        elif kind < 0.8:
            index.append(slice(chance.choice(ends), chance.choice(ends), chance.choice([None, 1, 2, -1, -3])))
        else:
            index.append(slice(None))
    if index and chance.random() < 0.3:
        index[chance.randrange(len(index)) :] = [Ellipsis]
    return tuple(index)


def others(chance: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index with None, a list of integers or a mask, by chance."""
    index: list[Any] = [slice(None) if chance.random() < 0.5 else slice(None, None, 2) for _ in shape]
    axis = chance.randrange(len(shape)) if shape else 0
    kind = chance.random()
    if kind < 0.4 and shape and shape[axis]:
        index[axis] = [chance.randrange(-shape[axis], shape[axis]) for _ in range(3)]
    elif kind < 0.7 and shape:
        index[axis] = np.array([chance.random() < 0.4 for _ in range(shape[axis])], bool)
    else:
        index.insert(axis, None)
    return tuple(index)


@pytest.mark.parametrize("path", files("ok"), ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_every_index_gives_what_numpy_gives_for_the_whole(path: Path) -> None:
    chance = random.Random(path.name)
    file = holdall.open(path)
    for name in file:
        dataset = file[name]
        try:
            whole = dataset[...]
        except (holdall.UnsupportedError, holdall.LimitError):
            # Legal, and nothing that numpy or this machine holds.
            continue
        assert whole.shape == dataset.shape and whole.dtype == dataset.dtype
        assert whole.flags.writeable
        if whole.nbytes > 1 << 22:
            continue
        for make in [basic] * 5 + [others] * 3:
            index = make(chance, dataset.shape)
            want, got = whole[index], dataset[index]
            assert np.shape(got) == np.shape(want), (name, index)
            assert same_bits(got, want), (name, index)
            if make is basic and (view := dataset.view(index)) is not None:
                assert same_bits(view, want) and (view.size == 0 or not view.flags.writeable), (name, index)
        again = pickle.loads(pickle.dumps(dataset))
        assert same_bits(again[...], whole)


def test_masks_of_more_axes_and_lists_give_what_numpy_gives(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    whole = dataset[...]
    for index in [
        whole > 200,
        (whole > 200, None),
        [3, 1, -1],
        np.array([[1, 2], [3, 4]]),
        ([0, 5], [1, 2]),
        (5, [1, 2]),
        (slice(None), [0, 5]),
        (None, 3),
        (..., None),
        (np.int64(3), np.uint8(2)),
        [],
        np.zeros(48, bool),
        (np.True_,),
    ]:
        assert same_bits(dataset[index], whole[index]), index


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        ((0, 0, 0), IndexError, "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        (48, IndexError, "index 48 is out of bounds for axis 0 with size 48"),
        ((0, -65), IndexError, "index -65 is out of bounds for axis 1 with size 64"),
        ([0, 48], IndexError, "index 48 is out of bounds for axis 0 with size 48"),
        (1.5, IndexError, "only integers, slices"),
        ((..., ...), IndexError, "single ellipsis"),
        (np.zeros(47, bool), IndexError, "boolean index did not match"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (10**30, IndexError, "out of bounds"),
    ],
)
def test_a_wrong_index_is_told_in_numpys_words(image: Path, index: Any, error: type[Exception], message: str) -> None:
    dataset = holdall.open(image)["roman/data"]
    with pytest.raises(error, match=message.replace("(", r"\(").replace("`", "`")):
        dataset[index]


def test_scalars_arrays_of_no_axes_and_empty_arrays(tmp_path: Path) -> None:
    for name, values in {
        "zero": np.float64(3),
        "empty": np.empty((0, 3), "<i2"),
        "text": np.array(["a", "bcd"]),
    }.items():
        path = tmp_path / f"{name}.asdf"
        holdall.save(path, values)
        dataset = holdall.open(path)["data"]
        assert dataset.shape == np.shape(values)
        assert same_bits(dataset[...], values) and isinstance(dataset[...], np.ndarray)
        assert (dataset[()] == values).all() if np.ndim(values) else dataset[()] == values
        assert same_bits(dataset.read(out=np.empty(dataset.shape, dataset.dtype)), values)


def test_fields_of_records_are_read_by_name(tmp_path: Path) -> None:
    records = np.zeros(5, [("a", "<i4"), ("b", ">f8", (2,)), ("c", [("d", "u1")])])
    records["a"], records["b"] = range(5), 1.5
    holdall.save(tmp_path / "r.asdf", records)
    dataset = holdall.open(tmp_path / "r.asdf")["data"]
    assert dataset.fields == ("a", "b", "c")
    assert (dataset["a"] == range(5)).all() and dataset["b"].shape == (5, 2)
    assert dataset[["a", "b"]].dtype.names == ("a", "b")
    field = dataset.field("a")
    assert field.dtype == "<i4" and field[-1] == 4 and (field[[1, 3]] == [1, 3]).all()
    assert pickle.loads(pickle.dumps(field))[2] == 2
    with pytest.raises(KeyError, match="did you mean 'a'|x"):
        dataset["x"]


def test_out_is_filled_in_place_and_cast(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    whole = dataset[...]
    for order in "CF":
        out = np.empty((48, 64), "<f4", order=order)
        assert dataset.read(out=out) is out and same_bits(out, whole)
    out = np.empty((2, 64), "f8")
    assert (dataset.read(slice(0, 2), out=out) == whole[:2]).all()
    gap = np.zeros((48, 128), "<f4")[:, ::2]
    assert dataset.read(out=gap) is gap and same_bits(gap, whole)
    with pytest.raises(ValueError, match="shape"):
        dataset.read(out=np.empty((3, 3)))
    locked = np.empty((48, 64), "<f4")
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        dataset.read(out=locked)


def test_arrays_keep_the_order_of_the_file(tmp_path: Path) -> None:
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    holdall.save(tmp_path / "a.ra", values)
    dataset = holdall.open(tmp_path / "a.ra")["data"]
    assert dataset.order == "F" and dataset[...].flags.f_contiguous
    assert dataset.read(order="C").flags.c_contiguous
    assert holdall.open(tmp_path / "a.ra", c_order=True)["data"].shape == (3, 2)


def test_iteration_gives_rows(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    assert same_bits(np.array(list(dataset)), dataset[...])
    assert len(dataset) == 48
