"""Bytes and files of bytes, packed and unpacked; sources and sinks on file objects."""

from __future__ import annotations

import itertools
import os
import struct
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .. import _holdall
from .._errors import MalformedError, UsageError
from .._threads import threads
from .._types import StrPath
from ._metadata import _read_metadata, _write_metadata, dumps, read_exactly
from ._names import (
    BLOSC_HEADER_LENGTH,
    BLOSCPACK_HEADER_LENGTH,
    DEFAULT_CHUNK_SIZE,
    FORMAT_VERSION,
    check_valid_checksum,
    check_valid_codec,
    check_valid_serializer,
)
from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, chunk_words, decompress
from .args import BloscArgs, BloscpackArgs, MetadataArgs, _handle_max_apps, calculate_nchunks
from .exceptions import FormatVersionMismatch, MetadataSectionTooSmall, as_bloscpack
from .headers import BloscpackHeader, decode_blosc_header


def _read_bloscpack_header(input_fp: Any) -> BloscpackHeader:
    header = BloscpackHeader.decode(input_fp.read(BLOSCPACK_HEADER_LENGTH))
    if header.format_version != FORMAT_VERSION:
        raise FormatVersionMismatch(f"format version {header.format_version} (expected {FORMAT_VERSION})")
    return header


def _read_offsets(input_fp: Any, bloscpack_header: BloscpackHeader) -> list[int]:
    """Reads the table of offsets; gives those that are in use."""
    if not bloscpack_header.offsets:
        return []
    total = bloscpack_header.total_prospective_chunks
    if total is None:
        raise MalformedError("bloscpack offsets: their number is unknown")
    # Spare entries are read as well, to be at the first chunk.
    raw = read_exactly(input_fp, 8 * total, "bloscpack offsets")
    return list(struct.unpack_from(f"<{bloscpack_header.nchunks}q", raw))


def _write_offsets(output_fp: Any, offsets: list[int]) -> None:
    output_fp.write(struct.pack(f"<{len(offsets)}q", *offsets))


def _read_beginning(input_fp: Any) -> tuple[BloscpackHeader, Any, Any, list[int]]:
    """Reads header, metadata, their header, and offsets."""
    header = _read_bloscpack_header(input_fp)
    metadata, metadata_header = _read_metadata(input_fp) if header.metadata else (None, None)
    return header, metadata, metadata_header, _read_offsets(input_fp, header)


def _read_compressed_chunk_fp(input_fp: Any, checksum_impl: Any) -> tuple[bytes, dict[str, int], bytes | None]:
    """Reads a chunk: its bytes, its header, its digest."""
    raw = read_exactly(input_fp, BLOSC_HEADER_LENGTH, "bloscpack chunk")
    header = decode_blosc_header(raw)
    if header["ctbytes"] < BLOSC_HEADER_LENGTH:
        raise MalformedError("bloscpack chunk: it is shorter than its own header")
    compressed = raw + read_exactly(input_fp, header["ctbytes"] - BLOSC_HEADER_LENGTH, "bloscpack chunk")
    digest = read_exactly(input_fp, checksum_impl.size, "digest of a bloscpack chunk") if checksum_impl.size else None
    return compressed, header, digest


def _write_compressed_chunk(output_fp: Any, compressed: bytes, digest: bytes) -> None:
    output_fp.write(compressed + digest)


class PlainFPSource(PlainSource):
    """Reads chunks from a file object."""

    def __init__(self, input_fp: Any) -> None:
        self.input_fp = input_fp

    def __iter__(self) -> Iterator[bytes]:
        for size in itertools.chain(itertools.repeat(self.chunk_size, self.nchunks - 1), [self.last_chunk]):
            yield self.input_fp.read(size)


class CompressedFPSource(CompressedSource):
    """Reads a packed file from a file object, from the place where that is."""

    def __init__(self, input_fp: Any) -> None:
        self.input_fp = input_fp
        self.bloscpack_header, self.metadata, self.metadata_header, self.offsets = _read_beginning(input_fp)
        self.checksum_impl, self.nchunks = self.bloscpack_header.checksum_impl, self.bloscpack_header.nchunks

    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]:
        for _ in range(self.nchunks):
            compressed, _, digest = _read_compressed_chunk_fp(self.input_fp, self.checksum_impl)
            yield compressed, digest


class PlainFPSink(PlainSink):
    """Writes what chunks hold to a file object."""

    def __init__(self, output_fp: Any, nchunks: int | None = None) -> None:
        self.output_fp, self.nchunks = output_fp, nchunks

    def put(self, compressed: bytes) -> int:
        """Takes a chunk; gives its decoded bytes."""
        data = decompress(compressed)
        self.output_fp.write(data)
        return len(data)


class CompressedFPSink(CompressedSink):
    """Writes a packed file to a file object that can seek, from its start."""

    def __init__(self, output_fp: Any) -> None:
        self.output_fp, self.meta_total = output_fp, 0

    def write_bloscpack_header(self) -> None:
        self.output_fp.write(self.bloscpack_header.encode())

    def write_metadata(self, metadata: Any, metadata_args: Any) -> None:
        self.meta_total += _write_metadata(self.output_fp, metadata, metadata_args)

    def init_offsets(self) -> None:
        if self.offsets:
            self.offset_storage = [-1] * self.bloscpack_header.nchunks
            total = self.bloscpack_header.total_prospective_chunks or 0
            _write_offsets(self.output_fp, [-1] * total)

    def put(self, i: int, compressed: bytes) -> tuple[int, bytes, bytes]:
        """Writes the chunk number `i`; gives its offset, itself and its digest."""
        offset, digest = self.output_fp.tell(), self.do_checksum(compressed)
        _write_compressed_chunk(self.output_fp, compressed, digest)
        if self.offsets:
            self.offset_storage[i] = offset
        return offset, compressed, digest

    def finalize(self) -> None:
        """Writes the table of offsets."""
        if self.offsets:
            self.output_fp.seek(BLOSCPACK_HEADER_LENGTH + self.meta_total)
            _write_offsets(self.output_fp, self.offset_storage)


