"""xarray over files of every format, against `holdall.open` and another reader."""

from __future__ import annotations

import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import asdf
import dask
import fsspec
import gsd.hoomd
import numpy as np
import pytest
import xarray as xr
import zarr
from conftest import files, same_bits
from five import RECORD, all_five, asdf_coded, asdf_plain, rawarray, rng, trajectory
from test_remote import served

import holdall
import holdall.zarr
from holdall._outer import read_outer

NAMES = ["asdf", "zlib", "bzp2", "lz4", "gsd", "b2nd", "special", "bloscpack", "rawarray"]


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Files by other writers."""
    return all_five(tmp_path_factory.mktemp("five"))


def opened(path: Path, **words: Any) -> xr.Dataset:
    """The file through xarray."""
    return xr.open_dataset(path, engine="holdall", **words)


@pytest.mark.parametrize("name", NAMES)
def test_variables_are_the_datasets_of_the_file(five: dict[str, Any], name: str) -> None:
    path, values, read = five[name]
    data = opened(path, records="structured")
    tasks = opened(path, records="structured", chunks={})
    direct = holdall.open(path)
    assert set(data.variables) == set(direct)
    for key, expected in values.items():
        assert same_bits(read(path, key), expected), key
        assert data[key].dtype == direct[key].dtype and data[key].shape == expected.shape
        for array in (data[key].values, tasks[key].compute(scheduler="sync").values):
            assert same_bits(array, direct[key][...]) and same_bits(array, expected.astype(array.dtype)), key


@pytest.mark.parametrize("name", NAMES)
def test_lazy_arrays_are_pickled_and_read_in_other_processes(five: dict[str, Any], name: str) -> None:
    path, values, _ = five[name]
    key = next(iter(values))
    again = pickle.loads(pickle.dumps(opened(path)))
    assert same_bits(again[key].values, holdall.open(path)[key][...])
    with dask.config.set(scheduler="processes", num_workers=1):
        assert same_bits(opened(path, chunks={})[key].compute().values, values[key])


def test_any_index_gives_what_numpy_gives(five: dict[str, Any]) -> None:
    chance = rng(11)
    for name in ("b2nd", "gsd", "rawarray"):
        path, values, _ = five[name]
        key = next(iter(values))
        expected, data = values[key], opened(path)[key]
        for _ in range(60):
            index: list[Any] = []
            for length in expected.shape:
                kind = chance.integers(4)
                start, stop = sorted(int(n) for n in chance.integers(-length, length + 1, 2))
                if kind == 0:
                    index.append(int(chance.integers(-length, length)))
                elif kind == 1:
                    index.append(slice(start, stop, int(chance.integers(1, 4))))
                elif kind == 2:
                    index.append(slice(None, None, -int(chance.integers(1, 4))))
                else:
                    index.append(chance.integers(-length, length, int(chance.integers(0, 5))))
            outer = expected[tuple(slice(None) for _ in index)]
            for axis in reversed(range(len(index))):
                outer = outer[(slice(None),) * axis + (index[axis],)]
            assert np.array_equal(data[tuple(index)].values, outer, equal_nan=True), (name, index)


def test_vectorized_and_boolean_indices(five: dict[str, Any]) -> None:
    path, values, _ = five["b2nd"]
    data, expected = opened(path)["data"], values["data"]
    rows, columns = xr.DataArray([3, 50, 3], dims="z"), xr.DataArray([1, 2, 89], dims="z")
    assert np.array_equal(data[rows, columns].values, expected[[3, 50, 3], [1, 2, 89]])
    mask = expected[:, 0] > 0
    assert np.array_equal(data[mask].values, expected[mask], equal_nan=True)


def test_frames_far_apart_are_read_in_runs() -> None:
    values = np.arange(4000).reshape(1000, 4)
    boxes: list[tuple[slice, ...]] = []

    def read(box: tuple[slice, ...]) -> np.ndarray:
        boxes.append(box)
        return values[box]

    picked = np.array([990, 2, 3, 2, 500])
    got = read_outer(values.shape, (picked, np.array([3, 0])), read, (1, 4))
    assert np.array_equal(got, values[picked][:, [3, 0]])
    assert [(box[0].start, box[0].stop) for box in boxes] == [(2, 4), (500, 501), (990, 991)]


def test_dimensions_line_up(five: dict[str, Any]) -> None:
    frames = opened(five["gsd"][0])
    assert frames["particles/position"].dims == ("frame", "dim_20", "dim_3")
    assert frames["log/energy"].dims == ("frame", "dim_1")
    assert dict(frames.sizes)["frame"] == 7
    image = opened(five["asdf"][0])
    # From the mapping that the array is in.
    assert image["image/data"].dims == ("y", "x")
    assert image["base"].dims == ("dim_20", "dim_30") and image["part"].dims == ("dim_10", "dim_30")
    given = opened(five["asdf"][0], dims={"base": ("row", "column"), "image/data": ("v", "u")})
    assert given["base"].dims == ("row", "column") and given["image/data"].dims == ("v", "u")
    every = opened(five["asdf"][0], dims=("a", "b"), drop_variables=["image/data", "part", "gaps"])
    assert every["base"].dims == ("a", "b") and every["few"].dims == ("dim_3",)
    with pytest.raises(ValueError, match="2 different names"):
        opened(five["asdf"][0], dims={"base": ("row", "row")})
    with pytest.raises(ValueError, match="dims: no array has 7 axes"):
        opened(five["asdf"][0], dims=tuple("abcdefg"))


def test_equal_lengths_and_names_that_do_not_fit(tmp_path: Path) -> None:
    tree = {
        "square": np.zeros((4, 4), "i1"),
        "one": {"data": np.zeros((2, 3)), "dims": ["y", "x"]},
        "two": {"data": np.zeros((2, 5)), "dims": ["y", "x"]},
        "three": {"data": np.zeros((2, 5)), "dims": ["y"]},
    }
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    data = opened(tmp_path / "a.asdf")
    assert data["square"].dims == ("dim_4", "dim_4_")
    # A length of its own, for a name that another array has with another length.
    assert data["one/data"].dims == ("y", "x") and data["two/data"].dims == ("y", "x_5")
    assert data["three/data"].dims == ("dim_2", "dim_5")


def test_attributes_units_and_encoding(five: dict[str, Any]) -> None:
    path = five["asdf"][0]
    image = opened(path, group="image")
    assert image.attrs == {"unit": "DN", "telescope": "none"}
    assert image["data"].attrs["units"] == "DN"
    data = opened(five["b2nd"][0])["data"]
    assert data.encoding["codec"] == "zstd" and data.encoding["chunks"] == (30, 40)
    # Small chunks go together along the first axis.
    assert data.encoding["preferred_chunks"] == {"dim_100": 100, "dim_90": 40}
    assert opened(five["b2nd"][0], chunks={})["data"].chunks == ((100,), (40, 40, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened(five["zlib"][0], chunks="auto")["a"].encoding["codec"] == "zlib"


def test_large_chunks_are_preferred_as_they_are(tmp_path: Path) -> None:
    holdall.save(tmp_path / "a.b2nd", np.zeros((600, 600)), chunks=(400, 500))
    data = opened(tmp_path / "a.b2nd", chunks={})["data"]
    assert data.chunks == ((400, 200), (500, 100))


def test_groups(five: dict[str, Any], tmp_path: Path) -> None:
    path = five["gsd"][0]
    assert set(opened(path, group="particles").variables) == {
        name.removeprefix("particles/") for name in holdall.open(path) if name.startswith("particles/")
    }
    with pytest.raises(KeyError, match="did you mean 'particles'"):
        opened(path, group="particle")
    tree = xr.open_datatree(path, engine="holdall")
    assert tree["particles/position"].dims == ("frame", "dim_20", "dim_3")
    assert same_bits(tree["log/energy"].values, five["gsd"][1]["log/energy"])
    assert {"/", "/particles", "/configuration", "/log"} == set(tree.groups)
    tree.close()
    below = xr.open_datatree(path, engine="holdall", group="particles")
    assert "position" in below.dataset
    dropped = xr.open_datatree(path, engine="holdall", drop_variables=["log/energy", "position"])
    assert "log" not in dropped.children and "position" not in dropped["particles"].dataset


def test_a_dataset_below_another_one_is_next_to_it_in_a_tree(tmp_path: Path) -> None:
    mask = np.array([[0, 1], [0, 0]], bool)
    tree = {"x": np.ma.MaskedArray(np.ones((2, 2)), mask), "y": {"z": np.zeros(3)}}
    asdf.AsdfFile(tree).write_to(tmp_path / "m.asdf")
    opened_tree = xr.open_datatree(tmp_path / "m.asdf", engine="holdall")
    assert set(opened_tree.dataset.variables) == {"x", "x.mask"} and "z" in opened_tree["y"].dataset


def test_masks_are_put_in_on_request(tmp_path: Path) -> None:
    mask = np.array([True, False, False, True])
    tree = {
        "f": np.ma.MaskedArray(np.arange(4, dtype="<f4"), mask),
        "i": np.ma.MaskedArray(np.arange(4, dtype="<i4"), mask),
    }
    asdf.AsdfFile(tree).write_to(tmp_path / "m.asdf")
    stored = opened(tmp_path / "m.asdf", drop_variables=["f/mask", "i/mask"])
    assert np.array_equal(stored["f"].values, np.arange(4)) and stored["f"].dtype == "f4"
    with pytest.warns(UserWarning, match="i: int32 has no NaN"):
        masked = opened(tmp_path / "m.asdf", mask_and_scale=True, chunks={})
    assert np.array_equal(masked["f"].values, [np.nan, 1, 2, np.nan], equal_nan=True)
    assert masked["f"].dtype == "f4" and np.array_equal(masked["i"].values, np.arange(4))
    assert np.array_equal(masked["f"][::-1][:2].values, [np.nan, 2], equal_nan=True)
    with asdf.open(tmp_path / "m.asdf") as file:
        assert np.array_equal(file["f"].mask, mask)


def test_records_are_variables_of_their_fields(five: dict[str, Any]) -> None:
    path, values, _ = five["asdf"]
    table = values["table"]
    data = opened(path, chunks={})
    assert {"table/id", "table/flux", "table/at"} <= set(data.variables) and "table" not in data
    assert data["table/at"].dims == ("dim_10", "dim_3") and data["table/flux"].dtype == ">f8"
    for field in RECORD.names or ():
        assert same_bits(data[f"table/{field}"].values, table[field])
    assert same_bits(data["table/at"][2:7:2, [2, 0]].values, table["at"][2:7:2][:, [2, 0]])
    tree = xr.open_datatree(path, engine="holdall")
    assert set(tree["table"].dataset.variables) == {"id", "flux", "at"}
    assert same_bits(opened(path, records="structured")["table"].values, table)
    with pytest.raises(ValueError, match="records is"):
        opened(path, records="rows")


def test_many_files_are_one(tmp_path: Path) -> None:
    images = rng(12).normal(size=(50, 20, 30)).astype("<f4")
    for number, image in enumerate(images):
        file = asdf.AsdfFile({"image": {"data": image}})
        file.write_to(tmp_path / f"{number:02}.asdf", all_array_compression="zlib" if number % 2 else None)
    paths = sorted(tmp_path.glob("*.asdf"))
    with xr.open_mfdataset(paths, engine="holdall", combine="nested", concat_dim="image", chunks={}) as data:
        assert data["image/data"].dims == ("image", "dim_20", "dim_30")
        assert same_bits(data["image/data"].values, images)
        assert np.array_equal(data["image/data"].max("image").values, images.max(axis=0))
    runs = [trajectory(tmp_path / f"{n}.gsd", 3 + n, 6, seed=20 + n)["particles/position"] for n in range(3)]
    files = sorted(tmp_path.glob("*.gsd"))
    with xr.open_mfdataset(files, engine="holdall", combine="nested", concat_dim="frame", chunks={}) as data:
        assert same_bits(data["particles/position"].values, np.concatenate(runs))


def test_what_holdall_opens_is_opened(five: dict[str, Any]) -> None:
    path, values, _ = five["b2nd"]
    data = path.read_bytes()
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/some/a.b2nd", data)
    for source in (str(path), path, (memory, "/some/a.b2nd"), io.BytesIO(data)):
        assert same_bits(xr.open_dataset(source, engine="holdall")["data"].values, values["data"])
    pickled = pickle.dumps(xr.open_dataset((memory, "/some/a.b2nd"), engine="holdall"))
    assert same_bits(pickle.loads(pickled)["data"].values, values["data"])
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(xr.open_dataset(io.BytesIO(data), engine="holdall"))
    # Options of holdall.open.
    path, values, _ = five["rawarray"]
    assert same_bits(opened(path, c_order=True)["data"].values, values["data"].T)
    with pytest.raises(TypeError, match="unexpected keyword"):
        opened(path, no_option=1)


def test_urls_and_stores_are_read_in_other_processes(five: dict[str, Any]) -> None:
    from obstore.store import LocalStore

    path, values, _ = five["b2nd"]
    with served(path.parent) as (address, _seen):
        one = xr.open_dataset(f"{address}/a.b2nd", engine="holdall", chunks={}, deadline=20, storage_options={})
        with dask.config.set(scheduler="processes", num_workers=1):
            assert same_bits(one["data"].compute().values, values["data"])
        # By its name, without a request.
        assert same_bits(xr.open_dataset(f"{address}/run.gsd")["log/energy"].values, five["gsd"][1]["log/energy"])
        urls = [f"{address}/a.ra"] * 3
        with xr.open_mfdataset(urls, engine="holdall", combine="nested", concat_dim="n", chunks={}) as many:
            assert same_bits(many["data"].values, np.stack([five["rawarray"][1]["data"]] * 3))
        again = pickle.loads(pickle.dumps(holdall.zarr.HoldallStore(f"{address}/a.b2nd")))
        assert same_bits(zarr.open_array(again, path="data", mode="r")[...], values["data"])
        made = holdall.refs(f"{address}/a.ra")
        assert [value[0] for value in made["refs"].values() if isinstance(value, list)] == [f"{address}/a.ra"]
    store = LocalStore(path.parent)
    assert same_bits(xr.open_dataset((store, "a.b2nd"), engine="holdall")["data"].values, values["data"])


def test_the_engine_is_guessed_by_bytes(five: dict[str, Any], tmp_path: Path) -> None:
    engine = xr.backends.plugins.list_engines()["holdall"]
    for path, values, _ in five.values():
        named = tmp_path / "without extension"
        named.write_bytes(path.read_bytes())
        assert engine.guess_can_open(named) and engine.guess_can_open(str(named))
        key = next(iter(values))
        assert same_bits(xr.open_dataset(named)[key].values, values[key])
    (tmp_path / "text.asdf").write_text("nothing of the kind")
    object_ = io.BytesIO(path.read_bytes())
    object_.seek(3)
    assert engine.guess_can_open(object_) and object_.tell() == 3
    for other in (tmp_path / "text.asdf", tmp_path, tmp_path / "missing.asdf", io.BytesIO(b"CDF\x01"), 5, None):
        assert not engine.guess_can_open(other)
    # A damaged file is one of the format, whose fault has a message.
    (tmp_path / "cut.gsd").write_bytes(five["gsd"][0].read_bytes()[:100])
    assert engine.guess_can_open(tmp_path / "cut.gsd")
    assert engine.guess_can_open("s3://bucket/a.asdf?x=1") and not engine.guess_can_open("s3://bucket/a.nc")


@pytest.mark.parametrize("kind", ["ok", "odd"])
def test_every_fixture_is_opened(kind: str) -> None:
    count = 0
    for path in files(kind):
        try:
            names = list(holdall.open(path))
        except holdall.HoldallError:
            continue
        if path.name == "empty_2e63x0x5.ra":
            for work in (xr.open_dataset, xr.open_datatree):
                with pytest.raises(holdall.UnsupportedError, match="no axis of"):
                    work(path, engine="holdall")
            continue
        data = opened(path, records="structured", chunks={})
        assert list(data.variables) == names, path
        xr.open_datatree(path, engine="holdall", chunks={}).close()
        count += 1
    assert count > 150


def test_closing_keeps_what_is_in_hand(five: dict[str, Any]) -> None:
    path, values, _ = five["b2nd"]
    with opened(path) as data:
        array = data["data"]
    assert same_bits(array.values, values["data"])


def test_reads_in_tasks_use_one_thread(five: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    read = holdall.Dataset.read

    def watched(self: Any, *index: Any, **words: Any) -> Any:
        asked.append(words.get("threads"))
        return read(self, *index, **words)

    monkeypatch.setattr(holdall.Dataset, "read", watched)
    data = opened(five["b2nd"][0])
    data["data"].load()
    pickle.loads(pickle.dumps(opened(five["b2nd"][0], chunks={})["data"].variable)).compute(scheduler="sync")
    opened(five["b2nd"][0], threads=3)["data"].load()
    assert asked == [None, 1, 1, 3] or (asked[0], asked[-1], set(asked[1:-1])) == (None, 3, {1})


def test_a_damaged_file_raises_with_its_range(tmp_path: Path) -> None:
    path, _ = asdf_coded(tmp_path, "zlib")
    data = bytearray(path.read_bytes())
    at = next(segment for segment in holdall.open(path).layout() if segment.role == "data").start
    data[at + 20 : at + 30] = bytes(10)
    path.write_bytes(data)
    lazy = opened(path, chunks={})
    with pytest.raises(holdall.DamageError) as raised:
        lazy["a"].compute(scheduler="processes", num_workers=1)
    assert raised.value.range is not None and raised.value.range[0] <= at + 30


def test_zarr_takes_what_was_opened(five: dict[str, Any], tmp_path: Path) -> None:
    for name in ("b2nd", "gsd", "rawarray"):
        path, values, _ = five[name]
        key = next(iter(values))
        data = opened(path, group=key.rpartition("/")[0], chunks={})
        data.to_zarr(tmp_path / f"{name}.zarr", consolidated=False)
        with xr.open_zarr(tmp_path / f"{name}.zarr", consolidated=False) as back:
            assert same_bits(back[key.rpartition("/")[2]].values, values[key])


def test_gsd_frames_of_different_lengths_are_variables_of_their_own(tmp_path: Path) -> None:
    with gsd.hoomd.open(str(tmp_path / "a.gsd"), "w") as file:
        for count in (3, 5):
            frame = gsd.hoomd.Frame()
            frame.particles.N = count
            frame.particles.position = np.full((count, 3), count)
            file.append(frame)
    data = opened(tmp_path / "a.gsd")
    assert data["frames/1/particles/position"].dims == ("dim_5", "dim_3")
    assert np.array_equal(data["frames/0/particles/position"].values, np.full((3, 3), 3))


def test_rawarray_by_hand_is_read(tmp_path: Path) -> None:
    values = rawarray(tmp_path / "a.ra")
    assert same_bits(opened(tmp_path / "a.ra", chunks={"dim_6": 2})["data"][1:, ::2, -1].values, values[1:, ::2, -1])
    asdf_plain(tmp_path)
