"""Does to a file what `interop::gsd_calls` does, by gsd.fl: gsd_calls.py SCRIPT PATH."""

import sys

import gsd.fl
import numpy as np


def pattern(seed: int, size: int) -> bytes:
    at = np.arange(size, dtype=np.uint64)
    mixed = (at * np.uint64(7)) ^ (at >> np.uint64(8))
    return (mixed + np.uint64(seed * 31)).astype(np.uint8).tobytes()


def run(script: str, path: str) -> None:
    file = None
    for line in script.splitlines():
        match line.split():
            case ["open", mode]:
                file = gsd.fl.open(
                    path, mode=mode, application="calls", schema="none", schema_version=[1, 2]
                )
            case ["buffer", size]:
                file.maximum_write_buffer_size = int(size)
            case ["chunk", name, dtype, n, m, seed]:
                rows, columns = int(n), int(m)
                size = rows * columns * np.dtype(dtype).itemsize
                data = np.frombuffer(pattern(int(seed), size), dtype)
                file.write_chunk(name, data.reshape(rows, columns) if columns > 1 else data)
            case ["end"]:
                file.end_frame()
            case ["flush"]:
                file.flush()
            case ["truncate"]:
                file.truncate()
            case ["upgrade"]:
                file.upgrade()
            case ["close"]:
                file.close()
            case _:
                raise ValueError(line)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        run(file.read(), sys.argv[2])
