"""Python asdf, hashlib and numpy as contenders: does what stdin says, one line each, and answers with the seconds that it took.

A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error"
and what went wrong. The clock runs around the operation alone. Its name is the first argument: "cpu" is the time of this
process, "wall" what a watch would show. asdf is used as it is by default, schemas and all, unless said.
"""

import hashlib
import io
import mmap
import platform
import time

import asdf
import numpy as np
import turns

STRIDE = 4099
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
HELD = None
TREE = None


def check_of(array):
    """The length in bytes plus every STRIDE-th 8-byte word, modulo 2**64."""
    words = np.ascontiguousarray(array).reshape(-1).view("<u8")
    return (array.nbytes + int(words[::STRIDE].sum(dtype=np.uint64))) % 2**64


def compression(codec):
    return None if codec == "none" else codec


def make(raw, dtype, path, codec):
    """A file for others to read."""
    array = np.fromfile(raw, dtype)
    asdf.AsdfFile({"data": array}).write_to(path, all_array_compression=compression(codec))
    return 0.0, check_of(array)


def make_blocks(raw, dtype, path, count):
    """The same bytes in so many blocks."""
    parts = np.array_split(np.fromfile(raw, dtype), int(count))
    asdf.AsdfFile({f"data{at}": part for at, part in enumerate(parts)}).write_to(path)
    return 0.0, None


def open_file(clock, path, times):
    times, now = int(times), CLOCKS[clock]
    start = now()
    for _ in range(times):
        with asdf.open(path) as file:
            file["data"]
    return (now() - start) / times, None


def read(clock, path):
    """Into memory of its own."""
    now = CLOCKS[clock]
    start = now()
    with asdf.open(path, memmap=False, lazy_load=False) as file:
        array = np.asarray(file["data"])
    return now() - start, check_of(array)


def fromfile(clock, raw, dtype):
    now = CLOCKS[clock]
    start = now()
    array = np.fromfile(raw, dtype)
    return now() - start, check_of(array)


def mapped_sum(clock, path):
    now = CLOCKS[clock]
    start = now()
    with asdf.open(path, memmap=True) as file:
        total = np.asarray(file["data"]).sum()
    return now() - start, int(total)


def verify(clock, path):
    now = CLOCKS[clock]
    start = now()
    with asdf.open(path, lazy_load=False, memmap=True, validate_checksums=True) as file:
        file.tree
    return now() - start, None


def md5(clock, path):
    """What OpenSSL takes for all bytes of a file, one after the other: less than any reader that uses it."""
    now = CLOCKS[clock]
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        start = now()
        hashlib.md5(view, usedforsecurity=False).digest()
        return now() - start, None


def hold(raw, dtype):
    """Keeps an array for `write`."""
    global HELD
    HELD = np.fromfile(raw, dtype)
    return 0.0, check_of(HELD)


def write(clock, path, codec):
    now = CLOCKS[clock]
    start = now()
    asdf.AsdfFile({"data": HELD}).write_to(path, all_array_compression=compression(codec))
    return now() - start, None


def source(at):
    return {
        "id": at,
        "name": f"source {at}",
        "ra": at * 0.0625 + 0.1,
        "dec": at * -0.03125,
        "flux": [at * 0.5, at * 0.25, 1.5e-7 * at, float(at)],
        "flags": at % 7,
        "good": at % 3 == 0,
        "note": None,
        "filter": "F158",
    }


def tree(shared):
    sources = [source(at) for at in range(5000)]
    if shared == "shared":
        sources.append(sources[0])
    return {"roman": {"meta": {"telescope": "ROMAN", "exposure": {"time": 139.8, "type": "WFI_IMAGE"}}, "sources": sources}}


def make_tree(path, shared):
    """A tree and nothing else, kept for `emit`."""
    global TREE
    TREE = tree(shared)
    asdf.AsdfFile(TREE).write_to(path)
    return 0.0, None


def open_tree(clock, path):
    now = CLOCKS[clock]
    start = now()
    with asdf.open(path) as file:
        sources = file["roman"]["sources"]
        return now() - start, len(sources)


def emit(clock):
    now = CLOCKS[clock]
    start = now()
    asdf.AsdfFile(TREE).write_to(io.BytesIO())
    return now() - start, None


def write_inline(clock, raw, path):
    now = CLOCKS[clock]
    array = np.fromfile(raw, "<f8")
    start = now()
    asdf.AsdfFile({"data": array}).write_to(path, all_array_storage="inline")
    return now() - start, None


def edit(clock, path, value):
    now = CLOCKS[clock]
    start = now()
    with asdf.open(path, mode="rw") as file:
        file["meta"]["value"] = int(value)
        file.update()
    return now() - start, None


def version():
    return (
        f"Python {platform.python_version()}, asdf {asdf.__version__}, numpy {np.__version__}, {hashlib_version()}",
    )


def hashlib_version():
    import ssl

    return " ".join(ssl.OPENSSL_VERSION.split()[:2])


COMMANDS = {
    "version": version,
    "make": make,
    "make_blocks": make_blocks,
    "open": open_file,
    "read": read,
    "fromfile": fromfile,
    "mapped_sum": mapped_sum,
    "verify": verify,
    "md5": md5,
    "hold": hold,
    "write": write,
    "make_tree": make_tree,
    "open_tree": open_tree,
    "emit": emit,
    "write_inline": write_inline,
    "edit": edit,
}


turns.serve(COMMANDS, collect=True)
