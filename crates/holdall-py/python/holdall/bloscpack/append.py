"""Adding to the data of a file, and changing its metadata in the room kept for them."""

from __future__ import annotations

import os
from typing import Any

from .. import _holdall
from .._errors import MalformedError, UsageError
from .._threads import threads
from .._types import StrPath
from ._metadata import _read_metadata, _write_metadata
from ._names import (
    BLOSCPACK_HEADER_LENGTH,
    CHECKSUMS_LOOKUP,
    DEFAULT_CLEVEL,
    DEFAULT_CNAME,
    DEFAULT_META_CODEC,
    DEFAULT_META_LEVEL,
    DEFAULT_SHUFFLE,
    MAX_CLEVEL,
    METADATA_HEADER_LENGTH,
    check_range,
    check_valid_checksum,
    check_valid_codec,
    check_valid_serializer,
)
from .abstract_io import check_digest, compress, decompress
from .args import BLOSC_ARGS, METADATA_ARGS, MetadataArgs, _check_blosc_args, calculate_nchunks
from .exceptions import (
    ChecksumLengthMismatch,
    NoChangeInMetadata,
    NonUniformTypesize,
    NotEnoughSpace,
    as_bloscpack,
)
from .file_io import (
    CompressedFPSink,
    PlainFPSource,
    _read_beginning,
    _read_compressed_chunk_fp,
    _write_compressed_chunk,
    _write_offsets,
)


def append(orig_file: StrPath, new_file: StrPath, blosc_args: Any = None) -> None:
    """Appends the bytes of a file to the data of a packed one, in one step: a crash leaves the old file or the new one.

    To an array whole rows are appended, and its shape grows. Unlike bloscpack's, it appends where there are no offsets, and where their table is
    full, as well.

    blosc_args : codec, level and shuffle of new chunks; None, whole or in part, as the last chunk has them

    Raises UsageError for bytes that are not whole rows, and for column-major arrays of several axes; ChecksumMismatch and DamageError; OSError.
    The file is then what it was.
    """
    args = dict.fromkeys(BLOSC_ARGS) if blosc_args is None else dict(blosc_args)
    _check_blosc_args(args)
    level = DEFAULT_CLEVEL if args["clevel"] is None else args["clevel"]
    codec = None if args["cname"] is None else (args["cname"], level)
    shuffle = None if args["shuffle"] is None else int(args["shuffle"])
    with as_bloscpack():
        _holdall.bloscpack_append(os.fspath(orig_file), os.fspath(new_file), codec, shuffle, threads(None), None)


def append_fp(original_fp: Any, new_content_fp: Any, new_size: int, blosc_args: Any = None) -> int:
    """Appends `new_size` bytes of a file object to the packed file in another; gives the number of new chunks.

    It writes in place, as bloscpack does: what is interrupted leaves a damaged file. `append` does not.

    Raises RuntimeError without offsets, NotEnoughSpace where their table is full, NonUniformTypesize where header and arguments have no
    typesize, UsageError for an array, whose shape would be wrong; ChecksumMismatch; DamageError.
    """
    header, metadata, metadata_header, offsets = _read_beginning(original_fp)
    checksum = header.checksum_impl
    if not offsets:
        raise RuntimeError("appending to a file without offsets is not possible in place")
    if isinstance(metadata, dict) and metadata.get("container") == "numpy":
        raise UsageError("an array grows with its shape", None, None, "append(), which keeps the shape up to date")
    if offsets[-1] < 0:
        raise MalformedError(f"bloscpack offsets: that of the last chunk is {offsets[-1]}")
    args = _new_chunks(blosc_args, header.typesize)
    original_fp.seek(offsets[-1])
    compressed, _, digest = _read_compressed_chunk_fp(original_fp, checksum)
    if digest:
        check_digest(checksum, compressed, digest, "last chunk")
    last = decompress(compressed)
    room = max(header.chunk_size - len(last), 0)
    count, chunk_size, last_size = 0, 0, 0
    if new_size > room:
        count, chunk_size, last_size = calculate_nchunks(new_size - room, header.chunk_size)
        if count > header.max_app_chunks:
            raise NotEnoughSpace(f"{count} new chunks, and room for {header.max_app_chunks} in the table of offsets")
    filled = compress(last + new_content_fp.read(min(room, new_size)), args)
    original_fp.seek(offsets[-1])
    _write_compressed_chunk(original_fp, filled, checksum(filled))
    if count == 0:
        header.last_chunk += new_size
        original_fp.seek(0)
        original_fp.write(header.encode())
        return 0
    sink = CompressedFPSink(original_fp)
    sink.configure(args, header)
    sink.offset_storage = [-1] * count
    source = PlainFPSource(new_content_fp)
    source.configure(chunk_size, last_size, count)
    for i, chunk in enumerate(source):
        sink.put(i, compress(chunk, args))
    header.last_chunk = last_size
    header.nchunks += count
    header.max_app_chunks -= count
    original_fp.seek(0)
    original_fp.write(header.encode())
    original_fp.seek(_offsets_at(metadata_header))
    _write_offsets(original_fp, offsets + sink.offset_storage)
    return count


