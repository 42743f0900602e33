"""The released tools: asdf as installed and two older releases beside it, each as a program that `peer.py` runs."""

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
Stored = bytes | dict[str, bytes]


class Refused(Exception):
    """asdf raised."""


class Peer:
    """A Python that does what `peer.py` says."""

    def __init__(self, python: Path) -> None:
        assert python.is_file(), f"{python} is missing: cargo xtask setup makes it"
        self.python = python
        environment = os.environ | {"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "1700000000", "PYTHONUTF8": "1"}
        self.process = subprocess.Popen(
            [python, "-B", HERE / "peer.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.version = self.ask("version")

    def ask(self, do: str, **request: object) -> dict[str, object]:
        """The answer; `Refused` where there is none."""
        self.process.stdin.write(json.dumps({"do": do} | request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"{self.python} ended"
        answer = json.loads(line)
        if not answer.pop("ok"):
            raise Refused(answer["error"])
        return answer

    @property
    def producer(self) -> str:
        return f"asdf {self.version['asdf']}"


@cache
def new() -> Peer:
    return Peer(Path(sys.executable))


@cache
def mid() -> Peer:
    return Peer(Path(sys.prefix) / "mid-asdf" / BIN)


@cache
def old() -> Peer:
    return Peer(Path(sys.prefix) / "old-asdf" / BIN)


@cache
def made_with() -> str:
    """What the bytes that they write depend on."""
    parts = [f"{it.producer} (numpy {it.version['numpy']}, PyYAML {it.version['yaml']})" for it in (new(), mid(), old())]
    return ", ".join([*parts, platform.machine()])


def stored(folder: Path, main: str) -> Stored:
    """The file's bytes, or those of each file where there are several."""
    files = {it.relative_to(folder).as_posix(): it.read_bytes() for it in sorted(folder.rglob("*")) if it.is_file()}
    return files if len(files) > 1 else files[main]


def place(folder: Path, main: str, data: Stored) -> Path:
    """The reverse of `stored`; the file that is to be opened."""
    for name, part in ({main: data} if isinstance(data, bytes) else data).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(part)
    return folder / main


def made(peer: Peer, tree: dict[str, object], *steps: tuple[str, dict[str, object]], main: str = "a.asdf", **request: object) -> Stored:
    """What `peer` writes of `tree`, and what `steps` make of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / main
        peer.ask("write", path=str(path), tree=tree, **request)
        for do, more in steps:
            peer.ask(do, path=str(path), **more)
        return stored(Path(folder), main)


def read(peer: Peer, data: Stored, main: str = "a.asdf", **request: object) -> dict[str, object]:
    """What `peer` reads."""
    with tempfile.TemporaryDirectory() as folder:
        return peer.ask("read", path=str(place(Path(folder), main, data)), **request)
