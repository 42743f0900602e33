"""GSD files as chunks in frames: the module `gsd.fl` of the package gsd, with its names and exceptions.

A file is written in the atomic scheme by default: killed at any moment, it holds the frames of the last flush. `scheme="reference"` writes
the very bytes of the package gsd.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pickle import PickleError
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _holdall
from .._opening import as_path
from .._remote import is_url
from .._types import StrPath
from ._errors import as_gsd

logger = logging.getLogger("holdall.gsd.fl")

_TYPES = frozenset(("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"))
_MODES = ("r", "r+", "w", "x", "a")

Scheme = Literal["atomic", "reference"]
_Chunk = tuple[str, str, tuple[int, int], Any]


def open(
    name: StrPath,
    mode: str,
    application: str | None = None,
    schema: str | None = None,
    schema_version: Sequence[int] | None = None,
    *,
    scheme: Scheme = "atomic",
) -> GSDFile:
    """Opens a GSD file.

    name : the path
    mode : "r" reads; "r+" reads and writes; "w" makes a new file in place of any other, "x" where there is none; "a" writes, and makes the
        file if need be
    application, schema, schema_version : needed for a new file; texts of at most 63 bytes and (major, minor)
    scheme : how commits are laid out on the disk: "atomic" or "reference"

    Returns a `GSDFile`.

    Raises OSError (FileExistsError for "x"), RuntimeError for other formats, another schema, damaged files and those that another program writes,
    ValueError for other modes and for what a new file needs.
    """
    try:
        return GSDFile(name, mode, application, schema, schema_version, scheme=scheme)
    except FileNotFoundError as error:
        if isinstance(name, str) and is_url(name):
            error.add_note("try: holdall.open, which reads files at URLs")
        raise


class GSDFile:
    """An open GSD file. Names of chunks are those of the file; frames count from 0. `with` closes it; those that are read can be pickled.

    Methods raise ValueError after `close`, RuntimeError for damage and for writing to files opened to be read, OSError.
    """

    def __init__(
        self,
        name: StrPath,
        mode: str,
        application: str | None,
        schema: str | None,
        schema_version: Sequence[int] | None,
        *,
        scheme: Scheme = "atomic",
    ) -> None:
        if mode not in _MODES:
            raise ValueError(f"Invalid mode: {mode}")
        if scheme not in ("atomic", "reference"):
            raise ValueError(f"scheme is 'atomic' or 'reference', not {scheme!r}")
        path = as_path(name)
        if mode in ("w", "x") or (mode == "a" and not os.path.exists(path)):
            given = {"application": application, "schema": schema, "schema_version": schema_version}
            for what, value in given.items():
                if value is None:
                    raise ValueError(f"{what} is required for a new file")
        major, minor = schema_version or (0, 0)
        words = (application or "", schema or "", int(major) << 16 | int(minor))
        self._name, self._mode, self._scheme = path, mode, scheme
        self._buffer = 1 << 20
        with as_gsd(path):
            self._file: _holdall.GsdFile | None = _holdall.GsdFile(path, mode, words, scheme == "reference")
        if schema is not None and self.schema != schema[:63]:
            found = self.schema
            self._file = None
            raise RuntimeError(f"file {path} has incorrect schema: {found}")

    def _open(self) -> _holdall.GsdFile:
        if self._file is None:
            raise ValueError("File is not open")
        return self._file

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    @property
    def file(self) -> str:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode in which it was opened: "r", "r+", "w", "x" or "a"."""
        return self._mode

    @property
    def gsd_version(self) -> tuple[int, int]:
        """Version of the GSD file format, major and minor."""
        return divmod(self._open().header()[0], 1 << 16)

    @property
    def schema_version(self) -> tuple[int, int]:
        """Version of the schema, major and minor."""
        return divmod(self._open().header()[1], 1 << 16)

    @property
    def application(self) -> str:
        """Name of the program that made it."""
        return self._open().header()[2]

    @property
    def schema(self) -> str:
        """Name of the schema."""
        return self._open().header()[3]

    @property
    def nframes(self) -> int:
        """Number of frames: in a file that is written, those of the last flush."""
        return self._open().nframes()

    @property
    def maximum_write_buffer_size(self) -> int:
        """Bytes of chunks that are held before they are written."""
        return self._buffer

    @maximum_write_buffer_size.setter
    def maximum_write_buffer_size(self, size: int) -> None:
        if size <= 0:
            raise RuntimeError("maximum_write_buffer_size is above 0")
        with as_gsd(self._name):
            self._open().set_buffer(size)
        self._buffer = size

    def close(self) -> None:
        """Flushes, and lets the file go. Frames that were not ended are not written. A second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            with as_gsd(self._name):
                file.close()

    def truncate(self) -> None:
        """Takes all frames out of the file."""
        with as_gsd(self._name):
            self._open().truncate()

    def end_frame(self) -> None:
        """Ends the frame that chunks are written to. Readers see it after a flush."""
        with as_gsd(self._name):
            self._open().end_frame()

    def flush(self) -> None:
        """Writes all frames that were ended, so that readers see them."""
        with as_gsd(self._name):
            self._open().flush()

    def upgrade(self) -> None:
        """Makes a file of format version 1 one of version 2, in place."""
        with as_gsd(self._name):
            self._open().upgrade()

    def write_chunk(self, name: str, data: ArrayLike | str) -> None:
        """Adds a chunk to the current frame.

        name : 1 byte or more, without NUL, and not yet in this frame
        data : text of ASCII characters, or an array of one or two axes of integers or floats of 1 to 8 bytes; copied where it is not in C order or
            not little-endian

        Raises ValueError for other shapes, types and texts, RuntimeError for names.
        """
        self._write_checked(*self._checked(name, data))

    def _checked(self, name: str, data: ArrayLike | str) -> _Chunk:
        """A chunk as the extension takes it. ValueError where GSD has no such; nothing is written."""
        if self.gsd_version < (2, 0):
            # Files of version 1 have 64 bytes for a name; the reference cuts longer ones.
            name = name[:63]
        if isinstance(data, str):
            encoded = data.encode("ascii")
            return name, "text", (len(encoded), 1), encoded
        array = np.ascontiguousarray(data)
        if array.dtype.byteorder == ">":
            # GSD is little-endian.
            array = array.astype(array.dtype.newbyteorder("<"))
        if array is not data:
            logger.warning("implicit data copy when writing chunk: %s", name)
        if array.ndim > 2:
            raise ValueError(f"GSD can only write 1 or 2 dimensional arrays: {name}")
        if array.dtype.str[1:] not in _TYPES:
            raise ValueError(f"invalid type for chunk: {name}")
        shape = (array.shape[0], array.shape[1] if array.ndim == 2 else 1)
        return name, array.dtype.str, shape, array.reshape(-1).view("u1") if array.size else None

    def _write_checked(self, name: str, dtype: str, shape: tuple[int, int], data: Any) -> None:
        with as_gsd(self._name):
            self._open().write(name, dtype, shape, data)

    def chunk_exists(self, frame: int, name: str) -> bool:
        """Whether a frame has a chunk of this name itself. False for frames that are not there."""
        with as_gsd(self._name):
            return 0 <= frame < 1 << 64 and self._open().exists(frame, name)

    def read_chunk(self, frame: int, name: str) -> NDArray[Any] | str:
        """Reads the chunk of a frame: a new, writable array of shape (N,), or (N, M) where it has M > 1 columns; text as `str`.

        frame : from 0
        name : a name of the file

        Raises KeyError for one that is not there.
        """
        file = self._open()
        with as_gsd(self._name):
            found = file.read(frame, name, np.dtype) if 0 <= frame < 1 << 64 else None
        if found is None:
            raise KeyError(f"frame {frame} / chunk {name} not found in: {self._name}")
        return found

    def _frame(self, frame: int) -> dict[str, Any]:
        """The chunks of a frame that the schema hoomd has, by name, as `read_chunk` reads them."""
        file = self._open()
        with as_gsd(self._name):
            return file.frame(frame, np.dtype)

    def _logs(self, names: list[str]) -> dict[str, Any]:
        """Logs as arrays over all frames, or lists of texts, and time steps with them: those that can be read in one pass."""
        file = self._open()
        with as_gsd(self._name):
            found = file.logs(names, np.dtype)
        return {} if found is None else {"configuration/step": found[0], **dict(found[1])}

    def find_matching_chunk_names(self, match: str) -> list[str]:
        """The names of chunks that begin with `match`, in the order of the file."""
        return [name for name in self._open().names() if name.startswith(match)]

    def __enter__(self) -> GSDFile:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._mode not in ("r",):
            raise PickleError("Only read only GSDFiles can be pickled.")
        return GSDFile, (self._name, self._mode, self.application, self.schema, self.schema_version)

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<holdall.gsd.fl.GSDFile {self._name!r} mode={self._mode!r}>"
