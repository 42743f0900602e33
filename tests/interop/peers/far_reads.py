"""Requests and bytes that parts of files in a bucket cost holdall and others: the table of docs/remote.md.

Usage: far_reads.py HOLDALL. Needs asdf, blosc2, gsd, s3fs and numpy; HOLDALL is the command. Files are written by their own libraries, and served
on loopback by a server that has as much of S3 as reading takes and counts answers.
"""

import http.server
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import asdf
import blosc2
import fsspec
import gsd.fl
import gsd.hoomd
import numpy as np

os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")


class Counted(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self.answer(is_head=True)

    def do_GET(self) -> None:
        self.answer(is_head=False)

    def answer(self, *, is_head: bool) -> None:
        path = Path(self.server.folder) / self.path.split("?")[0].removeprefix("/box/")
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = path.stat().st_size
        asked = self.headers.get("Range")
        first, last = 0, size - 1
        if asked:
            first, last = (int(end) if end else size - 1 for end in asked.removeprefix("bytes=").split("-"))
            last = min(last, size - 1)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Sun, 29 Nov 2026 00:00:00 GMT")
        self.end_headers()
        sent = 0
        if not is_head:
            with open(path, "rb") as file:
                file.seek(first)
                while sent <= last - first:
                    piece = file.read(min(1 << 16, last - first + 1 - sent))
                    try:
                        self.wfile.write(piece)
                    except ConnectionError:
                        break
                    sent += len(piece)
        with self.server.lock:
            self.server.count += 1
            self.server.bytes += sent


def main(holdall: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counted)
        server.daemon_threads = True
        server.folder, server.lock, server.count, server.bytes = folder, threading.Lock(), 0, 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        os.environ["AWS_ENDPOINT_URL"] = address
        write(Path(folder))

        def cost(label: str, who: str, work) -> None:
            time.sleep(0.2)
            with server.lock:
                server.count = server.bytes = 0
            work()
            time.sleep(0.2)
            print(f"| {label} | {who} | {server.count} | {server.bytes / 1e6:.2f} MB |", flush=True)

        def ours(*args: str):
            def run() -> None:
                subprocess.run([holdall, *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

            return run

        options = {"client_kwargs": {"endpoint_url": address}}

        def s3():
            return fsspec.filesystem("s3", skip_instance_cache=True, **options)

        def of_asdf(name: str, path: str, index):
            def run() -> None:
                with s3().open(f"box/{name}", "rb") as file, asdf.open(file) as opened:
                    node = opened
                    for key in path.split("/"):
                        node = node[key]
                    np.array(node[index])

            return run

        def of_blosc2(name: str, index):
            def run() -> None:
                blosc2.open(f"s3://box/{name}", lazy=True, storage_options=options)[index]

            return run

        def of_gsd(read):
            def run() -> None:
                # gsd reads files of the machine alone.
                local = Path(folder) / "copy.gsd"
                urllib.request.urlretrieve(f"{address}/box/run.gsd", local)
                with gsd.hoomd.open(local) as file:
                    read(file)

            return run

        print("| work | program | requests | bytes |\n|---|---|--:|--:|")
        cut = "[2000:2010,2000:2010]"
        here = np.s_[2000:2010, 2000:2010]
        for name, label in (("plain", "plain"), ("zlib", "zlib")):
            label = f"10 × 10 of 4096 × 4096 float32, ASDF, {label}"
            cost(label, "holdall", ours("cat", f"s3://box/{name}.asdf::data{cut}"))
            cost(label, "asdf + s3fs", of_asdf(f"{name}.asdf", "data", here))
        label = "one of 5,000 arrays, ASDF"
        cost(label, "holdall", ours("cat", "s3://box/many.asdf::a2500"))
        cost(label, "asdf + s3fs", of_asdf("many.asdf", "a2500", ...))
        label = "10 × 10 of 4096 × 4096 float32, b2nd"
        cost(label, "holdall", ours("cat", f"s3://box/a.b2nd::data{cut}"))
        cost(label, "python-blosc2, lazy", of_blosc2("a.b2nd", here))
        label = "positions of one frame, GSD, 300 × 20,000"
        cost(label, "holdall", ours("cat", "s3://box/run.gsd::particles/position[150]"))
        cost(label, "gsd, after a download", of_gsd(lambda file: file[150].particles.position))
        label = "a logged number of 300 frames, GSD"
        cost(label, "holdall", ours("cat", "s3://box/run.gsd::log/e"))
        cost(label, "gsd, after a download", of_gsd(lambda file: [frame.log["e"] for frame in file]))


def write(folder: Path) -> None:
    random = np.random.default_rng(1)
    image = random.normal(100, 5, (4096, 4096)).astype("<f4")
    asdf.AsdfFile({"data": image}).write_to(folder / "plain.asdf")
    asdf.AsdfFile({"data": np.round(image)}).write_to(folder / "zlib.asdf", all_array_compression="zlib")
    arrays = {f"a{number}": random.normal(size=1000) for number in range(5000)}
    asdf.AsdfFile(arrays).write_to(folder / "many.asdf")
    blosc2.asarray(image, chunks=(512, 512), blocks=(64, 64), urlpath=str(folder / "a.b2nd"), mode="w")
    with gsd.hoomd.open(folder / "run.gsd", "w") as file:
        for step in range(300):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = step
            frame.particles.N = 20_000
            frame.particles.position = random.normal(size=(20_000, 3)).astype("<f4")
            frame.log["e"] = np.array([step * 0.5])
            file.append(frame)


main(sys.argv[1])
