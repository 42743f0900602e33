"""The lives of maps, files, threads and processes: nothing is kept longer than it is used, and nothing is let go before."""

from __future__ import annotations

import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import TESTDATA, same_bits

import holdall
import holdall.bloscpack
import holdall.gsd

IS_LINUX = os.path.exists("/proc/self/maps")
needs_proc = pytest.mark.skipif(not IS_LINUX, reason="maps, memory and files are counted in /proc")


def mapped(path: Path) -> int:
    """Number of ranges of the file that this process maps."""
    with open("/proc/self/maps") as file:
        return sum(str(path) in line for line in file)


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def plain(folder: Path, kind: str) -> tuple[Path, np.ndarray]:
    """A file of 2 MiB of values that lie in it as they are, and the values."""
    values = np.arange(1 << 18, dtype="<f8").reshape(512, 512)
    path = folder / f"a.{kind}"
    if kind == "gsd":
        with holdall.gsd.fl.open(path, "w", "app", "none", [1, 0]) as file:
            file.write_chunk("data", values)
            file.end_frame()
    elif kind == "npy":
        np.save(path, values)
    else:
        holdall.save(path, values, **({"codec": "none"} if kind == "asdf" else {}), durable=False)
    return path, values


def only(file: holdall.File) -> holdall.Dataset:
    name = next(name for name in file if name.endswith("data"))
    return file[name]


@needs_proc
@pytest.mark.parametrize("kind", ["ra", "npy", "asdf", "gsd"])
def test_a_map_lives_as_long_as_the_last_view_of_it(tmp_path: Path, kind: str) -> None:
    path, values = plain(tmp_path, kind)
    with holdall.open(path) as file:
        dataset = only(file)
    view = dataset.view()
    assert view is not None and mapped(path) == 1 and same_bits(view.reshape(values.shape), values)
    other = dataset.view(slice(3, 5))
    assert other is not None and mapped(path) == 1
    # What numpy makes of a view keeps it: parts, other types over the same bytes, memory views, iterators.
    kept: list[Any] = [view[1:3, ::2], view.T, view.view("u8"), memoryview(view), iter(view), np.ma.array(view)]
    del view, other, dataset, file
    while kept:
        gc.collect()
        assert mapped(path) == 1, f"{len(kept)} views are left"
        kept.pop()
    gc.collect()
    assert mapped(path) == 0


@needs_proc
def test_a_view_ends_in_another_thread_and_outlives_its_file(tmp_path: Path) -> None:
    path, values = plain(tmp_path, "ra")
    held = [only(holdall.open(path)).view()]
    os.unlink(path)
    gc.collect()
    assert held[0] is not None and float(held[0].sum()) == values.sum()
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert mapped(path) == 0


@needs_proc
def test_reading_keeps_nothing_of_the_file(tmp_path: Path) -> None:
    path, values = plain(tmp_path, "ra")
    before = open_files()
    array = only(holdall.open(path))[...]
    gc.collect()
    assert mapped(path) == 0 and open_files() == before and array.flags.owndata is False and array.flags.writeable
    assert same_bits(array, values)


def small_files(folder: Path) -> list[Path]:
    """A small file of each format."""
    values = np.arange(300, dtype="<i4").reshape(30, 10)
    made = []
    for name in ("a.asdf", "a.b2nd", "a.blp", "a.ra", "a.npy"):
        holdall.save(folder / name, values, durable=False)
        made.append(folder / name)
    with holdall.gsd.open(folder / "a.gsd", "w") as run:
        frame = holdall.gsd.Frame()
        frame.particles.N = 5
        frame.particles.position = np.ones((5, 3))
        run.append(frame)
    return [*made, folder / "a.gsd"]