def pack_words(
    size: int, chunk_size: int | str, metadata: Any, blosc_args: Any, bloscpack_args: Any, metadata_args: Any
) -> dict[str, Any]:
    """Arguments of a new file for so many bytes, as the extension takes them. Raises as `calculate_nchunks`, and for unknown names."""
    blosc_args, bloscpack_args = blosc_args or BloscArgs(), bloscpack_args or BloscpackArgs()
    metadata_args = metadata_args or MetadataArgs()
    count, chunk_bytes, _ = calculate_nchunks(size, chunk_size)
    check_valid_checksum(bloscpack_args["checksum"])
    text, room = None, 0
    if metadata is not None:
        check_valid_serializer(metadata_args["magic_format"])
        check_valid_checksum(metadata_args["meta_checksum"])
        check_valid_codec(metadata_args["meta_codec"])
        text = dumps(metadata)
        room = metadata_args["max_meta_size"]
        room = room(len(text)) if callable(room) else room
    return {
        "chunk": chunk_words(blosc_args),
        "chunk_size": chunk_bytes,
        "offsets": bool(bloscpack_args["offsets"]),
        "checksum": bloscpack_args["checksum"],
        "max_app_chunks": _handle_max_apps(bloscpack_args["offsets"], count, bloscpack_args["max_app_chunks"]),
        "metadata": text,
        "meta_checksum": metadata_args["meta_checksum"],
        "meta_level": None if metadata_args["meta_codec"] == "None" else metadata_args["meta_level"],
        "max_meta_size": room,
        "threads": threads(None),
    }


def pack_file_to_file(
    in_file: StrPath,
    out_file: StrPath,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Packs the bytes of a file into a new one, which takes the place of one of that name.

    chunk_size : bytes of a chunk before encoding, or text as "1M"
    metadata : what `json.dumps` takes; None for none

    Raises ValueError for arguments out of range, ChunkingException, MetadataSectionTooSmall where `max_meta_size` is too small, OSError.
    """
    source = os.fspath(in_file)
    size = os.path.getsize(source)
    words = pack_words(size, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args)
    _pack(source, os.fspath(out_file), words)


def pack_bytes_to_file(
    bytes_: Any,
    out_file: StrPath,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Packs bytes into a new file, as `pack_file_to_file` does those of a file."""
    size = memoryview(bytes_).nbytes
    words = pack_words(size, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args)
    _pack(bytes_, os.fspath(out_file), words)


def pack_bytes_to_bytes(
    bytes_: Any,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """Packs bytes, as `pack_file_to_file` does those of a file; gives the bytes of the new file."""
    size = memoryview(bytes_).nbytes
    words = pack_words(size, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args)
    return _pack(bytes_, None, words)


def _pack(source: Any, target: str | None, words: dict[str, Any]) -> bytes:
    try:
        return _holdall.bloscpack_pack(source, target, words, None) or b""
    except UsageError as error:
        if "do not fit" in error.message:
            raise MetadataSectionTooSmall(error.message, error.range, error.part, error.hint) from error
        raise


def unpack_file_from_file(in_file: StrPath, out_file: StrPath) -> Any:
    """Unpacks a file into a new one, which takes the place of one of that name; gives the metadata, or None.

    Raises ChecksumMismatch, FormatVersionMismatch, and DamageError for what else is wrong with the file; OSError. No file appears then.
    """
    with as_bloscpack():
        return _holdall.bloscpack_unpack(os.fspath(in_file), os.fspath(out_file), threads(None), None)[2]


def unpack_bytes_from_file(compressed_file: StrPath) -> tuple[bytes, Any]:
    """Unpacks a file; gives its bytes, and the metadata or None. Raises as `unpack_file_from_file`."""
    return _unpacked(os.fspath(compressed_file))


def unpack_bytes_from_bytes(bytes_: Any) -> tuple[bytes, Any]:
    """Unpacks the bytes of a file; gives those that it holds, and the metadata or None. Raises as `unpack_file_from_file`."""
    return _unpacked(bytes_)


def _unpacked(source: Any) -> tuple[bytes, Any]:
    with as_bloscpack():
        data, _, metadata = _holdall.bloscpack_unpack(source, None, threads(None), None)
    return data or b"", metadata


def deprecated(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function under the name that it had before bloscpack 0.16, which warns."""

    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"{name} is called {function.__name__}", DeprecationWarning, stacklevel=2)
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"The old name of `{function.__name__}`; warns with DeprecationWarning."
    return old


pack_file = deprecated(pack_file_to_file, "pack_file")
unpack_file = deprecated(unpack_file_from_file, "unpack_file")
pack_bytes_file = deprecated(pack_bytes_to_file, "pack_bytes_file")
unpack_bytes_file = deprecated(unpack_bytes_from_file, "unpack_bytes_file")
