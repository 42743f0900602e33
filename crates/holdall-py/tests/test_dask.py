"""Dask arrays, whose tasks read parts of a file in threads and in other processes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from conftest import same_bits
from dask.base import tokenize

import holdall
from holdall._threads import threads


@pytest.fixture
def chunked(tmp_path: Path) -> Path:
    """A b2nd file of 100 × 90 numbers in chunks of 30 × 40."""
    path = tmp_path / "a.b2nd"
    holdall.save(path, np.arange(9000, dtype="<i4").reshape(100, 90), chunks=(30, 40))
    return path


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_a_dask_array_has_the_values_of_the_file(chunked: Path, scheduler: str) -> None:
    dataset = holdall.open(chunked)["data"]
    array = dataset.to_dask()
    assert array.shape == (100, 90) and array.dtype == "<i4"
    with dask.config.set(scheduler=scheduler, num_workers=2):
        assert same_bits(array.compute(), dataset[...])
        assert int(array[10:20, ::3].sum().compute()) == int(dataset[10:20, ::3].sum())


def test_chunks_of_tasks_are_those_of_the_file_or_as_asked(chunked: Path) -> None:
    dataset = holdall.open(chunked)["data"]
    with dask.config.set({"array.chunk-size": "5KiB"}):
        assert dataset.to_dask().chunks[1] == (40, 40, 10)
    assert dataset.to_dask(chunks=(50, 90)).chunks == ((50, 50), (90,))


def test_tokens_are_of_the_file_as_it_is(chunked: Path) -> None:
    first = tokenize(holdall.open(chunked)["data"])
    assert first == tokenize(holdall.open(chunked)["data"])
    holdall.append(chunked, np.zeros((1, 90), "<i4"))
    assert first != tokenize(holdall.open(chunked)["data"])


def test_what_has_no_path_goes_into_no_graph(chunked: Path) -> None:
    with open(chunked, "rb") as file, pytest.raises(TypeError, match="pickled"):
        holdall.open(file)["data"].to_dask()


def test_tasks_use_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdall._threads._cores", 8)
    assert threads(None) == 8

    def asked() -> Any:
        return threads(None)

    with dask.config.set(scheduler="threads", num_workers=2):
        found = dask.compute(*[dask.delayed(asked)() for _ in range(4)])
    assert set(found) == {1}


def test_a_process_opens_a_file_once(chunked: Path) -> None:
    data = pickle.dumps(holdall.open(chunked)["data"])
    assert pickle.loads(data).file is pickle.loads(data).file
    holdall.append(chunked, np.zeros((1, 90), "<i4"))
    assert pickle.loads(data).shape == (101, 90)


def test_a_graph_is_unpickled_without_its_files(chunked: Path) -> None:
    data = pickle.dumps(holdall.open(chunked)["data"].to_dask())
    expected = holdall.open(chunked)["data"][...]
    away = chunked.rename(chunked.with_suffix(".away"))
    array = pickle.loads(data)
    assert (array.shape, array.dtype) == ((100, 90), expected.dtype)
    with pytest.raises(FileNotFoundError):
        array.compute(scheduler="sync")
    away.rename(chunked)
    assert np.array_equal(array.compute(scheduler="sync"), expected)


def test_every_exception_goes_through_what_dask_pickles_exceptions_by() -> None:
    import tblib.pickling_support

    tblib.pickling_support.install()
    for name in holdall._errors.__all__:
        kind = getattr(holdall, name)
        if issubclass(kind, holdall.HoldallError):
            again = pickle.loads(pickle.dumps(kind("m", (1, 2), "p", "do")))
            assert type(again) is kind and (again.range, again.part, again.hint) == ((1, 2), "p", "do")
