"""numpy as a contender: does what stdin says, one line each, and answers with the seconds that it took.

A line is a command and paths, separated by tabs. The answer is "ok", the seconds and a check (or "-"), or "error"
and what went wrong. The clock runs around the operation alone; results are dropped before the next command.
"""

import os
import platform
from time import perf_counter

import numpy as np
import turns

STRIDE = 4099
HELD = None


def check(array):
    """The length in bytes plus every STRIDE-th 8-byte word, in storage order, modulo 2**64."""
    words = array.ravel(order="K").view("<u8")
    return (array.nbytes + int(words[::STRIDE].sum(dtype=np.uint64))) % 2**64


def load(path):
    start = perf_counter()
    array = np.load(path)
    return perf_counter() - start, check(array)


def fromfile(path):
    """The data of a RawArray file of one dimension."""
    start = perf_counter()
    array = np.fromfile(path, "<f8", offset=56)
    return perf_counter() - start, check(array)


def memmap_sum(path):
    start = perf_counter()
    total = np.load(path, mmap_mode="r").sum()
    return perf_counter() - start, int(total)


def memmap_open(path):
    count = 200
    start = perf_counter()
    for _ in range(count):
        np.load(path, mmap_mode="r")
    return (perf_counter() - start) / count, None


def hold(path):
    """Keeps the array of a file for `save`."""
    global HELD
    HELD = np.load(path)
    return 0.0, None


def save(path):
    start = perf_counter()
    np.save(path, HELD)
    return perf_counter() - start, None


def save_synced(path):
    start = perf_counter()
    with open(path, "wb") as file:
        np.save(file, HELD)
        file.flush()
        os.fsync(file.fileno())
    return perf_counter() - start, None


def to_fortran(source, target):
    """Row-major .npy to the column-major bytes of the same array, on the disk."""
    start = perf_counter()
    array = np.asfortranarray(np.load(source, mmap_mode="r"))
    with open(target, "wb") as file:
        array.T.tofile(file)
        os.fsync(file.fileno())
    return perf_counter() - start, None


def loadtxt(source, target, dtype):
    """A table of text to .npy."""
    start = perf_counter()
    np.save(target, np.loadtxt(source, dtype=dtype, delimiter=","))
    return perf_counter() - start, None


def loadtxt_integers(source, target):
    return loadtxt(source, target, "<i8")


def loadtxt_doubles(source, target):
    return loadtxt(source, target, "<f8")


def version():
    return f"Python {platform.python_version()}, numpy {np.__version__}"


FUNCTIONS = (
    version,
    load,
    fromfile,
    memmap_sum,
    memmap_open,
    hold,
    save,
    save_synced,
    to_fortran,
    loadtxt_integers,
    loadtxt_doubles,
)
turns.serve({function.__name__: function for function in FUNCTIONS}, collect=True)
