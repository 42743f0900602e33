"""Prints what gsd.hoomd reads from the fixtures that are named, a line for each container of each frame:

    python hoomd_frames.py ../../../../testdata/gsd/ok/hoomd_full.gsd … > hoomd_frames.txt

Arrays are shown as type:size:adler32 of their little-endian bytes. Groups are unsigned by the schema, however they are stored.
"""

import sys
import zlib
from pathlib import Path

import gsd.hoomd
import numpy as np

FIELDS = "typeid mass charge diameter body moment_inertia position orientation velocity angmom image"


def show(values: object) -> str:
    if isinstance(values, str):
        values = np.frombuffer(values.encode(), "u1")
    array = np.ascontiguousarray(values)
    return f"{array.dtype.kind}{array.dtype.itemsize}:{array.size}:{zlib.adler32(array.tobytes()):08x}"


for path in map(Path, sys.argv[1:]):
    with gsd.hoomd.open(path, "r") as trajectory:
        # A second reading of frame 0 fails where logs begin later.
        for index in range(len(trajectory)):
            frame = trajectory[index]
            start = f"{path.name} {index}"
            one = frame.configuration
            print(start, "configuration", int(one.step), int(one.dimensions), show(one.box))
            one = frame.particles
            print(start, "particles", int(one.N), ",".join(one.types), *(show(getattr(one, name)) for name in FIELDS.split()))
            for name in "bonds angles dihedrals impropers pairs".split():
                one = getattr(frame, name)
                group = one.group.astype("u4")
                print(start, name, int(one.N), ",".join(one.types) or "-", show(one.typeid), show(group))
            one = frame.constraints
            print(start, "constraints", int(one.N), show(one.value), show(one.group.astype("u4")))
            print(start, "log", *(f"{name}={show(value)}" for name, value in frame.log.items()))