def steady(work: Callable[[], object], times: int, grown: int = 8 << 20) -> None:
    """Fails where work that is done over and over takes more memory, files or threads."""
    for _ in range(max(times // 10, 20)):
        work()
    gc.collect()
    before, files, workers = resident(), open_files(), threads()
    for _ in range(times):
        work()
    gc.collect()
    assert open_files() == files
    assert threads() <= workers + 1
    assert resident() - before < grown, f"{(resident() - before) >> 10} KiB more"


@needs_proc
def test_ten_thousand_opens_keep_memory_and_files_flat(tmp_path: Path) -> None:
    paths = small_files(tmp_path)

    def opens() -> None:
        for path in paths:
            with holdall.open(path) as file:
                dataset = file[next(iter(file))]
                dataset[0:2]
                dataset.view()

    # Six files each time.
    steady(opens, 1700)


@needs_proc
def test_ten_thousand_opens_that_fail_keep_memory_and_files_flat() -> None:
    bad = [path for path in sorted(TESTDATA.glob("*/bad/*")) if path.is_file() and path.stat().st_size < 20_000][::9]

    def opens() -> None:
        for path in bad:
            try:
                with holdall.open(path) as file:
                    for name in list(file)[:2]:
                        file[name][...]
            except (holdall.HoldallError, OSError):
                pass

    assert len(bad) >= 50
    steady(opens, 10_000 // len(bad) + 1, 16 << 20)


@needs_proc
def test_all_other_calls_keep_memory_and_files_flat(tmp_path: Path) -> None:
    paths = small_files(tmp_path)
    data = [path.read_bytes() for path in paths]
    array = np.arange(1000.0)

    def calls() -> None:
        for path, content in zip(paths, data, strict=True):
            file = holdall.open(io.BytesIO(content))
            dataset = file[next(iter(file))]
            pickle.loads(pickle.dumps(holdall.open(path)))
            holdall.verify(path)
            holdall.digest(path)
            file.tree(), file.layout(), file.meta, file.info, dataset.stat(), repr(dataset)
        holdall.save(tmp_path / "new.b2nd", array, overwrite=True, durable=False)
        packed = holdall.bloscpack.pack_ndarray_to_bytes(array)
        holdall.bloscpack.unpack_ndarray_from_bytes(packed)
        with holdall.gsd.open(paths[-1]) as run:
            run[0].particles.position, run.stack("particles/position")

    steady(calls, 150)


@needs_proc
def test_stopped_work_leaves_no_thread_and_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.b2nd"
    holdall.save(path, np.tile(np.arange(1 << 14), 32), codec="zlib:1", chunks=(1 << 14,), durable=False)

    def stopped() -> None:
        def stop(done: int, total: int) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            holdall.digest(path, progress=stop)

    steady(stopped, 100)
    gc.collect()
    assert mapped(path) == 0


def python(code: str, expected: int = 0) -> str:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == expected, done.stderr[-3000:]
    assert "panicked" not in done.stderr and "Fatal" not in done.stderr, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes some tenths of a second to decode."""
    path = tmp_path_factory.mktemp("slow") / "a.asdf"
    chance = np.random.default_rng(1)
    holdall.save(path, np.tile(chance.integers(0, 40, 1 << 17).astype("<i8"), 10), codec="bzp2", durable=False)
    return path


CALLS = {
    "read": "d[...]",
    "verify": "holdall.verify(path)",
    "stat": "d.stat()",
    "convert": "holdall.convert(path, path + '.b2nd', overwrite=True, durable=False)",
    "progress": "holdall.digest(path, progress=lambda done, total: None)",
    "object": "holdall.open(io.BytesIO(open(path, 'rb').read()))['data'][...]",
    "pack": "holdall.bloscpack.pack_file_to_file(path, path + '.blp', blosc_args=args)",
}


@pytest.mark.parametrize("call", CALLS)
def test_the_interpreter_ends_while_a_call_runs(slow: Path, call: str) -> None:
    code = f"""
import io, threading, time, holdall, holdall.bloscpack
path = {str(slow)!r}
args = holdall.bloscpack.BloscArgs(clevel=9, cname="zlib")
d = holdall.open(path)["data"]
for _ in range(2):
    threading.Thread(target=lambda: {CALLS[call]}, daemon=True).start()
time.sleep(0.15)
"""
    python(code)


def test_arrays_and_files_live_until_the_interpreter_ends(tmp_path: Path) -> None:
    path, _ = plain(tmp_path, "ra")
    code = f"""
import atexit, holdall
file = holdall.open({str(path)!r})
view = file["data"].view()
kept = [file["data"], view, view[3:5]]
kept.append(kept)
atexit.register(lambda: print(float(view[1, 1]), file["data"][1, 1]))
"""
    assert python(code).split() == ["513.0", "513.0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_work_after_threaded_reads_and_during_them(slow: Path, tmp_path: Path) -> None:
    code = f"""
import os, threading, time, holdall, numpy as np
path = {str(slow)!r}
d = holdall.open(path)["data"]
expected = d.read(threads=2)[::1000].tolist()
# While another thread reads, too.
threading.Thread(target=lambda: d.read(threads=2), daemon=True).start()
time.sleep(0.05)
children = []
for number in range(3):
    pid = os.fork()
    if pid == 0:
        same = d.read(threads=2)[::1000].tolist() == expected
        new = {str(tmp_path)!r} + f"/{{number}}.b2nd"
        holdall.save(new, np.arange(1000), durable=False)
        same = same and holdall.load(new).sum() == 499500 and bool(holdall.verify(new, threads=2))
        os._exit(0 if same else 1)
    children.append(pid)
raise SystemExit(max(os.waitpid(pid, 0)[1] for pid in children))
"""
    python(code)


def pickled(value: Any) -> list[Any]:
    """Copies through every protocol that carries classes, and through `copy`."""
    through = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    return [*through, copy.copy(value), copy.deepcopy(value)]


def test_files_and_datasets_are_pickled(tmp_path: Path) -> None:
    paths = small_files(tmp_path)
    for path in paths:
        file = holdall.open(path, digests="compare")
        for again in pickled(file):
            assert list(again) == list(file) and again.path == file.path
        for name in file:
            for again in pickled(file[name]):
                assert again.path == name and same_bits(again[...], file[name][...])
            for again in pickled(file[name].view() if file[name].codec == "none" else file[name][...]):
                assert same_bits(again, file[name][...])
    records = np.zeros(3, [("a", "<i4"), ("b", ">f8")])
    holdall.save(tmp_path / "r.asdf", records)
    field = holdall.open(tmp_path / "r.asdf")["data"].field("b")
    for again in pickled(field):
        assert same_bits(again[...], records["b"]) and again.dtype == field.dtype
    with pytest.raises(TypeError, match="object"):
        pickle.dumps(holdall.open(io.BytesIO(paths[0].read_bytes())))


def test_results_are_pickled(tmp_path: Path) -> None:
    cut = TESTDATA / "gsd/bad/cut_last_byte.gsd"
    paths = small_files(tmp_path)
    other = tmp_path / "other.npy"
    np.save(other, np.zeros(3))
    file = holdall.open(paths[0])
    results: list[Any] = [
        holdall.verify(cut),
        holdall.repair(cut, tmp_path / "whole.gsd"),
        holdall.convert(paths[0], tmp_path / "b.ra", on_loss="ignore"),
        holdall.diff(paths[0], other),
        file["data"].stat(),
        file.layout(),
        file.info,
        file.meta,
        holdall.formats(),
        holdall.digest(paths[0]),
    ]
    for result in results:
        for again in pickled(result):
            assert type(again) is type(result) and str(again) == str(result)
    with holdall.gsd.open(paths[-1]) as run:
        frame = run[0]
    for again in pickled(frame):
        assert same_bits(again.particles.position, frame.particles.position)
    for args in (holdall.bloscpack.BloscArgs(), holdall.bloscpack.BloscpackArgs(), holdall.bloscpack.MetadataArgs()):
        for again in pickled(args):
            assert again == args and type(again) is type(args)


def exceptions() -> list[type[BaseException]]:
    modules = (holdall, holdall.bloscpack, holdall.gsd)
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, holdall.HoldallError)
    }
    return sorted(found, key=lambda it: it.__name__)


@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__name__)
def test_exceptions_are_pickled(kind: Any) -> None:
    error = kind("it is wrong", (3, 9), "part", "try: this")
    for again in pickled(error):
        assert type(again) is kind and str(again) == "it is wrong"
        assert (again.range, again.part, again.hint) == ((3, 9), "part", "try: this")
        assert again.__notes__ == error.__notes__ == ["try: this"]


def test_exceptions_of_damage_are_pickled_as_they_are_raised() -> None:
    seen: set[type] = set()
    for path in sorted(TESTDATA.glob("*/bad/*")):
        try:
            with holdall.open(path) as file:
                for name in list(file)[:3]:
                    file[name][...]
        except holdall.HoldallError as error:
            seen.add(type(error))
            for again in pickled(error):
                assert type(again) is type(error) and vars(again).keys() >= {"range", "part", "hint"}
                assert str(again) == str(error) and again.range == error.range and again.args == error.args
        except OSError:
            pass
    assert {holdall.TruncatedError, holdall.MalformedError, holdall.ChecksumError} <= seen
