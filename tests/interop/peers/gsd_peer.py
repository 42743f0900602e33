"""gsd's Python modules as contenders: do what stdin says, one line each, and answer with the seconds that it took.

A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error"
and what went wrong. The clock runs around the operation alone. Commands that gsd_peer.c has mean the same here.
"""

import platform
from importlib.metadata import version as version_of
from time import perf_counter

import gsd.fl
import gsd.hoomd
import numpy as np
import turns

POSITION = "particles/position"
NAMES = 10
SPREAD = 0x9E3779B97F4A7C15


def pool(count):
    """The values of all contenders: whole numbers of two bits, so that sums are exact."""
    spread = np.arange(count, dtype=np.uint64) * np.uint64(SPREAD)
    return ((spread >> np.uint64(40)) & np.uint64(3)).astype(np.float32)


def scattered(count, limit):
    return [(at * SPREAD % 2**64 >> 32) % limit for at in range(count)]


def opened(path):
    return gsd.fl.open(path, "r", application="bench", schema="hoomd", schema_version=[1, 4])


def write(path, frames, particles, flush):
    frames, particles = int(frames), int(particles)
    values = pool(3 * particles + 64)
    arrays = [values[shift : shift + 3 * particles].reshape(particles, 3) for shift in range(16)]
    steps = np.arange(frames, dtype=np.uint64).reshape(frames, 1)
    start = perf_counter()
    file = gsd.fl.open(path, "w", application="bench", schema="hoomd", schema_version=[1, 4])
    for frame in range(frames):
        file.write_chunk("configuration/step", steps[frame])
        file.write_chunk(POSITION, arrays[frame % 16])
        file.end_frame()
        if flush == "1":
            file.flush()
    file.close()
    return perf_counter() - start, None


def read(path, count, order, how):
    count = int(count)
    with opened(path) as file:
        frames = scattered(count, file.nframes) if order == "random" else [at % file.nframes for at in range(count)]
        total = 0.0
        start = perf_counter()
        if how == "sum":
            for frame in frames:
                total += float(file.read_chunk(frame, POSITION).sum())
        else:
            for frame in frames:
                array = file.read_chunk(frame, POSITION).ravel()
                total += float(array[frame % array.size])
        return perf_counter() - start, int(total)


def open_file(path, times):
    start = perf_counter()
    for _ in range(int(times)):
        with opened(path) as file:
            frames = file.nframes
    return (perf_counter() - start) / int(times), frames


def read_log(path):
    start = perf_counter()
    log = gsd.hoomd.read_log(path)
    seconds = perf_counter() - start
    return seconds, int(sum(float(column.sum()) for column in log.values()))


def decode(path, count):
    """Whole frames of the hoomd schema, one after the other."""
    with gsd.hoomd.open(path, "r") as trajectory:
        count = int(count)
        total = 0.0
        trajectory[0]
        start = perf_counter()
        for at in range(count):
            frame = trajectory[at % len(trajectory)]
            total += frame.configuration.step + float(frame.particles.position[-1, 0])
        return perf_counter() - start, int(total)


def tensor(path, rows):
    """Positions of all frames in one array, as everyone writes it."""
    with gsd.hoomd.open(path, "r") as trajectory:
        start = perf_counter()
        array = np.stack([frame.particles.position[: int(rows)] for frame in trajectory])
        seconds = perf_counter() - start
    return seconds, int(array.sum(dtype=np.float64))


def tensor_fl(path, rows):
    """The same, chunk by chunk into an array made before."""
    with opened(path) as file:
        frames, rows = file.nframes, int(rows)
        start = perf_counter()
        array = np.empty((frames, rows, 3), np.float32)
        for frame in range(frames):
            array[frame] = file.read_chunk(frame, POSITION)[:rows]
        seconds = perf_counter() - start
    return seconds, int(array.sum(dtype=np.float64))


COMMANDS = {
    "write": write,
    "read": read,
    "open": open_file,
    "read_log": read_log,
    "decode": decode,
    "tensor": tensor,
    "tensor_fl": tensor_fl,
}


def version():
    return f"Python {platform.python_version()}, gsd {version_of('gsd')}, numpy {np.__version__}"


turns.serve({"version": version, **COMMANDS}, collect=True)
