"""Arrays, packed and unpacked."""

from __future__ import annotations

import ast
import io
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from .. import _holdall
from .._errors import MalformedError, UnsupportedError
from .._types import StrPath
from ._names import DEFAULT_CHUNK_SIZE
from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, decompress, pack, unpack
from .args import BloscArgs, BloscpackArgs, MetadataArgs, calculate_nchunks
from .exceptions import (
    ChunkSizeTypeSizeMismatch,
    NotANumpyArray,
    ObjectNumpyArrayRejection,
    as_bloscpack,
)
from .file_io import CompressedFPSink, _pack, deprecated, pack_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _ndarray_meta(ndarray: Any) -> dict[str, Any]:
    """The metadata of an array: the `repr` of its type, which is read as a literal, its shape and its order."""
    import numpy as np

    dtype = ndarray.dtype
    return {
        "dtype": repr(dtype.descr) if dtype.names is not None else repr(dtype.str),
        "shape": ndarray.shape,
        "order": "F" if np.isfortran(ndarray) else "C",
        "container": "numpy",
    }


def _flat(ndarray: Any) -> Any:
    """The bytes of an array in its order, without a copy where they have no gaps."""
    import numpy as np

    if ndarray.dtype.hasobject:
        raise ObjectNumpyArrayRejection("arrays of Python objects are not stored: convert them to a type of fixed size")
    if np.isfortran(ndarray):
        ndarray = ndarray.T
    if ndarray.size == 0 or ndarray.itemsize == 0:
        return b""
    return np.ascontiguousarray(ndarray).reshape(-1).view("u1")


def _described(ndarray: Any, blosc_args: BloscArgs | None) -> tuple[Any, dict[str, Any], BloscArgs]:
    import numpy as np

    array = np.asanyarray(ndarray)
    flat = _flat(array)
    args = BloscArgs() if blosc_args is None else blosc_args
    # As in bloscpack, the caller's arguments get the array's size of element.
    args["typesize"] = array.dtype.itemsize
    return flat, _ndarray_meta(array), args


class PlainNumpySource(PlainSource):
    """The bytes of an array."""

    def __init__(self, ndarray: Any) -> None:
        self.ndarray, self.metadata = _flat(ndarray), _ndarray_meta(ndarray)
        self.size, self.itemsize = ndarray.size * ndarray.itemsize, ndarray.itemsize

    def __iter__(self) -> Iterator[Any]:
        check_chunk_size(self.chunk_size, self.itemsize)
        for number in range(self.nchunks):
            start = number * self.chunk_size
            yield self.ndarray[start : start + (self.chunk_size if number < self.nchunks - 1 else self.last_chunk)]


def check_chunk_size(chunk_size: int, itemsize: int) -> None:
    """Raises ChunkSizeTypeSizeMismatch for chunks that are not whole elements."""
    if itemsize and chunk_size % itemsize:
        raise ChunkSizeTypeSizeMismatch(f"chunks of {chunk_size} bytes are not whole elements of {itemsize}")


def _conv(descr: Any) -> Any:
    """A type as the JSON lists of releases before 0.7.2, as numpy takes it: `[["a", "f8"]]` becomes `[("a", "f8")]`."""
    if isinstance(descr, list):
        parts = [_conv(part) for part in descr]
        return parts if descr and isinstance(descr[0], list) else tuple(parts)
    return descr


class PlainNumpySink(PlainSink):
    """An array, `ndarray`, made of chunks."""

    def __init__(self, metadata: Any) -> None:
        import numpy as np

        if not isinstance(metadata, dict) or metadata.get("container") != "numpy":
            raise NotANumpyArray("the metadata do not describe an array")
        self.metadata, self._at = metadata, 0
        try:
            dtype = metadata["dtype"]
            try:
                dtype = ast.literal_eval(dtype)
            except (ValueError, SyntaxError, TypeError):
                dtype = _conv(dtype)
            self.ndarray = np.empty(metadata["shape"], np.dtype(dtype), order=metadata["order"])
        except (KeyError, TypeError, ValueError, MemoryError, RecursionError) as error:
            raise MalformedError(f"numpy metadata: {error}") from error
        if self.ndarray.dtype.hasobject:
            raise UnsupportedError("numpy metadata: an array of Python objects, which only pickle reads")
        self._flat = _bytes_of(self.ndarray)

    def put(self, compressed: bytes) -> int:
        """Takes a chunk; gives its decoded bytes."""
        data = decompress(compressed)
        end = self._at + len(data)
        if end > len(self._flat):
            raise MalformedError(f"bloscpack data: more than the {len(self._flat)} bytes that the shape has")
        self._flat[self._at : end] = data
        self._at = end
        return len(data)


