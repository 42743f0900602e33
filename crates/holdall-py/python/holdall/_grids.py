"""Chunks of datasets for packages that need some: those of the file, or runs of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._dataset import Dataset

TARGET = 16 << 20
"""Bytes of a chunk where the file has none: large against a request to a server, small against memory."""

SMALL = 1 << 20
"""Bytes below which several chunks of a file are one: of frames of a few hundred bytes there are millions."""

_WHOLE = 256 << 20
"""Most bytes of an encoded array that is one chunk: a part in the middle of a stream takes the decoding of all before it."""

_STREAMS = ("zlib", "bzp2")
"""Codecs of a block that is decoded from its start."""


def grid_of(dataset: Dataset, target: int = TARGET) -> tuple[int, ...]:
    """Elements per chunk along each axis, 1 or more: of whole rows, of the file's chunks where it has them."""
    shape = dataset.shape
    if dataset.chunks is not None:
        chunks = tuple(max(1, min(chunk, length)) for chunk, length in zip(dataset.chunks, shape, strict=True))
        return merged(chunks, shape, dataset.dtype.itemsize)
    if dataset.codec in _STREAMS and dataset.nbytes <= _WHOLE:
        return tuple(max(1, length) for length in shape)
    return rows(shape, dataset.dtype.itemsize, target, is_c=dataset.order == "C")


def rows(shape: tuple[int, ...], itemsize: int, target: int, *, is_c: bool = True) -> tuple[int, ...]:
    """Chunks of at most `target` bytes where an element allows it, whole along the fastest axes."""
    grid = [1] * len(shape)
    left = max(1, target // max(1, itemsize))
    for axis in reversed(range(len(shape))) if is_c else range(len(shape)):
        grid[axis] = max(1, min(shape[axis], left))
        left //= grid[axis]
    return tuple(grid)


def merged(chunks: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Chunks of a file, several along the first axis as one where they are `SMALL`, as frames of a trajectory are."""
    if not chunks:
        return chunks
    size = max(1, itemsize * math.prod(chunks))
    times = max(1, min(SMALL // size, -(-shape[0] // chunks[0])))
    return (chunks[0] * times, *chunks[1:])
