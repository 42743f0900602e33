"""What arrays and frames have in common."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, Self

from .. import _holdall
from .._errors import UsageError
from ._vlmeta import VlMeta


class Base:
    """A frame that is open: sizes, metadata, and when its changes are seen."""

    _core: _holdall.Blosc2File
    _path: str
    _mode: str
    _closed: bool

    def __init__(self, core: _holdall.Blosc2File, path: str, mode: str) -> None:
        self._core, self._path, self._mode, self._closed = core, path, mode, False

    @property
    def path(self) -> str:
        """The path of the file, or of the directory of a sparse frame."""
        return self._path

    @property
    def urlpath(self) -> str:
        """The path, by python-blosc2's word."""
        return self._path

    @property
    def mode(self) -> str:
        """ "r" or "r+"."""
        return self._mode

    @property
    def vlmeta(self) -> VlMeta:
        """User metadata, as a mapping that can be changed."""
        return VlMeta(self._core)

    @property
    def meta(self) -> dict[str, Any]:
        """The metalayers of the header, decoded. A copy."""
        return self._core.meta()

    @property
    def typesize(self) -> int:
        """Bytes of an element."""
        return int(self._core.info()["typesize"])

    @property
    def nchunks(self) -> int:
        """Number of chunks, uncommitted ones included."""
        return int(self._core.info()["nchunks"])

    @property
    def blocksize(self) -> int:
        """Bytes of a block, decoded; 0 where that is left to each chunk."""
        return int(self._core.info()["blocksize"])

    @property
    def cbytes(self) -> int:
        """Bytes of the chunks in the file at the last commit, with the space of replaced ones."""
        return int(self._core.info()["cbytes"])

    @property
    def cparams(self) -> dict[str, Any]:
        """Codec, level, filters and sizes of chunks to come, by python-blosc2's words; names as those of `create`."""
        info = self._core.info()
        return {key: info[key] for key in ("codec", "clevel", "use_dict", "typesize", "blocksize", "filters")}

    @property
    def is_changed(self) -> bool:
        """Whether there is something to commit."""
        return not self._closed and self._core.is_changed()

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._closed

    def commit(self, *, durable: bool = True) -> None:
        """Makes all changes the file, in one step. A new file appears with its first commit.

        durable : waits until they are on the disk: after a power cut the file is the old one or the new one. Without, that holds for a killed
            process only
        """
        self._require_editing()
        self._core.commit(durable)
        self._committed()

    def discard(self) -> None:
        """Forgets what was changed since the last commit. A new file that had none is closed, and never appears."""
        self._require_editing()
        is_new = not self._core.has_name()
        self._core.discard()
        self._closed = is_new
        self._committed()

    def close(self) -> None:
        """Lets the file go. What was not committed is lost, with a warning. Arrays that were read stay valid."""
        if self._closed:
            return
        if self.is_changed:
            warnings.warn(f"{self._path}: closed with changes that were not committed", UserWarning, stacklevel=2)
        self._let_go()

    def _let_go(self) -> None:
        self._closed = True
        self._core.close()
        self._committed()

    def _committed(self) -> None:
        """Forgets what was read of an earlier state."""

    def _require_editing(self) -> None:
        if self._closed:
            raise ValueError(f"{self._path} is closed")
        if self._mode == "r":
            raise UsageError(f"{self._path} was opened for reading", None, None, 'open it with mode "r+"')

    def __enter__(self) -> Self:
        if self._closed:
            raise ValueError(f"{self._path} is closed")
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commits and closes; after an exception closes without."""
        try:
            if exc_type is None and self.is_changed:
                self.commit()
        finally:
            self._let_go()
