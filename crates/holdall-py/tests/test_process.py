"""Signals, progress, threads, the command."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import holdall


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of some hundred MB of values: bzip2 in ASDF, zstd and zlib in Blosc2."""
    folder = tmp_path_factory.mktemp("big")
    chance = np.random.default_rng(1)
    values = np.tile(chance.integers(0, 40, 1 << 20, dtype="u2").astype("<i8"), 24)
    holdall.save(folder / "a.asdf", values, codec="bzp2", durable=False)
    holdall.save(folder / "a.b2nd", values, codec="zstd:1", durable=False)
    noise = np.tile(np.random.default_rng(2).normal(size=1 << 18), 160)
    holdall.save(folder / "slow.b2nd", noise, codec="zlib:1", chunks=(1 << 18,), durable=False)
    return folder


def interrupted(work: object, after: float = 0.15) -> float:
    """Seconds from SIGINT to the exception; fails if the work ended first."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        work()  # type: ignore[operator]
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        timer.cancel()
        timer.join()
    pytest.fail("the work ended before the signal")


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_ends_work_at_once_and_leaves_nothing(big: Path, tmp_path: Path) -> None:
    source = big / "a.asdf"
    works = {
        "verify": lambda: holdall.verify(source),
        "read": lambda: holdall.open(source)["data"][...],
        "digest": lambda: holdall.digest(source),
        "stat": lambda: holdall.open(source)["data"].stat(),
        "convert": lambda: holdall.convert(source, tmp_path / "out.b2nd"),
    }
    for name, work in works.items():
        late = interrupted(work)
        # A tenth of a second is the promise on a quiet machine; this one may be busy.
        assert late < 1.0, (name, late)
    deadline = time.monotonic() + 5
    while os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_a_stopped_read_stops_working(big: Path) -> None:
    code = f"""
import os, signal, threading, time, numpy, holdall
dataset = holdall.open({str(big / "slow.b2nd")!r})["data"]
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    dataset.read(threads=1)
    raise SystemExit("the read ended before the signal")
except KeyboardInterrupt:
    pass
time.sleep(0.2)
before = time.process_time()
time.sleep(0.3)
raise SystemExit(0 if time.process_time() - before < 0.1 else "the read went on")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are listed as Linux does")
@pytest.mark.parametrize("codec", ["bzp2", "zlib", "lz4", "zstd", None])
@pytest.mark.parametrize("threads", [1, 2])
def test_no_thread_goes_on_after_ctrl_c(codec: str | None, threads: int, tmp_path: Path) -> None:
    # The request comes from a read of the file itself, so that the work cannot end before it.
    values = np.random.default_rng(3).integers(0, 4000, 16 << 20, dtype="<u2")
    values[: 8 << 20] //= 100
    holdall.save(tmp_path / "a.asdf", values, codec=codec, durable=False)
    code = f"""
import glob, os, signal, time, holdall

def running():
    names = []
    for path in glob.glob("/proc/self/task/*/comm"):
        try:
            names.append(open(path).read().strip())
        except OSError:
            # It ended meanwhile.
            pass
    return names.count("holdall")

class Slow:
    def __init__(self):
        self.file, self.reads, self.late = open({str(tmp_path / "a.asdf")!r}, "rb"), 0, 0
    def seek(self, at, whence=0):
        return self.file.seek(at, whence)
    def read(self, count=-1):
        self.reads += self.armed
        if self.reads == 1:
            os.kill(os.getpid(), signal.SIGINT)
            # Longer than the wait between two looks at signals.
            time.sleep(0.2)
        return self.file.read(count)
    armed = False

slow = Slow()
dataset = holdall.open(slow)["data"]
Slow.armed = True
try:
    dataset.read(threads={threads})
    raise SystemExit("the read ended before the signal")
except KeyboardInterrupt:
    pass
deadline = time.monotonic() + 5
while running() and time.monotonic() < deadline:
    time.sleep(0.001)
if running():
    raise SystemExit("a thread goes on")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_progress_is_told_on_this_thread_and_an_exception_of_it_cancels(big: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    names: set[str] = set()

    def told(done: int, total: int) -> None:
        seen.append((done, total))
        names.add(threading.current_thread().name)

    holdall.convert(big / "a.b2nd", tmp_path / "a.npy", progress=told, durable=False)
    assert names == {threading.current_thread().name}
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1] == 24 * 8 << 20
    (tmp_path / "a.npy").unlink()

    def stops(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        holdall.convert(big / "slow.b2nd", tmp_path / "b.npy", progress=stops)
    time.sleep(0.3)
    assert os.listdir(tmp_path) == []


def test_other_threads_run_while_one_reads(big: Path) -> None:
    ticks, stop = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    holdall.open(big / "a.asdf")["data"][...]
    stop.set()
    thread.join()
    assert ticks > 50


def test_threads_share_a_file(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    whole = dataset[...]
    wrong: list[int] = []

    def read() -> None:
        for row in range(48):
            if not np.array_equal(dataset[row], whole[row], equal_nan=True):
                wrong.append(row)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def mean(dataset: holdall.Dataset) -> float:
    """Work for another process."""
    return float(np.nanmean(dataset[...]))


def test_datasets_go_to_other_processes(image: Path) -> None:
    dataset = holdall.open(image)["roman/data"]
    assert len(pickle.dumps(dataset)) < 500
    with ProcessPoolExecutor(2) as pool:
        assert set(pool.map(mean, [dataset] * 4)) == {mean(dataset)}


def test_views_are_what_is_asked_for(tmp_path: Path, image: Path) -> None:
    path = tmp_path / "a.ra"
    holdall.save(path, np.arange(100, dtype="<i4"))
    dataset = holdall.open(path)["data"]
    fresh = np.asarray(dataset)
    fresh[:] = 0
    assert dataset[5] == 5
    view = np.asarray(dataset, copy=False)
    assert not view.flags.writeable and view[7] == 7
    buffer = memoryview(dataset.view())
    assert buffer.readonly and buffer[3] == 3
    # numpy would take a buffer before `__array__`: no fresh array, and a read-only one.
    with pytest.raises(TypeError):
        memoryview(dataset)
    packed = holdall.open(image)["roman/data"]
    assert packed.view() is None
    with pytest.raises(ValueError, match="encoded"):
        np.asarray(packed, copy=False)


def test_the_command_runs_in_this_process(image: Path) -> None:
    for command in ([sys.executable, "-m", "holdall"], [os.path.join(os.path.dirname(sys.executable), "holdall")]):
        done = subprocess.run([*command, "ls", str(image)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "roman/data" in done.stdout
        assert subprocess.run([*command, "ls", "/none"], capture_output=True, timeout=60).returncode == 2


def test_importing_imports_nothing_heavy() -> None:
    code = "import sys, holdall; print(sorted({'numpy', 'dask', 'json.tool', 'asyncio'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_numbers_of_threads_are_checked() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        holdall.set_threads(0)
    holdall.set_threads(2)
    holdall.set_threads(None)
