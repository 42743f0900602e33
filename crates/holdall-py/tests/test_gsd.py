"""`holdall.gsd` in the place of gsd: gsd's own tests, and files of each read by the other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import gsd.fl
import gsd.hoomd
import numpy as np
import pytest
from conftest import TESTDATA

import holdall.gsd

PLUGIN = """
import sys
import gsd, gsd.version
import holdall.gsd, holdall.gsd.fl
sys.modules["gsd.fl"] = gsd.fl = holdall.gsd.fl
sys.modules["gsd.hoomd"] = gsd.hoomd = holdall.gsd
"""


NOT_PASSED = {
    # Opens a file for writing while another handle writes to it. Two writers at a time lose frames; ours refuses the second one.
    "test_hoomd.py::test_flush[(a,x)]",
}
"""Tests of gsd's that fail with our modules, each with the reason."""


def test_gsds_own_tests_pass_with_the_modules_swapped(tmp_path: Path) -> None:
    (tmp_path / "swapped.py").write_text(PLUGIN)
    tests = Path(gsd.fl.__file__).parent / "test"
    options = ["-q", "-p", "no:cacheprovider", "-p", "swapped", "--tb=line", "-rf", "-c", os.devnull]
    places = [f"--rootdir={tests}", f"--confcutdir={tests}", str(tests / "test_fl.py"), str(tests / "test_hoomd.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *places],
        capture_output=True,
        text=True,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])},
        timeout=300,
    )
    failed = set(re.findall(r"^FAILED \S*/(test_\w+\.py::\S+)", done.stdout, re.MULTILINE))
    assert failed == NOT_PASSED, done.stdout[-6000:] + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= 147, done.stdout[-2000:]