def _bytes_of(ndarray: Any) -> memoryview:
    if ndarray.nbytes == 0:
        return memoryview(bytearray())
    return memoryview(ndarray.reshape(-1, order="A").view("u1"))


def pack_ndarray(
    ndarray: NDArray[Any],
    sink: CompressedSink,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Packs an array into a sink. The typesize of `blosc_args` becomes that of the array.

    Raises ObjectNumpyArrayRejection for Python objects, ChunkSizeTypeSizeMismatch for chunks that are not whole elements.
    """
    _, _, args = _described(ndarray, blosc_args)
    source = PlainNumpySource(ndarray)
    pack(
        source,
        sink,
        *calculate_nchunks(source.size, chunk_size),
        metadata=source.metadata,
        blosc_args=args,
        bloscpack_args=bloscpack_args,
        metadata_args=metadata_args,
    )


def pack_ndarray_to_file(
    ndarray: NDArray[Any],
    filename: StrPath,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Packs an array of any fixed-size type into a new file, which takes the place of one of that name.

    Type, byte order, shape, and C or Fortran order are kept. The typesize of `blosc_args` becomes that of the array.

    chunk_size : bytes of a chunk before encoding, whole elements, or text as "1M"

    Raises ObjectNumpyArrayRejection (an UnsupportedError) for Python objects, ChunkSizeTypeSizeMismatch, ChunkingException, OSError.
    """
    _pack_array(ndarray, os.fspath(filename), chunk_size, blosc_args, bloscpack_args, metadata_args)


def pack_ndarray_to_bytes(
    ndarray: NDArray[Any],
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """Packs an array as `pack_ndarray_to_file`; gives the bytes of the file."""
    return _pack_array(ndarray, None, chunk_size, blosc_args, bloscpack_args, metadata_args)


def _pack_array(
    ndarray: Any,
    target: str | None,
    chunk_size: int | str,
    blosc_args: BloscArgs | None,
    bloscpack_args: BloscpackArgs | None,
    metadata_args: MetadataArgs | None,
) -> bytes:
    flat, metadata, args = _described(ndarray, blosc_args)
    words = pack_words(len(flat), chunk_size, metadata, args, bloscpack_args, metadata_args)
    check_chunk_size(words["chunk_size"], args["typesize"])
    return _pack(flat, target, words)


def unpack_ndarray(source: CompressedSource) -> NDArray[Any]:
    """The array of a source, new and writable, in its own order. Raises NotANumpyArray where it has none, DamageError."""
    sink = PlainNumpySink(source.metadata)
    unpack(source, sink)
    if sink._at != len(sink._flat):
        raise MalformedError(f"bloscpack data: {sink._at} bytes, where the shape has {len(sink._flat)}")
    return cast("NDArray[Any]", sink.ndarray)


def unpack_ndarray_from_file(filename: StrPath) -> NDArray[Any]:
    """The array of a file, new and writable, in the byte order and the C or Fortran order that it has there.

    Raises NotANumpyArray where the file has none, ChecksumMismatch, FormatVersionMismatch, DamageError, UnsupportedError for types that only
    Python has, OSError.
    """
    from .._opening import open_path

    path = os.fspath(filename)
    with as_bloscpack():
        _expect_array(path)
        return cast("NDArray[Any]", open_path(path, {}, "compare")["data"][...])


def unpack_ndarray_from_bytes(bytes_: Any) -> NDArray[Any]:
    """The array of the bytes of a file; see `unpack_ndarray_from_file`."""
    from .._file import File
    from .._opening import from_object

    with as_bloscpack():
        _expect_array(bytes_)
        file = File(from_object(io.BytesIO(bytes_), {}), None, {}, "compare")
        return cast("NDArray[Any]", file["data"][...])


def _expect_array(source: Any) -> None:
    _, metadata = _holdall.bloscpack_metadata(source)
    if not isinstance(metadata, dict) or metadata.get("container") != "numpy":
        raise NotANumpyArray("the metadata do not describe an array")


pack_ndarray_file = deprecated(pack_ndarray_to_file, "pack_ndarray_file")
unpack_ndarray_file = deprecated(unpack_ndarray_from_file, "unpack_ndarray_file")
pack_ndarray_str = deprecated(pack_ndarray_to_bytes, "pack_ndarray_str")
unpack_ndarray_str = deprecated(unpack_ndarray_from_bytes, "unpack_ndarray_str")

__all__ = [
    "CompressedFPSink",
    "PlainNumpySink",
    "PlainNumpySource",
    "pack_ndarray",
    "pack_ndarray_file",
    "pack_ndarray_str",
    "pack_ndarray_to_bytes",
    "pack_ndarray_to_file",
    "unpack_ndarray",
    "unpack_ndarray_file",
    "unpack_ndarray_from_bytes",
    "unpack_ndarray_from_file",
    "unpack_ndarray_str",
]
