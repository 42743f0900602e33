"""Throughput of two Dask workers beside that of one, on decoding: the figure of docs/benchmarks.md.

Usage: workers.py. Writes 32 ASDF files of an image of 4096 × 4096 float32 each, encoded by zlib, and a b2nd file of 2 GiB of float64 in chunks of 16
MiB, zstd 5. Each is summed by Dask in turns with one worker process and with two, of one thread each.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import holdall

ROUNDS = 7


def images(folder: Path) -> da.Array:
    """Counts of a detector with a few stars, the same in every file."""
    rng = np.random.default_rng(1)
    image = rng.poisson(200, (4096, 4096)).astype("<f4")
    holdall.save(folder / "00.asdf", image, codec="zlib", durable=False)
    for number in range(1, 32):
        shutil.copy(folder / "00.asdf", folder / f"{number:02}.asdf")
    return da.concatenate([holdall.open(path)["data"].to_dask() for path in sorted(folder.glob("*.asdf"))])


def rows(folder: Path) -> da.Array:
    """Whole numbers below 4,000 as float64."""
    values = np.random.default_rng(1).integers(0, 4000, (2048, 131072)).astype("<f8")
    holdall.save(folder / "a.b2nd", values, codec="zstd:5", chunks=(16, 131072), durable=False)
    return holdall.open(folder / "a.b2nd")["data"].to_dask()


def timed(array: da.Array, client: Client) -> float:
    """Seconds of one sum."""
    start = time.perf_counter()
    client.compute(array.sum()).result()
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        works = {"32 ASDF images, zlib": images(Path(folder)), "b2nd, zstd": rows(Path(folder))}
        words = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with (
            LocalCluster(n_workers=1, **words) as one,
            LocalCluster(n_workers=2, **words) as two,
            Client(one) as alone,
            Client(two) as both,
        ):
            for name, array in works.items():
                rounds = [(timed(array, alone), timed(array, both)) for _ in range(ROUNDS + 1)][1:]
                speeds = [array.nbytes / 1e9 / statistics.median(seconds) for seconds in zip(*rounds, strict=True)]
                ratios = sorted(a / b for a, b in rounds)
                print(
                    f"{name}: {speeds[0]:.2f} GB/s, {speeds[1]:.2f} GB/s in the median of {ROUNDS};"
                    f" ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
                )


if __name__ == "__main__":
    main()
