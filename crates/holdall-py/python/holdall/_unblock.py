"""Chunks of Blosc as elements in C order, for the codecs of zarr and numcodecs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MAX_NBYTES = (1 << 31) - 1
"""Most bytes of a chunk of Blosc."""


def decoded(chunk: Any, chunk_shape: Sequence[int], block_shape: Sequence[int], nbytes: int | None) -> NDArray[Any]:
    """Decodes a chunk of Blosc1 or Blosc2 to bytes; a b2nd's from its blocks, padded, to C order.

    chunk : its bytes, and perhaps more after them
    chunk_shape, block_shape : of b2nd, in elements; empty for others
    nbytes : bytes of the result, where the chunk has fewer; None for what it has
    """
    import numpy as np

    from . import _holdall

    bytes_ = memoryview(chunk).cast("B")
    length = int.from_bytes(bytes_[12:16], "little")
    raw = np.frombuffer(_holdall.bloscpack_decode(bytes_[:length] if length >= 16 else bytes_), "u1")
    if block_shape:
        grid = [-(-c // max(1, b)) for c, b in zip(chunk_shape, block_shape, strict=True)]
        ndim, elements = len(grid), math.prod(grid) * math.prod(block_shape)
        if not elements or raw.size % elements:
            from ._errors import MalformedError

            raise MalformedError(
                f"a chunk of {raw.size} bytes is not one of {list(chunk_shape)} in {list(block_shape)}"
            )
        size = raw.size // elements
        axes = [axis for pair in zip(range(ndim), range(ndim, 2 * ndim), strict=True) for axis in pair]
        array = raw.reshape(*grid, *block_shape, size).transpose(*axes, 2 * ndim)
        array = array.reshape(*(g * b for g, b in zip(grid, block_shape, strict=True)), size)
        raw = np.ascontiguousarray(array[tuple(slice(0, c) for c in chunk_shape)]).reshape(-1)
    if nbytes is not None and raw.size < nbytes <= _MAX_NBYTES:
        raw = np.concatenate((raw, np.zeros(nbytes - raw.size, "u1")))
    return raw
