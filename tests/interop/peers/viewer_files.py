"""Files for the scenarios of the viewer in a browser, written by the reference packages, and what they must show.

Usage: viewer_files.py HOLDALL FOLDER. Prints the parameters of `web/test/scenarios.mjs` as JSON; expected values are numpy's, and the expected picture
is the one that `holdall plot` embeds in an SVG file.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import asdf
import blosc2
import gsd.hoomd
import numpy as np


def image(folder: Path) -> None:
    """700 × 1000 counts with a few stars."""
    rng = np.random.default_rng(1)
    data = rng.normal(100, 5, (700, 1000)).astype("<f4")
    rows, columns = np.mgrid[-8:9, -8:9]
    for row, column in zip(rng.integers(8, 692, 60), rng.integers(8, 992, 60), strict=True):
        star = rng.exponential(800) * np.exp(-(rows**2 + columns**2) / 8)
        data[row - 8 : row + 9, column - 8 : column + 9] += star.astype("<f4")
    meta = {"telescope": "ROMAN", "exposure": {"start_time": "2026-11-28T00:00:00", "count": 3}}
    asdf.AsdfFile({"roman": {"meta": meta, "data": data}}).write_to(folder / "image.asdf")
    whole = (folder / "image.asdf").read_bytes()
    (folder / "cut.asdf").write_bytes(whole[: len(whole) // 2])


def types(folder: Path) -> list[str]:
    """Elements of many kinds; the paths of their arrays."""
    records = np.zeros(4, [("name", "S8"), ("mass", "<f8"), ("position", "<f4", (3,))])
    records["name"], records["mass"] = [b"a", b"bc", b"def", b""], [1.5, np.nan, -np.inf, 0]
    table = np.array([(b"a", 1.5), (b"bc", 0.25), (b"def", -2)], [("name", "S8"), ("mass", "<f8")])
    tree = {
        "table": table,
        "bool": np.arange(12).reshape(3, 4) % 3 == 0,
        "complex": np.exp(1j * np.linspace(0, 6, 20)).astype("<c16").reshape(4, 5),
        "records": records,
        "beyond": np.array([2**53 + 1, 2**64 - 1], "<u8"),
        "half": np.linspace(0, 1, 6).astype("<f2"),
        "big_endian": np.arange(6, dtype=">f8").reshape(2, 3),
        "text": np.array(["α", "beta", ""], "<U5"),
        "empty": np.zeros((0, 3), "<f4"),
        "single": np.array(7, "<i2"),
        "holes": np.ma.MaskedArray(np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) % 5 == 0),
        "numbers": [1, 2, 3],
    }
    asdf.AsdfFile(tree).write_to(folder / "types.asdf")
    return [f"/{name}" for name in tree]


def trajectory(folder: Path) -> None:
    """24 frames of 500 particles, two bonds, and a logged number."""
    rng = np.random.default_rng(2)
    positions = rng.uniform(-5, 5, (500, 3)).astype("<f4")
    with gsd.hoomd.open(str(folder / "run.gsd"), "w") as file:
        for number in range(24):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = 100 * number
            frame.configuration.box = [10, 10, 10, 0.2, 0, 0]
            frame.particles.N = 500
            positions = (positions + rng.normal(0, 0.3, (500, 3)).astype("<f4") + 5) % 10 - 5
            frame.particles.position = positions
            frame.particles.types = ["A", "B"]
            frame.particles.typeid = np.arange(500) % 2
            frame.particles.velocity = rng.normal(0, 1, (500, 3))
            frame.bonds.N, frame.bonds.types, frame.bonds.group = 2, ["a-b"], [[0, 1], [2, 3]]
            frame.log["energy"] = np.array([np.cos(number / 4)])
            file.append(frame)


def picture(holdall: str, folder: Path) -> None:
    """The picture of the image in `holdall plot`, without its axes."""
    subprocess.run(
        [
            holdall, "plot", f"{folder}/image.asdf::roman/data", "--size", "1400x1000", "--range", "p0.25,99.75",
            "--stretch", "linear", "--cmap", "viridis", "--origin", "lower", "-o", f"{folder}/image.svg",
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    embedded = re.findall(r'data:image/png;base64,([^"]+)', (folder / "image.svg").read_text("utf-8"))
    pictures = [base64.b64decode(text) for text in embedded]
    # Beside that of the bar of colours.
    (whole,) = [one for one in pictures if struct.unpack(">2I", one[16:24]) == (1000, 700)]
    (folder / "image.png").write_bytes(whole)


def main() -> None:
    holdall, folder = sys.argv[1], Path(sys.argv[2])
    image(folder)
    paths = types(folder)
    trajectory(folder)
    waves = np.sin(np.linspace(0, 20, 60))[:, None] * np.cos(np.linspace(0, 9, 80))[None, :]
    blosc2.asarray(waves, urlpath=str(folder / "waves.b2nd"), mode="w", chunks=(30, 40))
    blosc2.zeros((16384, 16384), dtype="<f4", urlpath=str(folder / "large.b2nd"), mode="w", chunks=(1024, 1024))
    dates = np.array(["2026-11-28", "1969-07-20"], "<M8[D]")
    blosc2.asarray(dates, urlpath=str(folder / "dates.b2nd"), mode="w")
    scan = np.arange(24, dtype="<i4")
    header = b"rawarray" + struct.pack("<7Q", 0, 1, 4, scan.nbytes, 2, 6, 4)
    (folder / "scan.ra").write_bytes(header + scan.tobytes())
    picture(holdall, folder)
    parameters = {
        "files": {
            "image.asdf": ["/roman/data", "/roman/meta"],
            "types.asdf": paths,
            "run.gsd": ["/particles/position", "/log/energy", "/configuration/step"],
            "waves.b2nd": ["/data"],
            "scan.ra": ["/data"],
        },
        "picture": {
            "file": "image.asdf", "path": "/roman/data", "png": f"{folder}/image.png", "viewport": [1280, 800],
            "stretch": "linear", "range": "p0.25,99.75", "cmap": "viridis", "origin": "lower",
        },
        "heatmap": {"file": "waves.b2nd", "path": "/data", "values": waves.tolist()},
        "particles": {"file": "run.gsd"},
        "curve": {"file": "run.gsd", "name": "energy"},
        "types": [
            {"file": "types.asdf", "path": "/beyond", "shown": [str(2**53 + 1), str(2**64 - 1)]},
            {"file": "types.asdf", "path": "/text", "shown": ["α", "beta"]},
            {"file": "types.asdf", "path": "/bool", "shown": ["true", "false"]},
            {"file": "types.asdf", "path": "/big_endian", "shown": ["5"]},
            {"file": "types.asdf", "path": "/table", "shown": ["def", "1.5", "0.25"]},
            {"file": "dates.b2nd", "path": "/data", "shown": ["2026-11-28", "1969-07-20"]},
        ],
        "damaged": {"file": "cut.asdf", "verdict": "damaged"},
        "large": {"file": "large.b2nd", "path": "/data"},
        "changed": {"file": "image.asdf", "disk": f"{folder}/image.asdf"},
    }  # fmt: skip
    print(json.dumps(parameters))


if __name__ == "__main__":
    main()
