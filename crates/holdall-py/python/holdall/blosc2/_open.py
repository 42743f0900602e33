"""Opening and making frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import _holdall
from .._arrays import descr
from .._errors import UnsupportedError, WrongFormatError
from .._file import File
from .._functions import _must_not_exist, _write_words
from .._functions import open as _open_file
from .._opening import DEFAULTS
from .._threads import threads as _threads
from .._types import Codec, StrPath
from ._array import Array
from ._frame import Frame

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def open(
    path: StrPath,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    threads: int | None = None,
    variable_chunks: bool = False,
    max_memory: int | None = None,
) -> Array | Frame | File:
    """Opens a Blosc2 file, or the directory of a sparse frame.

    An array (b2nd) gives an `Array`, plain chunks a `Frame`. A store of python-blosc2 (b2z, b2d, b2e) gives a `holdall.File`, a mapping of names
    to datasets, which is only read.

    mode : "r" reads; "r+" reads and changes, and keeps others from changing the file meanwhile; "a" is "r+" by python-blosc2's word, and takes
        files that are there
    threads : most threads that encode chunks; None for `holdall.set_threads`
    variable_chunks : lets the chunks of a frame become of different sizes, which C-Blosc2 reads from 3.0 on
    max_memory : most bytes that the file may make one call take; None for three quarters of what the machine allows

    Raises OSError where the file cannot be read, WrongFormatError where it is none of Blosc2, DamageError where it does not open, UsageError where
    another program is changing it, UnsupportedError for a store that is to be changed.
    """
    if mode not in ("r", "r+", "a"):
        raise ValueError(f"mode is 'r', 'r+' or 'a', not {mode!r}: create() makes new files")
    target = os.path.abspath(os.fspath(path))
    is_edited = mode != "r"
    words = DEFAULTS | {"max_memory": max_memory}
    core = _holdall.Blosc2File.open(target, is_edited, words, _threads(threads), variable_chunks)
    if core is not None:
        kind = Frame if core.array() is None else Array
        return kind(core, target, "r+" if is_edited else "r")
    file = _open_file(target, max_memory=max_memory)
    if file.format != "blosc2":
        raise WrongFormatError(f"{target} is of the format {file.format}, not Blosc2", None, None, "holdall.open")
    if is_edited:
        raise UnsupportedError(f"{target} is a store, which is only read", None, None, "python-blosc2 changes stores")
    return file


def create(
    path: StrPath,
    shape: Sequence[int] | int,
    dtype: DTypeLike = "float64",
    *,
    fill_value: object = None,
    chunks: Sequence[int] | None = None,
    blocks: Sequence[int] | None = None,
    codec: Codec | None = None,
    filter: str | Sequence[str] | None = None,
    split: str | None = None,
    dictionary: bool | None = None,
    checksum: str | None = None,
    vlmeta: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
) -> Array:
    """Makes an array of zeros, or of one value, and opens it for changes. The file appears with the first `commit`.

    shape : length of each axis; axes can be lengthened later
    fill_value : the value of all elements, cast to `dtype`. Chunks of one value take some bytes each
    chunks, blocks : elements along each axis; None lets shape and codec choose, as python-blosc2 does
    codec : "zstd", "zstd:5" or ("zstd", 5); "lz4", "lz4hc", "blosclz", "zlib", "none"
    filter : "shuffle", "bitshuffle", "none", "trunc_prec:10" and others, or several in the order in which they are applied
    split : "auto", "always", "never" or "forward": whether bytes of a place in the elements are encoded each on their own
    dictionary : whether chunks have dictionaries, which C-Blosc2 reads from 3.0 on
    checksum : "sha256" and others keep digests of all chunks, which holdall compares
    vlmeta : user metadata
    overwrite : replaces a file that is there, with the first commit

    Raises FileExistsError where the path exists, UsageError for options that contradict each other, UnsupportedError for types that Blosc2 does
    not hold.
    """
    import numpy as np

    lengths = [int(shape)] if isinstance(shape, int) else [int(length) for length in shape]
    if any(length < 0 for length in lengths):
        raise ValueError("a length is 0 or more")
    kind = np.dtype(dtype)
    fill = None if fill_value is None else np.asarray(fill_value, dtype=kind)
    if fill is not None and fill.ndim:
        raise ValueError("fill_value is one value")
    target = os.path.abspath(os.fspath(path))
    _must_not_exist(target, overwrite)
    words = _words(filter, chunks=chunks, blocks=blocks, split=split, dictionary=dictionary, checksum=checksum)
    make = _write_words({}, overwrite=overwrite, codec=codec) | {"words": words}
    core = _holdall.Blosc2File.create_array(
        target, descr(kind), lengths, None if fill is None else fill.tobytes(), make, _threads(threads)
    )
    array = Array(core, target, "r+")
    array.vlmeta.update(vlmeta or {})
    return array


def create_frame(
    path: StrPath,
    typesize: int = 1,
    *,
    chunksize: int | None = None,
    data: Any = None,
    codec: Codec | None = None,
    filter: str | Sequence[str] | None = None,
    split: str | None = None,
    dictionary: bool | None = None,
    checksum: str | None = None,
    vlmeta: Mapping[str, Any] | None = None,
    variable_chunks: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
) -> Frame:
    """Makes a frame of plain chunks, and opens it for changes. The file appears with the first `commit`.

    typesize : bytes of an item, 1 to 255
    chunksize : bytes of a chunk, decoded; None takes the size of the first one
    data : bytes that it begins with, anything with the buffer protocol, as `Frame.extend` adds them
    variable_chunks : lets chunks be of different sizes, which C-Blosc2 reads from 3.0 on

    Other parameters are those of `create`.
    """
    target = os.path.abspath(os.fspath(path))
    _must_not_exist(target, overwrite)
    words = _words(filter, split=split, dictionary=dictionary, checksum=checksum)
    make = _write_words({}, overwrite=overwrite, codec=codec) | {"words": words}
    core = _holdall.Blosc2File.create_frame(target, typesize, chunksize, make, _threads(threads), variable_chunks)
    frame = Frame(core, target, "r+")
    frame.vlmeta.update(vlmeta or {})
    if data is not None:
        frame.extend(data)
    return frame


def _words(filter: str | Sequence[str] | None, **words: object) -> list[tuple[str, str]]:
    """The words of the command; a word for each filter."""
    filters = [filter] if isinstance(filter, str) else list(filter or ())
    plain: list[tuple[str, str]] = _write_words(words)["words"]
    return plain + [("filter", name) for name in filters]
