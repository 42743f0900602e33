"""Files of all five formats by other writers than holdall, with the values that went in; and another reader of each."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asdf
import blosc
import blosc2
import gsd.hoomd
import numpy as np

Values = dict[str, np.ndarray]

RECORD = np.dtype([("id", "<i4"), ("flux", ">f8"), ("at", "<f4", (3,))])


def rng(seed: int) -> np.random.Generator:
    """Numbers that are the same in every run."""
    return np.random.default_rng(seed)


def asdf_plain(folder: Path) -> tuple[Path, Values]:
    """Arrays in blocks of their own, one in the tree, and parts of one block with an offset and strides."""
    image = rng(1).normal(size=(48, 64)).astype(">f4")
    table = np.zeros(10, RECORD)
    table["id"], table["flux"], table["at"] = np.arange(10), np.linspace(0, 1, 10), rng(2).random((10, 3))
    base = np.arange(600, dtype="<i2").reshape(20, 30)
    tree = {
        "image": {"data": image, "unit": "DN", "dims": ["y", "x"], "telescope": "none"},
        "table": table,
        "base": base,
        "part": base[5:15],
        "gaps": base[::2, 3:7],
        "few": np.arange(3, dtype="<u2"),
    }
    path = folder / "plain.asdf"
    with asdf.config_context() as config:
        # Views of one array share its block.
        config.default_array_save_base = True
        file = asdf.AsdfFile(tree)
        file.set_array_storage(tree["few"], "inline")
        file.write_to(path)
    values = {"image/data": image, "table": table, "base": base, "part": base[5:15], "gaps": base[::2, 3:7]}
    return path, values | {"few": np.arange(3, dtype="<i8")}


def asdf_coded(folder: Path, codec: str) -> tuple[Path, Values]:
    """Two arrays, of which each block is one stream."""
    values = {
        "a": np.cumsum(rng(3).integers(0, 3, (40, 50)), axis=1).astype("<i4"),
        "deep/b": rng(4).random((5, 6, 7)),
    }
    path = folder / f"{codec}.asdf"
    asdf.AsdfFile({"a": values["a"], "deep": {"b": values["deep/b"]}}).write_to(path, all_array_compression=codec)
    return path, values


def trajectory(path: Path, frames: int, particles: int, seed: int = 5) -> Values:
    """A trajectory of gsd's. Types are in frame 0 alone, masses are the default, and steps differ."""
    positions = rng(seed).random((frames, particles, 3)).astype("<f4")
    energy = rng(seed + 1).random(frames)
    types = (np.arange(particles) % 2).astype("<u4")
    with gsd.hoomd.open(str(path), "w") as file:
        for number in range(frames):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = 10 * number
            frame.configuration.box = [4, 5, 6, 0, 0, 0]
            frame.particles.N = particles
            frame.particles.position = positions[number]
            frame.particles.types = ["A", "B"]
            frame.particles.typeid = types
            frame.log["energy"] = np.array([energy[number]])
            file.append(frame)
    return {
        "particles/position": positions,
        "particles/typeid": np.broadcast_to(types, (frames, particles)),
        "configuration/step": 10 * np.arange(frames, dtype="<u8")[:, None],
        "log/energy": energy[:, None],
    }


def gsd_read(path: Path, name: str) -> np.ndarray:
    """A dataset of a trajectory, by gsd."""
    group, _, key = name.partition("/")
    with gsd.hoomd.open(str(path), "r") as file:
        if group == "log":
            return np.array([frame.log[name.removeprefix("log/")] for frame in file])
        return np.array([np.atleast_1d(getattr(getattr(frame, group), key)) for frame in file])


def b2nd(path: Path, chunks: tuple[int, ...] = (30, 40), blocks: tuple[int, ...] = (7, 16)) -> np.ndarray:
    """An array of blosc2's whose blocks divide neither its chunks nor its shape; one chunk is zeros and one NaN."""
    values = np.cumsum(rng(6).normal(size=(100, 90)), axis=1).astype("<f4")
    values[:30, :40] = 0
    values[30:60, 40:80] = np.nan
    blosc2.asarray(values, urlpath=str(path), mode="w", chunks=chunks, blocks=blocks)
    return values


def b2nd_special(path: Path) -> np.ndarray:
    """An array of NaN of which one chunk is stored."""
    array = blosc2.nans((40, 30), dtype="<f8", urlpath=str(path), mode="w", chunks=(10, 10), blocks=(5, 5))
    array[10:20, 0:10] = np.arange(100.0).reshape(10, 10)
    values = np.full((40, 30), np.nan)
    values[10:20, 0:10] = np.arange(100.0).reshape(10, 10)
    return values


