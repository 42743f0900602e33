"""The blocks of the documents, run as they are."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import asdf
import numpy as np
import pytest
from conftest import PEERS, TESTDATA

import holdall
from holdall._holdall import command

if TYPE_CHECKING:
    from distributed import Client

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


def test_references_read_as_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "docs/coming-from-kerchunk.md"), module_relative=False)
    assert failed == 0
    assert tried > 5


@pytest.mark.parametrize(("name", "least"), [("README.md", 5), ("docs/recipes.md", 20)])
def test_pages_for_samples_say_what_happens(
    name: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(["holdall", "samples", "--force", "-o", "."]) == 0
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False)
    assert failed == 0
    assert tried >= least


def test_means_of_many_files_are_computed_as_the_page_shows(client: Client, tmp_path: Path) -> None:
    """The block of docs/scaling.md, over more files than one task opens."""
    values = np.random.default_rng(1).random((130, 4, 6))
    paths = [str(tmp_path / f"{number:03}.asdf") for number in range(len(values))]
    for path, image in zip(paths, values, strict=True):
        asdf.AsdfFile({"image": image}).write_to(path)
    (block,) = re.findall("^```python\n(.*?)^```$", (ROOT / "docs/scaling.md").read_text(), re.DOTALL | re.MULTILINE)
    # A function of `__main__` is sent to the workers by value.
    names = {"__name__": "__main__", "paths": paths, "client": client}
    exec(compile(block, "scaling.md", "exec"), names)
    lists, means = names["lists"], names["means"]
    assert [len(one) for one in lists] == [100, 30]
    assert np.allclose(np.concatenate(means), values.mean(axis=(1, 2)), rtol=1e-14, atol=0)


FITS_PRODUCT = """
import doctest, io, sys
import asdf, numpy
from astropy.io import fits
inside = io.BytesIO()
asdf.AsdfFile({"meta": {"telescope": "JWST"}, "gain": numpy.arange(6.0)}).write_to(inside)
row = numpy.frombuffer(inside.getvalue(), "u1")[None, :]
column = fits.Column(array=row, format=f"{row.size}B", name="ASDF_METADATA")
table = fits.BinTableHDU.from_columns([column], name="ASDF")
pixels = fits.ImageHDU(numpy.ones((4, 4), "f4"), name="SCI")
fits.HDUList([fits.PrimaryHDU(), pixels, table]).writeto("jw_cal.fits")
sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)
"""


def test_asdf_is_taken_out_of_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The peers' Python has astropy, which writes the product as stdatamodels does, and runs the page."""
    monkeypatch.chdir(tmp_path)
    subprocess.run([str(PEERS), "-c", FITS_PRODUCT, str(ROOT / "docs/jwst.md")], check=True)
    with holdall.open("jw_cal.asdf") as product:
        assert product.meta["meta"]["telescope"] == "JWST"
        assert product["gain"][...].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(holdall.WrongFormatError, match="FITS"):
        holdall.open("jw_cal.fits")


def test_every_tutorial_is_run() -> None:
    assert sorted(path.stem for path in (ROOT / "docs/tutorials").glob("*.md")) == TUTORIALS
