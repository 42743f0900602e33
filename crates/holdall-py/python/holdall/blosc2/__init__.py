"""Blosc2 arrays and frames, changed in place: with the words of python-blosc2, and `commit`.

    import holdall.blosc2

    with holdall.blosc2.open("a.b2nd", "r+") as array:
        array[0:2] = 7
        array.vlmeta["run"] = 12

Nothing of a change is seen before `commit`, and then all of it: a killed process leaves the old file or the new one.
"""

from ._array import Array
from ._frame import Frame
from ._open import create, create_frame, open
from ._vlmeta import VlMeta

NDArray = Array
SChunk = Frame

__all__ = ["Array", "Frame", "NDArray", "SChunk", "VlMeta", "create", "create_frame", "open"]