def bloscpack(path: Path, values: np.ndarray, rows: int) -> None:
    """A Bloscpack file of version 3 by hand: the header, the numpy metadata, offsets, and chunks by C-Blosc of so many rows."""
    about = {"dtype": repr(values.dtype.str), "shape": list(values.shape), "order": "C", "container": "numpy"}
    text = json.dumps(about).encode()
    parts = [values[at : at + rows] for at in range(0, len(values), rows)]
    chunks = [blosc.compress(part.tobytes(), typesize=values.itemsize, cname="lz4") for part in parts]
    size, last = parts[0].nbytes, parts[-1].nbytes
    header = b"blpk" + struct.pack("<BBBBiiqq", 3, 0b11, 0, values.itemsize, size, last, len(chunks), 0)
    # Magic of the metadata, options, checksum, codec and level; then its sizes: of the text, of the room for it, and as stored.
    head = b"JSON" + bytes(4) + bytes(4) + struct.pack("<3I", len(text), len(text), len(text)) + bytes(8)
    start = len(header) + len(head) + len(text) + 8 * len(chunks)
    offsets = start + np.cumsum([0, *map(len, chunks)])[:-1]
    path.write_bytes(header + head + text + offsets.astype("<i8").tobytes() + b"".join(chunks))


def bloscpack_read(path: Path, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The array of a Bloscpack file without checksums, by its offsets and C-Blosc."""
    data = path.read_bytes()
    assert data[:4] == b"blpk" and data[6] == 0
    count = struct.unpack_from("<q", data, 16)[0]
    at = 32
    if data[5] & 2:
        at += 32 + struct.unpack_from("<I", data, 32 + 16)[0]
    offsets = np.frombuffer(data, "<i8", count, at)
    chunks = [data[start : start + struct.unpack_from("<I", data, start + 12)[0]] for start in offsets]
    return np.frombuffer(b"".join(map(blosc.decompress, chunks)), dtype).reshape(shape)


def rawarray(path: Path) -> np.ndarray:
    """A RawArray file by hand: magic, flags, eltype 3 (float), elbyte, size, ndims, dims; data with the first axis fastest."""
    values = rng(7).random((6, 5, 4)).astype("<f4")
    header = b"rawarray" + struct.pack("<8Q", 0, 3, 4, values.nbytes, 3, *values.shape)
    path.write_bytes(header + values.tobytes("F"))
    return values


def rawarray_read(path: Path) -> np.ndarray:
    """The array of such a file, by numpy."""
    shape = tuple(int(n) for n in np.fromfile(path, "<u8", 3, offset=48))
    return np.fromfile(path, "<f4", offset=72).reshape(shape, order="F")


def all_five(folder: Path) -> dict[str, tuple[Path, Values, Callable[[Path, str], Any]]]:
    """By name: a file, its values by path as they went in, and another reader of them."""
    made: dict[str, tuple[Path, Values, Callable[[Path, str], Any]]] = {}
    made["asdf"] = (*asdf_plain(folder), asdf_read)
    for codec in ("zlib", "bzp2", "lz4"):
        made[codec] = (*asdf_coded(folder, codec), asdf_read)
    made["gsd"] = (folder / "run.gsd", trajectory(folder / "run.gsd", 7, 20), gsd_read)
    made["b2nd"] = (folder / "a.b2nd", {"data": b2nd(folder / "a.b2nd")}, b2nd_read)
    made["special"] = (folder / "s.b2nd", {"data": b2nd_special(folder / "s.b2nd")}, b2nd_read)
    packed = np.cumsum(rng(8).integers(0, 5, (50, 40)), axis=0).astype("<i4")
    bloscpack(folder / "a.blp", packed, 12)
    made["bloscpack"] = (folder / "a.blp", {"data": packed}, lambda path, _: bloscpack_read(path, "<i4", (50, 40)))
    made["rawarray"] = (folder / "a.ra", {"data": rawarray(folder / "a.ra")}, lambda path, _: rawarray_read(path))
    return made


def asdf_read(path: Path, name: str) -> np.ndarray:
    """A dataset of an ASDF file, by asdf."""
    with asdf.open(path) as file:
        node = file.tree
        for step in name.split("/"):
            node = node[step]
        return np.array(node)


def b2nd_read(path: Path, name: str) -> np.ndarray:
    """The array of a b2nd file, by blosc2."""
    return np.asarray(blosc2.open(str(path))[...])
