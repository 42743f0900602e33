"""Manifests: which bytes of a file are which chunk of a dataset, for readers of Zarr that read them in place."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _holdall
from ._bytes import reader
from ._errors import HoldallError, UnsupportedError
from ._grids import TARGET

if TYPE_CHECKING:
    import numpy as np

    from ._dataset import Dataset
    from ._file import File
    from ._types import Segment

Key = tuple[int, ...]

INLINE = 4096
"""Most bytes of a dataset whose values go into the references themselves where the file has no bytes that are them: an array in a tree of ASDF,
steps of a trajectory of which some have the default."""

_STREAMS = {"zlib": {"id": "zlib"}, "bzp2": {"id": "bz2"}, "zstd": {"id": "zstd"}}
"""Codecs of ASDF whose blocks are what a codec of numcodecs decodes."""

_MAX_CHUNKS = 10_000_000
"""Most chunks of one dataset: a file of some bytes can claim any number of frames, or of chunks of zeros."""

_MOST = 64
"""Most times the wanted length of a chunk of plain elements."""

_ZEROS, _NAN, _UNINIT = 1, 2, 4
"""Chunks of one value that a Blosc2 frame does not store, in the top byte of their offset."""


@dataclass
class Manifest:
    """A dataset as an array of Zarr over the bytes of a file.

    shape, chunks : along each axis; all chunks are whole, as Zarr wants it
    order : "C" or "F", of the elements in a chunk
    codec : of numcodecs, as a configuration with its `id`; None for plain elements
    places : `(start, length)` in the file by chunk; chunks that are neither here nor in `inline` are zeros
    inline : bytes of chunks, encoded by the codec, which are not in the file
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    order: str = "C"
    codec: dict[str, Any] | None = None
    places: dict[Key, tuple[int, int]] = field(default_factory=dict)
    inline: dict[Key, bytes] = field(default_factory=dict)


