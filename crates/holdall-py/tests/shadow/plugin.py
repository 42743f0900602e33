"""A plugin of pytest: each file that a test leaves, or removes, is read by holdall and by its own library, and compared.

    HOLDALL_SHADOW=OUT.json python -m pytest -p plugin …

Files are looked at where they are removed (`os.remove`, `shutil.rmtree`, `blosc2.remove_urlpath`), and after each test in its `tmp_path` and in the
current folder. What tests write to memory is compared as a file of the same bytes. The results are written to OUT.json at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compare
import pytest

# Files of one folder that are looked at after one test.
MAX_FILES = 2000


class Shadow:
    """What has been compared so far."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.arrays: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.differences: list[dict[str, str]] = []
        self.test = ""
        self._seen: set[tuple[Any, ...]] = set()
        self._busy = threading.local()
        self._remove, self._rmtree = os.remove, shutil.rmtree

    def look(self, path: Any) -> None:
        """Compares a file, or those in a folder; never raises, and never twice the same state of a file."""
        if getattr(self._busy, "now", False) or not isinstance(path, (str, os.PathLike)):
            return
        self._busy.now = True
        try:
            self._look(os.fspath(path))
        except Exception as problem:  # noqa: BLE001 - a fault of the comparison must not change the test
            self._differ(str(path), f"the comparison failed: {type(problem).__name__}: {problem}"[:300])
        finally:
            self._busy.now = False

    def _look(self, path: str) -> None:
        if os.path.isdir(path) and compare.format_of(path) != "blosc2":
            count = 0
            self._one(path)
            for folder, folders, names in os.walk(path):
                frames = [name for name in folders if compare.format_of(os.path.join(folder, name))]
                # Of a store the leaves are looked at by themselves as well.
                folders[:] = [name for name in folders if compare.format_of(os.path.join(folder, name)) != "blosc2"]
                for name in frames + names:
                    count += 1
                    if count <= MAX_FILES:
                        self._one(os.path.join(folder, name))
        else:
            self._one(path)

    def _one(self, path: str) -> None:
        try:
            stat = os.stat(path)
        except OSError:
            return
        # A sparse frame is a folder whose files may change without it.
        parts = sorted(os.scandir(path), key=lambda it: it.name) if os.path.isdir(path) else []
        inner = tuple((it.name, it.stat().st_mtime_ns, it.stat().st_size) for it in parts)
        state = (path, stat.st_ino, stat.st_mtime_ns, stat.st_size, inner)
        if state in self._seen:
            return
        self._seen.add(state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = compare.compare(path)
        if outcome is None:
            return
        for reason in outcome.skipped:
            self.skipped[f"{outcome.format}: {reason}"] += 1
        if outcome.arrays or not outcome.skipped:
            self.files[outcome.format] += 1
        self.arrays[outcome.format] += outcome.arrays
        for difference in outcome.differences[:3]:
            self._differ(os.path.basename(path), difference)

    def _differ(self, name: str, difference: str) -> None:
        self.differences.append({"test": self.test, "file": name, "difference": difference})

    def bytes(self, data: bytes, ending: str) -> None:
        """Compares bytes that were written to memory."""
        if getattr(self._busy, "now", False):
            return
        handle, path = tempfile.mkstemp(suffix=ending)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        self.look(path)
        self._remove(path)

    def watch(self) -> None:
        """Looks at files before they are removed, and at what libraries write to memory."""

        def before(function: Callable[..., Any]) -> Callable[..., Any]:
            def watched(path: Any, *args: Any, **kwargs: Any) -> Any:
                self.look(path)
                return function(path, *args, **kwargs)

            return watched

        os.remove, os.unlink = before(os.remove), before(os.unlink)
        rmtree: Any = shutil.rmtree
        watched = before(rmtree)
        watched.avoids_symlink_attacks = rmtree.avoids_symlink_attacks  # type: ignore[attr-defined]
        shutil.rmtree = watched  # type: ignore[assignment]
        unlink = Path.unlink

        def unlinked(path: Path, missing_ok: bool = False) -> None:
            self.look(path)
            unlink(path, missing_ok)

        Path.unlink = unlinked  # type: ignore[method-assign]
        for name in ("asdf", "blosc2", "bloscpack"):
            if name in os.environ.get("HOLDALL_SHADOW_PEERS", ""):
                getattr(self, f"_watch_{name}")(before)

    def _watch_blosc2(self, before: Callable[..., Any]) -> None:
        import blosc2

        blosc2.remove_urlpath = blosc2.core.remove_urlpath = before(blosc2.remove_urlpath)

    def _watch_asdf(self, before: Callable[..., Any]) -> None:
        import asdf

        write_to = asdf.AsdfFile.write_to

        def written(file: Any, fd: Any, *args: Any, **kwargs: Any) -> Any:
            done = write_to(file, fd, *args, **kwargs)
            if hasattr(fd, "getvalue"):
                self.bytes(fd.getvalue(), ".asdf")
            return done

        asdf.AsdfFile.write_to = written

    def _watch_bloscpack(self, before: Callable[..., Any]) -> None:
        from bloscpack.file_io import CompressedFPSink

        finalize = CompressedFPSink.finalize

        def finalized(sink: Any) -> None:
            finalize(sink)
            if hasattr(sink.output_fp, "getvalue"):
                self.bytes(sink.output_fp.getvalue(), ".blp")

        CompressedFPSink.finalize = finalized

    def save(self, path: str) -> None:
        """Writes what was compared as JSON."""
        found = {
            "files": self.files,
            "arrays": self.arrays,
            "skipped": self.skipped,
            "differences": self.differences,
        }
        Path(path).write_text(json.dumps(found, indent=1))


shadow = Shadow()


def pytest_configure(config: pytest.Config) -> None:
    shadow.watch()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    shadow.test = item.nodeid


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Any:
    values = getattr(item, "funcargs", {})
    for name in ("tmp_path", "tmpdir"):
        if name in values:
            shadow.look(str(values[name]))
    shadow.look(os.getcwd())
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    shadow.save(os.environ["HOLDALL_SHADOW"])
    if not shadow.files:
        sys.stderr.write("shadow: no file was compared\n")
