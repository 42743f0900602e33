"""Throughput of two Dask workers beside that of one, on decoding: the figure of docs/benchmarks.md.

Usage: workers.py. Writes a b2nd file of 512 MiB of float64 in chunks of 4 MiB, zstd 5, and sums it in tasks of a chunk each, in turns with one worker
process and with two, of one thread each.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

import holdall

ROUNDS = 5


def timed(path: Path, client: Client) -> float:
    """Seconds of one sum."""
    array = holdall.open(path)["data"].to_dask()
    start = time.perf_counter()
    client.compute(array.sum()).result()
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.b2nd"
        rows = np.random.default_rng(1).integers(0, 4000, (1024, 65536)).astype("<f8")
        holdall.save(path, rows, codec="zstd:5", chunks=(8, 65536), durable=False)
        size = rows.nbytes
        words = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with (
            LocalCluster(n_workers=1, **words) as one,
            LocalCluster(n_workers=2, **words) as two,
            Client(one) as alone,
            Client(two) as both,
        ):
            rounds = [(timed(path, alone), timed(path, both)) for _ in range(ROUNDS + 1)][1:]
    for name, seconds in (("one worker", [a for a, _ in rounds]), ("two workers", [b for _, b in rounds])):
        print(f"{name}: {size / 1e9 / statistics.median(seconds):.2f} GB/s in the median of {ROUNDS}")
    print(f"ratio: {statistics.median(a / b for a, b in rounds):.2f}")


if __name__ == "__main__":
    main()
