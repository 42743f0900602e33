"""Files in the browser, and in notebooks."""

from __future__ import annotations

import html
import os
import secrets
import subprocess
import sys
import tempfile
import urllib.parse
from types import TracebackType
from typing import Any

from ._dataset import Dataset
from ._errors import UsageError
from ._file import File
from ._opening import as_path
from ._types import StrPath

_COMMAND = [sys.executable, "-P", "-m", "holdall"]
"""The command of this package. Without `-P`, modules of the working directory would be imported, which may be a folder of data."""


class View:
    """A server that shows files in the browser, as `holdall serve` does. Made by `view`; notebooks show its page. `with` ends it.

    address : the page, for a browser on this machine. Whoever has it reads the files
    """

    def __init__(self, process: subprocess.Popen[str], address: str, frame: str, height: int) -> None:
        self.address = address
        self._process, self._frame, self._height = process, frame, height

    def close(self) -> None:
        """Ends the server; a second call does nothing."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()

    def __repr__(self) -> str:
        state = "ended" if self._process.poll() is not None else "running"
        return f"<holdall.View {state}>"

    def _repr_html_(self) -> str:
        source = html.escape(self._frame, quote=True)
        return (
            f'<iframe src="{source}" width="100%" height="{self._height}" style="border: 0" title="holdall"></iframe>'
        )


def view(*files: StrPath | File | Dataset, height: int = 640, idle: str = "8h", origin: str | None = None) -> View:
    """Shows files in the browser: values, pictures, particles, metadata, bytes and damage. In a notebook, the page is the cell's output.

    files : paths, folders, URLs, and open files that have a path
    height : of the frame in a notebook, in pixels
    idle : time without a request after which the server ends, such as "30m"; "never"
    origin : of a notebook that is reached through a proxy, such as "https://hub.example.org", where jupyter-server-proxy is installed; None for one
        on this machine

    The server is a process of its own that listens on 127.0.0.1 and writes nothing. It ends with `close`, with the object, and with this process.

    Raises UsageError for files that were opened from an object, and for files that cannot be shown.
    """
    if not files:
        raise UsageError("no file to show")
    words = ["serve", "--no-open", "--until-stdin-ends", "--idle", idle]
    for source in (origin,) if origin else ("http://localhost:*", "http://127.0.0.1:*"):
        words += ["--frame", source]
    if origin:
        words += ["--host", urllib.parse.urlsplit(origin).hostname or ""]
    token = secrets.token_hex(16)
    # Standard error goes to a temporary file, so that the server never waits for a reader.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*_COMMAND, *words, "--", *map(_path_of, files)],
            env=os.environ | {"HOLDALL_SERVE_TOKEN": token},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            process.wait()
            process.stdout.close()
            assert process.stdin is not None
            process.stdin.close()
            said.seek(0)
            raise UsageError(said.read().strip().removeprefix("holdall: ") or "the server did not start")
    frame = address
    if origin:
        port = urllib.parse.urlsplit(address).port
        prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/")
        frame = f"{prefix}proxy/{port}/#t={token}"
    return View(process, address, frame, height)


def _path_of(file: Any) -> str:
    whole = file.file if isinstance(file, Dataset) else file
    if not isinstance(whole, File):
        return as_path(whole)
    if whole.path is None or whole._fs is not None:
        raise UsageError("a file without a path of its own cannot be shown: pass its path")
    return whole.path


def jupyter_server_proxy() -> dict[str, Any]:
    """The entry of jupyter-server-proxy: the folder of the notebook under `/holdall/`."""
    token = secrets.token_hex(16)
    return {
        "command": [
            *_COMMAND,
            "serve",
            "--no-open",
            "--frame",
            "'self'",
            "--port",
            "{port}",
            ".",
        ],
        "environment": {"HOLDALL_SERVE_TOKEN": token},
        # The proxy lets in whom the notebook lets in, and is asked under names that the server does not know.
        "request_headers_override": {"Host": "127.0.0.1", "Authorization": f"Bearer {token}"},
        "launcher_entry": {"title": "holdall"},
        "timeout": 30,
    }
