"""Zarr: any file as a read-only store of Zarr 3, and the codec `holdall.blosc2`.

    import zarr, holdall.zarr
    group = zarr.open_group(holdall.zarr.HoldallStore("image.asdf"), mode="r")

Needs zarr-python 3.1 or later: `pip install 'holdall[zarr]'`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

import holdall

from ._dataset import Dataset
from ._dims import Dims, beside, dims_of
from ._file import File
from ._grids import grid_of
from ._unblock import decoded

__all__ = ["Blosc2Codec", "HoldallStore"]

_METADATA = "zarr.json"


class HoldallStore(Store):
    """A file as a hierarchy of Zarr 3, read-only. Its chunks are decoded elements, so that no codec is needed to read them.

    file : what `holdall.open` takes, or an open `holdall.File`
    chunks : elements per chunk along each axis by path; for other datasets they are the file's, several as one where they are smaller than 1 MiB,
        and rows of 16 MiB where it has none
    dims : names of dimensions, as for `xarray.open_dataset` (holdall.xarray)
    open_options : those of `holdall.open`

    Chunks at the ends of axes are filled up with zeros. Elements are little-endian, and records without padding. A dataset below another one is
    next to it, as `x.mask` next to `x`. The store can be pickled where the file can. Writing raises ValueError.

    Raises what `holdall.open` raises, KeyError for `chunks` of a path that the file does not have.
    """

    def __init__(
        self,
        file: Any,
        *,
        chunks: Mapping[str, Sequence[int]] | None = None,
        dims: Dims = None,
        **open_options: Any,
    ) -> None:
        super().__init__(read_only=True)
        self._file: File = file if isinstance(file, File) else holdall.open(file, **open_options)
        self._chunks = {path: tuple(grid) for path, grid in (chunks or {}).items()}
        self._dims = dims
        places = beside(self._file)
        self._paths = {place: path for path, place in places.items()}
        self._groups: set[str] = {""}
        for place in self._paths:
            self._groups.update(place[:at] for at, letter in enumerate(place) if letter == "/")
        self._arrays: dict[str, _Array | None] = {}
        self._names: dict[str, tuple[str, ...]] | None = None
        for path, grid in self._chunks.items():
            if len(grid) != self._file[path].ndim or min(grid, default=1) < 1:
                raise ValueError(f"chunks of {path} are {self._file[path].ndim} positive numbers, not {grid}")

    @property
    def file(self) -> File:
        """The open file."""
        return self._file

    @property
    def unexpressed(self) -> dict[str, str]:
        """Datasets that are not in the store, for Zarr has no type for their elements: the reason by path."""
        return {self._paths[place]: why for place in self._paths if (why := self._why_not(place))}

    def __reduce__(self) -> tuple[Callable[..., HoldallStore], tuple[Any, ...]]:
        return _again, (self._file, self._chunks, self._dims)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HoldallStore):
            return False
        own, its = (self._chunks, self._dims), (other._chunks, other._dims)
        is_same = self._file is other._file
        if not is_same and self._file.path is not None and other._file.path is not None:
            is_same = self._file._pickled() == other._file._pickled()
        return is_same and own == its

    def __hash__(self) -> int:
        return hash(self._file.path)

    def __repr__(self) -> str:
        return f"HoldallStore({self._file.path or 'file object'!r})"

    def __str__(self) -> str:
        return f"holdall://{self._file.path or ''}"

    @property
    def supports_writes(self) -> bool:
        """False."""
        return False

    @property
    def supports_deletes(self) -> bool:
        """False."""
        return False

    @property
    def supports_listing(self) -> bool:
        """True."""
        return True

    def with_read_only(self, read_only: bool = False) -> Self:
        """The store itself; ValueError for one that could be written."""
        if not read_only:
            raise ValueError("HoldallStore is read-only")
        return self

    async def set(self, key: str, value: Buffer) -> None:
        """Raises ValueError."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Raises ValueError."""
        self._check_writable()

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The bytes of a key, or a part of them; None where there is no such key."""
        kind = self._find(key)
        if kind is None:
            return None
        value = kind if isinstance(kind, bytes) else await asyncio.to_thread(kind[0].chunk, kind[1])
        value = _part(value, byte_range)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(value)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Several parts; see `get`."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        """True for a key of the hierarchy; no element is read for it."""
        return self._find(key) is not None

    async def getsize(self, key: str) -> int:
        """Bytes of the value of a key. FileNotFoundError where there is none; no element is read for it."""
        kind = self._find(key)
        if kind is None:
            raise FileNotFoundError(key)
        return len(kind) if isinstance(kind, bytes) else kind[0].nbytes

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        for key in self._keys(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with a prefix."""
        for key in self._keys(prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names one step below a prefix."""
        above = prefix.strip("/")
        if above in self._groups:
            yield _METADATA
            start = len(above) + 1 if above else 0
            inner = itertools.chain(self._groups, (place for place in self._paths if self._array(place)))
            for name in {one[start:].split("/")[0] for one in inner if one.startswith(above + "/" if above else "")}:
                if name:
                    yield name
            return
        array, _, within = self._split(above)
        if array is not None:
            for name in array.names_below(within):
                yield name

    def _find(self, key: str) -> bytes | tuple[_Array, tuple[int, ...]] | None:
        """The value of a key: bytes, or an array and the place of a chunk in its grid."""
        above, _, name = key.rpartition("/")
        if name == _METADATA:
            if above in self._groups:
                return self._group(above)
            array = self._array(above)
            return None if array is None else array.metadata
        array, _, within = self._split(key)
        at = None if array is None else array.place(within)
        return None if array is None or at is None else (array, at)

    def _split(self, key: str) -> tuple[_Array | None, str, str]:
        """The array that a key is of, its path, and the rest of the key."""
        if key in self._paths:
            return self._array(key), key, ""
        at = key.rfind("/c/")
        if at < 0:
            at = len(key) - 2 if key.endswith("/c") else -1
        path = key[:at] if at >= 0 else ""
        return (self._array(path), path, key[at + 1 :]) if path in self._paths else (None, "", "")

    def _keys(self, prefix: str) -> Iterator[str]:
        for group in sorted(self._groups):
            key = f"{group}/{_METADATA}" if group else _METADATA
            if key.startswith(prefix):
                yield key
        for place in self._paths:
            if place.startswith(prefix) or prefix.startswith(place + "/"):
                array = self._array(place)
                for inner in array.keys() if array is not None else ():
                    if f"{place}/{inner}".startswith(prefix):
                        yield f"{place}/{inner}"

    def _group(self, path: str) -> bytes:
        attributes = {} if path else {"holdall_format": self._file.format}
        return _json({"zarr_format": 3, "node_type": "group", "attributes": attributes})

    def _array(self, place: str) -> _Array | None:
        if place not in self._paths:
            return None
        if place not in self._arrays:
            path = self._paths[place]
            dataset = self._file[path]
            if self._names is None:
                self._names = dims_of(self._file, self._file.values(), self._dims)
            try:
                self._arrays[place] = _Array(dataset, self._names[path], self._chunks.get(path) or grid_of(dataset))
            except holdall.UnsupportedError:
                self._arrays[place] = None
        return self._arrays[place]

    def _why_not(self, place: str) -> str | None:
        if self._array(place) is not None:
            return None
        try:
            _zarr_type(self._file[self._paths[place]].dtype)
        except holdall.UnsupportedError as error:
            return str(error)
        return None


def _again(file: File, chunks: Mapping[str, Sequence[int]], dims: Dims) -> HoldallStore:
    return HoldallStore(file, chunks=chunks, dims=dims)


class _Array:
    """An array of the hierarchy."""

    def __init__(self, dataset: Dataset, names: tuple[str, ...], grid: tuple[int, ...]) -> None:
        self.dataset, self.grid = dataset, grid
        self.dtype, data_type, fill = _zarr_type(dataset.dtype)
        self.nbytes = math.prod(grid) * self.dtype.itemsize
        self.counts = tuple(-(-length // chunk) for length, chunk in zip(dataset.shape, grid, strict=True))
        self.metadata = _json(
            {
                "zarr_format": 3,
                "node_type": "array",
                "shape": list(dataset.shape),
                "data_type": data_type,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(grid)}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "fill_value": fill,
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "dimension_names": list(names),
                "attributes": dataset.attrs,
            }
        )

    def place(self, within: str) -> tuple[int, ...] | None:
        """The place of a chunk in the grid by its key in the array, such as c/0/1."""
        first, *steps = within.split("/")
        if first != "c" or len(steps) != len(self.counts):
            return None
        if not all(step.isdecimal() and str(int(step)) == step for step in steps):
            return None
        at = tuple(int(step) for step in steps)
        return at if all(one < count for one, count in zip(at, self.counts, strict=True)) else None

    def chunk(self, at: tuple[int, ...]) -> bytes:
        """The elements of a chunk, whole, in C order."""
        ends = [(place * n, (place + 1) * n) for place, n in zip(at, self.grid, strict=True)]
        shape = self.dataset.shape
        box = tuple(slice(low, min(high, length)) for (low, high), length in zip(ends, shape, strict=True))
        # zarr reads chunks in threads of its own.
        got: Any = np.asarray(self.dataset.read(box, threads=1))
        if got.shape == self.grid and got.dtype == self.dtype:
            return bytes(got.tobytes("C"))
        whole = np.zeros(self.grid, self.dtype)
        inner = tuple(slice(0, length) for length in got.shape)
        if self.dtype.names is None:
            whole[inner] = got
        else:
            _copy_fields(whole[inner], got)
        return bytes(whole.tobytes("C"))

    def keys(self) -> Iterator[str]:
        """Keys in the array."""
        yield _METADATA
        for at in itertools.product(*map(range, self.counts)):
            yield "/".join(("c", *map(str, at)))

    def names_below(self, within: str) -> Iterator[str]:
        """Names one step below a key in the array."""
        if not within:
            yield from (_METADATA, "c") if 0 not in self.counts else (_METADATA,)
            return
        _, *steps = within.split("/")
        if len(steps) < len(self.counts):
            yield from map(str, range(self.counts[len(steps)]))


def _zarr_type(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], Any, Any]:
    """The type of elements in the store, its name there, and a fill value."""
    from zarr.core.dtype import get_data_type_from_native_dtype

    stored = _packed(dtype)
    try:
        if dtype.isbuiltin == 2 or dtype.hasobject:
            raise ValueError("not a type of numpy's own")
        with warnings.catch_warnings():
            # Of types that the specification of Zarr 3 does not have yet.
            warnings.simplefilter("ignore")
            kind: Any = get_data_type_from_native_dtype(stored)
            name = kind.to_json(zarr_format=3)
            if kind.to_native_dtype() != stored:
                raise ValueError(f"it would be {kind.to_native_dtype()}")
            return stored, name, kind.to_json_scalar(kind.default_scalar(), zarr_format=3)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise holdall.UnsupportedError(f"Zarr has no type for {dtype}: {error}") from None


def _packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type little-endian, and without padding."""
    if dtype.names is None:
        return np.dtype((_packed(dtype.base), dtype.shape)) if dtype.subdtype is not None else dtype.newbyteorder("<")
    return np.dtype([(name, _packed(dtype[name])) for name in dtype.names])


def _copy_fields(to: Any, values: Any) -> None:
    for name in to.dtype.names:
        if to.dtype[name].names is None:
            to[name] = values[name]
        else:
            _copy_fields(to[name], values[name])


def _json(value: Any) -> bytes:
    return json.dumps(value, default=lambda one: one.hex() if isinstance(one, bytes) else str(one)).encode()


def _part(value: bytes, part: ByteRequest | None) -> bytes:
    if isinstance(part, RangeByteRequest):
        return value[part.start : part.end]
    if isinstance(part, OffsetByteRequest):
        return value[part.offset :]
    if isinstance(part, SuffixByteRequest):
        return value[max(0, len(value) - part.suffix) :]
    return value


@dataclass(frozen=True)
class Blosc2Codec(BytesBytesCodec):
    """The codec `holdall.blosc2` of Zarr 3: chunks of Blosc1 and Blosc2 files, decoded. Made by zarr, which finds it when holdall is installed.

    chunk_shape, block_shape : elements of the chunks and blocks of a b2nd array, whose elements are in the order of blocks; empty for others
    nbytes : bytes that a chunk decodes to, of which the last one of a file may have fewer; None for what it has

    numcodecs has the same codec for Zarr 2. It does not encode.
    """

    is_fixed_size = False

    chunk_shape: tuple[int, ...] = ()
    block_shape: tuple[int, ...] = ()
    nbytes: int | None = None

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """A codec from the metadata of an array."""
        words = data.get("configuration") or {}
        return cls(tuple(words.get("chunk_shape", ())), tuple(words.get("block_shape", ())), words.get("nbytes"))

    def to_dict(self) -> dict[str, Any]:
        """The codec in the metadata of an array."""
        shapes = {"chunk_shape": list(self.chunk_shape), "block_shape": list(self.block_shape)}
        return {"name": "holdall.blosc2", "configuration": {**shapes, "nbytes": self.nbytes}}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Raises NotImplementedError: it depends on the elements."""
        raise NotImplementedError

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        raw = decoded(chunk_bytes.to_bytes(), self.chunk_shape, self.block_shape, self.nbytes)
        return chunk_spec.prototype.buffer.from_bytes(raw.tobytes())

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        raise NotImplementedError("holdall.blosc2 decodes chunks of other files; it does not encode")
