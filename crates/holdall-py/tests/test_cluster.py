"""Dask on two worker processes, one of which is killed: many files, large ones, damaged ones."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import asdf
import blosc2
import dask.array as da
import numpy as np
import psutil
import pytest
import xarray as xr
from conftest import same_bits
from distributed import Client, as_completed
from five import asdf_read, b2nd_read, bloscpack, bloscpack_read, gsd_read, rng, trajectory
from test_remote import served

import holdall

pytestmark = pytest.mark.skipif(os.name != "posix", reason="workers are killed as POSIX does it")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 small trajectories, 50 images, a b2nd and a Bloscpack file, by other writers."""
    path = tmp_path_factory.mktemp("many")
    for number in range(60):
        trajectory(path / f"{number:02}.gsd", 4, 50, seed=number)
    for number in range(50):
        image = rng(number).integers(0, 1000, (64, 48)).astype("<i4")
        codec = ("zlib", None, "lz4")[number % 3]
        asdf.AsdfFile({"image": image}).write_to(path / f"{number:02}.asdf", all_array_compression=codec)
    blosc2.asarray(
        rng(7).random((400, 300)), urlpath=str(path / "a.b2nd"), mode="w", chunks=(50, 300), blocks=(10, 300)
    )
    bloscpack(path / "a.blp", np.cumsum(rng(8).integers(0, 5, (600, 100)), axis=0).astype("<i4"), 45)
    return path


def kill_one(client: Client) -> int:
    """Ends a worker process at once; its number."""
    process = next(iter(client.run(os.getpid).values()))
    os.kill(process, signal.SIGKILL)
    return int(process)


def piece(dataset: holdall.Dataset, start: int, stop: int) -> tuple[int, float]:
    """The process, and the sum of some rows."""
    time.sleep(0.02)
    return os.getpid(), float(np.asarray(dataset[start:stop], "f8").sum())


