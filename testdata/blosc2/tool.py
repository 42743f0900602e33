"""The released tools: python-blosc2 as installed and the old release beside it, each as a program that `peer.py` runs."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = "Scripts/python.exe" if os.name == "nt" else "bin/python"
NEW = Path(sys.executable)
OLD = Path(sys.prefix) / "old-blosc2" / BIN


class Refused(Exception):
    """blosc2 raised."""


class Peer:
    """A Python that does what `peer.py` says."""

    def __init__(self, python: Path) -> None:
        assert python.is_file(), f"{python} is missing: cargo xtask setup makes it"
        self.python = python
        self.start()
        self.version = self.ask("version")

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.python, "-B", HERE / "peer.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do: str, **request: object) -> dict[str, object]:
        """The answer; `Refused` where there is none."""
        self.process.stdin.write(json.dumps({"do": do} | request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.start()
            raise Refused("the program ended")
        answer = json.loads(line)
        if not answer.pop("ok"):
            raise Refused(answer["error"])
        return answer

    @property
    def producer(self) -> str:
        return f"blosc2 {self.version['blosc2']}"


@cache
def new() -> Peer:
    return Peer(NEW)


@cache
def old() -> Peer:
    return Peer(OLD)


@cache
def made_with() -> str:
    """What the bytes that they write depend on."""
    parts = [f"{it.producer} (C-Blosc2 {it.version['c_blosc2']}, numpy {it.version['numpy']})" for it in (new(), old())]
    return ", ".join([*parts, platform.machine()])


def stored(path: Path) -> bytes | dict[str, bytes]:
    """A file's bytes, or those of each file below a folder."""
    if path.is_file():
        return path.read_bytes()
    files = sorted(it for it in path.rglob("*") if it.is_file())
    return {it.relative_to(path).as_posix(): it.read_bytes() for it in files}


def place(path: Path, data: bytes | dict[str, bytes]) -> None:
    """The reverse of `stored`."""
    if isinstance(data, bytes):
        path.write_bytes(data)
        return
    for name, part in data.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(part)


def made(peer: Peer, do: str, suffix: str, *steps: list[object], **request: object) -> bytes | dict[str, bytes]:
    """What `peer` writes, and what `steps` make of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        peer.ask(do, path=str(path), **request)
        if steps:
            peer.ask("mutate", path=str(path), steps=list(steps))
        return stored(path)


def values(peer: Peer, data: bytes | dict[str, bytes], suffix: str) -> bytes:
    """The values in C order, as `peer` reads them."""
    with tempfile.TemporaryDirectory() as folder:
        path, raw = Path(folder) / f"a{suffix}", Path(folder) / "raw"
        place(path, data)
        peer.ask("read", path=str(path), raw=str(raw))
        return raw.read_bytes()
