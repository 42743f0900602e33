"""The headers of files, metadata and chunks."""

from __future__ import annotations

import struct
from typing import Any

from .._errors import MalformedError, TruncatedError, WrongFormatError
from ._names import (
    BLOSC_HEADER_LENGTH,
    BLOSCPACK_HEADER_LENGTH,
    CHECKSUMS_AVAIL,
    CHECKSUMS_LOOKUP,
    CNAME_MAPPING,
    CODECS_AVAIL,
    FORMAT_VERSION,
    MAGIC,
    MAX_BUFFERSIZE,
    MAX_CHUNKS,
    MAX_CLEVEL,
    MAX_FORMAT_VERSION,
    MAX_META_SIZE,
    MAX_TYPESIZE,
    METADATA_HEADER_LENGTH,
    Hash,
    check_range,
    check_valid_checksum,
    check_valid_codec,
)
from .args import Attributes

# Numbers are little-endian. Spec: "Description of the header" and "Description of the metadata section" in Bloscpack's README.
_FILE = struct.Struct("<4sBBBBiiqq")
_METADATA = struct.Struct("<8sBBBBIII8s")
_CHUNK = struct.Struct("<BBBBIII")

_OFFSETS, _HAS_METADATA = 1, 2


class BloscpackHeader(Attributes):
    """The header of a file, 32 bytes.

    format_version : 0 to 255
    offsets, metadata : whether the file has them
    checksum : name of the checksum of chunks, or "None"
    typesize : bytes of an element, 0 where unknown
    chunk_size, last_chunk : bytes of all chunks but the last, and of the last, before encoding; -1 where unknown
    nchunks : number of chunks; -1 where unknown
    max_app_chunks : chunks that can be appended

    Raises ValueError and TypeError for what is out of range.
    """

    _attrs = (
        "format_version",
        "offsets",
        "metadata",
        "checksum",
        "typesize",
        "chunk_size",
        "last_chunk",
        "nchunks",
        "max_app_chunks",
    )

    def __init__(
        self,
        format_version: int = FORMAT_VERSION,
        offsets: bool = False,
        metadata: bool = False,
        checksum: str = "None",
        typesize: int = 0,
        chunk_size: int = -1,
        last_chunk: int = -1,
        nchunks: int = -1,
        max_app_chunks: int = 0,
    ) -> None:
        check_range("format_version", format_version, 0, MAX_FORMAT_VERSION)
        check_valid_checksum(checksum)
        check_range("typesize", typesize, 0, MAX_TYPESIZE)
        check_range("chunk_size", chunk_size, -1, MAX_BUFFERSIZE)
        check_range("last_chunk", last_chunk, -1, MAX_BUFFERSIZE)
        check_range("nchunks", nchunks, -1, MAX_CHUNKS)
        check_range("max_app_chunks", max_app_chunks, 0, MAX_CHUNKS)
        if nchunks == -1 and max_app_chunks:
            raise ValueError("'max_app_chunks' is 0 where 'nchunks' is -1")
        check_range("nchunks + max_app_chunks", nchunks + max_app_chunks, -1, MAX_CHUNKS)
        if chunk_size != -1 and last_chunk > chunk_size:
            raise ValueError(f"'last_chunk' ({last_chunk}) is larger than 'chunk_size' ({chunk_size})")
        self.format_version, self.offsets, self.metadata, self.checksum = format_version, offsets, metadata, checksum
        self.typesize, self.chunk_size, self.last_chunk = typesize, chunk_size, last_chunk
        self.nchunks, self.max_app_chunks = nchunks, max_app_chunks

    @property
    def checksum_impl(self) -> Hash:
        """The checksum of chunks."""
        return CHECKSUMS_LOOKUP[self.checksum]

    @property
    def total_prospective_chunks(self) -> int | None:
        """Entries of the table of offsets; None where the number of chunks is unknown."""
        return self.nchunks + self.max_app_chunks if self.nchunks >= 0 else None

    def encode(self) -> bytes:
        """The 32 bytes."""
        return _FILE.pack(
            MAGIC,
            self.format_version,
            _OFFSETS * self.offsets | _HAS_METADATA * self.metadata,
            CHECKSUMS_AVAIL.index(self.checksum),
            self.typesize,
            self.chunk_size,
            self.last_chunk,
            self.nchunks,
            self.max_app_chunks,
        )

    @staticmethod
    def decode(buffer_: bytes) -> BloscpackHeader:
        """The header that 32 bytes are.

        Raises TruncatedError, WrongFormatError and MalformedError, which are ValueErrors.
        """
        if len(buffer_) != BLOSCPACK_HEADER_LENGTH:
            raise _cut("bloscpack header", BLOSCPACK_HEADER_LENGTH, len(buffer_))
        magic, version, options, checksum, typesize, *sizes = _FILE.unpack(buffer_)
        if magic != MAGIC:
            raise WrongFormatError(f"not a Bloscpack file: it begins with {magic!r}, not {MAGIC!r}")
        if options > 3:
            raise MalformedError(f"bloscpack header: unknown options {options:#010b}", (5, 6))
        try:
            name = CHECKSUMS_AVAIL[checksum]
            return BloscpackHeader(version, bool(options & 1), bool(options & 2), name, typesize, *sizes)
        except (IndexError, ValueError) as error:
            raise MalformedError(f"bloscpack header: {error}", (0, BLOSCPACK_HEADER_LENGTH)) from error


