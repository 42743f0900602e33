"""The codec `holdall.blosc2` of numcodecs, for Zarr 2 and kerchunk's references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy

from ._unblock import decoded


class Blosc2(Codec):  # type: ignore[misc,unused-ignore]
    """Decodes chunks of Blosc1 and Blosc2; see `holdall.zarr.Blosc2Codec`."""

    codec_id = "holdall.blosc2"

    def __init__(
        self, chunk_shape: Sequence[int] = (), block_shape: Sequence[int] = (), nbytes: int | None = None
    ) -> None:
        # numcodecs compares, shows and stores codecs by their attributes.
        self.chunk_shape, self.block_shape, self.nbytes = list(chunk_shape), list(block_shape), nbytes

    def encode(self, buf: Any) -> Any:
        raise NotImplementedError("holdall.blosc2 decodes chunks of other files; it does not encode")

    def decode(self, buf: Any, out: Any = None) -> Any:
        chunk = ensure_contiguous_ndarray(buf)
        return ndarray_copy(decoded(chunk, self.chunk_shape, self.block_shape, self.nbytes), out)
