"""What all tests share."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from distributed import Client

ROOT = Path(__file__).resolve().parents[3]
TESTDATA = ROOT / "testdata"

# Made by `cargo xtask setup`: a Python with packages that this one lacks, and the source packages whose tests are run.
PEERS = ROOT / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
SUITES = ROOT / ".venv" / "suites"


def files(kind: str) -> list[Path]:
    """The fixtures of a kind (ok, odd, bad) of all formats."""
    found = []
    for path in sorted(TESTDATA.glob(f"*/{kind}/*")):
        # ASDF files with others beside them are in folders; folders of other formats are opened themselves.
        is_folder = path.is_dir() and path.parent.parent.name == "asdf"
        found += sorted(path.glob("*.asdf")) if is_folder else [path]
    assert found, f"no fixtures in {TESTDATA}"
    return found


@pytest.fixture
def image() -> Path:
    """An ASDF file of asdf's with three lz4 arrays of 48 × 64."""
    return TESTDATA / "asdf/ok/image.asdf"


@pytest.fixture
def array() -> np.ndarray:
    """24 numbers."""
    return np.arange(24, dtype="<f4").reshape(4, 6)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two processes of one thread each, which are started again when they die."""
    import dask
    from distributed import Client, LocalCluster

    with (
        warnings.catch_warnings(),
        dask.config.set({"distributed.admin.log-format": "", "distributed.logging.distributed": "critical"}),
    ):
        warnings.simplefilter("ignore")
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


def same_bits(a: object, b: object) -> bool:
    """Whether two arrays have the same type, shape and bytes of values; padding of long doubles and records aside."""
    a, b = np.asanyarray(a), np.asanyarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.names is not None:
        return all(same_bits(a[name], b[name]) for name in a.dtype.names)
    if a.dtype.itemsize == 0 or a.size == 0:
        return True
    if (a.dtype.kind == "f" and a.dtype.itemsize > 8) or (a.dtype.kind == "c" and a.dtype.itemsize > 16):
        return bool(np.array_equal(a, b, equal_nan=True))
    # A scalar of numpy has lost its byte order.
    # In one dimension: numpy before 2.4 converts no more than 32 dimensions.
    a, b = a.reshape(-1), b.reshape(-1)
    return a.astype(a.dtype.newbyteorder("<")).tobytes() == b.astype(a.dtype.newbyteorder("<")).tobytes()
