"""New files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import _holdall
from .._functions import _codec, _must_not_exist
from .._threads import threads as _threads
from .._types import Codec, Progress, StrPath
from ._arrays import Found


def write(
    path: StrPath,
    tree: Mapping[str, Any],
    /,
    *,
    codec: Codec | None = None,
    codecs: Mapping[str, Codec | None] | None = None,
    inline: int = 0,
    version: str = "1.6.0",
    checksums: bool = True,
    overwrite: bool = False,
    durable: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Writes a tree and its arrays to a new ASDF file, which appears complete or not at all. The package asdf reads it without a warning.

    tree : a mapping; in it mappings, lists, tuples, text, numbers of any size, `complex`, bytes, dates, None, sets; `Tagged` values; numpy's
        scalars; and arrays: of numpy, masked or not, and `Dataset`s, which are copied from their file in pieces, bit for bit. An object that
        is in it more than once is written once. Arrays that are views of one memory share a block, where that takes no more bytes. The
        entries `asdf_library` and `history/extensions` are written anew
    codec : of the arrays: "zlib", "lz4", "bzp2", "zstd", "blosc", or with a level as in "zstd:5" or ("zstd", 5). The package asdf itself reads
        the first three; the others need its plugin asdf-compression
    codecs : codecs of single arrays by their paths, "roman/data"; None stores one plainly
    inline : most elements of arrays that are written into the tree as text
    version : of the ASDF standard, from "1.0.0" on
    checksums : whether blocks carry the MD5 of their bytes
    overwrite : replaces a file that is there
    durable : waits until the file is on the disk
    progress : called with (done, total) bytes, on this thread

    Raises FileExistsError; TypeError for objects that a tree does not hold, with their place; UnsupportedError for types of elements and of keys
    that the standard has no name for; KeyError for a path in `codecs` without an array; UsageError for an unknown codec.
    """
    target = os.fspath(path)
    _must_not_exist(target, overwrite)
    found = Found(
        tree,
        _codec(codec),
        {key: _codec(one) for key, one in (codecs or {}).items()},
        inline,
    )
    words = {
        "version": version,
        "overwrite": overwrite,
        "durable": durable,
        "checksums": checksums,
        "threads": _threads(threads),
    }
    _holdall.asdf_write(target, tree, found, words, progress)
