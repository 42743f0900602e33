"""Metadata: the section in a file object, and those of a file as a whole."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

from .. import _holdall
from .._errors import LimitError, MalformedError, TruncatedError
from .._types import Json, StrPath
from ._names import CHECKSUMS_LOOKUP, METADATA_HEADER_LENGTH, check_valid_serializer
from .abstract_io import check_digest
from .args import _check_metadata_arguments
from .exceptions import MetadataSectionTooSmall, NoMetadataFound, as_bloscpack
from .headers import MetadataHeader

# Deflate makes at most 1032 bytes of one.
_MAX_RATIO = 1032
_STEP = 16 << 20


def dumps(metadata: Any) -> str:
    """Metadata as the text that files hold."""
    return json.dumps(metadata, separators=(",", ":"))


def read_exactly(fp: Any, count: int, what: str) -> bytes:
    """Reads so many bytes, in steps, so that a size that a file announces takes no memory before the bytes are there.

    Raises TruncatedError where there are fewer.
    """
    parts, have = [], 0
    while have < count:
        part = fp.read(min(count - have, _STEP))
        if not part:
            raise TruncatedError(f"{what}: {have} bytes of {count}", need=count, have=have)
        parts.append(part)
        have += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write_metadata(output_fp: Any, metadata: Any, metadata_args: Any) -> int:
    """Writes the section; gives its length in bytes."""
    _check_metadata_arguments(metadata_args)
    check_valid_serializer(metadata_args["magic_format"])
    text = dumps(metadata).encode()
    stored, codec = text, "None"
    if metadata_args["meta_codec"] != "None":
        compressed = zlib.compress(text, metadata_args["meta_level"])
        if len(compressed) <= len(text):
            stored, codec = compressed, metadata_args["meta_codec"]
    room = metadata_args["max_meta_size"]
    room = room(len(text)) if callable(room) else room
    if len(stored) > room:
        raise MetadataSectionTooSmall(f"{len(stored)} bytes of metadata do not fit the {room} kept for them")
    checksum = CHECKSUMS_LOOKUP[metadata_args["meta_checksum"]]
    header = MetadataHeader(
        magic_format=metadata_args["magic_format"],
        meta_checksum=metadata_args["meta_checksum"],
        meta_codec=codec,
        meta_level=metadata_args["meta_level"],
        meta_size=len(text),
        max_meta_size=room,
        meta_comp_size=len(stored),
    )
    section = header.encode() + stored + bytes(room - len(stored)) + checksum(stored)
    output_fp.write(section)
    return len(section)


def _read_metadata(input_fp: Any) -> tuple[Any, MetadataHeader]:
    """Reads the section: metadata and their header."""
    raw = input_fp.read(METADATA_HEADER_LENGTH)
    header = MetadataHeader.decode(raw)
    if header.meta_comp_size > header.max_meta_size:
        raise MalformedError(
            f"bloscpack metadata: {header.meta_comp_size} bytes in the {header.max_meta_size} kept for them"
        )
    stored = read_exactly(input_fp, header.meta_comp_size, "bloscpack metadata")
    input_fp.seek(header.max_meta_size - header.meta_comp_size, 1)
    checksum = CHECKSUMS_LOOKUP[header.meta_checksum]
    if checksum.size:
        digest = read_exactly(input_fp, checksum.size, "digest of the bloscpack metadata")
        check_digest(checksum, stored, digest, "bloscpack metadata")
    check_valid_serializer(header.magic_format)
    return _parse(_inflated(stored, header) if header.meta_codec == "zlib" else stored), header


def _inflated(stored: bytes, header: MetadataHeader) -> bytes:
    if header.meta_size > len(stored) * _MAX_RATIO:
        raise MalformedError(f"bloscpack metadata: {len(stored)} bytes of zlib cannot hold {header.meta_size}")
    try:
        return zlib.decompressobj().decompress(stored, header.meta_size or 1)
    except zlib.error as error:
        raise MalformedError(f"bloscpack metadata: {error}") from error


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise LimitError("bloscpack metadata: nested too deeply") from None
    except ValueError as error:
        raise MalformedError(f"bloscpack metadata: not JSON: {error}") from error


def read_metadata(file: StrPath | bytes, /) -> Json:
    """The metadata of a file of any version, or of its bytes. Of an array they hold dtype, shape and order.

    Raises NoMetadataFound where there are none, ChecksumMismatch and DamageError, OSError.
    """
    source = file if isinstance(file, bytes) else os.fspath(file)
    with as_bloscpack():
        found, metadata = _holdall.bloscpack_metadata(source)
    if not found:
        raise NoMetadataFound("the file has no metadata")
    return metadata


def write_metadata(file: StrPath, metadata: Json, /) -> None:
    """Puts metadata in the place of those of a file, whatever room was kept for them. A crash leaves the old file or the new one.

    Raises UsageError for a change of what describes an array, or items, and for old versions; DamageError; OSError.
    """
    with as_bloscpack():
        _holdall.bloscpack_set_metadata(os.fspath(file), metadata)
