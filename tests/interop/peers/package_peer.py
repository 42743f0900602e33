"""The Python package and its peers as contenders: does what stdin says, one line each, and answers with the seconds that it took.

A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error" and what went wrong.
The clock runs around the operation alone: "cpu" is the time of all threads of this process, "wall" what a watch shows. Files are made by the
peers. Digests are compared where the name of a contender says so; no peer but bloscpack compares any.
"""

import collections
import collections.abc
import platform
import subprocess
import sys
import time
from importlib.metadata import version as version_of

# bloscpack 0.16 asks for a name that Python 3.10 moved.
collections.MutableMapping = collections.abc.MutableMapping

import asdf
import blosc
import blosc2
import bloscpack
import gsd.fl
import gsd.hoomd
import h5py
import numpy as np
import turns

import holdall
import holdall.gsd

STRIDE = 4099
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
LOGGED = 10
SIDE = 4096
HELD = {}
# More than any contender needs at once for an array of 256 MiB.
TOUCHED = 1024


def check_of(array):
    """The length in bytes plus every STRIDE-th 8-byte word in storage order, modulo 2**64."""
    words = array.ravel(order="K").view("<u8")
    return (array.nbytes + int(words[::STRIDE].sum(dtype=np.uint64))) % 2**64


def small_check_of(array):
    return int(np.ascontiguousarray(array).view("<u2").sum(dtype=np.uint64)) + array.nbytes


def touch(mib):
    """Touches memory and frees it. Where a hypervisor takes free memory back, the first touch afterwards takes up to ten times as long."""
    np.ones(int(mib) << 17).sum()


def timed(clock, work, check=check_of):
    now = CLOCKS[clock]
    start = now()
    result = work()
    seconds = now() - start
    return seconds, None if check is None else check(result)


def each(times, work):
    """The mean of so many runs; best of three such means, for what takes microseconds."""
    times = int(times)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(times):
            work()
        best = min(best, time.perf_counter() - start)
    return best / times, None


def values(mib):
    """A smooth field with noise, of single precision but stored in double: rows of SIDE."""
    rows = int(mib) * (1 << 20) // 8 // SIDE
    if rows not in HELD:
        chance = np.random.default_rng(1)
        x, y = np.arange(SIDE) / 300, np.arange(rows) / 300
        field = np.sin(x)[None, :] * np.cos(y)[:, None] + chance.standard_normal((rows, SIDE), np.float32) / 1000
        HELD[rows] = field.astype(np.float32).astype(np.float64)
    return HELD[rows]


