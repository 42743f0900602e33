"""Sources and sinks of chunks, and the two loops between them.

`pack` and `unpack` are for sources and sinks that are made here or by the caller. The functions of `file_io` and `numpy_io` on files and bytes
go without them: they encode on several threads and stop at Ctrl-C.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any

from .. import _holdall
from .._threads import threads
from .args import BloscArgs, BloscpackArgs, MetadataArgs, _handle_max_apps
from .exceptions import ChecksumMismatch
from .headers import BloscpackHeader


def chunk_words(blosc_args: Any) -> tuple[int, int, int, str]:
    """Arguments of chunks, as the extension takes them."""
    return blosc_args["typesize"], blosc_args["clevel"], int(blosc_args["shuffle"]), blosc_args["cname"]


def compress(chunk: Any, blosc_args: Any) -> bytes:
    """A chunk of Blosc1 that holds bytes."""
    return _holdall.bloscpack_encode(chunk, chunk_words(blosc_args), threads(None))


def decompress(chunk: Any) -> bytes:
    """The bytes that a chunk holds. Raises TruncatedError, MalformedError, UnsupportedError, LimitError."""
    return _holdall.bloscpack_decode(chunk)


class PlainSource(abc.ABC):
    """Gives what is to be packed, chunk by chunk."""

    def configure(self, chunk_size: int, last_chunk: int, nchunks: int) -> None:
        """Sets the sizes of the chunks, in bytes, and their number."""
        self.chunk_size, self.last_chunk, self.nchunks = chunk_size, last_chunk, nchunks

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]: ...


class CompressedSource(abc.ABC):
    """Gives chunks with their digests, or None for those."""

    metadata: Any
    checksum_impl: Any

    @abc.abstractmethod
    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]: ...


class PlainSink(abc.ABC):
    """Takes chunks, and decodes them."""

    @abc.abstractmethod
    def put(self, chunk: bytes) -> int:
        """Takes a chunk; gives its decoded bytes."""


class CompressedSink(abc.ABC):
    """Takes what is packed."""

    def configure(self, blosc_args: Any, bloscpack_header: BloscpackHeader) -> None:
        """Sets how chunks were made, and the header."""
        self.blosc_args, self.bloscpack_header = blosc_args, bloscpack_header
        self.checksum_impl, self.offsets = bloscpack_header.checksum_impl, bloscpack_header.offsets

    @abc.abstractmethod
    def write_bloscpack_header(self) -> None: ...

    @abc.abstractmethod
    def write_metadata(self, metadata: Any, metadata_args: Any) -> None: ...

    @abc.abstractmethod
    def init_offsets(self) -> None: ...

    @abc.abstractmethod
    def put(self, i: int, compressed: bytes) -> Any:
        """Takes the chunk number `i`."""

    def finalize(self) -> None:  # noqa: B027 - most sinks have nothing to complete
        """Completes what was begun."""

    def do_checksum(self, compressed: bytes) -> bytes:
        """The digest of a chunk; empty without a checksum."""
        digest: bytes = self.checksum_impl(compressed)
        return digest


def pack(
    source: PlainSource,
    sink: CompressedSink,
    nchunks: int,
    chunk_size: int,
    last_chunk: int,
    metadata: Any = None,
    blosc_args: Any = None,
    bloscpack_args: Any = None,
    metadata_args: Any = None,
) -> None:
    """Packs a source into a sink.

    nchunks, chunk_size, last_chunk : as `calculate_nchunks` gives them

    Raises TypeError for what is no source or sink.
    """
    if not isinstance(source, PlainSource) or not isinstance(sink, CompressedSink):
        raise TypeError("pack() takes a PlainSource and a CompressedSink")
    blosc_args, bloscpack_args = blosc_args or BloscArgs(), bloscpack_args or BloscpackArgs()
    header = BloscpackHeader(
        offsets=bloscpack_args["offsets"],
        metadata=metadata is not None,
        checksum=bloscpack_args["checksum"],
        typesize=blosc_args["typesize"],
        chunk_size=chunk_size,
        last_chunk=last_chunk,
        nchunks=nchunks,
        max_app_chunks=_handle_max_apps(bloscpack_args["offsets"], nchunks, bloscpack_args["max_app_chunks"]),
    )
    source.configure(chunk_size, last_chunk, nchunks)
    sink.configure(blosc_args, header)
    sink.write_bloscpack_header()
    if metadata is not None:
        sink.write_metadata(metadata, metadata_args or MetadataArgs())
    sink.init_offsets()
    for i, chunk in enumerate(source):
        sink.put(i, compress(chunk, blosc_args))
    sink.finalize()


def unpack(source: CompressedSource, sink: PlainSink) -> None:
    """Unpacks a source into a sink.

    Raises TypeError for what is no source or sink, ChecksumMismatch for a chunk that does not fit its digest, and DamageError.
    """
    if not isinstance(source, CompressedSource) or not isinstance(sink, PlainSink):
        raise TypeError("unpack() takes a CompressedSource and a PlainSink")
    for number, (compressed, digest) in enumerate(source):
        if digest:
            check_digest(source.checksum_impl, compressed, digest, f"chunk {number}")
        sink.put(compressed)


def check_digest(checksum: Any, data: bytes, stored: bytes, what: str) -> None:
    """Raises ChecksumMismatch where bytes do not fit their digest."""
    computed = checksum(data)
    if computed != stored:
        message = f"{what}: {checksum.name} differs (stored {stored.hex()}, computed {computed.hex()})"
        raise ChecksumMismatch(message, stored=stored.hex(), computed=computed.hex())
