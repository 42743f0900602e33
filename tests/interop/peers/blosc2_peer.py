"""python-blosc2 as a contender: does what stdin says, one line each, and answers with the seconds that it took.

A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error"
and what went wrong. The clock runs around the operation alone: CPU time of the thread for one thread, wall time for more.
Commands that blosc2_peer.c has mean the same here.
"""

import os
import platform
from pathlib import Path
from time import perf_counter, thread_time

for name in list(os.environ):
    if name.startswith("BLOSC_"):
        del os.environ[name]  # they override parameters

import blosc2
import numpy as np
import turns

SPREAD = 0x9E3779B97F4A7C15
CHECKED = 4


def clock(threads):
    return thread_time if threads == 1 else perf_counter


def check_of(array):
    return int(np.ascontiguousarray(array).view("<u4").sum(dtype=np.uint64))


def opened(path, threads):
    blosc2.set_nthreads(threads)
    return blosc2.open(path, mode="r", dparams=blosc2.DParams(nthreads=threads))


def open_file(path, times, _kind, _access):
    times = int(times)
    start = thread_time()
    for _ in range(times):
        blosc2.open(path, mode="r")
    return (thread_time() - start) / times, None


def key(shape, widths, at):
    """The at-th place: as in the other peers."""
    firsts = [
        ((at * 3 + axis + 1) * SPREAD % 2**64 >> 32) % (size - width + 1)
        for axis, (size, width) in enumerate(zip(shape, widths, strict=True))
    ]
    return tuple(slice(first, first + width) for first, width in zip(firsts, widths, strict=True))


def slices(path, threads, widths, order, count, _access):
    threads, count = int(threads), int(count)
    widths = [int(width) for width in widths.split("x")]
    array = opened(path, threads)
    keys = [key(array.shape, widths, at if order == "random" else 0) for at in range(max(count, CHECKED))]
    check = sum(check_of(array[where]) for where in keys[: CHECKED if order == "random" else 1])
    now = clock(threads)
    start = now()
    for where in keys[:count]:
        array[where]
    return (now() - start) / count, check


def array(raw, target, codec, level, threads, shape, chunks, blocks):
    """Makes an array of f32 of a file's bytes."""
    threads = int(threads)
    shape, chunks, blocks = ([int(size) for size in text.split("x")] for text in (shape, chunks, blocks))
    values = np.fromfile(raw, "<f4").reshape(shape)
    params = blosc2.CParams(
        codec=blosc2.Codec[codec.upper()],
        clevel=int(level),
        filters=[blosc2.Filter.SHUFFLE],
        typesize=4,
        nthreads=threads,
        splitmode=blosc2.SplitMode.FORWARD_COMPAT_SPLIT,
    )
    now = clock(threads)
    start = now()
    blosc2.asarray(values, chunks=chunks, blocks=blocks, urlpath=target, mode="w", cparams=params)
    return now() - start, None


def version():
    """With where the library is, for those who link with it."""
    here = Path(blosc2.__file__).parent
    return f"Python {platform.python_version()}, python-blosc2 {blosc2.__version__}", str(here)


COMMANDS = {"version": version, "open": open_file, "slices": slices, "array": array}


turns.serve(COMMANDS)