def test_sums_over_all_files_survive_the_death_of_a_worker(client: Client, folder: Path) -> None:
    work: list[tuple[holdall.Dataset, int, int]] = []
    for path in sorted(folder.iterdir()):
        key = {".gsd": "particles/position", ".asdf": "image"}.get(path.suffix, "data")
        dataset = holdall.open(path)[key]
        step = -(-dataset.shape[0] // (1 if path.suffix in (".gsd", ".asdf") else 8))
        work += [(dataset, at, min(at + step, dataset.shape[0])) for at in range(0, dataset.shape[0], step)]
    assert len(work) == 60 + 50 + 8 + 8
    expected = [float(np.asarray(dataset[a:b], "f8").sum()) for dataset, a, b in work]

    # Both have what they need before they begin, or one may do all the work.
    client.run(lambda: holdall.__version__)
    futures = client.map(piece, *zip(*work, strict=True), pure=False)
    killed, left, processes = 0, 0, set()
    for done, future in enumerate(as_completed(futures), 1):
        processes.add(future.result()[0])
        if not killed and done >= 20 and len(processes) == 2:
            killed, left = kill_one(client), len(work) - done
    assert left >= 20, f"{processes} had {left} pieces left when one was killed"
    found = client.gather(futures)
    assert [total for _, total in found] == expected
    # Results of the dead one, too, were computed again or had come before; one more process has taken its place or its work.
    assert killed in processes and any(process != killed for process, _ in found)


def test_arrays_of_every_format_are_what_other_readers_give(client: Client, folder: Path) -> None:
    runs = [gsd_read(folder / f"{n:02}.gsd", "particles/position") for n in range(60)]
    array = da.concatenate([holdall.open(folder / f"{n:02}.gsd")["particles/position"].to_dask() for n in range(60)])
    future = client.compute((array.astype("f8") ** 2).mean(axis=1))
    time.sleep(0.3)
    kill_one(client)
    assert np.allclose(future.result(), (np.concatenate(runs).astype("f8") ** 2).mean(axis=1), rtol=1e-15, atol=0)
    assert same_bits(client.compute(array).result(), np.concatenate(runs))

    with xr.open_mfdataset(
        sorted(folder.glob("*.asdf")), engine="holdall", combine="nested", concat_dim="n", chunks={}
    ) as data:
        images = np.array([asdf_read(path, "image") for path in sorted(folder.glob("*.asdf"))])
        assert same_bits(data["image"].data.compute(), images)
        assert np.array_equal(data["image"].sum("n").compute().values, images.sum(axis=0))
    whole = holdall.open(folder / "a.b2nd")["data"].to_dask(chunks=(50, 300))
    assert same_bits(client.compute(whole).result(), b2nd_read(folder / "a.b2nd", "data"))
    packed = xr.open_dataset(folder / "a.blp", engine="holdall", chunks={"dim_600": 100})["data"]
    assert same_bits(packed.compute().values, bloscpack_read(folder / "a.blp", "<i4", (600, 100)))


def test_memory_of_the_client_stays_flat(client: Client, tmp_path: Path) -> None:
    # 256 MiB of elements in tasks of 4 MiB, and an answer of 8 bytes.
    rows = np.tile(rng(1).integers(0, 99, (512, 1024), dtype="<i8"), (64, 1))
    holdall.save(tmp_path / "a.b2nd", rows, codec="zstd:1", chunks=(512, 1024), durable=False)
    total = int(rows.sum())
    del rows
    own = psutil.Process()
    data = xr.open_dataset(tmp_path / "a.b2nd", engine="holdall", chunks={})["data"]
    assert data.data.npartitions == 64
    before = own.memory_info().rss
    future = client.compute(data.data.sum())
    most = before
    while not future.done():
        most = max(most, own.memory_info().rss)
        time.sleep(0.01)
    assert int(future.result()) == total
    assert most - before < 32 << 20, f"{(most - before) >> 20} MiB more"


def test_objects_in_a_bucket_are_requested_as_often_as_planned(client: Client, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "box").symlink_to(folder)
    with served(tmp_path) as (address, requests):
        options = {"endpoint_url": address, "anon": True}
        files = [holdall.open(f"s3://box/{number:02}.gsd", **options) for number in range(60)]
        arrays = [file["particles/position"].to_dask() for file in files]
        assert sorted(requests) == [f"/box/{number:02}.gsd" for number in range(60)]
        requests.clear()
        total = client.compute(da.concatenate(arrays).astype("f8").sum()).result()
        # One request opens a file of up to 64 KiB, in the one worker that reads it.
        assert sorted(requests) == [f"/box/{number:02}.gsd" for number in range(60)]
        requests.clear()
        many = [xr.open_dataset(file.path, engine="holdall", chunks={}, **options) for file in files]
        requests.clear()
        merged = da.concatenate([one["particles/position"].data for one in many]).astype("f8").sum()
        assert client.compute(merged).result() == total
        # The workers keep the files of the first answer open.
        assert set(requests.count(f"/box/{number:02}.gsd") for number in range(60)) <= {0, 1}
    runs = [gsd_read(folder / f"{number:02}.gsd", "particles/position") for number in range(60)]
    assert np.isclose(total, np.concatenate(runs).astype("f8").sum(), rtol=1e-12)


def test_a_graph_holds_paths_not_elements(folder: Path) -> None:
    import pickle

    dataset = holdall.open(folder / "a.b2nd")["data"]
    assert len(pickle.dumps(dataset)) < 400
    lazy = xr.open_dataset(folder / "a.b2nd", engine="holdall")["data"].variable
    assert len(pickle.dumps(lazy)) < 2000


def test_the_error_of_a_damaged_file_comes_home_with_its_range(client: Client, folder: Path, tmp_path: Path) -> None:
    data = bytearray((folder / "00.asdf").read_bytes())
    header, block = (one for one in holdall.open(folder / "00.asdf").layout() if one.role in ("block header", "data"))
    data[block.start + 30 : block.start + 60] = bytes(30)
    (tmp_path / "00.asdf").write_bytes(data)
    paths = [tmp_path / "00.asdf", *sorted(folder.glob("*.asdf"))[1:4]]

    def local() -> Any:
        return holdall.open(paths[0])["image"][...]

    with pytest.raises(holdall.DamageError) as here:
        local()
    many = xr.open_mfdataset(paths, engine="holdall", combine="nested", concat_dim="n", chunks={})
    with many, pytest.raises(holdall.DamageError) as raised:
        client.compute(many["image"].data.sum()).result()
    error = raised.value
    assert type(error) is type(here.value) and str(error) == str(here.value)
    assert error.range == here.value.range and error.range is not None
    assert header.start <= error.range[0] < error.range[1] <= block.stop


def test_tasks_decode_on_one_thread(client: Client) -> None:
    def threads() -> int:
        from holdall._threads import threads as count

        return count(None)

    assert set(client.gather([client.submit(threads, pure=False) for _ in range(4)])) == {1}
