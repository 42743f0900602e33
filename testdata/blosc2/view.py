"""What is in a frame, read from its bytes by the format's page. Only chunks are decoded by python-blosc2."""

import ast
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import blosc2
import numpy as np

from parts import MAGIC, Stored


@dataclass
class View:
    """A frame's header, metalayers and chunks."""

    version: int
    sparse: bool
    variable: bool
    vl_blocks: bool
    frame_len: int
    nbytes: int
    cbytes: int
    typesize: int
    blocksize: int
    chunksize: int
    meta: dict[str, bytes]
    vlmeta: dict[str, bytes]
    offsets: list[int]
    header_len: int


def decoded(chunk: bytes) -> bytes:
    if chunk[2] & 2:
        return chunk[32:]  # a copy
    return blosc2.decompress2(chunk)


def frame_bytes(data: Stored) -> bytes:
    return data if isinstance(data, bytes) else data["chunks.b2frame"]


def section(data: bytes, at: int, base: int) -> dict[str, bytes]:
    """Names and values of the metalayers whose map is at `at`; offsets are from `base`."""
    found = {}
    (count,) = struct.unpack_from(">H", data, at + 1)
    at += 3
    for _ in range(count):
        if data[at] == 0xD9:
            size, at = data[at + 1], at + 2
        else:
            size, at = data[at] & 31, at + 1
        name = data[at : at + size].decode()
        (offset,) = struct.unpack_from(">I", data, at + size + 1)
        at += size + 5
        (length,) = struct.unpack_from(">I", data, base + offset + 1)
        found[name] = data[base + offset + 5 : base + offset + 5 + length]
    return found


def parse(data: Stored) -> View:
    data = frame_bytes(data)
    assert data.startswith(MAGIC)
    (header_len,) = struct.unpack_from(">I", data, 11)
    (frame_len,) = struct.unpack_from(">Q", data, 16)
    nbytes, cbytes = (struct.unpack_from(">q", data, at)[0] for at in (30, 39))
    typesize, blocksize, chunksize = (struct.unpack_from(">i", data, at)[0] for at in (48, 53, 58))
    (trailer_len,) = struct.unpack_from(">I", data, frame_len - 22)
    start = frame_len - trailer_len
    sparse = data[26] & 15 == 1
    index = data[header_len + (0 if sparse else cbytes) : start]
    offsets = struct.iter_unpack("<q", decoded(index)) if index else []
    packed = section(data, start + 6, start)
    return View(
        version=data[25] & 15,
        sparse=sparse,
        variable=data[25] & 0x40 != 0,
        vl_blocks=data[25] & 0x80 != 0,
        frame_len=frame_len,
        nbytes=nbytes,
        cbytes=cbytes,
        typesize=typesize,
        blocksize=blocksize,
        chunksize=chunksize,
        meta=section(data, 91, 0),
        vlmeta={name: decoded(value) for name, value in packed.items()},
        offsets=[offset for (offset,) in offsets],
        header_len=header_len,
    )


def geometry(meta: bytes) -> tuple[list[int], list[int], list[int]]:
    """Shape, chunks and blocks of the metalayer of an array."""
    nd, at, found = meta[2], 3, []
    for code in "qii":
        size = struct.calcsize(code) + 1
        found.append([struct.unpack_from(">" + code, meta, at + 2 + size * axis)[0] for axis in range(nd)])
        at += 1 + size * nd
    return found[0], found[1], found[2]


def facts(data: Stored) -> dict[str, object]:
    """What the manifest says of a sound frame."""
    view = parse(data)
    made: dict[str, object] = {
        "frame_version": view.version,
        "nchunks": len(view.offsets),
        "typesize": view.typesize,
        "chunksize": view.chunksize,
        "nbytes": view.nbytes,
        "cbytes": view.cbytes,
    }
    geometric = view.meta.get("b2nd", view.meta.get("caterva"))
    if geometric is not None:
        _, made["chunks"], made["blocks"] = geometry(geometric)
    made["meta"] = [{"name": name, "hex": value.hex()} for name, value in view.meta.items()]
    made["vlmeta"] = [{"name": name, "hex": value.hex()} for name, value in view.vlmeta.items()]
    return made
