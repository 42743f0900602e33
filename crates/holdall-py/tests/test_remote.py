"""Files at URLs, in file systems of fsspec and in stores of obstore."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import obstore.store
import pytest
from conftest import TESTDATA, same_bits

import holdall
import holdall.rawarray

FILES = [
    "asdf/ok/image.asdf",
    "blosc2/ok/old_shape_2d_edges.b2nd",
    "bloscpack/ok/np_30x30.blp",
    "gsd/ok/hoomd_full.gsd",
    "rawarray/ok/f4_3x4.ra",
]


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Ranges of files, to those who know the key."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        requests: list[str] = self.server.requests  # type: ignore[attr-defined]
        requests.append(self.path)
        if self.path.startswith("/private") and self.headers.get("X-Key") != "SECRET":
            self.send_error(403)
            return
        path = self.translate_path(self.path.removeprefix("/private"))
        if not os.path.isfile(path):
            self.send_error(404)
            return
        data = Path(path).read_bytes()
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        part = data[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", f'"{hash(data)}"')
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A web server of a folder: its address, and the paths that were asked for."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Ranges, directory=str(folder)))
    server.requests = []  # type: ignore[attr-defined]
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.requests  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_files_are_read_alike_wherever_they_are() -> None:
    fs = fsspec.filesystem("memory")
    store = obstore.store.LocalStore(TESTDATA)
    with served(TESTDATA) as (url, _):
        for name in FILES:
            fs.pipe(f"/{name}", (TESTDATA / name).read_bytes())
            here = holdall.open(TESTDATA / name)
            there = [holdall.open(f"{url}/{name}"), holdall.open((fs, f"/{name}")), holdall.open((store, name))]
            with fs.open(f"/{name}") as file:
                there.append(holdall.open(file))
            for opened in there:
                assert list(opened) == list(here) and opened.format == here.format
                assert opened.meta == here.meta
                for path in here:
                    assert same_bits(opened[path][...], here[path][...]), (name, path)
            for opened in there[:3]:
                for path in list(here)[:3]:
                    again = pickle.loads(pickle.dumps(opened[path]))
                    assert same_bits(again[...], here[path][...])


def test_functions_take_urls(tmp_path: Path) -> None:
    with served(TESTDATA) as (url, _):
        address = f"{url}/rawarray/ok/f4_3x4.ra"
        values = holdall.open(TESTDATA / "rawarray/ok/f4_3x4.ra")["data"][...]
        assert same_bits(holdall.load(f"{address}::data[1:]"), values[1:])
        assert holdall.verify(address) and holdall.open(address).verify(quick=True)
        assert holdall.diff(address, TESTDATA / "rawarray/ok/f4_3x4.ra") == []
        assert holdall.digest(address) == holdall.digest(TESTDATA / "rawarray/ok/f4_3x4.ra")
        holdall.convert(address, tmp_path / "new.b2nd")
        assert same_bits(holdall.open(tmp_path / "new.b2nd")["data"][...].astype("<f4"), values.astype("<f4"))
        with pytest.raises(FileNotFoundError, match="404"):
            holdall.open(f"{url}/none.ra")


def test_rawarrays_functions_take_urls() -> None:
    with served(TESTDATA / "rawarray/odd") as (address, _):
        url = f"{address}/trailer_text.ra"
        assert holdall.rawarray.trailer(url) == b"acquired on a rainy day\n"
        assert (
            holdall.rawarray.read(url).tolist()
            == holdall.rawarray.read(TESTDATA / "rawarray/odd/trailer_text.ra").tolist()
        )


def test_options_reach_the_server_and_no_message() -> None:
    with served(TESTDATA) as (url, requests):
        address = f"{url}/private/rawarray/ok/f4_3x4.ra"
        words: dict[str, Any]
        for words in ({"headers": {"X-Key": "SECRET"}}, {"storage_options": {"headers": {"X-Key": "SECRET"}}}):
            file = holdall.open(address, **words)
            again = pickle.loads(pickle.dumps(file["data"]))
            assert same_bits(again[...], file["data"][...])
            assert file.verify() and "SECRET" not in repr(file)
        with pytest.raises(PermissionError, match="403") as caught:
            holdall.open(f"{address}?sig=SECRET", headers={"Other": "SECRET"})
        assert "SECRET" not in str(caught.value) and "?…" in str(caught.value)
        assert requests
        with pytest.raises(OSError, match="answered|refused|connection"):
            holdall.open(address, headers={"X-Key": "SECRET"}, proxy="http://127.0.0.1:9", deadline=0.5)
    for words, match in (
        ({"anon": 1}, "anon"),
        ({"headers": ["SECRET"]}, "headers"),
        ({"key": b"SECRET"}, "key"),
        ({"storage_options": {"lenient": True}}, "lenient"),
        ({"unknown": 1}, "unknown"),
    ):
        with pytest.raises(TypeError, match=match) as raised:
            holdall.open("http://127.0.0.1:9/a.ra", **words)
        assert "SECRET" not in str(raised.value)
    with pytest.raises(TypeError, match="URLs"):
        holdall.open(TESTDATA / "rawarray/ok/f4_3x4.ra", anon=True)


def test_an_object_that_changes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.ra"
    holdall.save(path, np.arange(1 << 20))
    store = obstore.store.LocalStore(tmp_path)
    with served(tmp_path) as (url, _):
        opened = [holdall.open(f"{url}/a.ra"), holdall.open((store, "a.ra"))]
        holdall.save(path, np.arange(1 << 20)[::-1], overwrite=True)
        for file in opened:
            with pytest.raises(OSError, match="changed|recondition"):
                file["data"][...]


def test_ranges_of_fsspec_are_read_at_a_time(tmp_path: Path) -> None:
    holdall.save(tmp_path / "a.b2nd", np.random.default_rng(1).integers(0, 256, 8 << 20, "u1"), chunks=(1 << 20,))
    fs = fsspec.filesystem("file")
    asked: list[int] = []
    at_once, most = 0, 0
    lock = threading.Lock()
    plain = fs.cat_file

    def counted(path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        threading.Event().wait(0.02)
        try:
            data: bytes = plain(path, start=start, end=end, **kwargs)
        finally:
            with lock:
                at_once -= 1
        asked.append(len(data))
        return data

    fs.cat_file = counted
    try:
        file = holdall.open((fs, str(tmp_path / "a.b2nd")))
        opened = len(asked)
        assert opened <= 3
        file["data"][:: 1 << 20]
        # Of each of eight chunks the places of its blocks, and then one of them.
        assert most > 1 and len(asked) - opened <= 24
    finally:
        del fs.cat_file


def test_a_forked_process_makes_its_own_connections() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    with served(TESTDATA) as (url, _):
        file = holdall.open(f"{url}/asdf/ok/image.asdf")
        names = list(file)
        expected = file[names[0]][...]
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                same = same_bits(holdall.open(f"{url}/asdf/ok/image.asdf")[names[0]][...], expected)
                os.write(write, b"same" if same else b"other")
            finally:
                os._exit(0)
        os.close(write)
        assert os.read(read, 10) == b"same"
        os.waitpid(child, 0)
        assert same_bits(file[names[-1]][...], holdall.open(TESTDATA / "asdf/ok/image.asdf")[names[-1]][...])