def same_frames(a: object, b: object) -> None:
    """Compares two frames, quantity by quantity."""
    for group in ("configuration", "particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs"):
        own, other = getattr(a, group), getattr(b, group)
        for name in other._default_value:
            np.testing.assert_array_equal(getattr(own, name), getattr(other, name), err_msg=f"{group}/{name}")
            assert np.asarray(getattr(own, name)).dtype == np.asarray(getattr(other, name)).dtype, f"{group}/{name}"
    assert list(a.log) == list(b.log)  # type: ignore[attr-defined]
    for name, value in b.log.items():  # type: ignore[attr-defined]
        np.testing.assert_array_equal(a.log[name], value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", sorted(TESTDATA.glob("gsd/ok/*hoomd*.gsd")), ids=lambda path: path.name)
def test_frames_are_those_that_gsd_reads(path: Path) -> None:
    try:
        reference = gsd.hoomd.open(str(path))
        frames = list(reference)
    except Exception as refused:  # noqa: BLE001 - whatever gsd raises
        pytest.skip(f"gsd does not read it: {refused}")
    with holdall.gsd.open(path) as ours:
        assert len(ours) == len(frames)
        for own, other in zip(ours, frames, strict=True):
            same_frames(own, other)


@pytest.mark.filterwarnings("ignore:No logged data")
@pytest.mark.parametrize("path", sorted(TESTDATA.glob("gsd/ok/*hoomd*.gsd")), ids=lambda path: path.name)
@pytest.mark.parametrize("scalar_only", [False, True])
def test_logs_are_those_that_gsd_reads(path: Path, scalar_only: bool) -> None:
    try:
        expected = gsd.hoomd.read_log(str(path), scalar_only=scalar_only)
    except Exception as refused:  # noqa: BLE001 - whatever gsd raises
        pytest.skip(f"gsd does not read it: {refused}")
    found = holdall.gsd.read_log(path, scalar_only=scalar_only)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
        assert found[name].dtype == values.dtype, name


@pytest.mark.parametrize("pattern", ["*", "log/s*", "log/*[ab]", "log/[!s]*", "*[*]*", "s*"])
@pytest.mark.parametrize("scalar_only", [False, True])
@pytest.mark.filterwarnings("ignore:No logged data")
def test_logs_that_change_come_late_or_are_texts_are_those_of_gsd(
    tmp_path: Path, pattern: str, scalar_only: bool
) -> None:
    path = tmp_path / "log.gsd"
    with gsd.hoomd.open(str(path), "w") as file:
        for step in range(9):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = 7 * (step + 1 if step != 3 else 1)
            frame.log = {
                "s/whole": np.array([step], np.int16),
                "s/text": f"step {step % 3}",
                "pair*a": np.arange(2.0) + step,
                "rows b": np.array([[1, 2, step], [3, 4, 5]], np.uint8),
                "table": np.full((3, 2), step, np.float32),
            }
            if step in (0, 4):
                frame.log["s/rare"] = np.array([step / 8])
            if step > 3:
                frame.log["s/late"] = np.array([step])
            # Another type from frame 5 on, which gsd casts to that of frame 0.
            frame.log["s/typed"] = np.array([step], np.float64 if step < 5 else np.int32)
            file.append(frame)
    expected = gsd.hoomd.read_log(str(path), scalar_only=scalar_only, glob_pattern=pattern)
    found = holdall.gsd.read_log(path, scalar_only=scalar_only, glob_pattern=pattern)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
        assert (found[name].dtype, found[name].shape) == (values.dtype, values.shape), name


def frames(module: object, n: int) -> list[object]:
    """Frames with a bit of everything."""
    made = []
    chance = np.random.default_rng(3)
    for step in range(n):
        frame = module.Frame()  # type: ignore[attr-defined]
        frame.configuration.step = step * 10
        frame.configuration.box = [4, 5, 0 if step == 1 else 6, 0, 0.5, 0]
        frame.particles.N = 3 + step % 2
        frame.particles.types = ["A", "B"]
        frame.particles.position = chance.random((3 + step % 2, 3))
        frame.particles.mass = np.ones(3 + step % 2)
        frame.particles.typeid = [0, 1, 1] + [0] * (step % 2)
        frame.bonds.N = 1
        frame.bonds.types = ["b"]
        frame.bonds.group = [[0, 1]]
        frame.log["energy"] = np.array([1.5 * step])
        frame.log["text"] = "x" * step + "."
        made.append(frame)
    return made


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_same_frames_make_the_same_file(tmp_path: Path, precision: str) -> None:
    for module, name, extra in ((gsd.hoomd, "theirs.gsd", {}), (holdall.gsd, "ours.gsd", {"scheme": "reference"})):
        with module.open(str(tmp_path / name), "w", precision, **extra) as file:
            file.extend(frames(module, 5))
    with gsd.hoomd.open(str(tmp_path / "ours.gsd")) as ours, gsd.hoomd.open(str(tmp_path / "theirs.gsd")) as theirs:
        for own, other in zip(ours, theirs, strict=True):
            same_frames(own, other)
        names = [file.file.find_matching_chunk_names("") for file in (ours, theirs)]
        assert names[0] == names[1]
        for at in range(5):
            for name in names[0]:
                assert ours.file.chunk_exists(at, name) == theirs.file.chunk_exists(at, name), (at, name)
    assert holdall.verify(tmp_path / "ours.gsd")


def test_a_stack_is_all_frames_in_one_array(tmp_path: Path) -> None:
    path = tmp_path / "a.gsd"
    with holdall.gsd.open(path, "w") as file:
        for step in range(4):
            frame = holdall.gsd.Frame()
            frame.configuration.step = step
            frame.particles.N = 2
            if step != 2:
                frame.particles.position = np.full((2, 3), float(step))
            file.append(frame)
    with holdall.gsd.open(path) as file:
        stacked = file.stack("particles/position")
        assert stacked.shape == (4, 2, 3) and stacked[:, 0, 0].tolist() == [0, 1, 0, 3]
        assert file.stack("configuration/step", slice(1, 3)).ravel().tolist() == [1, 2]
        np.testing.assert_array_equal(stacked[3], file[3].particles.position)


def test_frames_are_followed_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "a.gsd"
    with holdall.gsd.open(path, "w") as file:
        frame = holdall.gsd.Frame()
        frame.configuration.step = 0
        file.append(frame)

        def write() -> None:
            for step in range(1, 5):
                time.sleep(0.05)
                frame = holdall.gsd.Frame()
                frame.configuration.step = step
                file.append(frame)
                file.flush()

        writer = threading.Thread(target=write)
        writer.start()
        with holdall.gsd.open(path) as reader:
            steps = [int(frame.configuration.step) for frame in reader.follow(timeout=1.5, pause=0.02)]
        writer.join()
    assert steps == [0, 1, 2, 3, 4]


def test_text_is_text_and_errors_are_those_of_gsd(tmp_path: Path) -> None:
    with holdall.gsd.fl.open(tmp_path / "a.gsd", "w", "app", "none", [1, 2]) as file:
        file.write_chunk("t", "hello")
        file.end_frame()
        file.flush()
        assert file.read_chunk(0, "t") == "hello"
        with pytest.raises(KeyError):
            file.read_chunk(0, "u")
        with pytest.raises(ValueError, match="dimensional"):
            file.write_chunk("x", np.zeros((1, 1, 1)))
    with pytest.raises(ValueError, match="not open"):
        file.end_frame()
    with pytest.raises(RuntimeError):
        holdall.gsd.open(tmp_path / "a.gsd")
    with pytest.raises(FileNotFoundError):
        holdall.gsd.open(tmp_path / "none.gsd")
    with pytest.raises(FileNotFoundError) as missing:
        holdall.gsd.open("https://127.0.0.1:1/x.gsd")
    assert missing.value.__notes__ == ["try: holdall.open, which reads files at URLs"]
    (tmp_path / "text").write_text("hello")
    with pytest.raises(RuntimeError) as wrong:
        holdall.gsd.open(tmp_path / "text")
    assert isinstance(wrong.value, holdall.HoldallError)


def test_names_of_types_may_be_any_text(tmp_path: Path) -> None:
    frame = holdall.gsd.Frame()
    frame.particles.N = 1
    frame.particles.types = ["A", "Bß", "粒子"]
    frame.particles.type_shapes = [{"type": "Sphere", "diameter": 2.0}, {}, {}]
    with holdall.gsd.open(tmp_path / "a.gsd", "w") as file:
        file.append(frame)
    with holdall.gsd.open(tmp_path / "a.gsd") as file, gsd.hoomd.open(str(tmp_path / "a.gsd")) as theirs:
        assert file[0].particles.types == theirs[0].particles.types == frame.particles.types
        assert file[0].particles.type_shapes == theirs[0].particles.type_shapes == frame.particles.type_shapes
