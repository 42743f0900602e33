"""A short shadow run: parts of the peers' own test suites, with each file that they write read by holdall as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PEERS, SUITES

RUN = Path(__file__).parent / "shadow" / "run.py"


@pytest.mark.parametrize("suite", ["gsd", "bloscpack", "asdf", "blosc2"])
def test_the_files_of_the_peers_tests_are_read_as_the_peers_read_them(suite: str) -> None:
    done = subprocess.run(
        [sys.executable, str(RUN), "--peers", str(PEERS), "--suites", str(SUITES), "--short", suite],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert f"{suite}: " in done.stdout and " 0 differences" in done.stdout


def test_a_difference_is_found(tmp_path: Path) -> None:
    """The comparison itself, with a peer that reads something else."""
    code = f"""
import sys
sys.path.insert(0, {str(RUN.parent)!r})
import numpy as np, gsd.fl, compare
path = {str(tmp_path / "a.gsd")!r}
with gsd.fl.open(path, "w", "a", "none", [1, 0]) as file:
    file.write_chunk("x", np.arange(5))
    file.end_frame()
assert compare.compare(path).differences == [] and compare.compare(path).arrays == 2
compare.OPENERS["gsd"] = lambda path: Other(gsd.fl.open(path, "r"))

class Other:
    def __init__(self, file):
        self.file = file
    def __getattr__(self, name):
        return getattr(self.file, name)
    def read_chunk(self, frame, name):
        return self.file.read_chunk(frame, name) + 1

found = compare.compare(path).differences
assert len(found) == 2 and "values differ" in found[0], found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
