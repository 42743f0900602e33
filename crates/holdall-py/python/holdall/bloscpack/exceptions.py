"""Exceptions by bloscpack's names. Each is a `HoldallError` or an `OSError`, and what it is in bloscpack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._errors import ChecksumError, HoldallError, UnsupportedError, UsageError


class FileNotFound(OSError):
    """No such file."""


class NoSuchChecksum(UsageError):
    """The name of a checksum that Bloscpack does not have."""


class NoSuchCodec(UsageError):
    """The name of a codec that metadata cannot have."""


class NoSuchSerializer(UsageError):
    """The name of a serializer of metadata that is not b"JSON"."""


class ChunkingException(UsageError):
    """More chunks than the format can count."""


class ChunkSizeTypeSizeMismatch(UsageError):
    """Chunks of an array that are not whole elements."""


class ChecksumMismatch(ChecksumError, RuntimeError):
    """A chunk, or the metadata, does not fit its digest."""


class FormatVersionMismatch(UnsupportedError, RuntimeError):
    """A version of the format that is not read."""


class ChecksumLengthMismatch(UsageError, RuntimeError):
    """A checksum of another length in the place of the one in the file."""


class NoMetadataFound(UsageError, RuntimeError):
    """The file has no metadata."""


class NoChangeInMetadata(UsageError, RuntimeError):
    """The new metadata are the old ones."""


class MetadataSectionTooSmall(UsageError, RuntimeError):
    """Metadata that do not fit the room kept for them."""


class NonUniformTypesize(UsageError, RuntimeError):
    """The file has no typesize for new chunks."""


class NotEnoughSpace(UsageError, RuntimeError):
    """No room in the table of offsets for more chunks."""


class NotANumpyArray(UsageError, RuntimeError):
    """The metadata do not describe an array."""


class ObjectNumpyArrayRejection(UnsupportedError, RuntimeError):
    """An array of Python objects: only pickle stores those, and no pickle is read or written."""


@contextmanager
def as_bloscpack() -> Iterator[None]:
    """Raises differing digests as `ChecksumMismatch`, unknown versions as `FormatVersionMismatch`, and all else as it is."""
    try:
        yield
    except (ChecksumMismatch, FormatVersionMismatch):
        raise
    except ChecksumError as error:
        raise ChecksumMismatch(
            error.message, error.range, error.part, error.hint, error.stored, error.computed
        ) from error
    except UnsupportedError as error:
        if "version" in error.message:
            raise FormatVersionMismatch(error.message, error.range, error.part, error.hint) from error
        raise


for _name, _class in list(globals().items()):
    if isinstance(_class, type) and issubclass(_class, (HoldallError, FileNotFound)) and _class.__module__ == __name__:
        _class.__module__ = "holdall.bloscpack"
