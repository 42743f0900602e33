"""Run by `tool.killed`: writes frames to the file that is named, flushes a few, and ends without closing it."""

import os
import sys

import gsd.fl
import gsd.hoomd
import numpy as np


def main(path: str, schema: str) -> None:
    if schema == "hoomd":
        file = gsd.hoomd.open(name=path, mode="w")
        layer = file.file
    else:
        file = layer = gsd.fl.open(
            name=path, mode="w", application="make.py", schema="none", schema_version=[1, 2]
        )
    layer.maximum_write_buffer_size = 1  # every chunk goes straight to the file
    for step in range(25):
        if schema == "hoomd":
            made = gsd.hoomd.Frame()
            made.configuration.step = 10 * (step + 1)
            made.configuration.box = [8, 8, 8, 0, 0, 0]
            made.particles.N = 4
            made.particles.position = ((np.arange(12) * 7 + 3 * step) % 31).reshape(4, 3) / 4 - 3.75
            file.append(made)
        else:
            file.write_chunk("step", np.array([step], "u8"))
            file.write_chunk("x", np.arange(step, step + 6, dtype="f8"))
            file.end_frame()
        if step == 2:
            file.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
