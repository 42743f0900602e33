"""Logs: a quantity over all frames."""

from __future__ import annotations

import fnmatch
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import StrPath
from .fl import GSDFile
from .fl import open as open_file

_STEP = "configuration/step"


def read_log(name: StrPath, scalar_only: bool = False, glob_pattern: str = "*") -> dict[str, NDArray[Any]]:
    """Reads the logged quantities of a file, each as one array over the frames, with "configuration/step" before them.

    name : a GSD file of the schema `hoomd`
    scalar_only : only those of one value a frame
    glob_pattern : only those whose name, with "log/", fits it

    Returns a dict of new arrays by name, of the stored types: (frames,) for single values, (frames, M) and (frames, N, M) for vectors and tables;
    text as numpy's strings of any length, (frames,). Frames that lack a quantity have that of frame 0; one that frame 0 lacks is left out.

    Warns with RuntimeWarning where nothing is logged. Raises ValueError where a quantity changes its shape, OSError, RuntimeError for other files.
    """
    with open_file(name, "r", None, "hoomd") as file:
        names = file.find_matching_chunk_names("log/")
        if glob_pattern != "*":
            names = fnmatch.filter(names, glob_pattern)
        if not names:
            warnings.warn(f"No logged data in file: {name}", RuntimeWarning, stacklevel=2)
        # In one pass: what keeps its type and shape.
        found = file._logs(names)
        step: Any = file.read_chunk(0, _STEP) if file.chunk_exists(0, _STEP) else None
        if step is not None and (np.shape(step), getattr(step, "dtype", None)) != ((1,), np.uint64):
            found.pop(_STEP, None)
        columns: dict[str, NDArray[Any]] = {}
        for quantity in [_STEP, *names]:
            values = found.get(quantity)
            if values is None:
                values = _column(file, quantity, scalar_only)
            elif isinstance(values, list):
                values = np.array(values, np.dtypes.StringDType())
            elif quantity != _STEP and scalar_only and file.read_chunk(0, quantity).shape[0] != 1:  # type: ignore[union-attr]
                values = None
            if values is not None:
                columns[quantity] = values
        return columns


def _column(file: GSDFile, quantity: str, scalar_only: bool) -> NDArray[Any] | None:
    """A quantity frame by frame: one that some frames have in another type or shape."""
    frames = file.nframes
    if not file.chunk_exists(0, quantity):
        if quantity != _STEP:
            return None
        first: Any = np.zeros(1, np.uint64)
    else:
        first = file.read_chunk(0, quantity)
    if isinstance(first, str):
        texts = [file.read_chunk(at if file.chunk_exists(at, quantity) else 0, quantity) for at in range(frames)]
        return np.array(texts, np.dtypes.StringDType())
    if scalar_only and first.shape[0] != 1:
        return None
    shape = (frames, *(first.shape[1:] if first.shape[0] == 1 else first.shape))
    values = np.empty(shape, first.dtype)
    for at in range(frames):
        stored = file.read_chunk(at, quantity) if file.chunk_exists(at, quantity) else first
        values[at] = stored[0] if first.shape[0] == 1 and np.shape(stored)[0] == 1 else stored
    return values
