"""bloscpack as a contender: does what stdin says, one line each, and answers with the seconds that it took.

A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error"
and what went wrong. The clock runs around the operation alone.
"""

import collections
import collections.abc
import platform
from importlib.metadata import version as version_of
from time import perf_counter

# bloscpack 0.16 asks for a name that Python 3.10 moved.
collections.MutableMapping = collections.abc.MutableMapping

import blosc
import bloscpack
import numpy as np
import turns

STRIDE = 4099
HELD = {}


def check(array):
    """The length in bytes plus every STRIDE-th 8-byte word, in storage order, modulo 2**64."""
    words = array.ravel(order="K").view("<u8")
    return (array.nbytes + int(words[::STRIDE].sum(dtype=np.uint64))) % 2**64


def pack(threads, codec, level, checksum, source, target):
    blosc.set_nthreads(int(threads))
    if source not in HELD:
        HELD[source] = np.load(source)
    array = HELD[source]
    arguments = bloscpack.BloscArgs(typesize=array.itemsize, clevel=int(level), cname=codec)
    container = bloscpack.BloscpackArgs(checksum=checksum)
    start = perf_counter()
    bloscpack.pack_ndarray_to_file(array, target, blosc_args=arguments, bloscpack_args=container)
    return perf_counter() - start, None


def unpack(threads, path):
    blosc.set_nthreads(int(threads))
    start = perf_counter()
    array = bloscpack.unpack_ndarray_from_file(path)
    return perf_counter() - start, check(array)


def version():
    names = ", ".join(f"{name} {version_of(name)}" for name in ("bloscpack", "blosc", "numpy"))
    return f"Python {platform.python_version()}, {names}"


turns.serve({"version": version, "pack": pack, "unpack": unpack}, collect=True)
