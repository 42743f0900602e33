"""Sources and sinks that keep their chunks in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .abstract_io import CompressedSink, CompressedSource, PlainSink, PlainSource, decompress
from .headers import BloscpackHeader


class PlainMemorySource(PlainSource):
    """Chunks in memory."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.chunks)


class PlainMemorySink(PlainSink):
    """Keeps what chunks hold in `chunks`."""

    def __init__(self, nchunks: int | None = None) -> None:
        self.chunks: list[bytes] = []

    def put(self, compressed: bytes) -> int:
        """Takes a chunk; gives its decoded bytes."""
        self.chunks.append(decompress(compressed))
        return len(self.chunks[-1])


class CompressedMemorySink(CompressedSink):
    """Keeps chunks in `chunks`, digests in `checksums`, and the metadata."""

    def configure(self, blosc_args: Any, bloscpack_header: BloscpackHeader) -> None:
        """Sets how chunks were made, and the header."""
        super().configure(blosc_args, bloscpack_header)
        self.checksum, self.nchunks = bloscpack_header.checksum, bloscpack_header.nchunks
        self.chunks: list[bytes] = [b""] * self.nchunks
        self.checksums: list[bytes] = [b""] * self.nchunks
        self.metadata: Any = None
        self.metadata_args: Any = None

    def write_bloscpack_header(self) -> None: ...

    def write_metadata(self, metadata: Any, metadata_args: Any) -> None:
        self.metadata, self.metadata_args = metadata, metadata_args

    def init_offsets(self) -> None: ...

    def put(self, i: int, compressed: bytes) -> None:
        """Keeps the chunk number `i`."""
        self.chunks[i], self.checksums[i] = compressed, self.do_checksum(compressed)


class CompressedMemorySource(CompressedSource):
    """The chunks that a `CompressedMemorySink` has kept."""

    def __init__(self, compressed_memory_sink: CompressedMemorySink) -> None:
        sink = self.compressed_memory_sink = compressed_memory_sink
        self.checksum_impl, self.checksum, self.nchunks = sink.checksum_impl, sink.checksum, sink.nchunks
        self.chunks, self.checksums, self.metadata = sink.chunks, sink.checksums, sink.metadata

    def __iter__(self) -> Iterator[tuple[bytes, bytes | None]]:
        return zip(self.chunks, self.checksums, strict=True)
