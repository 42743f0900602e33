"""Outer indices: one term for each axis, several of which may be lists. Read in boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def read_outer(
    shape: tuple[int, ...],
    key: tuple[Any, ...],
    read: Callable[[tuple[slice, ...]], Any],
    chunks: tuple[int, ...] | None = None,
) -> Any:
    """The elements of an outer index; `read` takes a slice for each axis.

    A list with gaps along the first axis is read in runs, so that a few frames far apart do not cost those between them.
    """
    box: list[slice] = []
    then: list[Any] = []
    for term, length in zip(key, shape, strict=True):
        if isinstance(term, slice):
            box.append(term)
            then.append(slice(None))
        elif isinstance(term, np.ndarray):
            places = np.where(term < 0, term + length, term)
            if places.size and (int(places.min()) < 0 or int(places.max()) >= length):
                raise IndexError(f"index out of bounds for an axis of {length}")
            low, high = (int(places.min()), int(places.max()) + 1) if places.size else (0, 0)
            box.append(slice(low, high))
            then.append(places - low)
        else:
            place = int(term) + length if int(term) < 0 else int(term)
            if not 0 <= place < length:
                raise IndexError(f"index {int(term)} is out of bounds for an axis of {length}")
            box.append(slice(place, place + 1))
            then.append(0)
    runs = _runs(then[0], max(1, (chunks or (1,))[0])) if then and isinstance(then[0], np.ndarray) else []
    if len(runs) > 1:
        start = box[0].start
        parts = [read((slice(start + low, start + high), *box[1:])) for low, high in runs]
        got = np.concatenate(parts)
        # Places in the parts one after another.
        lows = np.array([low for low, _ in runs])
        ends = np.cumsum([high - low for low, high in runs])
        run = np.searchsorted(lows, then[0], side="right") - 1
        then[0] = then[0] - lows[run] + (ends[run] - np.diff(ends, prepend=0)[run])
    else:
        got = read(tuple(box))
    for axis in reversed(range(len(then))):
        if not isinstance(then[axis], slice):
            got = got[(slice(None),) * axis + (then[axis],)]
    return got


def _runs(places: Any, gap: int) -> list[tuple[int, int]]:
    """Ranges that hold all places, apart by more than `gap` from each other."""
    if places.size < 2:
        return []
    unique = np.unique(places)
    breaks = np.flatnonzero(np.diff(unique) > gap)
    starts = unique[np.concatenate(([0], breaks + 1))]
    stops = unique[np.concatenate((breaks, [unique.size - 1]))] + 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))
