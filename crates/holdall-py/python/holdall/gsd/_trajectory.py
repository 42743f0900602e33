"""Trajectories: files of the schema `hoomd`, frame by frame."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from .. import _holdall
from .._types import StrPath
from ._errors import as_gsd
from ._frame import GROUPS, Frame
from .fl import GSDFile, Scheme
from .fl import open as open_file

Precision = Literal["single", "double"]

_APPLICATION = f"holdall {_holdall.__version__}"
_SCHEMA_VERSION = (2, 0)


def open(
    name: StrPath, mode: str = "r", precision: Precision = "single", *, scheme: Scheme = "atomic"
) -> HOOMDTrajectory:
    """Opens a file of the schema `hoomd`.

    name : the path
    mode : "r" reads; "r+" reads and writes; "w" makes a new file in place of any other, "x" where there is none; "a" writes, and makes the
        file if need be
    precision : of floats that are written: "single" or "double"
    scheme : "atomic", in which a killed program leaves the frames of its last flush, or "reference" for the very bytes of the package gsd

    Raises OSError (FileExistsError for "x"), RuntimeError for files of other formats and schemas, damaged ones and those that another program writes,
    ValueError for other modes and precisions.
    """
    file = open_file(name, mode, _APPLICATION, "hoomd", _SCHEMA_VERSION, scheme=scheme)
    return HOOMDTrajectory(file, precision)


class HOOMDTrajectory(Sequence[Frame]):
    """Frames of a file: indexed as a list, each read when it is asked for. A slice is a `TrajectoryView`, for which nothing is read.

    Made by `open`, or from a `fl.GSDFile` and a precision. `with` closes it. Those that are read can be pickled.
    """

    def __init__(self, file: GSDFile, precision: Precision = "single") -> None:
        if precision not in ("single", "double"):
            raise ValueError("precision must be 'single' or 'double'")
        if file.schema != "hoomd":
            raise RuntimeError(f"GSD file is not a hoomd schema file: {file!r}")
        version = file.schema_version
        if not (1, 0) <= version < (3, 0):
            raise RuntimeError(f"Incompatible hoomd schema version {version} in: {file!r}")
        if version < (2, 0) and precision == "double":
            raise RuntimeError("schema 1.x files are not compatible with precision='double'")
        self._file, self._precision = file, precision
        self._initial_frame: Frame | None = None

    @property
    def file(self) -> GSDFile:
        """The `fl.GSDFile` below, in chunks."""
        return self._file

    @property
    def precision(self) -> str:
        """The precision of floats that are written: "single" or "double"."""
        return self._precision

    def __len__(self) -> int:
        return self._file.nframes

    # Reading.

    @overload
    def __getitem__(self, key: int) -> Frame: ...
    @overload
    def __getitem__(self, key: slice) -> TrajectoryView: ...
    def __getitem__(self, key: int | slice) -> Frame | TrajectoryView:
        """The frame of an index, which counts from the end where it is negative, as `read_frame`; a `TrajectoryView` of a slice."""
        if isinstance(key, slice):
            return TrajectoryView(self, range(*key.indices(len(self))))
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise TypeError(f"a frame is an integer or a slice, not {type(key).__name__}")
        number = key.__index__()
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError(f"frame {key} of {len(self)}")
        return self.read_frame(number)

    def __iter__(self) -> Iterator[Frame]:
        return iter(TrajectoryView(self, range(len(self))))

    def read_frame(self, idx: int) -> Frame:
        """Reads one frame; `trajectory[idx]` takes indices from the end as well.

        idx : from 0 to `len(trajectory) - 1`

        Returns a new `Frame`. Arrays that the frame stores are new, writable and of the stored types. What it does not store is that of frame 0
        where the numbers of particles are the same, else the schema's default; such arrays are read-only and may be those of other frames.

        Raises IndexError, RuntimeError for damage, ValueError after `close`.
        """
        if not 0 <= idx < len(self):
            raise IndexError(f"frame {idx} of {len(self)}")
        if self._initial_frame is None and idx != 0:
            self.read_frame(0)
        first = self._initial_frame
        frame = Frame()
        chunks = self._file._frame(idx)
        _fill_configuration(frame, first, chunks)
        for name in GROUPS:
            _fill_group(getattr(frame, name), None if first is None else getattr(first, name), chunks, name)
        for name in self._file.find_matching_chunk_names("log/"):
            value = chunks.get(name)
            if value is None:
                if first is None:
                    continue
                value = first.log[name[4:]]
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False
            frame.log[name[4:]] = value
        if first is None:
            self._initial_frame = copy.deepcopy(frame)
        return frame

    def stack(self, name: str, frames: slice = slice(None), /) -> NDArray[Any]:
        """Reads one quantity of many frames in one array of shape (frame, N, …): "particles/position", "log/md/energy".

        name : a chunk, or a quantity of the schema that no frame stores
        frames : a slice of frames, or an integer

        Returns a new, writable array of the stored type; single values have the shape (frame, 1). Frames that do not store it have that of frame 0,
        or the schema's default.

        Raises KeyError where it is no one array: for unknown names, and where frames differ in number or type.
        """
        from .._functions import open as open_any

        self._file._open()
        if self._file.mode != "r":
            self.flush()
        with open_any(self._file.name) as file:
            return cast("NDArray[Any]", file[name][frames])

    def follow(self, timeout: float | None = None, *, pause: float = 0.5) -> Iterator[Frame]:
        """Gives the frames that are there, and then each as a simulation writes it.

        timeout : seconds without a new frame after which it ends; None waits for ever
        pause : seconds between two looks, 0 or more
        """
        with as_gsd(self._file.name):
            follower = _holdall.GsdFollower(self._file.name)
        last = time.monotonic()
        while True:
            with as_gsd(self._file.name):
                found = follower.poll()
            if found is None:
                if timeout is not None and time.monotonic() - last >= timeout:
                    return
                time.sleep(pause)
                continue
            last = time.monotonic()
            with open(self._file.name) as now:
                for number in range(*found):
                    yield now[number]

    # Writing.

    def append(self, frame: Frame) -> None:
        """Adds a frame. What is None is not written, nor what is the same as in frame 0, or the schema's default where that has nothing.

        frame : stays as it is

        Readers see it after `flush`, which the first frame does by itself.
        Raises ValueError for shapes and types that do not fit, before anything is written, RuntimeError for files opened to be read, OSError.
        """
        frame.validate()
        if self._initial_frame is None and len(self) > 0:
            self.read_frame(0)
        logged = ((f"log/{name}", data) for name, data in frame.log.items())
        chunks = [self._file._checked(name, data) for name, data in (*self._chunks(frame), *logged)]
        for chunk in chunks:
            self._file._write_checked(*chunk)
        self._file.end_frame()
        # Later frames are compared with the first, which is read back for that.
        if len(self) == 0:
            self._file.flush()

    def _chunks(self, frame: Frame) -> Iterator[tuple[str, Any]]:
        floats = np.float64 if self._precision == "double" else np.float32
        for path in ("configuration", *GROUPS):
            group = getattr(frame, path)
            arrays = group.cast()
            for name in group._default_value:
                value = arrays.get(name, getattr(group, name))
                if value is None or not self._differs(path, name, value, group):
                    continue
                if name == "N":
                    value = np.array([value], np.uint32)
                elif name == "step":
                    value = np.array([value], np.uint64)
                elif name == "dimensions":
                    value = np.array([value], np.uint8)
                elif name in ("types", "type_shapes"):
                    value = _bytes_of([json.dumps(one) for one in value] if name == "type_shapes" else value)
                elif value.dtype.kind == "f":
                    value = value.astype(floats)
                yield f"{path}/{name}", value

    def _differs(self, path: str, name: str, value: Any, group: Any) -> bool:
        """Whether a quantity has to be written for readers to find this value: it is not that of frame 0, nor the schema's default where frame
        0 stores nothing.
        """
        if self._initial_frame is not None:
            first = getattr(getattr(self._initial_frame, path), name)
            if _equal(first, value):
                return False
            if self._file.chunk_exists(0, f"{path}/{name}"):
                return True
        default = group._default_value[name]
        if name in ("types", "type_shapes"):
            return bool(list(value) != default)
        return not bool(np.array_equiv(value, default))

    def extend(self, iterable: Iterable[Frame]) -> None:
        """Adds frames, one after the other, as `append`."""
        for frame in iterable:
            self.append(frame)

    def truncate(self) -> None:
        """Takes all frames out of the file. RuntimeError for files opened to be read."""
        self._file.truncate()
        self._initial_frame = None

    def flush(self) -> None:
        """Writes all frames, so that readers see them. RuntimeError for files opened to be read, OSError."""
        self._file.flush()

    def close(self) -> None:
        """Flushes, and lets the file go. A second call does nothing."""
        self._file.close()
        self._initial_frame = None

    def __enter__(self) -> HOOMDTrajectory:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __repr__(self) -> str:
        return f"<holdall.gsd.HOOMDTrajectory {self._file.name!r} mode={self._file.mode!r}>"


class TrajectoryView(Sequence[Frame]):
    """Some frames of a trajectory, each read when it is asked for. Slices are views."""

    def __init__(self, trajectory: HOOMDTrajectory, numbers: range) -> None:
        self._trajectory, self._numbers = trajectory, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, key: int) -> Frame: ...
    @overload
    def __getitem__(self, key: slice) -> TrajectoryView: ...
    def __getitem__(self, key: int | slice) -> Frame | TrajectoryView:
        if isinstance(key, slice):
            return TrajectoryView(self._trajectory, self._numbers[key])
        return self._trajectory[self._numbers[key]]

    def __iter__(self) -> Iterator[Frame]:
        return TrajectoryIterator(self)


class TrajectoryIterator(Iterator[Frame]):
    """An iterator over frames that has a length, and begins anew each time."""

    def __init__(self, view: TrajectoryView) -> None:
        self._view, self._next = view, 0

    def __iter__(self) -> Iterator[Frame]:
        return TrajectoryIterator(self._view)

    def __len__(self) -> int:
        return len(self._view)

    def __next__(self) -> Frame:
        if self._next >= len(self._view):
            raise StopIteration
        self._next += 1
        return self._view[self._next - 1]


def _fill_configuration(frame: Frame, first: Frame | None, chunks: dict[str, Any]) -> None:
    own = frame.configuration
    for name in ("step", "dimensions"):
        stored = chunks.get(f"configuration/{name}")
        if stored is not None:
            setattr(own, name, stored[0])
        else:
            setattr(own, name, own._default_value[name] if first is None else getattr(first.configuration, name))
    stored = chunks.get("configuration/box")
    if stored is None:
        stored = copy.copy(own._default_value["box"] if first is None else first.configuration.box)
    own.box = stored


def _fill_group(own: Any, initial: Any, chunks: dict[str, Any], path: str) -> None:
    """Puts the chunks of a frame into one of its groups; what it lacks is that of the same group of frame 0, or a default."""
    stored = chunks.get(f"{path}/N")
    own.N = stored[0] if stored is not None else (0 if initial is None else initial.N)
    is_same = initial is not None and initial.N == own.N
    for name, default in own._default_value.items():
        if name == "N":
            continue
        stored = chunks.get(f"{path}/{name}")
        if name in ("types", "type_shapes"):
            if stored is not None:
                texts = _texts(stored)
                value: Any = texts if name == "types" else [json.loads(text) for text in texts]
            else:
                value = copy.copy(default if initial is None else getattr(initial, name))
        elif stored is not None:
            value = stored
        elif is_same:
            value = getattr(initial, name)
            value.flags.writeable = False
        else:
            value = np.empty((own.N, *np.shape(default)), default.dtype)
            value[:] = default
            value.flags.writeable = False
        setattr(own, name, value)


def _texts(rows: NDArray[Any]) -> list[str]:
    """Names that are stored as rows of bytes with zeros behind."""
    table = rows.reshape(len(rows), -1)
    return [bytes(row.tobytes()).rstrip(b"\0").decode() for row in table]


def _bytes_of(texts: Sequence[str]) -> NDArray[Any]:
    """Names as rows of bytes, each with a zero behind it."""
    encoded = [text.encode() for text in texts]
    width = max((len(text) for text in encoded), default=0) + 1
    rows = np.zeros((len(encoded), width), np.int8)
    for row, text in zip(rows, encoded, strict=True):
        row[: len(text)] = np.frombuffer(text, np.int8)
    return rows


def _equal(value: Any, other: Any) -> bool:
    if isinstance(value, list):
        return value == list(other)
    return bool(np.array_equal(value, other))
