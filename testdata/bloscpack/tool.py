"""The released tools: Bloscpack 0.16 and python-blosc 1.11 as writers, and as judges of what a file holds."""

import collections
import collections.abc
import importlib.metadata
import io
import platform
import zlib

import numpy as np

# Bloscpack 0.16, the last release, looks for it where Python had it up to 3.9.
collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]

import blosc
import bloscpack
from bloscpack import BloscArgs, BloscpackArgs, MetadataArgs

blosc.set_nthreads(1)  # with more, blocks are stored in the order in which they are done

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
PRODUCER = f"bloscpack {importlib.metadata.version('bloscpack')}, python-blosc {blosc.__version__}"
# What the bytes that these tools write depend on.
MADE_WITH = f"{PRODUCER}, zlib {zlib.ZLIB_RUNTIME_VERSION}, {platform.machine()}"


def pack(
    data: bytes | np.ndarray,
    *,
    codec: str = "blosclz",
    level: int = 7,
    shuffle: int = blosc.SHUFFLE,
    typesize: int = 8,
    chunk_size: int = 1 << 20,
    blocksize: int = 0,
    checksum: str = "adler32",
    offsets: bool = True,
    spare: object = None,
    metadata: object = None,
    metadata_args: dict[str, object] | None = None,
) -> bytes:
    """A file as Bloscpack writes it. An array brings its own typesize and metadata."""
    args = BloscArgs(typesize=typesize, clevel=level, shuffle=shuffle, cname=codec)
    file_args = BloscpackArgs(offsets=offsets, checksum=checksum)
    if spare is not None:
        file_args.max_app_chunks = spare
    meta_args = MetadataArgs(**(metadata_args or {}))
    blosc.set_blocksize(blocksize)
    try:
        if isinstance(data, np.ndarray):
            return bloscpack.pack_ndarray_to_bytes(
                data,
                chunk_size=chunk_size,
                blosc_args=args,
                bloscpack_args=file_args,
                metadata_args=meta_args,
            )
        return bloscpack.pack_bytes_to_bytes(
            data,
            chunk_size=chunk_size,
            metadata=metadata,
            blosc_args=args,
            bloscpack_args=file_args,
            metadata_args=meta_args if metadata is not None else None,
        )
    finally:
        blosc.set_blocksize(0)


def append(file: bytes, data: bytes, **args: object) -> bytes:
    """`file` with `data` appended as Bloscpack does it, in place."""
    from bloscpack.append import append_fp

    target = io.BytesIO(file)
    blosc_args = {"typesize": None, "clevel": None, "shuffle": None, "cname": None} | args
    append_fp(target, io.BytesIO(data), len(data), blosc_args)
    return target.getvalue()


def chunk(
    data: bytes, typesize: int = 8, level: int = 7, shuffle: int = blosc.SHUFFLE, codec: str = "blosclz"
) -> bytes:
    """One chunk of python-blosc."""
    return blosc.compress(data, typesize=typesize, clevel=level, shuffle=shuffle, cname=codec)


def content(file: bytes) -> tuple[bytes, object]:
    """The bytes and the metadata that Bloscpack reads."""
    return bloscpack.unpack_bytes_from_bytes(file)


def array(file: bytes) -> np.ndarray:
    """The array that Bloscpack reads."""
    return bloscpack.unpack_ndarray_from_bytes(file)


def decompress(chunk: bytes) -> bytes:
    """What python-blosc finds in a chunk."""
    return blosc.decompress(chunk)
