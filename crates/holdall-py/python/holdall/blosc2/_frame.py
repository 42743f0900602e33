"""Frames of plain chunks (super-chunks)."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from ._base import Base


class Frame(Base):
    """Chunks of bytes in a file, as python-blosc2's SChunk. Items have `typesize` bytes each.

    Changes are seen by this object at once, and by others after `commit`. A `with` block commits when it is left without an exception, and
    discards after one.
    """

    @property
    def nbytes(self) -> int:
        """Bytes of all chunks, decoded, uncommitted ones included."""
        return int(self._core.info()["nbytes"])

    @property
    def chunksize(self) -> int:
        """Bytes of each chunk, decoded; the last may be shorter. 0 where each has its own size, or none is there yet."""
        return int(self._core.info()["chunksize"] or 0)

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one at the last commit; 0 where nothing is stored."""
        return self.nbytes / self.cbytes if self.cbytes else 0.0

    @property
    def contiguous(self) -> bool:
        """True for one file, False for a directory with a file for each chunk."""
        return bool(self._core.info()["contiguous"])

    @property
    def info(self) -> dict[str, Any]:
        """Sizes and parameters, by python-blosc2's words."""
        return {
            "type": "Frame",
            "chunksize": self.chunksize,
            "blocksize": self.blocksize,
            "typesize": self.typesize,
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "cratio": self.cratio,
            "nchunks": self.nchunks,
            "cparams": self.cparams,
        }

    def __len__(self) -> int:
        """Number of whole items."""
        return self.nbytes // self.typesize

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int | slice) -> bytes:
        """The bytes of an item, or of a slice of items with step 1, whichever chunks they are in.

        Raises IndexError for an item that is not there, and for another step.
        """
        start, stop = self._items(index)
        return self._core.read_range(start, stop)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        """Changes a slice of items to the bytes of `value`, anything with the buffer protocol. A slice that ends behind the data lengthens them.

        Raises ValueError where the bytes do not fill the slice.
        """
        self._require_editing()
        data = _bytes(value)
        size = self.typesize
        if isinstance(index, slice) and index.step in (None, 1) and index.stop is not None and index.stop > len(self):
            # As python-blosc2: what is behind the end is added.
            start, stop = self._items(slice(index.start, None))
            stop = max(index.stop * size, start)
        else:
            start, stop = self._items(index)
        if len(data) != stop - start:
            raise ValueError(f"{len(data)} bytes for a slice of {stop - start}")
        self._core.write_range(start, data)

    def decompress_chunk(self, nchunk: int) -> bytes:
        """The bytes of a chunk, decoded. Raises IndexError for one that is not there."""
        return self._core.chunk(self._number(nchunk), False)

    def get_chunk(self, nchunk: int) -> bytes:
        """A chunk as it is stored: header, blocks. Raises IndexError for one that is not there."""
        return self._core.chunk(self._number(nchunk), True)

    def iterchunks(self) -> Iterator[bytes]:
        """The decoded chunks, one after the other."""
        for nchunk in range(self.nchunks):
            yield self.decompress_chunk(nchunk)

    def extend(self, data: Any) -> int:
        """Adds bytes behind the data: a last chunk that is shorter than the others is filled up first. Returns the number of chunks."""
        self._require_editing()
        self._core.write_range(self.nbytes, _bytes(data))
        return self.nchunks

    def append_data(self, data: Any) -> int:
        """Adds the bytes of `data` as one chunk; returns the number of chunks.

        Raises UsageError behind a chunk that is shorter than the others, and for a chunk of another size, unless the frame was opened with
        `variable_chunks`.
        """
        return self._put(self.nchunks, data, False, False)

    def append_chunk(self, chunk: Any) -> int:
        """Adds an encoded chunk as it is; returns the number of chunks."""
        return self._put(self.nchunks, chunk, False, True)

    def insert_data(self, nchunk: int, data: Any) -> int:
        """Adds the bytes of `data` as a chunk before another; returns the number of chunks."""
        return self._put(self._number(nchunk, is_place=True), data, False, False)

    def insert_chunk(self, nchunk: int, chunk: Any) -> int:
        """Adds an encoded chunk before another; returns the number of chunks."""
        return self._put(self._number(nchunk, is_place=True), chunk, False, True)

    def update_data(self, nchunk: int, data: Any) -> int:
        """Replaces a chunk by the bytes of `data`; returns the number of chunks."""
        return self._put(self._number(nchunk), data, True, False)

    def update_chunk(self, nchunk: int, chunk: Any) -> int:
        """Replaces a chunk by an encoded one; returns the number of chunks."""
        return self._put(self._number(nchunk), chunk, True, True)

    def delete_chunk(self, nchunk: int) -> int:
        """Removes a chunk; returns the number of chunks."""
        self._require_editing()
        self._core.delete_chunk(self._number(nchunk))
        return self.nchunks

    def reorder_offsets(self, offsets_order: Sequence[int]) -> None:
        """Puts the chunks in another order: chunk `offsets_order[i]` becomes chunk `i`."""
        self._require_editing()
        self._core.reorder([operator.index(number) for number in offsets_order])

    def __repr__(self) -> str:
        if self._closed:
            return f"<holdall.blosc2.Frame {self._path!r} closed>"
        return f"<holdall.blosc2.Frame {self._path!r} {self.nchunks} chunks, {self.nbytes} bytes mode={self._mode!r}>"

    def _put(self, nchunk: int, data: Any, is_update: bool, is_encoded: bool) -> int:
        self._require_editing()
        self._core.put_chunk(nchunk, _bytes(data), is_update, is_encoded)
        return self.nchunks

    def _number(self, nchunk: int, *, is_place: bool = False) -> int:
        count = self.nchunks
        number = operator.index(nchunk)
        number += count if number < 0 else 0
        if not 0 <= number < count + is_place:
            raise IndexError(f"chunk {nchunk} of a frame that has {count}")
        return number

    def _items(self, index: int | slice) -> tuple[int, int]:
        """First byte and end of a slice."""
        count, size = len(self), self.typesize
        if isinstance(index, slice):
            start, stop, step = index.indices(count)
            if step != 1:
                raise IndexError("a slice of items has step 1")
            return start * size, max(start, stop) * size
        number = operator.index(index)
        number += count if number < 0 else 0
        if not 0 <= number < count:
            raise IndexError(f"item {index} of a frame that has {count}")
        return number * size, (number + 1) * size


def _bytes(value: Any) -> memoryview:
    """The bytes of what has the buffer protocol."""
    view = memoryview(value)
    if view.nbytes == 0:
        return memoryview(b"")
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())
