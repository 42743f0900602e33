"""save, append, convert, recode, repair, diff, digest, plot."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import TESTDATA, same_bits

import holdall


@pytest.mark.parametrize("extension", ["asdf", "b2nd", "blp", "ra", "gsd", "npy"])
def test_what_is_saved_reads_back(tmp_path: Path, array: np.ndarray, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    assert holdall.save(path, array, verify=True) == []
    file = holdall.open(path)
    (name,) = file
    assert same_bits(file[name][...].reshape(4, 6), array)
    with pytest.raises((FileExistsError, holdall.UsageError), match="exists"):
        holdall.save(path, array)
    holdall.save(path, array[::2, ::-1], overwrite=True)
    assert same_bits(holdall.open(path)[name][...].reshape(2, 6), array[::2, ::-1])


def test_numpy_reads_what_is_saved(tmp_path: Path, array: np.ndarray) -> None:
    for values in (array, np.asfortranarray(array), array[::-1], np.float32(3)):
        holdall.save(tmp_path / "a.npy", values, overwrite=True)
        assert same_bits(np.load(tmp_path / "a.npy"), values)


def test_several_arrays_and_metadata(tmp_path: Path, array: np.ndarray) -> None:
    meta = {"who": "me", "n": [1, 2.5, None, True], "deep": {"b": b"\x00\xff"}, "np": np.int16(3)}
    holdall.save(tmp_path / "a.asdf", {"t/x": array, "y": np.asfortranarray(array)}, meta=meta)
    file = holdall.open(tmp_path / "a.asdf")
    assert list(file) == ["t/x", "y"] and file["y"].order == "F"
    assert file.meta["who"] == "me" and file.meta["n"] == [1, 2.5, None, True] and file.meta["np"] == 3
    with pytest.raises(TypeError, match="metadata"):
        holdall.save(tmp_path / "b.asdf", array, meta={"x": object()})
    deep: list[object] = []
    deep.append(deep)
    with pytest.raises(RecursionError):
        holdall.save(tmp_path / "b.asdf", array, meta={"x": deep})
    assert not (tmp_path / "b.asdf").exists()


def test_masks_are_kept_or_told(tmp_path: Path, array: np.ndarray) -> None:
    masked = np.ma.MaskedArray(array, mask=array > 20)
    holdall.save(tmp_path / "m.asdf", {"x": masked})
    dataset = holdall.open(tmp_path / "m.asdf")["x"]
    assert dataset.has_mask and (dataset.mask() == masked.mask).all()
    assert (dataset.masked() == masked).all() and (dataset.mask([1, 3]) == masked.mask[[1, 3]]).all()
    assert dataset.stat()[0].masked == 3
    with pytest.warns(holdall.HoldallLossWarning):
        losses = holdall.save(tmp_path / "m.npy", masked)
    assert losses and np.isnan(np.load(tmp_path / "m.npy")[masked.mask]).all()
    with pytest.raises(holdall.UsageError):
        holdall.save(tmp_path / "n.npy", masked, on_loss="raise")
    assert sorted(os.listdir(tmp_path)) == ["m.asdf", "m.npy"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        holdall.save(tmp_path / "n.npy", masked, on_loss="ignore", fill=-1)
    assert (np.load(tmp_path / "n.npy")[masked.mask] == -1).all()


def test_words_of_formats_reach_them(tmp_path: Path, array: np.ndarray) -> None:
    holdall.save(tmp_path / "a.b2nd", array, codec="zstd:5", chunks=(2, 6), filter="bitshuffle")
    dataset = holdall.open(tmp_path / "a.b2nd")["data"]
    assert dataset.chunks == (2, 6) and dataset.codec == "zstd"
    with pytest.raises(holdall.UsageError):
        holdall.save(tmp_path / "b.b2nd", array, codec="nothing")
    with pytest.raises(ValueError, match="codec"):
        holdall.save(tmp_path / "b.b2nd", array, codec="zstd:high")
    assert not (tmp_path / "b.b2nd").exists()


def test_rows_are_appended(tmp_path: Path, array: np.ndarray) -> None:
    for extension in ("b2nd", "blp"):
        path = tmp_path / f"a.{extension}"
        holdall.save(path, array)
        assert holdall.append(path, array[:2]) == []
        (dataset,) = holdall.open(path).values()
        assert same_bits(dataset[...].reshape(-1, 6), np.concatenate([array, array[:2]]))
        before = path.read_bytes()
        with pytest.raises(holdall.HoldallError):
            holdall.append(path, array.astype("c8"))
        assert path.read_bytes() == before
    holdall.append(tmp_path / "a.b2nd", str(tmp_path / "a.b2nd").replace("a.b2nd", "a.blp"))
    assert holdall.open(tmp_path / "a.b2nd")["data"].shape[0] >= 8


def test_convert_recode_diff_and_digest(tmp_path: Path, image: Path) -> None:
    target = tmp_path / "data.b2nd"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", holdall.HoldallLossWarning)
        done = holdall.convert(f"{image}::roman/data", target, codec="zstd:3", verify=True)
    assert done.format == "blosc2" and done.datasets == ["roman/data"]
    whole = holdall.open(image)["roman/data"]
    assert same_bits(holdall.open(target)["data"][...], whole[...])
    assert holdall.digest(target)["data"] == whole.digest() == holdall.open(target)["data"].digest()
    assert holdall.diff(f"{image}::roman/data", target) == []
    again = holdall.recode(target, tmp_path / "again.b2nd", codec="lz4")
    assert again.format == "blosc2" and holdall.open(tmp_path / "again.b2nd")["data"].codec == "lz4"
    changed = whole[...]
    changed[3, 4] += 1
    holdall.save(tmp_path / "changed.npy", changed)
    (difference,) = holdall.diff(f"{image}::roman/data", tmp_path / "changed.npy")
    assert "1 of 3072" in difference.what
    assert holdall.diff(f"{image}::roman/data", tmp_path / "changed.npy", atol=2) == []
    assert same_bits(holdall.load(f"{target}::data[1:3, ::-7]"), whole[1:3, ::-7])
    assert same_bits(holdall.load(target), whole[...])
    with pytest.raises(holdall.UsageError, match="3 datasets"):
        holdall.load(image)


def test_losses_are_told_raised_or_passed_over(tmp_path: Path, image: Path) -> None:
    with pytest.warns(holdall.HoldallLossWarning, match="not carried over"):
        holdall.convert(f"{image}::roman/data", tmp_path / "a.npy")
    with pytest.raises(holdall.UsageError):
        holdall.convert(f"{image}::roman/data", tmp_path / "b.npy", on_loss="raise")
    assert sorted(os.listdir(tmp_path)) == ["a.npy"]


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["t.npy", "t.gsd", "t.zarr", "t.ra"])
def test_where_losses_raise_nothing_is_written(name: str, tmp_path: Path, array: np.ndarray) -> None:
    masked = np.ma.MaskedArray(array, mask=array > 20)
    holdall.save(tmp_path / "m.asdf", masked, meta={"note": ["a", 1.5]}, on_loss="raise")
    source = below(tmp_path)
    target = tmp_path / name
    works = {
        "save": lambda **how: holdall.save(target, masked, on_loss="raise", **how),
        "convert": lambda **how: holdall.convert(f"{tmp_path}/m.asdf::data", target, on_loss="raise", **how),
    }
    for work in works.values():
        for overwrite in (False, True):
            with pytest.raises(holdall.UsageError, match="would lose: .*3 of 24 elements"):
                work(overwrite=overwrite)
            assert below(tmp_path) == source and not target.exists()
    holdall.save(target, array, on_loss="ignore")
    before = below(tmp_path)
    for work in works.values():
        with pytest.raises(holdall.UsageError, match="would lose"):
            work(overwrite=True)
        assert below(tmp_path) == before
        with pytest.raises(FileExistsError):
            work()
    assert holdall.save(target, array, on_loss="raise", overwrite=True) == []


def test_a_recoded_file_that_would_lack_something_is_not_written(tmp_path: Path) -> None:
    # Two chunks of one name in a frame are two datasets of one path.
    found = None
    for path in sorted((TESTDATA / "gsd/ok").glob("*.gsd")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if holdall.recode(path, tmp_path / "a.gsd", overwrite=True).losses:
                found = path
                break
    (tmp_path / "a.gsd").unlink()
    if found is None:
        pytest.fail("no file of testdata loses anything when it is recoded")
    with pytest.raises(holdall.UsageError, match="would lose"):
        holdall.recode(found, tmp_path / "b.gsd", on_loss="raise")
    assert os.listdir(tmp_path) == []


def test_verify_and_repair(tmp_path: Path, image: Path) -> None:
    found = holdall.verify(image)
    assert found and found.verdict == "sound" and found.blocks["checked"] == 3 and found.format == "asdf"
    found.raise_if_damaged()
    bad = TESTDATA / "gsd/bad/cut_data.gsd"
    found = holdall.verify(bad)
    assert not found and found.findings[0].severity == "error" and found.findings[0].range
    bad = TESTDATA / "gsd/bad/cut_last_byte.gsd"
    plan = holdall.repair(bad)
    done = holdall.repair(bad, tmp_path / "new.gsd")
    assert plan.format == done.format == "gsd" and done.lost == plan.lost and done.lost
    assert holdall.verify(tmp_path / "new.gsd")
    with pytest.raises(FileNotFoundError):
        holdall.verify(tmp_path / "none")


def test_stat_is_numpys(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    values = dataset[...].astype("f8")
    finite = values[np.isfinite(values)]
    (found,) = dataset.stat()
    assert (found.count, found.nan, found.min, found.max) == (3072, 1, finite.min(), finite.max())
    assert found.mean == pytest.approx(finite.mean()) and found.std == pytest.approx(finite.std())
    assert found.percentiles is not None and found.percentiles["95"] == pytest.approx(np.percentile(finite, 95))
    assert found.histogram is not None and sum(found.histogram.counts) == finite.size
    (part,) = dataset.stat((slice(0, 4), 5))
    assert part.count == 4


def test_pictures(tmp_path: Path, image: Path, array: np.ndarray) -> None:
    dataset = holdall.open(image)["roman/data"]
    picture = holdall.plot(dataset, tmp_path / "a.png", width=320, height=240, cmap="gray", range="zscale")
    assert picture.size == (320, 240) and picture._repr_png_().startswith(b"\x89PNG")
    assert (tmp_path / "a.png").read_bytes() == picture.png()
    assert "--cmap gray" in picture.command and picture.svg().startswith("<svg")
    picture.save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == picture.pdf() and picture.pdf().startswith(b"%PDF-")
    with pytest.raises(ValueError, match="extension"):
        picture.save(tmp_path / "a.jpg")
    assert holdall.plot(f"{image}::roman/data[0]", hist=True).png()
    assert holdall.plot(array).png()
    colors = np.arange(40 * 50 * 3, dtype="u1").reshape(40, 50, 3)
    assert "--as rgb" in holdall.plot(colors).command
    assert "--as heatmap" in holdall.plot(colors, as_="heatmap").command
    assert "--as rgb" in holdall.plot((colors / 255).astype("f4")).command
    with pytest.raises(holdall.UsageError):
        holdall.plot(dataset, nothing=True)
    with pytest.raises(FileExistsError):
        holdall.plot(dataset, tmp_path / "a.png")
    holdall.options.preview = True
    try:
        assert "<svg" in dataset._repr_html_()
    finally:
        holdall.options.preview = False
    for html in (dataset._repr_html_(), dataset.file._repr_html_()):
        assert "<script" not in html and "roman" in html


def test_an_error_names_the_file_at_fault_and_the_next_step(tmp_path: Path) -> None:
    source = TESTDATA / "rawarray/ok/i2_3x4.ra"
    target = tmp_path / "none" / "x.npy"
    with pytest.raises(FileNotFoundError) as refused:
        holdall.convert(source, target)
    assert refused.value.filename == str(target)
    assert refused.value.__notes__ == [f"try: mkdir -p {target.parent}"]
    with pytest.raises(holdall.UsageError, match=r"x\.csv: no format that can be written has the extension"):
        holdall.convert(source, tmp_path / "x.csv")
    (tmp_path / "image.asdf").write_bytes(b"#ASDF 1.0.0\n")
    with pytest.raises(FileNotFoundError) as missing:
        holdall.open(tmp_path / "imgae.asdf")
    assert missing.value.__notes__ == [f"did you mean {tmp_path / 'image.asdf'}?"]
    with pytest.raises(FileNotFoundError) as missing:
        holdall.open(f"{tmp_path / 'image.asdf'}::roman/data")
    assert missing.value.__notes__ == [f"try: holdall.open('{tmp_path / 'image.asdf'}')['roman/data']"]
