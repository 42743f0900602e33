"""Open files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _holdall
from ._dataset import Dataset
from ._errors import UsageError, in_python
from ._names import unknown
from ._remote import is_url, shown
from ._types import Digests, Json, Progress, Segment, Verification

if TYPE_CHECKING:
    from collections.abc import Callable


class File(Mapping[str, "Dataset"]):
    """An open file: its datasets by their paths, and what else is in it.

    Made by `holdall.open`; a mapping whose iteration gives the paths that `holdall ls` lists, while `file[path]` finds every dataset. `with` closes
    it. It is read from any number of threads, and can be pickled where it was opened by a path or `(fs, path)`.
    """

    __slots__ = ("__weakref__", "_closed", "_core", "_digests", "_fs", "_options", "_path")

    def __init__(
        self,
        core: _holdall.Core,
        path: str | None,
        options: dict[str, Any],
        digests: Digests,
        fs: Any = None,
    ) -> None:
        self._core, self._path, self._options, self._digests, self._fs = core, path, options, digests, fs
        self._closed = False

    @property
    def path(self) -> str | None:
        """The absolute path, the URL, or the path in its file system; None for a file object."""
        return self._path

    @property
    def format(self) -> str:
        """The format by its machine name: "asdf", "blosc2", "bloscpack", "gsd", "rawarray" or "npy"."""
        return self._core.format

    @property
    def info(self) -> dict[str, Json]:
        """Format, version, size in bytes, completeness and details of the format, as `holdall info` has them: a new dict."""
        return self._live().about()

    @property
    def meta(self) -> Json:
        """The metadata as plain `dict`, `list`, `str`, `int`, `float`, `bool`, `bytes` and None: a copy, read anew at each access.

        Raises DamageError where they cannot be read.
        """
        return self._live().meta()

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._closed

    @property
    def notices(self) -> list[str]:
        """Notices, as the command prints them. A list of lines.

        They are about a journal next to the file of a change that was cut short, and about the first digest that was not compared: with
        `digests="whole"` it is not where a read takes only a part of what it covers.
        """
        return [in_python(notice) for notice in self._live().notices()]

    def _live(self) -> _holdall.Core:
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        return self._core

    def __getitem__(self, path: str, /) -> Dataset:
        """The dataset of a path. KeyError with the nearest path where there is none, ValueError after `close`."""
        core = self._live()
        index = core.find(path) if isinstance(path, str) else None
        if index is None:
            raise KeyError(unknown(path, core.names()))
        return Dataset(self, index)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._live().find(path) is not None

    def __iter__(self) -> Iterator[str]:
        core = self._live()
        return (core.path(index) for index in range(core.listed()))

    def __len__(self) -> int:
        return self._live().listed()

    def all(self) -> Iterator[str]:
        """The paths of all datasets, as `holdall ls -R` lists them: those as well that repeat or make up others."""
        core = self._live()
        return (core.path(index) for index in range(core.count()))

    def tree(self, *, depth: int | None = None) -> str:
        """Metadata and datasets as a tree of lines.

        depth : most levels, 0 or more; None for all
        """
        from ._html import tree_text

        if depth is not None and depth < 0:
            raise ValueError("depth is 0 or more")
        return tree_text(f"{self._name()} ({self.format})", self._live().tree(depth))

    def layout(self) -> list[Segment]:
        """The physical map: a `Segment` for every range of bytes, in order, without gaps."""
        return [Segment(*one) for one in self._live().layout()]

    def verify(
        self, *, quick: bool = False, threads: int | None = None, progress: Progress | None = None
    ) -> Verification:
        """Looks for damage, as `holdall.verify`, with its parameters and result. Reads the file at its path anew.

        Raises UsageError for files without a path on this machine.
        """
        from . import verify

        if self._path is None or self._fs is not None:
            raise UsageError("a file without a path of its own cannot be verified", None, None, "a copy on the disk")
        storage = dict(self._options.get("storage") or ())
        return verify(self._path, quick=quick, threads=threads, progress=progress, storage_options=storage or None)

    def close(self) -> None:
        """Ends the use of this object; a second call does nothing. Arrays and datasets in hand stay valid and keep the file open."""
        self._closed = True

    def __enter__(self) -> File:
        self._live()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        from ._opening import reopen

        return reopen, self._pickled()

    def _pickled(self) -> tuple[Any, ...]:
        if self._path is None:
            raise TypeError("a file that was opened from an object cannot be pickled; open it as (fs, path)")
        return self._fs, self._path, tuple(sorted(self._options.items())), self._digests

    def _state(self) -> tuple[Any, ...]:
        """What changes when the file does."""
        assert self._path is not None
        if self._fs is not None:
            info = self._fs.info(self._path)
            return (info.get("size"), str(info.get("ETag") or info.get("mtime") or info.get("LastModified")))
        if is_url(self._path):
            # Of the object, which has no state that could be asked for without a request.
            return (self._core.about()["size"],)
        stat = os.stat(self._path)
        return (stat.st_mtime_ns, stat.st_size)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        pickled = self._pickled()
        return ("holdall.File", str(pickled[0]), *pickled[1:], *self._state())

    def _name(self) -> str:
        return os.path.basename(shown(self._path)) if self._path else "file object"

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self)} datasets"
        return f"<holdall.File {self._name()!r} {self.format} {state}>"

    def _repr_html_(self) -> str:
        from ._html import file

        return file(self)
