"""Odd uses: each is an error of ours, an OSError with a name, or Python's own for the mistake."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gsd.fl
import ml_dtypes
import numpy as np
import pytest

import holdall
import holdall.gsd
import holdall.rawarray


@pytest.mark.parametrize(
    ("call", "raised", "text"),
    [
        (lambda p: holdall.open(""), FileNotFoundError, "No such file"),
        (lambda p: holdall.open(os.fsencode(p)), TypeError, "not bytes"),
        (lambda p: holdall.verify(os.fsencode(p)), TypeError, "os.fsdecode"),
        (lambda p: holdall.save("", np.zeros(3)), FileNotFoundError, "No such file"),
        (lambda p: holdall.open((p,)), TypeError, "fs, path"),
        (lambda p: holdall.open(("file", p)), TypeError, "fs, path"),
        (lambda p: holdall.open(p, max_memory=-1), ValueError, "max_memory"),
        (lambda p: holdall.open(p, max_memory=1e9), TypeError, "integer"),
        (lambda p: holdall.open(p, lenient=1), TypeError, "lenient"),
        (lambda p: holdall.open(p, mmap="no"), TypeError, "mmap"),
        (lambda p: holdall.open(p, assume_dtype="nonsense"), holdall.UsageError, "assume_dtype: 'nonsense'"),
        (lambda p: holdall.verify(p, typo=1), TypeError, r"verify\(\) got .* 'typo'"),
        (lambda p: holdall.digest(p, digests="whole"), TypeError, "always compares"),
        (lambda p: holdall.convert(p, "x.npy", open={"typo": 1}), TypeError, r"convert\(\) got .* 'typo'"),
        (lambda p: holdall.convert("none.ra", "x.npy"), FileNotFoundError, "'none.ra'"),
        (lambda p: holdall.diff(p, "none.ra::data"), FileNotFoundError, "'none.ra'"),
        (lambda p: holdall.digest("none.ra"), FileNotFoundError, "'none.ra'"),
        (lambda p: holdall.append(p, "none.ra"), FileNotFoundError, "'none.ra'"),
        (lambda p: holdall.save(p, np.zeros(3)), FileExistsError, "a.ra"),
        (lambda p: holdall.convert(p, p.replace("a.ra", "b.npy")), FileExistsError, "b.npy"),
        (lambda p: holdall.diff(p, p, rtol=-1), ValueError, "0 or more"),
        (lambda p: holdall.diff(p, p, atol=float("nan")), ValueError, "0 or more"),
        (lambda p: holdall.save("x.b2nd", np.zeros(3), codec=5), TypeError, "a codec"),  # type: ignore[arg-type]
        (lambda p: holdall.save("x.b2nd", np.zeros(3), codec=("zstd",)), TypeError, "a codec"),  # type: ignore[arg-type]
        (lambda p: holdall.save("x.b2nd", np.zeros(3), meta=[1]), TypeError, "mapping"),  # type: ignore[arg-type]
        (lambda p: holdall.save("x.b2nd", np.zeros(3), overwrite="yes"), TypeError, "overwrite"),  # type: ignore[arg-type]
        (lambda p: holdall.save("x.ra", np.array(["a"], np.dtypes.StringDType())), holdall.UnsupportedError, "astype"),
        (lambda p: holdall.save("x.ra", np.zeros(2, ml_dtypes.int4)), holdall.UnsupportedError, "int4"),
        (lambda p: holdall.save("x.ra", np.zeros(2, ml_dtypes.float8_e5m2)), holdall.UnsupportedError, "float8_e5m2"),
        (lambda p: holdall.plot(p, width=-5), holdall.UsageError, "16 to 20000"),
        (lambda p: holdall.open(p).tree(depth=-1), ValueError, "depth"),
        (lambda p: holdall.open(p)["data"].read(threads="2"), TypeError, "integer"),
        (lambda p: holdall.open(p)["data"].read(threads=0), ValueError, "1 or more"),
        (lambda p: holdall.open(p)["data"].read(out=[0, 0, 0]), TypeError, "array of numpy"),
        (lambda p: holdall.rawarray.read(p.replace("a.ra", "b.npy")), holdall.WrongFormatError, "not RawArray"),
        (lambda p: holdall.rawarray.trailer(p.replace("a.ra", "b.npy")), holdall.WrongFormatError, "not RawArray"),
        (lambda p: holdall.set_threads("2"), TypeError, "integer"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_have_names(
    tmp_path: Path, call: Callable[[str], Any], raised: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    holdall.save(tmp_path / "a.ra", np.arange(3.0))
    holdall.save(tmp_path / "b.npy", np.arange(3.0))
    with pytest.raises(raised, match=text):
        call(str(tmp_path / "a.ra"))
    assert sorted(os.listdir()) == ["a.ra", "b.npy"]


def test_a_closed_file_is_not_entered_again(image: Path) -> None:
    file = holdall.open(image)
    file.close()
    with pytest.raises(ValueError, match="closed"), file:
        pass


def test_file_objects_that_are_not_of_bytes_or_too_long_are_errors(image: Path) -> None:
    class Odd(io.BytesIO):
        """Gives what `made` makes of its bytes, and says that it is so long."""

        made: Callable[[bytes], Any] = staticmethod(lambda data: data)
        length: Any = None

        def read(self, n: int | None = -1) -> Any:
            return type(self).made(super().read(n))

        def seek(self, at: int, whence: int = 0) -> Any:
            place = super().seek(at, whence)
            return place if self.length is None or whence != 2 else self.length

    for length in (-1, 1 << 62, 1 << 63, 1 << 64, 1.5, "3"):
        file = Odd(image.read_bytes())
        file.length = length
        with pytest.raises(OSError):
            holdall.open(file)
    for made in (lambda data: [1, 2], lambda data: data.decode("latin1"), lambda data: None, lambda data: 7):
        Odd.made = staticmethod(made)
        with pytest.raises(OSError):
            holdall.open(Odd(image.read_bytes()))
    Odd.made = staticmethod(memoryview)
    assert len(holdall.open(Odd(image.read_bytes()))["roman/dq"][...]) == 48


def test_a_keyboard_interrupt_in_a_file_object_is_one(image: Path) -> None:
    class Waiting(io.BytesIO):
        """As a slow server at which the user presses Ctrl-C."""

        def read(self, n: int | None = -1) -> bytes:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        holdall.open(Waiting(image.read_bytes()))


def test_metadata_that_a_bare_array_cannot_hold_are_lost_aloud(tmp_path: Path) -> None:
    with pytest.warns(holdall.HoldallLossWarning, match="metadata: run, who"):
        lost = holdall.save(tmp_path / "a.npy", np.zeros(3), meta={"run": 7, "who": "me"})
    assert lost == [(None, "metadata: run, who")]
    with pytest.raises(holdall.UsageError, match="metadata: run"):
        holdall.save(tmp_path / "b.npy", np.zeros(3), meta={"run": 7}, on_loss="raise")
    assert os.listdir(tmp_path) == ["a.npy"]
    assert holdall.save(tmp_path / "c.b2nd", np.zeros(3), meta={"run": 7}, on_loss="raise") == []


def test_hints_name_keywords_of_functions(tmp_path: Path) -> None:
    with pytest.raises(holdall.UnsupportedError) as text:
        holdall.save(tmp_path / "a.gsd", np.array(["a"]))
    assert text.value.hint == "as_bytes=True, which writes elements as their bytes"
    assert holdall.save(tmp_path / "a.gsd", np.array(["a"]), as_bytes=True, on_loss="ignore")
    with pytest.raises(holdall.UsageError) as name:
        holdall.save(tmp_path / "a", np.zeros(3))
    assert name.value.hint is not None and name.value.hint.startswith("name one with format=: asdf")
    assert "holdall repair FILE -o NEW" in str(holdall.DamageError("m", None, None, "holdall repair FILE -o NEW").hint)


def test_chunks_are_what_numpy_gives_too(tmp_path: Path) -> None:
    holdall.save(tmp_path / "a.b2nd", np.zeros((4, 6)), chunks=np.array([2, 3]))  # type: ignore[arg-type]
    assert holdall.open(tmp_path / "a.b2nd")["data"].chunks == (2, 3)


def test_gsd_chunks_of_another_byte_order_keep_their_values(tmp_path: Path) -> None:
    path = str(tmp_path / "a.gsd")
    with holdall.gsd.fl.open(path, "w", "test", "none", [1, 0]) as file:
        file.write_chunk("a", np.array([1.5, -2], ">f8"))
        file.write_chunk("b", np.array([[1], [300]], ">i2"))
        file.end_frame()
    with gsd.fl.open(path, "r") as theirs:
        assert theirs.read_chunk(0, "a").tolist() == [1.5, -2] and theirs.read_chunk(0, "b").tolist() == [1, 300]


def test_a_frame_that_is_refused_leaves_nothing_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.gsd"
    with holdall.gsd.open(path, "w") as run:
        for log in (object(), np.zeros((1, 1, 1)), np.array([True]), "é"):
            frame = holdall.gsd.Frame()
            frame.particles.N, frame.particles.velocity = 1, [[7, 7, 7]]
            frame.log["a"] = log
            with pytest.raises(ValueError):
                run.append(frame)
        frame = holdall.gsd.Frame()
        frame.particles.N, frame.particles.position = 1, [[1, 2, 3]]
        run.append(frame)
    with holdall.gsd.open(path) as run:
        assert len(run) == 1 and run[0].particles.velocity.tolist() == [[0, 0, 0]]
        assert run[0].particles.position.tolist() == [[1, 2, 3]]
        with pytest.raises(IndexError):
            run.read_frame(-1)


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_files_whose_names_are_not_unicode_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, values = os.fsdecode(b"m\xfcnchen.ra"), np.arange(6.0)
    holdall.save(path, values)
    assert (holdall.load(path) == values).all() and (holdall.load(f"{path}::data[1:3]") == values[1:3]).all()
    assert holdall.digest(path)["data"] == holdall.open(path)["data"].digest()
    assert holdall.convert(f"{path}::data[:4]", os.fsdecode(b"\xe9.npy"), verify=True).format == "npy"
    assert (
        holdall.diff(path, path) == [] and holdall.verify(path) and holdall.plot(path).size == holdall.plot(values).size
    )
    holdall.save("more.ra", values)
    assert holdall.append("more.ra", path) == [] and holdall.load("more.ra").shape == (12,)
    assert repr(holdall.open(path)) and holdall.open(path)._repr_html_() and holdall.open(path).tree()
