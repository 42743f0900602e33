"""The blocks of the documents, run as they are."""

from __future__ import annotations

import doctest
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import TESTDATA

import holdall
from holdall._holdall import command

ROOT = Path(__file__).resolve().parents[3]
TUTORIALS = ["archivist", "astronomer", "mri", "pydata", "simulator"]


@pytest.mark.parametrize("name", ["docs/python.md", "crates/holdall-py/README.md"])
def test_documents_say_what_happens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TESTDATA / "asdf/ok/image.asdf", "image.asdf")
    shutil.copy(TESTDATA / "gsd/bad/cut_last_byte.gsd", "cut.gsd")
    holdall.save("cut.ra", np.arange(100.0))
    os.truncate("cut.ra", 300)
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False)
    assert failed == 0
    assert tried > 2


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_say_what_happens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(["holdall", "samples"]) == 0
    monkeypatch.chdir("samples")
    failed, tried = doctest.testfile(str(ROOT / f"docs/tutorials/{name}.md"), module_relative=False)
    assert failed == 0
    assert tried >= 15


def test_every_tutorial_is_run() -> None:
    assert sorted(path.stem for path in (ROOT / "docs/tutorials").glob("*.md")) == TUTORIALS
