"""The released tools of the format: gsd as installed, and the old release beside it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import gsd.fl
import gsd.hoomd
import gsd.version

from parts import grid

OLD = Path(sys.prefix) / "old-gsd"
HERE = Path(__file__).resolve().parent


def old_version() -> str:
    found = [path.name.split("-")[1] for path in OLD.glob("gsd-*.dist-info")]
    return found[0].removesuffix(".dist") if found else "none"


VERSION = gsd.version.version
OLD_VERSION = old_version()
MADE_WITH = f"gsd {VERSION}, gsd {OLD_VERSION}"
PRODUCER = f"gsd {VERSION}"
OLD_PRODUCER = f"gsd {OLD_VERSION}"


def written(write: Callable[[str], None]) -> bytes:
    """What `write` makes of the path that it is given."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gsd"
        write(str(path))
        return path.read_bytes()


def fl(path: str, schema: str = "none", mode: str = "w") -> gsd.fl.GSDFile:
    if mode != "w":
        return gsd.fl.open(name=path, mode=mode)
    return gsd.fl.open(name=path, mode=mode, application="make.py", schema=schema, schema_version=[1, 2])


def file_of(chunks: dict[str, object] | list[dict[str, object]], schema: str = "none") -> bytes:
    """A file of gsd.fl: one frame for each dictionary of chunks."""

    def write(path: str) -> None:
        with fl(path, schema) as file:
            for frame in chunks if isinstance(chunks, list) else [chunks]:
                for name, data in frame.items():
                    file.write_chunk(name, data)
                file.end_frame()

    return written(write)


def trajectory(frames: list[gsd.hoomd.Frame], precision: str = "single") -> bytes:
    """A file of gsd.hoomd."""

    def write(path: str) -> None:
        with gsd.hoomd.open(name=path, mode="w", precision=precision) as file:
            file.extend(frames)

    return written(write)


def of_old_release(start: dict[str, bytes] | None = None) -> dict[str, bytes]:
    """What the old release makes: every file that `old_writer.py` writes, by name. `start` are files it appends to."""
    assert OLD.is_dir(), f"{OLD} is missing: cargo xtask setup makes it"
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (start or {}).items():
            (Path(folder) / name).write_bytes(data)
        subprocess.run(
            [sys.executable, "-B", str(HERE / "old_writer.py"), folder],
            env=os.environ | {"PYTHONPATH": str(OLD)},
            check=True,
        )
        return {path.stem: path.read_bytes() for path in Path(folder).iterdir()}


def killed(schema: str) -> bytes:
    """A file of 25 frames whose writer died after a flush at the third: the data are there, the entries are not."""
    return written(
        lambda path: subprocess.run(
            [sys.executable, "-B", str(HERE / "killed_writer.py"), path, schema], check=True
        )
    )


def frame(step: int | None, n: int, seed: int = 1) -> gsd.hoomd.Frame:
    """A frame of `n` particles on a grid within the box."""
    made = gsd.hoomd.Frame()
    made.configuration.step = step
    made.configuration.box = [8, 8, 8, 0, 0, 0]
    made.particles.N = n
    made.particles.position = grid(n, seed)
    return made
