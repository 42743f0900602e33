"""That gsd itself reads what the fixtures are said to hold: the file layer by gsd.fl and gsd.pygsd, the schema by gsd.hoomd."""

import logging
import tempfile
from pathlib import Path

import gsd.fl
import gsd.hoomd
import gsd.pygsd
import numpy as np

import view
from parts import Fixture


def compare(fixtures: list[Fixture]) -> list[str]:
    """What is not as gsd reads it."""
    logging.disable(logging.WARNING)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gsd"
        for fixture in fixtures:
            if fixture.verdict != "sound" or fixture.ambiguous or not fixture.reference:
                continue
            path.write_bytes(fixture.data)
            try:
                file_layer(path, fixture.data)
                if view.parse(fixture.data).schema == "hoomd":
                    schema(path, fixture.data)
            except Exception as error:
                problems.append(f"{fixture.name}: {error!r}")
    return problems


def file_layer(path: Path, data: bytes) -> None:
    expected = view.parse(data)
    with gsd.fl.open(name=str(path), mode="r") as file, path.open("rb") as raw:
        slow = gsd.pygsd.GSDFile(raw)
        assert file.nframes == slow.nframes == expected.frames, f"{file.nframes}, {slow.nframes} frames"
        assert file.find_matching_chunk_names("") == expected.names, "other names"
        for frame in range(file.nframes):
            for name in expected.names:
                stored = expected.chunks.get(name, {}).get(frame)
                there = file.chunk_exists(frame=frame, name=name)
                assert there == slow.chunk_exists(frame=frame, name=name) == (stored is not None), name
                if stored is not None:
                    same(file.read_chunk(frame=frame, name=name), stored, name)
                    if stored.size:
                        same(slow.read_chunk(frame=frame, name=name), stored, name)


def same(found: np.ndarray | str, expected: np.ndarray, name: str) -> None:
    if isinstance(found, str):
        found = np.frombuffer(found.encode(), "S1")
        expected = expected.reshape(-1)[: len(found)] if len(found) else expected.reshape(-1)[:0]
    assert found.dtype == expected.dtype, f"{name}: {found.dtype}"
    assert found.tobytes() == expected.tobytes(), f"{name}: other values"
    if expected.size:
        assert found.shape == expected.shape, f"{name}: {found.shape}"


def schema(path: Path, data: bytes) -> None:
    """Each stacked dataset is, frame by frame, what gsd.hoomd makes of it."""
    file = view.parse(data)
    with gsd.hoomd.open(name=str(path), mode="r") as trajectory:
        assert len(trajectory) == file.frames
        for name in file.chunks:
            stack = view.stacked(file, file.chunks, name)
            container, _, field = name.partition("/")
            if stack is None or container not in (*view.GROUPS, "configuration", "particles", "log"):
                continue
            for frame, expected in enumerate(stack):
                if container == "log":
                    found = trajectory[frame].log[field]
                elif hasattr(getattr(trajectory[frame], container), field):
                    found = getattr(getattr(trajectory[frame], container), field)
                else:
                    continue
                agree(name, frame, found, expected)


def agree(name: str, frame: int, found: object, expected: np.ndarray) -> None:
    if name.endswith("/types"):
        found = [text.encode() for text in found]
        expected = [row.tobytes().rstrip(b"\0") for row in expected]
        assert found == expected, f"{name} of frame {frame}: {found}"
    elif name.endswith("/type_shapes"):
        assert len(found) == len(expected), f"{name} of frame {frame}"
    elif isinstance(found, str):
        assert found.encode() == expected.tobytes(), f"{name} of frame {frame}: {found}"
    else:
        found = np.asarray(found).reshape(expected.shape)
        assert np.array_equal(found, expected, equal_nan=True), f"{name} of frame {frame}: {found}"
