"""Arguments: how chunks, files and metadata are written."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Self

from ._names import (
    DEFAULT_CHECKSUM,
    DEFAULT_CHUNK_SIZE,
    DEFAULT_CLEVEL,
    DEFAULT_CNAME,
    DEFAULT_MAGIC_FORMAT,
    DEFAULT_MAX_APP_CHUNKS,
    DEFAULT_MAX_META_SIZE,
    DEFAULT_META_CHECKSUM,
    DEFAULT_META_CODEC,
    DEFAULT_META_LEVEL,
    DEFAULT_OFFSETS,
    DEFAULT_SHUFFLE,
    DEFAULT_TYPESIZE,
    MAX_BUFFERSIZE,
    MAX_CHUNKS,
    check_range,
    reverse_pretty,
)
from .exceptions import ChunkingException

BLOSC_ARGS = ("typesize", "clevel", "shuffle", "cname")
BLOSCPACK_ARGS = ("offsets", "checksum", "max_app_chunks")
METADATA_ARGS = ("magic_format", "meta_checksum", "meta_codec", "meta_level", "max_meta_size")


class Attributes(MutableMapping[str, Any]):
    """Attributes as a mapping of a fixed set of keys."""

    _attrs: ClassVar[tuple[str, ...]] = ()

    @property
    def attributes(self) -> list[str]:
        """The keys, in their order."""
        return list(self._attrs)

    def __getitem__(self, key: str) -> Any:
        if key not in self._attrs:
            raise KeyError(f"{key} not in {type(self).__name__}")
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self._attrs:
            raise KeyError(f"{key} not in {type(self).__name__}")
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not support __delitem__ or derivatives")

    def __len__(self) -> int:
        return len(self._attrs)

    def __iter__(self) -> Iterator[str]:
        return iter(self._attrs)

    def __repr__(self) -> str:
        listed = ", ".join(f"{key}={value!r}" for key, value in self.items())
        return f"{type(self).__name__}({listed})"

    def copy(self) -> Self:
        """A copy."""
        return copy.copy(self)


class BloscArgs(Attributes):
    """Arguments of chunks.

    typesize : bytes of an element, 1 to 255; for arrays it is that of the array
    clevel : 0 (stored) to 9
    shuffle : False or 0 for none, True or 1 for bytes, 2 for bits
    cname : "blosclz", "lz4", "lz4hc", "zlib" or "zstd"
    """

    _attrs = BLOSC_ARGS

    def __init__(
        self,
        typesize: int | None = DEFAULT_TYPESIZE,
        clevel: int | None = DEFAULT_CLEVEL,
        shuffle: bool | int | None = DEFAULT_SHUFFLE,
        cname: str | None = DEFAULT_CNAME,
    ) -> None:
        self.typesize, self.clevel, self.shuffle, self.cname = typesize, clevel, shuffle, cname


class BloscpackArgs(Attributes):
    """Arguments of files.

    offsets : whether there is a table of offsets, for reading parts and for appending
    checksum : "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512" or None: digests after chunks
    max_app_chunks : chunks that can be appended: a number, or a function of the number of chunks
    """

    _attrs = BLOSCPACK_ARGS

    def __init__(
        self,
        offsets: bool = DEFAULT_OFFSETS,
        checksum: str | None = DEFAULT_CHECKSUM,
        max_app_chunks: int | Callable[[int], int] = DEFAULT_MAX_APP_CHUNKS,
    ) -> None:
        self.offsets, self.max_app_chunks = offsets, max_app_chunks
        self.checksum = "None" if checksum is None else checksum


class MetadataArgs(Attributes):
    """Arguments of metadata.

    magic_format : b"JSON"
    meta_checksum : as that of `BloscpackArgs`
    meta_codec : "zlib" or "None". Text that zlib makes longer is stored as it is
    meta_level : 0 to 9
    max_meta_size : bytes kept for metadata that grow: a number, or a function of the length of the text
    """

    _attrs = METADATA_ARGS

    def __init__(
        self,
        magic_format: bytes = DEFAULT_MAGIC_FORMAT,
        meta_checksum: str = DEFAULT_META_CHECKSUM,
        meta_codec: str = DEFAULT_META_CODEC,
        meta_level: int = DEFAULT_META_LEVEL,
        max_meta_size: int | Callable[[int], int] = DEFAULT_MAX_META_SIZE,
    ) -> None:
        self.magic_format, self.meta_checksum, self.meta_codec = magic_format, meta_checksum, meta_codec
        self.meta_level, self.max_meta_size = meta_level, max_meta_size

    def effective_max_meta_size(self, meta_size: int) -> int:
        """Bytes kept for metadata whose text has `meta_size`."""
        return self.max_meta_size(meta_size) if callable(self.max_meta_size) else self.max_meta_size


DEFAULT_BLOSC_ARGS = dict(BloscArgs())
DEFAULT_BLOSCPACK_ARGS = dict(BloscpackArgs())
DEFAULT_METADATA_ARGS = dict(MetadataArgs())


def _check_args(name: str, received: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    missing, extra = set(expected) - set(received), set(received) - set(expected)
    if missing or extra:
        raise ValueError(f"{name} args: missing {sorted(missing)}, unknown {sorted(extra)}")


def _check_blosc_args(blosc_args: Mapping[str, Any]) -> None:
    _check_args("blosc", blosc_args, BLOSC_ARGS)


def _check_bloscpack_args(bloscpack_args: Mapping[str, Any]) -> None:
    _check_args("bloscpack", bloscpack_args, BLOSCPACK_ARGS)


def _check_metadata_arguments(metadata_args: Mapping[str, Any]) -> None:
    _check_args("metadata", metadata_args, METADATA_ARGS)


def calculate_nchunks(in_file_size: int, chunk_size: int | str = DEFAULT_CHUNK_SIZE) -> tuple[int, int, int]:
    """Divides a number of bytes into chunks.

    in_file_size : bytes, 0 or more
    chunk_size : bytes of a chunk, or text as "1M"; no more than there are

    Returns `(chunks, bytes of a chunk, bytes of the last chunk)`; of no bytes there is one chunk. Raises ValueError for sizes out of range,
    ChunkingException for too many chunks.
    """
    if in_file_size < 0:
        raise ValueError(f"'in_file_size' must be 0 or more, not {in_file_size}")
    if in_file_size == 0:
        return 1, 0, 0
    size = reverse_pretty(chunk_size) if isinstance(chunk_size, str) else chunk_size
    check_range("chunk_size", size, 1, MAX_BUFFERSIZE)
    size = min(size, in_file_size)
    count = -(-in_file_size // size)
    if count > MAX_CHUNKS:
        raise ChunkingException(f"{count} chunks are more than the format counts ({MAX_CHUNKS})")
    return count, size, in_file_size - (count - 1) * size


def _handle_max_apps(offsets: bool, nchunks: int, max_app_chunks: Any) -> int:
    """The number of chunks that can be appended: none without offsets, and no more than the format counts."""
    check_range("nchunks", nchunks, -1, MAX_CHUNKS)
    if not offsets or nchunks == -1:
        return 0
    if callable(max_app_chunks):
        asked = max_app_chunks(nchunks)
        if not isinstance(asked, int) or asked < 0:
            raise ValueError(f"max_app_chunks gave {asked!r}, which is not an integer from 0 on")
    elif isinstance(max_app_chunks, int):
        check_range("max_app_chunks", max_app_chunks, 0, MAX_CHUNKS)
        asked = max_app_chunks
    else:
        raise TypeError("max_app_chunks is an integer or a function")
    return min(asked, MAX_CHUNKS - nchunks)
