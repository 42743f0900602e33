"""Bytes of a file itself, from whatever it was opened from."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from . import _holdall
from ._remote import Storage, is_url

Read = Callable[[int, int], bytes]


def reader(source: Any, storage: Storage = ()) -> Read | None:
    """A function that gives the bytes from `start` to `stop`, fewer at the end; None for sources that give none.

    storage : options of a URL
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return _of_url(path, storage) if is_url(path) else lambda start, stop: _of_path(path, start, stop)
    if isinstance(source, tuple) and len(source) == 2:
        fs, path = source
        if hasattr(fs, "cat_file"):
            return lambda start, stop: bytes(fs.cat_file(path, start=start, end=stop))
        if hasattr(fs, "get_range"):
            return lambda start, stop: bytes(fs.get_range(path, start=start, end=stop))
        return None
    if hasattr(source, "read") and hasattr(source, "seek"):
        return lambda start, stop: _of_object(source, start, stop)
    return None


def _of_url(url: str, storage: Storage) -> Read:
    @functools.cache
    def opened() -> _holdall.UrlBytes:
        return _holdall.UrlBytes(url, storage)

    return lambda start, stop: opened().read(start, stop)


def _of_path(path: str, start: int, stop: int) -> bytes:
    with open(path, "rb") as file:
        return _of_object(file, start, stop)


def _of_object(file: Any, start: int, stop: int) -> bytes:
    file.seek(start)
    return bytes(file.read(stop - start))