class MetadataHeader(Attributes):
    """The header of metadata, 32 bytes.

    magic_format : b"JSON"
    meta_options : eight characters, 0 or 1; all 0
    meta_checksum, meta_codec, meta_level : as in `MetadataArgs`
    meta_size : bytes of the text
    max_meta_size : bytes kept for what is stored
    meta_comp_size : bytes of what is stored
    user_codec : up to 8 bytes; empty
    """

    _attrs = (
        "magic_format",
        "meta_options",
        "meta_checksum",
        "meta_codec",
        "meta_level",
        "meta_size",
        "max_meta_size",
        "meta_comp_size",
        "user_codec",
    )

    def __init__(
        self,
        magic_format: bytes = b"",
        meta_options: str = "00000000",
        meta_checksum: str = "None",
        meta_codec: str = "None",
        meta_level: int = 0,
        meta_size: int = 0,
        max_meta_size: int = 0,
        meta_comp_size: int = 0,
        user_codec: bytes = b"",
    ) -> None:
        for name, value in (("magic_format", magic_format), ("user_codec", user_codec)):
            if not isinstance(value, bytes):
                raise TypeError(f"'{name}' must be of type 'bytes'")
            if len(value) > 8:
                raise ValueError(f"'{name}' has at most 8 bytes, not {len(value)}")
        if len(meta_options) != 8 or set(meta_options) - {"0", "1"}:
            raise ValueError(f"'meta_options' is eight characters, 0 or 1, not {meta_options!r}")
        check_valid_checksum(meta_checksum)
        check_valid_codec(meta_codec)
        check_range("meta_level", meta_level, 0, MAX_CLEVEL)
        for name, size in (
            ("meta_size", meta_size),
            ("max_meta_size", max_meta_size),
            ("meta_comp_size", meta_comp_size),
        ):
            check_range(name, size, 0, MAX_META_SIZE)
        self.magic_format, self.meta_options = magic_format, meta_options
        self.meta_checksum, self.meta_codec, self.meta_level = meta_checksum, meta_codec, meta_level
        self.meta_size, self.max_meta_size, self.meta_comp_size = meta_size, max_meta_size, meta_comp_size
        self.user_codec = user_codec

    def encode(self) -> bytes:
        """The 32 bytes."""
        return _METADATA.pack(
            self.magic_format,
            int(self.meta_options, 2),
            CHECKSUMS_AVAIL.index(self.meta_checksum),
            CODECS_AVAIL.index(self.meta_codec),
            self.meta_level,
            self.meta_size,
            self.max_meta_size,
            self.meta_comp_size,
            self.user_codec,
        )

    @staticmethod
    def decode(buffer_: bytes) -> MetadataHeader:
        """The header that 32 bytes are.

        Raises TruncatedError and MalformedError, which are ValueErrors.
        """
        if len(buffer_) != METADATA_HEADER_LENGTH:
            raise _cut("bloscpack metadata header", METADATA_HEADER_LENGTH, len(buffer_))
        magic, options, checksum, codec, level, size, room, stored, user = _METADATA.unpack(buffer_)
        try:
            checksum, codec = CHECKSUMS_AVAIL[checksum], CODECS_AVAIL[codec]
            magic, user = magic.strip(b"\0"), user.strip(b"\0")
            return MetadataHeader(magic, f"{options:08b}", checksum, codec, level, size, room, stored, user)
        except (IndexError, ValueError) as error:
            raise MalformedError(f"bloscpack metadata header: {error}") from error


def decode_blosc_header(buffer_: bytes) -> dict[str, int]:
    """The first 16 bytes of a chunk: version, versionlz, flags, typesize, nbytes (decoded), blocksize, ctbytes (encoded).

    Raises TruncatedError for fewer.
    """
    if len(buffer_) < BLOSC_HEADER_LENGTH:
        raise _cut("bloscpack chunk", BLOSC_HEADER_LENGTH, len(buffer_))
    names = ("version", "versionlz", "flags", "typesize", "nbytes", "blocksize", "ctbytes")
    return dict(zip(names, _CHUNK.unpack(bytes(memoryview(buffer_)[:BLOSC_HEADER_LENGTH])), strict=True))


def decode_blosc_flags(byte_: int) -> dict[str, Any]:
    """The flags of a chunk: byte_shuffle, pure_memcpy, bit_shuffle, split_blocks, and codec by its name.

    Raises MalformedError for a code that no codec has.
    """
    codec = CNAME_MAPPING.get(byte_ >> 5 & 7)
    if codec is None:
        raise MalformedError(f"bloscpack chunk: codec {byte_ >> 5 & 7} is not one of 0 to 4")
    return {
        "byte_shuffle": bool(byte_ & 1),
        "pure_memcpy": bool(byte_ >> 1 & 1),
        "bit_shuffle": bool(byte_ >> 2 & 1),
        "split_blocks": bool(byte_ >> 4 & 1),
        "codec": codec,
    }


def _cut(what: str, need: int, have: int) -> TruncatedError:
    return TruncatedError(f"{what}: {have} bytes of {need}", need=need, have=have)