def make(kind, mib, path):
    array = values(mib)
    match kind.split(":"):
        case ["asdf", codec]:
            asdf.AsdfFile({"data": array}).write_to(path, all_array_compression=None if codec == "none" else codec)
        case ["b2nd", codec]:
            cparams = {"codec": blosc2.Codec[codec.upper()], "clevel": 5}
            blosc2.asarray(array, urlpath=path, mode="w", chunks=(128, SIDE), blocks=(16, SIDE), cparams=cparams)
        case ["blp", codec]:
            arguments = bloscpack.BloscArgs(typesize=8, clevel=5, cname=codec)
            bloscpack.pack_ndarray_to_file(array, path, blosc_args=arguments)
        case ["ra"]:
            # The first axis is the fastest there: the same bytes as in the other files.
            holdall.save(path, array.T)
        case ["npy"]:
            np.save(path, array)
        case ["h5"]:
            with h5py.File(path, "w") as file:
                file["data"] = array
        case ["h5", "gzip"]:
            with h5py.File(path, "w") as file:
                file.create_dataset("data", data=array, chunks=(128, SIDE), compression="gzip")
        case ["gsd"]:
            particles = 100_000
            with gsd.hoomd.open(path, "w") as file:
                chance = np.random.default_rng(1)
                for step in range(max(1, int(mib) * (1 << 20) // (particles * 12))):
                    frame = gsd.hoomd.Frame()
                    frame.configuration.step = step
                    frame.particles.N = particles
                    frame.particles.position = chance.random((particles, 3), np.float32)
                    file.append(frame)
        case ["log"]:
            with gsd.hoomd.open(path, "w") as file:
                for step in range(10_000):
                    frame = gsd.hoomd.Frame()
                    frame.configuration.step = step
                    frame.particles.N = 1
                    for at in range(LOGGED):
                        frame.log[f"q{at}"] = np.array([step * at / 3])
                    file.append(frame)
        case ["small", "asdf"]:
            asdf.AsdfFile({"meta": {"run": 7}, "data": np.arange(1000.0)}).write_to(path)
        case ["small", "b2nd"]:
            blosc2.asarray(np.arange(1000.0), urlpath=path, mode="w")
        case ["small", "blp"]:
            bloscpack.pack_ndarray_to_file(np.arange(1000.0), path)
        case ["small", "ra"]:
            holdall.save(path, np.arange(1000.0))
        case ["small", "npy"]:
            np.save(path, np.arange(1000.0))
        case ["small", "h5"]:
            with h5py.File(path, "w") as file:
                file["data"] = np.arange(1000.0)
        case ["small", "gsd"]:
            with gsd.hoomd.open(path, "w") as file:
                frame = gsd.hoomd.Frame()
                frame.particles.N = 100
                frame.particles.position = np.zeros((100, 3), np.float32)
                file.append(frame)
    return 0.0, None


def load(clock, who, threads, path):
    """Opens a file and reads its array into new memory."""
    threads = int(threads)
    blosc2.set_nthreads(threads)
    blosc.set_nthreads(threads)
    match who.split(":"):
        case ["holdall", digests]:

            def work():
                with holdall.open(path, digests=digests, mmap=False) as file:
                    return file["data"].read(threads=threads)

        case ["asdf"]:

            def work():
                with asdf.open(path, memmap=False, lazy_load=False) as file:
                    return np.asarray(file["data"])

        case ["blosc2"]:

            def work():
                return blosc2.open(path)[:]

        case ["bloscpack"]:

            def work():
                return bloscpack.unpack_ndarray_from_file(path)

        case ["numpy"]:

            def work():
                return np.load(path)

        case ["h5py"]:

            def work():
                with h5py.File(path) as file:
                    return file["data"][...]

    touch(TOUCHED)
    return timed(clock, work)


def cutout(clock, who, path, row, column, rows, columns):
    """Opens a file and reads a part of its array."""
    row, column = int(row), int(column)
    part = (slice(row, row + int(rows)), slice(column, column + int(columns)))
    match who:
        case "holdall":

            def work():
                with holdall.open(path) as file:
                    return file["data"][part]

        case "asdf":

            def work():
                with asdf.open(path) as file:
                    return np.array(file["data"][part])

        case "blosc2":

            def work():
                return blosc2.open(path)[part]

        case "numpy":

            def work():
                return np.array(np.load(path, mmap_mode="r")[part])

        case "h5py":

            def work():
                with h5py.File(path) as file:
                    return file["data"][part]

    return timed(clock, work, small_check_of)


def call(who, times, path):
    """Ten rows of an open array, again and again: what a call costs."""
    match who:
        case "holdall":
            with holdall.open(path) as file:
                data = file["data"]
                return each(times, lambda: data[0:10])
        case "numpy":
            data = np.load(path, mmap_mode="r")
            return each(times, lambda: np.array(data[0:10]))
        case "h5py":
            with h5py.File(path) as file:
                data = file["data"]
                return each(times, lambda: data[0:10])
        case "blosc2":
            data = blosc2.open(path)
            return each(times, lambda: data[0:10])
        case "asdf":
            with asdf.open(path) as file:
                data = file["data"]
                return each(times, lambda: np.array(data[0:10]))
    return None


def opens(who, times, path):
    """Opens and closes a file, and finds what it holds."""
    match who:
        case "holdall":

            def work():
                with holdall.open(path) as file:
                    return file["data"].shape

        case "holdall.gsd":

            def work():
                with holdall.gsd.open(path) as file:
                    return len(file)

        case "gsd.hoomd":

            def work():
                with gsd.hoomd.open(path) as file:
                    return len(file)

        case "asdf":

            def work():
                with asdf.open(path) as file:
                    return file["data"].shape

        case "blosc2":

            def work():
                return blosc2.open(path).shape

        case "bloscpack":

            def work():
                return bloscpack.unpack_ndarray_from_file(path).shape

        case "numpy":

            def work():
                return np.load(path, mmap_mode="r").shape

        case "h5py":

            def work():
                with h5py.File(path) as file:
                    return file["data"].shape

    start = time.perf_counter()
    for _ in range(int(times)):
        work()
    return (time.perf_counter() - start) / int(times), None


def view(path):
    """Opens a file and gives its array where the file is mapped."""
    return timed("wall", lambda: holdall.open(path)["data"].view(), check=None)


def memmap(path):
    return timed("wall", lambda: np.load(path, mmap_mode="r"), check=None)


def hole(path, kind, gib):
    """A file of zeros as large as asked for, which takes no room."""
    rows = int(gib) << 30 >> 15
    if kind == "npy":
        np.lib.format.open_memmap(path, "w+", "<f8", (rows, SIDE)).flush()
        return 0.0, None
    with open(path, "wb") as file:
        # RawArray: magic, flags, kind of elements, their size, bytes of data, number of dimensions, and them, the fastest first.
        head = np.array([0x7961727261776172, 0, 3, 8, rows * SIDE * 8, 2, SIDE, rows], "<u8")
        file.write(head.tobytes())
        file.truncate(head.nbytes + rows * SIDE * 8)
    return 0.0, None


def trajectory(clock, who, threads, path):
    """All positions of all frames in one array."""
    match who:
        case "holdall.gsd":

            def work():
                with holdall.gsd.open(path) as file:
                    return file.stack("particles/position")

        case "holdall":

            def work():
                with holdall.open(path, mmap=False) as file:
                    return file["particles/position"].read(threads=int(threads))

        case "holdall.gsd frames":

            def work():
                with holdall.gsd.open(path) as file:
                    return np.array([frame.particles.position for frame in file])

        case "gsd.hoomd":

            def work():
                with gsd.hoomd.open(path) as file:
                    return np.array([frame.particles.position for frame in file])

        case "gsd.fl":

            def work():
                with gsd.fl.open(path, "r") as file:
                    first = file.read_chunk(0, "particles/position")
                    whole = np.empty((file.nframes, *first.shape), first.dtype)
                    for frame in range(file.nframes):
                        whole[frame] = file.read_chunk(frame, "particles/position")
                    return whole

    touch(TOUCHED)
    return timed(clock, work)


def logs(clock, who, path):
    """The table of all logged quantities."""
    module = {"holdall": holdall.gsd, "gsd": gsd.hoomd}[who]
    return timed(clock, lambda: module.read_log(path), lambda table: check_of(table["log/q3"]))


def imports(module):
    """The import in a new interpreter, without that one's own start."""
    code = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout), None


def version():
    names = ("holdall", "numpy", "asdf", "blosc2", "bloscpack", "gsd", "h5py")
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {version_of(name)}" for name in names)


commands = (version, make, load, cutout, call, opens, view, memmap, hole, trajectory, logs)
turns.serve({**{command.__name__: command for command in commands}, "import": imports}, collect=True)
