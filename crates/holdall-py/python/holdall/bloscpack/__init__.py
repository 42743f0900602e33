"""Bloscpack files: the names and arguments of the package bloscpack 0.16, on every Python.

    import holdall.bloscpack as bloscpack       # in place of: import bloscpack

New files appear complete or not at all. Files of all versions are read, those of variable length among them. No pickle is read or written.
"""

from ._metadata import read_metadata, write_metadata
from .args import BloscArgs, BloscpackArgs, MetadataArgs
from .exceptions import (
    ChecksumLengthMismatch,
    ChecksumMismatch,
    ChunkingException,
    ChunkSizeTypeSizeMismatch,
    FileNotFound,
    FormatVersionMismatch,
    MetadataSectionTooSmall,
    NoChangeInMetadata,
    NoMetadataFound,
    NonUniformTypesize,
    NoSuchChecksum,
    NoSuchCodec,
    NoSuchSerializer,
    NotANumpyArray,
    NotEnoughSpace,
    ObjectNumpyArrayRejection,
)
from .file_io import (
    pack_bytes_file,
    pack_bytes_to_bytes,
    pack_bytes_to_file,
    pack_file,
    pack_file_to_file,
    unpack_bytes_file,
    unpack_bytes_from_bytes,
    unpack_bytes_from_file,
    unpack_file,
    unpack_file_from_file,
)
from .numpy_io import (
    pack_ndarray_file,
    pack_ndarray_str,
    pack_ndarray_to_bytes,
    pack_ndarray_to_file,
    unpack_ndarray_file,
    unpack_ndarray_from_bytes,
    unpack_ndarray_from_file,
    unpack_ndarray_str,
)

__all__ = [
    "BloscArgs",
    "BloscpackArgs",
    "ChecksumLengthMismatch",
    "ChecksumMismatch",
    "ChunkSizeTypeSizeMismatch",
    "ChunkingException",
    "FileNotFound",
    "FormatVersionMismatch",
    "MetadataArgs",
    "MetadataSectionTooSmall",
    "NoChangeInMetadata",
    "NoMetadataFound",
    "NoSuchChecksum",
    "NoSuchCodec",
    "NoSuchSerializer",
    "NonUniformTypesize",
    "NotANumpyArray",
    "NotEnoughSpace",
    "ObjectNumpyArrayRejection",
    "pack_bytes_file",
    "pack_bytes_to_bytes",
    "pack_bytes_to_file",
    "pack_file",
    "pack_file_to_file",
    "pack_ndarray_file",
    "pack_ndarray_str",
    "pack_ndarray_to_bytes",
    "pack_ndarray_to_file",
    "read_metadata",
    "unpack_bytes_file",
    "unpack_bytes_from_bytes",
    "unpack_bytes_from_file",
    "unpack_file",
    "unpack_file_from_file",
    "unpack_ndarray_file",
    "unpack_ndarray_from_bytes",
    "unpack_ndarray_from_file",
    "unpack_ndarray_str",
    "write_metadata",
]
