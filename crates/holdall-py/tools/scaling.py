"""Measures and simulates what docs/scaling.md says about many files and many workers.

    python crates/holdall-py/tools/scaling.py [N]         # N files, by default 100,000; some minutes

Manifests of N files are made up from those of one real file, and kept, written and read back; N small tasks go through a scheduler; and a million
objects go through a thousand workers in a simulation. Each part runs in a process of its own, which prints its memory.
"""

from __future__ import annotations

import heapq
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import holdall

REAL = 2000
"""Files that are really made and opened, for the time that each takes."""


def resident() -> int:
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def told(name: str, count: int, seconds: float, before: int, more: str = "") -> None:
    """Prints a line: processor time of this process, and its memory, for each file."""
    grown = max(0, resident() - before)
    print(f"{name:34} {seconds / count * 1e6:9.1f} µs each {grown / count:9.0f} B each {grown >> 20:6} MiB {more}")


def files(folder: Path, count: int) -> list[str]:
    """Small ASDF files, alike."""
    first = folder / "00000.asdf"
    holdall.save(first, {"image": np.arange(600, dtype="<f4").reshape(20, 30)}, codec="zlib", durable=False)
    data = first.read_bytes()
    paths = [str(folder / f"{number:05}.asdf") for number in range(count)]
    for path in paths[1:]:
        Path(path).write_bytes(data)
    return paths


def opening(count: int) -> None:
    """Opens real files, as `xarray.open_mfdataset` would at the client."""
    import xarray as xr

    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder), REAL)
        xr.open_dataset(paths[0], engine="holdall", chunks={})
        for name, work in (
            ("holdall.open", lambda path: holdall.open(path)["image"]),
            ("xarray.open_dataset(chunks={})", lambda path: xr.open_dataset(path, engine="holdall", chunks={})),
            ("holdall.refs", lambda path: holdall.refs(path)),
        ):
            before, start = resident(), time.process_time()
            kept = [work(path) for path in paths]
            told(name, len(kept), time.process_time() - start, before, f"({REAL} real files)")


def manifests(count: int) -> None:
    """Descriptions and references of many files, made up from those of one."""
    with tempfile.TemporaryDirectory() as folder:
        path = files(Path(folder), 1)[0]
        dataset = holdall.open(path)["image"]
        one = pickle.dumps(dataset)
        size = len(path)

        before, start = resident(), time.process_time()
        paths = [f"s3://bucket/run/{number:0{size - 21}}.asdf" for number in range(count)]
        told("a list of paths", count, time.process_time() - start, before)

        before, start = resident(), time.process_time()
        pickles = [one.replace(path.encode(), name.encode()) for name in paths]
        told("datasets, pickled", count, time.process_time() - start, before, f"({len(pickles[0])} B each)")
        del pickles

        refs = holdall.refs(path, concat=None)["refs"]
        place = next(value for value in refs.values() if isinstance(value, list))
        before, start = resident(), time.process_time()
        made = {f"image/{number}.0.0": [name, *place[1:]] for number, name in enumerate(paths)}
        array = refs["image/.zarray"].replace('"shape": [20, 30]', f'"shape": [{count}, 20, 30]')
        array = array.replace('"chunks": [20, 30]', '"chunks": [1, 20, 30]')
        made |= {".zgroup": refs[".zgroup"], "image/.zarray": array, "image/.zattrs": refs["image/.zattrs"]}
        told("references, in a dict", count, time.process_time() - start, before)

        whole = holdall._refs.References(made)
        before, start = resident(), time.process_time()
        whole.to_json(Path(folder) / "all.json")
        length = (Path(folder) / "all.json").stat().st_size
        told(
            "references, written as JSON", count, time.process_time() - start, before, f"({length / count:.0f} B each)"
        )
        before, start = resident(), time.process_time()
        whole.to_parquet(Path(folder) / "all.parq")
        length = sum(part.stat().st_size for part in (Path(folder) / "all.parq").rglob("*") if part.is_file())
        told(
            "references, written as Parquet",
            count,
            time.process_time() - start,
            before,
            f"({length / count:.1f} B each)",
        )

        import fsspec

        before, start = resident(), time.process_time()
        fs = fsspec.filesystem("reference", fo=str(Path(folder) / "all.parq"), remote_protocol="file")
        assert fs.references[f"image/{count - 1}.0.0"][0] == paths[-1]
        told("Parquet, opened, one chunk found", count, time.process_time() - start, before)