class Manifests:
    """The manifests of a file.

    file : the open file
    source : what it was opened from
    """

    def __init__(self, file: File, source: Any, target: int = TARGET) -> None:
        self.file, self.target = file, target
        self._read = reader(source, file._options.get("storage") or ())
        self._segments: dict[str, list[Segment]] | None = None

    def of(self, dataset: Dataset) -> Manifest:
        """The manifest of a dataset. UnsupportedError, with the reason, where there is none."""
        import numpy as np

        dtype = dataset.dtype
        if not _has_type(dtype):
            raise UnsupportedError(f"Zarr has no type for {dtype}")
        if dataset.size == 0:
            return Manifest(dataset.shape, dtype, tuple(max(1, length) for length in dataset.shape))
        try:
            return getattr(self, f"_{self.file.format}", self._plain_or_stream)(dataset)
        except UnsupportedError:
            if dataset.nbytes > INLINE or dataset.codec != "none":
                raise
            values = np.asarray(dataset.read(order="C"))
            return Manifest(dataset.shape, dtype, dataset.shape, inline={(0,) * dataset.ndim: values.tobytes("C")})

    def _of(self, path: str) -> list[Segment]:
        """Segments of the blocks of a dataset, in the order of the file."""
        if self._segments is None:
            self._segments = {}
            for segment in self.file.layout():
                if segment.dataset is not None and (segment.role in ("chunk", "data") or segment.codec is not None):
                    self._segments.setdefault(segment.dataset, []).append(segment)
        found = self._segments.get(path, [])
        if any(segment.part is not None for segment in found):
            raise UnsupportedError("it is in other files next to this one")
        return found

    def _plain_or_stream(self, dataset: Dataset) -> Manifest:
        """One block of plain elements, or one stream."""
        found = self._of(dataset.path)
        if len(found) != 1:
            raise UnsupportedError("no block of its own in the file" if not found else f"{len(found)} blocks")
        (block,) = found
        if dataset.codec == "none":
            if block.stop - block.start != dataset.nbytes:
                raise UnsupportedError(f"{block.stop - block.start} bytes of which it is {dataset.nbytes}")
            return self._plain(dataset, block.start)
        if (block.decoded or dataset.nbytes) != dataset.nbytes:
            raise UnsupportedError("it is a part of its block")
        return self._stream(dataset, dataset.codec, block.start, block.stop)

    @staticmethod
    def _stream(dataset: Dataset, codec: str, start: int, stop: int) -> Manifest:
        """One chunk, which a codec decodes as a whole."""
        if codec not in _STREAMS:
            raise UnsupportedError(f"no codec of Zarr decodes its block ({codec})")
        places = {(0,) * dataset.ndim: (start, stop - start)}
        return Manifest(dataset.shape, dataset.dtype, dataset.shape, dataset.order, _STREAMS[codec], places)

    def _plain(self, dataset: Dataset, start: int) -> Manifest:
        """Plain elements at a place, in chunks of equal length."""
        shape, size = dataset.shape, dataset.dtype.itemsize
        order = dataset.order if dataset.ndim > 1 else "C"
        flipped = shape[::-1] if order == "F" else shape
        grid = equal_rows(flipped, size, self.target)
        length = math.prod(grid) * size
        if length > _MOST * self.target:
            raise UnsupportedError(
                f"its lengths {shape} divide into no chunks of equal length below {_MOST * self.target} bytes"
            )
        places: dict[Key, tuple[int, int]] = {}
        for number, key in enumerate(_keys(flipped, grid)):
            places[key[::-1] if order == "F" else key] = (start + number * length, length)
        return Manifest(shape, dataset.dtype, grid[::-1] if order == "F" else grid, order, None, places)

    def _asdf(self, dataset: Dataset) -> Manifest:
        try:
            place = _holdall.asdf_place(self.file._core, dataset._index)
        except HoldallError as error:
            raise UnsupportedError(f"its block cannot be read: {error}") from None
        if place is None:
            return self._plain_or_stream(dataset)
        codec, start, stop, decoded, offset, is_contiguous = place
        if not is_contiguous:
            raise UnsupportedError("its elements are not next to each other")
        if codec != "none":
            if offset or decoded != dataset.nbytes:
                raise UnsupportedError("it is a part of its block")
            return self._stream(dataset, codec, start, stop)
        if start + offset + dataset.nbytes > stop:
            raise UnsupportedError(f"the file ends before byte {start + offset + dataset.nbytes}")
        return self._plain(dataset, start + offset)

    def _gsd(self, dataset: Dataset) -> Manifest:
        if not dataset.has_frames:
            return self._plain_or_stream(dataset)
        frames, inner = dataset.shape[0], dataset.shape[1:]
        size = math.prod(inner) * dataset.dtype.itemsize
        _check_count(frames)
        places: dict[Key, tuple[int, int]] = {}
        first: tuple[int, int] | None = None
        for frame in range(frames):
            found = self._of(f"frames/{frame}/{dataset.path}")
            place = (found[0].start, found[0].stop - found[0].start) if len(found) == 1 else first
            if place is None:
                raise UnsupportedError(f"frame {frame} has the default, which is not stored")
            if place[1] != size:
                raise UnsupportedError(f"frame {frame} has {place[1]} bytes, not {size}")
            # A frame that does not store it has what frame 0 has.
            first = place if frame == 0 else first
            places[(frame, *(0 for _ in inner))] = place
        return Manifest(dataset.shape, dataset.dtype, (1, *inner), "C", None, places)

    def _bloscpack(self, dataset: Dataset) -> Manifest:
        size, found = dataset.dtype.itemsize, self._of(dataset.path)
        found = [segment for segment in found if segment.role == "chunk" or segment.codec is not None]
        if not found or any(segment.decoded is None for segment in found):
            raise UnsupportedError("not all of its chunks are whole")
        table = [segment for segment in self.file.layout() if segment.role == "offsets"]
        if table:
            starts = struct.unpack(f"<{(table[0].stop - table[0].start) // 8}q", self._bytes(*table[0][:2]))
            by_start = {segment.start: segment for segment in found}
            if sorted(starts) != sorted(by_start):
                raise UnsupportedError("its offsets are not those of its chunks")
            found = [by_start[start] for start in starts]
        lengths = [segment.decoded or 0 for segment in found]
        order = dataset.order if dataset.ndim > 1 else "C"
        shape = dataset.shape[::-1] if order == "F" else dataset.shape
        row = size * math.prod(shape[1:])
        is_even = all(length == lengths[0] for length in lengths[:-1]) and lengths[-1] <= lengths[0]
        if len(found) > 1 and (not shape or not is_even or lengths[0] % row):
            raise UnsupportedError(f"its chunks of {lengths[0]} bytes end within rows of {row}")
        if sum(lengths) != dataset.nbytes:
            raise UnsupportedError(f"its chunks have {sum(lengths)} bytes, and it has {dataset.nbytes}")
        grid = shape if len(found) == 1 else (lengths[0] // row, *shape[1:])
        codec: dict[str, Any] = {"id": "blosc"}
        if len(list(_keys(shape, grid))) != len(found):
            raise UnsupportedError(f"its {len(found)} chunks are not those of an even grid")
        if lengths[-1] != lengths[0] or any(segment.codec == "snappy" for segment in found):
            # Zarr wants the last chunk as long as the others, and numcodecs has no snappy.
            codec = {"id": "holdall.blosc2", "chunk_shape": [], "block_shape": [], "nbytes": lengths[0]}
        places: dict[Key, tuple[int, int]] = {}
        for key, segment in zip(_keys(shape, grid), found, strict=True):
            places[key[::-1] if order == "F" else key] = (segment.start, segment.stop - segment.start)
        return Manifest(dataset.shape, dataset.dtype, grid[::-1] if order == "F" else grid, order, codec, places)

    def _blosc2(self, dataset: Dataset) -> Manifest:
        import numpy as np

        info: dict[str, Any] = self.file.info
        header = info.get("header")
        if not isinstance(header, dict) or info.get("kind") != "contiguous" or dataset.path != "data":
            raise UnsupportedError("only arrays in one contiguous frame have their chunks in one file")
        if header["variable_chunks"] or header["variable_blocks"] or header["offset_bits"] != 64:
            raise UnsupportedError("chunks of different lengths")
        if header["codec"] >= 32 or not {32, 33}.isdisjoint(header["filters"]):
            # A chunk alone does not have the shapes of its blocks.
            raise UnsupportedError(f"a filter or codec that needs the shape of the array ({dataset.codec})")
        own = info.get("b2nd")
        if own is None:
            per = header["chunksize"] // max(1, dataset.dtype.itemsize)
            chunks, blocks = (per,), ()
            if dataset.ndim != 1 or per * dataset.dtype.itemsize != header["chunksize"]:
                raise UnsupportedError("chunks that end within elements")
        else:
            chunks, blocks = tuple(info["chunk shape"]), tuple(info["block shape"])
        grid = [-(-length // chunk) for length, chunk in zip(dataset.shape, chunks, strict=True)]
        _check_count(math.prod(grid))
        offsets = self._offsets(header, math.prod(grid))
        nbytes = math.prod(chunks) * dataset.dtype.itemsize
        codec = {"id": "holdall.blosc2", "chunk_shape": list(chunks) if blocks else [], "block_shape": list(blocks)}
        made = Manifest(dataset.shape, dataset.dtype, chunks, "C", codec | {"nbytes": nbytes})
        base = header["header_len"]
        ends = sorted({*(offset for offset in offsets if offset >= 0), header["cbytes"]})
        after = dict(itertools.pairwise(ends))
        for key, offset in zip(itertools.product(*map(range, grid)), offsets, strict=True):
            if offset >= 0:
                # Up to the next chunk; the header of a chunk has its own length.
                made.places[key] = (base + offset, after[offset] - offset)
            elif (kind := offset >> 56 & 0x7F) == _NAN:
                inner = math.prod(-(-c // b) * b for c, b in zip(chunks, blocks, strict=True)) if blocks else chunks[0]
                made.inline[key] = _special(inner * dataset.dtype.itemsize, dataset.dtype.itemsize, kind)
            elif kind not in (_ZEROS, _UNINIT):
                raise UnsupportedError(f"chunk {key} has an offset that is none")
        if not np.all(np.array(list(made.places.values()) or [(1, 1)]) > 0):
            raise UnsupportedError("its offsets are not those of its chunks")
        return made

    def _offsets(self, header: dict[str, Any], count: int) -> list[int]:
        """Offsets of the chunks from the end of the header, or special values, which are negative."""
        if not count:
            return []
        start = header["header_len"] + header["cbytes"]
        head = self._bytes(start, start + 32)
        length = struct.unpack_from("<I", head, 12)[0]
        if length > 64 * count + 4096:
            raise UnsupportedError("its offsets cannot be read")
        try:
            raw = _holdall.bloscpack_decode(head if length <= 32 else self._bytes(start, start + length))
        except HoldallError as error:
            raise UnsupportedError(f"its offsets cannot be read: {error}") from None
        if len(raw) != 8 * count:
            raise UnsupportedError(f"{len(raw) // 8} offsets for {count} chunks")
        return list(struct.unpack(f"<{count}q", raw))

    def _bytes(self, start: int, stop: int) -> bytes:
        if self._read is None:
            raise UnsupportedError(
                "bytes of the file itself are needed: pass a path, a URL, (fs, path) or (store, path)"
            )
        got = self._read(start, stop)
        if len(got) != stop - start:
            raise UnsupportedError(f"the file ends before byte {stop}")
        return got


def _check_count(count: int) -> None:
    if count > _MAX_CHUNKS:
        raise UnsupportedError(f"{count} chunks, more than {_MAX_CHUNKS}")


def _has_type(dtype: np.dtype[Any]) -> bool:
    """True for types that Zarr 2 describes and zarr-python reads: records without padding, of fields that are no records or arrays."""
    if dtype.names is None:
        is_wide = dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16)
        return not (
            dtype.isbuiltin == 2 or dtype.hasobject or dtype.itemsize == 0 or is_wide or dtype.subdtype is not None
        )
    at = 0
    for name in dtype.names:
        field, offset = dtype.fields[name][:2] if dtype.fields is not None else (dtype, -1)
        if offset != at or field.names is not None or not _has_type(field):
            return False
        at += field.itemsize
    return at == dtype.itemsize


def equal_rows(shape: tuple[int, ...], itemsize: int, target: int) -> tuple[int, ...]:
    """Chunks of consecutive elements, all of one length, of about `target` bytes: one axis is divided evenly, those before it wholly."""
    grid = list(shape)
    for axis, length in enumerate(shape):
        inner = itemsize * math.prod(shape[axis + 1 :])
        if inner * length <= target:
            break
        if inner > target and axis + 1 < len(shape):
            grid[axis] = 1
            continue
        # The divisor nearest to what is wanted, in ratio; a prime length stays whole.
        wanted = max(1.0, target / inner)
        grid[axis] = min(_divisors(length), key=lambda n: abs(math.log(n / wanted)))
        break
    return tuple(grid)


def _divisors(n: int) -> Iterator[int]:
    for low in range(1, math.isqrt(n) + 1):
        if n % low == 0:
            yield low
            yield n // low


def _keys(shape: tuple[int, ...], grid: tuple[int, ...]) -> Iterator[Key]:
    return itertools.product(*(range(-(-length // chunk)) for length, chunk in zip(shape, grid, strict=True)))


def _special(nbytes: int, typesize: int, kind: int) -> bytes:
    """A chunk of Blosc2 of one value: its header alone."""
    return struct.pack("<4B3I14sBB", 5, 1, 0x05, typesize, nbytes, nbytes, 32, bytes(14), 0, kind << 4)
