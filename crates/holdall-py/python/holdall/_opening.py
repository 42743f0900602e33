"""Opening files: by path or URL, in a file system or store, from an object, and again in another process."""

from __future__ import annotations

import errno
import os
from typing import Any

from . import _holdall
from ._dataset import Dataset
from ._file import File
from ._remote import from_fsspec, from_store, is_url
from ._types import Digests, StrPath

DEFAULTS: dict[str, Any] = {
    "max_memory": None,
    "lenient": False,
    "mmap": None,
    "c_order": False,
    "stored": False,
    "assume_dtype": None,
    "assume_codec": None,
    "storage": None,
}
"""The words of the extension for how a file is opened."""


def as_path(path: StrPath) -> str:
    """A path as text. TypeError for other objects, FileNotFoundError for a path of no letters, which would be the working directory."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is text: os.fsdecode({text!r})")
    if not text:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    return text


_opened: dict[tuple[Any, ...], File] = {}
_MAX_OPEN = 128


def reopen(
    fs: Any,
    path: str,
    options: tuple[tuple[str, Any], ...],
    digests: Digests,
    dataset: str | None = None,
    field: str | None = None,
) -> File | Dataset:
    """What files and datasets are pickled as. A process opens a file once for each state of it."""
    words: dict[str, Any] = dict(options)
    if fs is None:
        # A file at a URL stays what it was: reading it after a change is an error.
        key = (path, options, digests, *(() if is_url(path) else _state(path)))
        file = _opened.pop(key, None)
        if file is None or file.closed:
            file = open_path(path, words, digests)
        _opened[key] = file
        while len(_opened) > _MAX_OPEN:
            _opened.pop(next(iter(_opened)), None)
    else:
        file = open_on(fs, path, words, digests)
    if dataset is None:
        return file
    found = file[dataset]
    return found if field is None else found.field(field)


def _state(path: str) -> tuple[int, int]:
    stat = os.stat(path)
    return stat.st_mtime_ns, stat.st_size


def open_path(path: StrPath, options: dict[str, Any], digests: Digests) -> File:
    """Opens the file at a path."""
    text = as_path(path)
    absolute = text if is_url(text) else os.path.abspath(text)
    # Seven words take a tenth of the time in which a small file is opened.
    words = DEFAULTS | options if options else None
    try:
        core = _holdall.Core(absolute, words)
    except FileNotFoundError as error:
        # Functions and the command take addresses; a file is opened, and gives its datasets by their paths.
        file, colons, dataset = text.partition("::")
        if colons and not is_url(text) and os.path.exists(file):
            error.add_note(f"try: holdall.open({file!r})[{dataset!r}]")
        raise
    return File(core, absolute, options, digests)


def open_on(fs: Any, path: str, options: dict[str, Any], digests: Digests) -> File:
    """Opens a file of a file system of fsspec's, or of a store of obstore's."""
    words = DEFAULTS | options
    core = None
    if hasattr(fs, "get_ranges") and hasattr(fs, "head"):
        core = from_store(fs, path, words)
    elif hasattr(fs, "cat_file") and hasattr(fs, "info"):
        core = from_fsspec(fs, path, words)
    if core is None:
        core = from_object(fs.open(path, "rb"), options, owned=True)
    return File(core, path, options, digests, fs)


class _Owned:
    """Closes a file that was opened here when nobody reads it any more."""

    __slots__ = ("file",)

    def __init__(self, file: Any) -> None:
        self.file = file

    def __del__(self) -> None:
        self.file.close()


def from_object(file: Any, options: dict[str, Any], *, owned: bool = False) -> _holdall.Core:
    """A core over a file object, which is read at places under a lock."""
    import threading

    keep = _Owned(file) if owned else None

    length = file.seek(0, 2)
    if not isinstance(length, int) or not 0 <= length < 1 << 63:
        raise OSError(f"seek() of the file object gave {length!r} for its length")
    lock = threading.Lock()

    def read_range(start: int, stop: int, _keep: _Owned | None = keep) -> bytes:
        with lock:
            file.seek(start)
            parts = []
            # A raw file may give less than was asked for, and then the rest.
            while start < stop:
                got = file.read(stop - start)
                part = got if isinstance(got, bytes) else memoryview(got or b"").tobytes()
                if not part:
                    break
                parts.append(part)
                start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    return _holdall.Core.from_ranges(read_range, length, 1, DEFAULTS | options)
