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
    shutil.copytree(TESTDATA, "testdata")
    bcolz_directory(Path("old.bcolz"))
    failed, tried = doctest.testfile(str(ROOT / f"docs/tutorials/{name}.md"), module_relative=False)
    assert failed == 0
    assert tried >= 15


def test_every_tutorial_is_run() -> None:
    assert sorted(path.stem for path in (ROOT / "docs/tutorials").glob("*.md")) == TUTORIALS


def bcolz_directory(path: Path) -> None:
    """An array of one chunk as bcolz leaves it: its chunks are Bloscpack files of version 1."""
    (path / "data").mkdir(parents=True)
    (path / "meta").mkdir()
    shutil.copy(TESTDATA / "bloscpack/ok/v1_bcolz.blp", path / "data/__0.blp")
    (path / "meta/sizes").write_text('{"shape": [500], "nbytes": 4000, "cbytes": 600}')
    (path / "meta/storage").write_text(
        '{"dtype": "<f8", "cparams": {"clevel": 5, "shuffle": 1, "cname": "blosclz"}, "chunklen": 500, "expectedlen": 500, "dflt": 0.0}'
    )
