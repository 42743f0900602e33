"""Constants, sizes as text, and checksums by name."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

from .exceptions import NoSuchChecksum, NoSuchCodec, NoSuchSerializer

MAGIC = b"blpk"
EXTENSION = ".blp"
FORMAT_VERSION = 3
MAX_FORMAT_VERSION = 255
BLOSC_HEADER_LENGTH = 16
BLOSCPACK_HEADER_LENGTH = 32
METADATA_HEADER_LENGTH = 32
MAX_CHUNKS = 2**63 - 1
MAX_META_SIZE = 2**32 - 1
MIN_CLEVEL = 0
MAX_CLEVEL = 9
MAX_TYPESIZE = 255
# 2^31 - 1 less the header of a chunk.
MAX_BUFFERSIZE = 2_147_483_631
CNAME_AVAIL = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
CNAME_MAPPING = {0: "blosclz", 1: "lz4", 2: "snappy", 3: "zlib", 4: "zstd"}
SUFFIXES = {"B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _tenfold(count: int) -> int:
    return 10 * count


DEFAULT_TYPESIZE = 8
DEFAULT_CLEVEL = 7
DEFAULT_SHUFFLE = True
DEFAULT_CNAME = "blosclz"
DEFAULT_OFFSETS = True
DEFAULT_CHECKSUM = "adler32"
DEFAULT_MAX_APP_CHUNKS = _tenfold
DEFAULT_CHUNK_SIZE = "1M"
DEFAULT_MAGIC_FORMAT = b"JSON"
DEFAULT_META_CHECKSUM = "adler32"
DEFAULT_META_CODEC = "zlib"
DEFAULT_META_LEVEL = 6
DEFAULT_MAX_META_SIZE = _tenfold

CODECS_AVAIL = ["None", "zlib"]
SERIALIZERS_AVAIL = [b"JSON"]


class Hash(NamedTuple):
    """A checksum: its name, bytes of a digest, and the function from bytes to the digest as files hold it."""

    name: str
    size: int
    function: Callable[[bytes], bytes]

    def __call__(self, data: bytes) -> bytes:
        return self.function(data)


def _sum(name: str, function: Callable[[bytes], int]) -> Hash:
    return Hash(name, 4, lambda data: struct.pack("<I", function(data)))


def _hash(name: str) -> Hash:
    size = hashlib.new(name, usedforsecurity=False).digest_size
    return Hash(name, size, lambda data: hashlib.new(name, data, usedforsecurity=False).digest())


CHECKSUMS = [
    Hash("None", 0, lambda data: b""),
    _sum("adler32", zlib.adler32),
    _sum("crc32", zlib.crc32),
    *map(_hash, ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]),
]
CHECKSUMS_AVAIL = [checksum.name for checksum in CHECKSUMS]
CHECKSUMS_LOOKUP = {checksum.name: checksum for checksum in CHECKSUMS}


def check_valid_checksum(checksum: object) -> None:
    """Raises NoSuchChecksum for a name that is none of `CHECKSUMS_AVAIL`."""
    if checksum not in CHECKSUMS_AVAIL:
        raise NoSuchChecksum(f"unknown checksum {checksum!r} (expected one of {', '.join(CHECKSUMS_AVAIL)})")


def check_valid_codec(codec: object) -> None:
    """Raises NoSuchCodec for a codec of metadata that is neither "None" nor "zlib"."""
    if codec not in CODECS_AVAIL:
        raise NoSuchCodec(f"unknown codec {codec!r} (expected None or zlib)")


def check_valid_serializer(serializer: object) -> None:
    """Raises NoSuchSerializer for what is not b"JSON"."""
    if serializer not in SERIALIZERS_AVAIL:
        raise NoSuchSerializer(f"unknown serializer {serializer!r} (expected JSON)")


def check_range(name: str, value: object, low: int, high: int) -> None:
    """Raises TypeError for what is not an integer, ValueError for one that is not from `low` to `high`."""
    if not isinstance(value, int):
        raise TypeError(f"'{name}' must be of type 'int'")
    if not low <= value <= high:
        raise ValueError(f"'{name}' must be in the range {low} <= n <= {high}, not '{value}'")


def reverse_pretty(text: str) -> int:
    """Bytes of a size as text: "1M" is 1,048,576; suffixes B, K, M, G and T.

    Raises ValueError for another suffix.
    """
    if text[-1:] not in SUFFIXES:
        raise ValueError(f"{text!r} does not end with one of {', '.join(SUFFIXES)}")
    return int(float(text[:-1]) * SUFFIXES[text[-1]])
