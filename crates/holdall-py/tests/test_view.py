"""Files in the browser: the server that `holdall.view` starts, asked as a browser asks it."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import subprocess
import urllib.parse
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdall


def asked(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a call with the token of an address."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {parts.fragment.removeprefix('t=')}", **headers})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(3, 4))
    holdall.convert(tmp_path / "a.npy", tmp_path / "a.b2nd")
    return tmp_path / "a.b2nd"


def test_a_file_is_served_to_notebooks(path: Path) -> None:
    with holdall.view(path) as shown:
        status, headers, body = asked(shown.address, "/api/files")
        assert status == 200 and [file["name"] for file in json.loads(body)["files"]] == ["a.b2nd"]
        policy = headers["content-security-policy"]
        assert policy.endswith("frame-ancestors http://localhost:* http://127.0.0.1:*")
        query = urllib.parse.urlencode({"file": "a.b2nd", "path": "/data", "format": "bin", "selection": "1,:"})
        _, _, values = asked(shown.address, f"/h5grove/data?{query}")
        assert np.frombuffer(values, "<f8").tolist() == [4, 5, 6, 7]
        # The frame of a notebook is of another site, and so may ask for the page, but not for data.
        framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
        assert asked(shown.address, "/", **framed)[0] == 200
        assert asked(shown.address, "/api/files", **framed)[0] == 403
        frame = shown._repr_html_()
        assert f'src="{shown.address}"' in frame and 'height="640"' in frame
        assert repr(shown) == "<holdall.View running>"
    assert repr(shown) == "<holdall.View ended>"
    shown.close()
    with pytest.raises(OSError):
        asked(shown.address, "/api/files")


def test_open_files_and_datasets_are_shown_by_their_paths(path: Path) -> None:
    file = holdall.open(path)
    with holdall.view(file, file["data"]) as shown:
        names = [one["name"] for one in json.loads(asked(shown.address, "/api/files")[2])["files"]]
    assert names == ["a.b2nd", "a.b2nd (2)"]
    with pytest.raises(holdall.UsageError, match="path of its own"):
        holdall.view(holdall.open(io.BytesIO(path.read_bytes())))


def test_what_cannot_be_shown_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(holdall.UsageError, match="no file"):
        holdall.view()
    with pytest.raises(holdall.UsageError, match="none.ra"):
        holdall.view(tmp_path / "none.ra")


def test_a_proxy_in_front_names_its_host(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/me/")
    with holdall.view(path, origin="https://hub.example.org") as shown:
        parts = urllib.parse.urlsplit(shown.address)
        assert f'src="/user/me/proxy/{parts.port}/#{parts.fragment}"' in shown._repr_html_()
        status, headers, _ = asked(shown.address, "/api/files", Host="hub.example.org")
        assert status == 200 and headers["content-security-policy"].endswith("frame-ancestors https://hub.example.org")
        assert asked(shown.address, "/api/files", Host="other.example.org")[0] == 421


def test_the_entry_of_jupyter_server_proxy_starts_a_server(path: Path) -> None:
    (entry,) = entry_points(group="jupyter_serverproxy_servers", name="holdall")
    made: dict[str, Any] = entry.load()()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [word.replace("{port}", str(port)) for word in made["command"]]
    with subprocess.Popen(
        command, cwd=path.parent, env=os.environ | made["environment"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None and server.stdout.readline()
        # As the proxy asks, whatever the browser has sent to it.
        status, _, body = asked(f"http://127.0.0.1:{port}/", "/api/files", **made["request_headers_override"])
        server.terminate()
    assert status == 200 and sorted(file["name"] for file in json.loads(body)["files"]) == ["a.b2nd"]