def graph(count: int) -> None:
    """A Dask array of one task for each file."""
    import dask.array as da
    from dask.delayed import delayed

    with tempfile.TemporaryDirectory() as folder:
        dataset = holdall.open(files(Path(folder), 1)[0])["image"]

        def load(number: int) -> np.ndarray:
            return dataset[...]

        before, start = resident(), time.process_time()
        pieces = [da.from_delayed(delayed(load, pure=False)(n), (1, 20, 30), "<f4") for n in range(count)]
        array = da.concatenate(pieces)
        told("Dask array of a delayed per file", count, time.process_time() - start, before)
        del pieces, array

        before, start = resident(), time.process_time()
        array = da.map_blocks(
            lambda block_id: dataset[...][None],
            chunks=((1,) * count, (20,), (30,)),
            dtype="<f4",
            meta=np.empty((0, 0, 0), "<f4"),
        )
        told("Dask array by map_blocks", count, time.process_time() - start, before)
        before, start = resident(), time.process_time()
        graph = array.sum().__dask_graph__()
        told("…its tasks, materialised", count, time.process_time() - start, before, f"({len(dict(graph))} tasks)")


def tasks(count: int) -> None:
    """Empty tasks through the distributed scheduler."""
    import logging
    import warnings

    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    logging.disable()
    some = min(count, 20_000)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(abs, range(100)))
        before, start = resident(), time.process_time()
        futures = client.map(abs, range(-some, 0))
        client.gather(futures)
        told("distributed, scheduler and client", some, time.process_time() - start, before, f"({some} empty tasks)")


def workers(count: int) -> None:
    """A million objects of 100 MB on a thousand workers: a simulation."""
    objects, machines = 1_000_000, 1000
    print(f"\n{objects:,} objects of 100 MB on {machines:,} workers of one task at a time, simulated:")
    print(f"{'objects in a task':>18} {'tasks':>9} {'scheduler':>10} {'requests/s':>11} {'end':>9} {'bound by':>12}")
    for batch in (1, 10, 100, 1000, 10_000):
        end, rate = simulated(objects, machines, batch)
        scheduler = objects / batch * SCHEDULER
        ideal = objects * OBJECT / machines
        bound = "scheduler" if scheduler > 1.2 * ideal else "stragglers" if end > 1.2 * ideal else "workers"
        print(f"{batch:18,} {objects // batch:9,} {scheduler:8.0f} s {rate:11,.0f} {end:7.0f} s {bound:>12}")


SCHEDULER = 0.0012
"""Seconds of the scheduler for a task, which it takes one after another."""

REQUESTS = 1 + 48
"""Requests for an object of 100 MB: its start, and 48 ranges of 2 MiB, of which 16 are under way at a time."""

OBJECT = 0.05 * 2 + 100e6 / 75e6 + 100e6 / 400e6
"""Seconds of a worker for an object: two answers waited for, 75 MB/s of network, 400 MB/s of decoding."""


def simulated(objects: int, machines: int, batch: int) -> tuple[float, float]:
    """Seconds until the last task has ended, and requests in a second on the way."""
    chance = random.Random(1)
    count = objects // batch
    free = [0.0] * machines
    heapq.heapify(free)
    at = end = 0.0
    for _ in range(count):
        # The scheduler hands out the next task when it and a worker are free.
        at = max(at + SCHEDULER, heapq.heappop(free))
        # Times of single objects spread by a third; those of a batch by less.
        done = at + batch * OBJECT * max(0.2, chance.gauss(1, 0.33 / batch**0.5))
        end = max(end, done)
        heapq.heappush(free, done)
    return end, objects * REQUESTS / end


PARTS: dict[str, Callable[[int], None]] = {
    "opening": opening,
    "manifests": manifests,
    "graph": graph,
    "tasks": tasks,
    "workers": workers,
}


def main() -> int:
    """Runs all parts, or the one that is named."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in PARTS:
        PARTS[arguments[0]](int(arguments[1]))
        return 0
    count = int(arguments[0]) if arguments else 100_000
    for part in PARTS:
        done = subprocess.run([sys.executable, __file__, part, str(count)])
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
