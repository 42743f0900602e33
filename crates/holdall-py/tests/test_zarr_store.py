"""`holdall.zarr.HoldallStore`: any file as a read-only hierarchy of Zarr 3."""

from __future__ import annotations

import asyncio
import io
import json
import pickle
from pathlib import Path
from typing import Any

import asdf
import numpy as np
import pytest
import xarray as xr
import zarr
from conftest import TESTDATA, files, same_bits
from five import all_five
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

import holdall
from holdall.zarr import HoldallStore

NAMES = ["asdf", "zlib", "bzp2", "lz4", "gsd", "b2nd", "special", "bloscpack", "rawarray"]

pytestmark = pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Files by other writers."""
    return all_five(tmp_path_factory.mktemp("five"))


def get(store: HoldallStore, key: str, part: Any = None) -> bytes | None:
    """The bytes of a key."""
    found = asyncio.run(store.get(key, default_buffer_prototype(), part))
    return None if found is None else found.to_bytes()


def listed(keys: Any) -> list[str]:
    """What an asynchronous iterator gives."""

    async def all_of() -> list[str]:
        return [key async for key in keys]

    return asyncio.run(all_of())


@pytest.mark.parametrize("name", NAMES)
def test_zarr_reads_what_the_file_holds(five: dict[str, Any], name: str) -> None:
    path, values, read = five[name]
    direct = holdall.open(path)
    store = HoldallStore(path)
    group = zarr.open_group(store, mode="r")
    # A table with a field of arrays, which is no type of Zarr.
    assert list(store.unexpressed) == (["table"] if name == "asdf" else [])
    for key in values.keys() - store.unexpressed.keys():
        expected = values[key]
        array = group[key]
        assert array.shape == expected.shape
        assert same_bits(array[...], direct[key][...].astype(array.dtype)), key
        assert same_bits(np.asarray(array[...]).astype(expected.dtype), read(path, key).astype(expected.dtype)), key


@pytest.mark.parametrize("name", NAMES)
def test_xarray_reads_the_store_with_the_names_of_dimensions(five: dict[str, Any], name: str) -> None:
    path, values, _ = five[name]
    key = next(iter(values))
    above, _, last = key.rpartition("/")
    store = pickle.loads(pickle.dumps(HoldallStore(path)))
    with xr.open_zarr(store, group=above or None, consolidated=False, mask_and_scale=False) as data:
        other = xr.open_dataset(path, engine="holdall")[key]
        assert data[last].dims == other.dims
        assert same_bits(data[last].values.astype(other.dtype), other.values)


def test_every_fixture_is_served(tmp_path: Path) -> None:
    count = 0
    for path in files("ok"):
        file = holdall.open(path)
        store = HoldallStore(file)
        group = zarr.open_group(store, mode="r")
        unexpressed = store.unexpressed
        for place, name in store._paths.items():
            dataset = file[name]
            if name in unexpressed or dataset.nbytes > 1 << 20:
                continue
            try:
                expected = dataset[...]
            except holdall.UnsupportedError:
                # Codecs of plugins, and values that are computed from an expression.
                continue
            array = group[place]
            found = np.asarray(array[...])
            assert same_bits(found.astype(expected.dtype), expected), (path, name)
            count += 1
    assert count > 1000


def test_names_that_zarr_does_not_take_are_encoded() -> None:
    store = HoldallStore(TESTDATA / "gsd/ok/name_paths.gsd")
    assert sorted(store._paths) == ["%/abs", "%2E", "%2E%2E/up", "C:%5Cx", "a%5Cb", "a/%/b"]
    assert set(store._paths.values()) == set(store.file)


def test_keys_are_listed_and_have_their_sizes(five: dict[str, Any]) -> None:
    store = HoldallStore(five["gsd"][0], chunks={"particles/position": (2, 20, 3)})
    keys = listed(store.list())
    assert len(set(keys)) == len(keys)
    for key in keys:
        value = get(store, key)
        assert value is not None and asyncio.run(store.exists(key)), key
        assert asyncio.run(store.getsize(key)) == len(value), key
    assert sorted(key for key in keys if key.startswith("log/")) == sorted(listed(store.list_prefix("log/")))
    assert listed(store.list_prefix("particles/position/c/1")) == ["particles/position/c/1/0/0"]
    assert sorted(listed(store.list_dir(""))) == ["configuration", "log", "particles", "zarr.json"]
    assert sorted(listed(store.list_dir("log"))) == ["energy", "zarr.json"]
    assert sorted(listed(store.list_dir("particles/position/"))) == ["c", "zarr.json"]
    assert listed(store.list_dir("particles/position/c")) == ["0", "1", "2", "3"]
    assert listed(store.list_dir("nothing")) == []
    size = asyncio.run(store.getsize_prefix("particles/position/c"))
    assert size == 4 * 2 * 20 * 3 * 4


def test_keys_that_are_none(five: dict[str, Any]) -> None:
    store = HoldallStore(five["b2nd"][0])
    bad = [
        "",
        "x",
        "data",
        "data/c",
        "data/c/0",
        "data/c/0/9",
        "data/c/00/0",
        "data/c/-1/0",
        "data/c/0/0/0",
        "c/0/0",
        "zarr",
    ]
    for key in bad:
        assert get(store, key) is None and not asyncio.run(store.exists(key)), key
        with pytest.raises(FileNotFoundError):
            asyncio.run(store.getsize(key))


def test_parts_of_a_value(five: dict[str, Any]) -> None:
    store = HoldallStore(five["b2nd"][0])
    whole = get(store, "data/c/0/0")
    assert whole is not None and len(whole) == 100 // 30 * 30 * 40 * 4 + 30 * 40 * 4
    assert get(store, "data/c/0/0", RangeByteRequest(10, 30)) == whole[10:30]
    assert get(store, "data/c/0/0", OffsetByteRequest(100)) == whole[100:]
    assert get(store, "data/c/0/0", SuffixByteRequest(7)) == whole[-7:]
    assert get(store, "data/c/0/0", SuffixByteRequest(1 << 40)) == whole
    parts = asyncio.run(
        store.get_partial_values(default_buffer_prototype(), [("data/c/0/1", RangeByteRequest(0, 4)), ("no", None)])
    )
    assert parts[1] is None and parts[0] is not None and len(parts[0]) == 4


def test_chunks_at_the_ends_are_filled_up(five: dict[str, Any]) -> None:
    path, values, _ = five["rawarray"]
    store = HoldallStore(path, chunks={"data": (4, 3, 3)})
    chunk = np.frombuffer(get(store, "data/c/1/1/1") or b"", "<f4").reshape(4, 3, 3)
    assert np.array_equal(chunk[:2, :2, :1], values["data"][4:, 3:, 3:])
    assert not chunk[2:].any() and not chunk[:, 2:].any() and not chunk[:, :, 1:].any()
    assert same_bits(zarr.open_array(store, path="data", mode="r")[...], values["data"])
    for grid in ((4, 3), (0, 3, 3)):
        with pytest.raises(ValueError, match="positive"):
            HoldallStore(path, chunks={"data": grid})
    with pytest.raises(KeyError):
        HoldallStore(path, chunks={"dato": (1, 1, 1)})


def test_nothing_is_written(five: dict[str, Any]) -> None:
    path = five["b2nd"][0]
    before = path.read_bytes()
    store = HoldallStore(path)
    assert store.read_only and not store.supports_writes and not store.supports_deletes and store.supports_listing
    buffer = default_buffer_prototype().buffer.from_bytes(b"x")
    for work in (store.set("zarr.json", buffer), store.delete("zarr.json")):
        with pytest.raises(ValueError, match="read-only"):
            asyncio.run(work)
    with pytest.raises(ValueError, match="read-only"):
        store.with_read_only(False)
    assert store.with_read_only(True) is store
    array = zarr.open_array(store, path="data", mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1
    for mode in ("w", "a", "r+"):
        with pytest.raises(ValueError, match="read-only"):
            zarr.open_group(store, mode=mode)  # type: ignore[arg-type]
    assert path.read_bytes() == before


def test_stores_are_equal_where_their_files_are(five: dict[str, Any]) -> None:
    path = five["b2nd"][0]
    store = HoldallStore(path)
    assert store == HoldallStore(str(path)) and hash(store) == hash(HoldallStore(path))
    assert store != HoldallStore(path, chunks={"data": (10, 10)}) and store != HoldallStore(five["gsd"][0])
    again = pickle.loads(pickle.dumps(HoldallStore(path, chunks={"data": (10, 10)})))
    assert again == HoldallStore(path, chunks={"data": (10, 10)}) and "a.b2nd" in repr(again)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(HoldallStore(io.BytesIO(path.read_bytes())))


def test_types_that_zarr_lacks_are_left_out_with_the_reason(tmp_path: Path) -> None:
    holdall.save(tmp_path / "a.asdf", {"x": np.zeros(3, "f8"), "y": np.zeros(3)})
    wide = np.dtype("g")
    if wide.itemsize == 8:
        pytest.skip("long doubles are doubles here")
    np.save(tmp_path / "wide.npy", np.zeros(3, wide))
    store = HoldallStore(tmp_path / "wide.npy")
    assert list(store.unexpressed) == ["data"] and "no type" in store.unexpressed["data"]
    assert HoldallStore(tmp_path / "a.asdf").unexpressed == {}


def test_a_dataset_below_another_one_is_next_to_it(tmp_path: Path) -> None:
    masked = np.ma.MaskedArray(np.arange(4.0), [True, False, False, False])
    asdf.AsdfFile({"g": {"x": masked}}).write_to(tmp_path / "m.asdf")
    group = zarr.open_group(HoldallStore(tmp_path / "m.asdf"), mode="r")
    assert set(group["g"].array_keys()) == {"x", "x.mask"}


def test_metadata_are_those_of_zarr(five: dict[str, Any]) -> None:
    told = json.loads(get(HoldallStore(five["asdf"][0]), "image/data/zarr.json") or b"")
    assert told["dimension_names"] == ["y", "x"] and told["attributes"] == {"unit": "DN"}
    assert told["data_type"] == "float32" and told["chunk_grid"]["configuration"]["chunk_shape"] == [48, 64]