def _new_chunks(blosc_args: Any, typesize: int) -> dict[str, Any]:
    args = dict.fromkeys(BLOSC_ARGS) if blosc_args is None else dict(blosc_args)
    _check_blosc_args(args)
    if args["typesize"] is None and typesize in (-1, 0):
        raise NonUniformTypesize("the file has no typesize: blosc_args needs one")
    usual = {"typesize": typesize, "clevel": DEFAULT_CLEVEL, "shuffle": DEFAULT_SHUFFLE, "cname": DEFAULT_CNAME}
    return {key: usual[key] if value is None else value for key, value in args.items()}


def _offsets_at(metadata_header: Any) -> int:
    if metadata_header is None:
        return BLOSCPACK_HEADER_LENGTH
    digest = CHECKSUMS_LOOKUP[metadata_header["meta_checksum"]].size
    return int(BLOSCPACK_HEADER_LENGTH + METADATA_HEADER_LENGTH + metadata_header["max_meta_size"] + digest)


def _rewrite_metadata_fp(
    target_fp: Any,
    new_metadata: Any,
    magic_format: bytes | None = None,
    checksum: str | None = None,
    codec: str | None = DEFAULT_META_CODEC,
    level: int | None = DEFAULT_META_LEVEL,
) -> None:
    """Writes metadata over those where a file object is, in the room kept for them; None keeps what they have."""
    start = target_fp.tell()
    old, header = _read_metadata(target_fp)
    if old == new_metadata:
        raise NoChangeInMetadata("the new metadata are the old ones")
    args = _recreate_metadata(header, new_metadata, magic_format, checksum, codec, level)
    target_fp.seek(start)
    _write_metadata(target_fp, new_metadata, args)


def _recreate_metadata(
    old_metadata_header: Any,
    new_metadata: Any,
    magic_format: bytes | None = None,
    checksum: str | None = None,
    codec: str | None = DEFAULT_META_CODEC,
    level: int | None = DEFAULT_META_LEVEL,
) -> MetadataArgs:
    """The arguments for new metadata in the room of old ones, whose header this is."""
    args = MetadataArgs(**{key: old_metadata_header[key] for key in METADATA_ARGS})
    if magic_format is not None:
        check_valid_serializer(magic_format)
        args.magic_format = magic_format
    if checksum is not None:
        check_valid_checksum(checksum)
        if CHECKSUMS_LOOKUP[old_metadata_header["meta_checksum"]].size != CHECKSUMS_LOOKUP[checksum].size:
            raise ChecksumLengthMismatch("the digest of the new checksum has another length")
        args.meta_checksum = checksum
    if codec is not None:
        check_valid_codec(codec)
        args.meta_codec = codec
    if level is not None:
        check_range("meta_level", level, 0, MAX_CLEVEL)
        args.meta_level = level
    return args
