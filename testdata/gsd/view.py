"""What a reader should list of a sound file: every chunk, and the stacked view, straight from the format page.

Shares nothing with the builders of `parts.py` but the type codes; `peers.py` compares it with gsd itself.
"""

import hashlib
import struct
from dataclasses import dataclass, field

import numpy as np

from parts import NAMES, SIZES

Chunks = dict[str, dict[int, np.ndarray]]  # by name, then by frame


@dataclass
class File:
    big: bool
    version: int
    schema: str
    frames: int = 0
    end: int = 256  # of what the header and the entries name
    names: list[str] = field(default_factory=list)
    chunks: Chunks = field(default_factory=dict)


def parse(data: bytes) -> File:
    """Every chunk of a sound file."""
    big = data[:2] == b"\x65\xdf"
    order = ">" if big else "<"
    fields = struct.unpack(order + "QQQQQII64s64s80s", data[:256])
    magic, index_at, slots, names_at, units, _, version, _, schema, _ = fields
    assert magic == 0x65DF65DF65DF65DF
    file = File(big, version, schema.split(b"\0")[0].decode())
    file.end = max(256, index_at + 32 * slots, names_at + 64 * units)
    block = data[names_at : names_at + 64 * units]
    assert len(block) == 64 * units
    if version < 0x20000:
        raw = [block[at : at + 64].split(b"\0")[0] for at in range(0, len(block), 64)]
    else:
        raw = block.split(b"\0")
    file.names = [name.decode("utf-8", "backslashreplace") for name in raw[: raw.index(b"")]]
    for at in range(index_at, index_at + 32 * slots, 32):
        frame, n, location, m, id, code, _ = struct.unpack(order + "QQqIHBB", data[at : at + 32])
        if location == 0:
            break
        size = n * m * SIZES[code]
        assert 0 < location and location + size <= len(data)
        file.end = max(file.end, location + size)
        dtype = np.dtype(NAMES[code]).newbyteorder(order)
        array = np.frombuffer(data[location : location + size], dtype)
        file.chunks.setdefault(file.names[id], {})[frame] = array if m == 1 else array.reshape(n, m)
        file.frames = frame + 1
    return file


def trailing(data: bytes) -> int:
    """Bytes at the end that belong to nothing."""
    return len(data) - parse(data).end


def listed(data: bytes) -> list[tuple[str, str, list[int], str]]:
    """Path, dtype, shape and digest of what a plain listing shows, sorted by path."""
    file = parse(data)
    chunks = with_shapes(file.chunks)
    rows = []
    for name, stored in chunks.items():
        stack = stacked(file, chunks, name)
        if stack is not None:
            rows.append((name, *described(stack)))
        else:
            rows += [(f"frames/{frame}/{name}", *described(array)) for frame, array in stored.items()]
    return sorted(rows)


def described(array: np.ndarray) -> tuple[str, list[int], str]:
    little = array.astype(array.dtype.newbyteorder("<"))
    return array.dtype.str, list(array.shape), hashlib.sha256(little.tobytes()).hexdigest()


def with_shapes(chunks: Chunks) -> Chunks:
    """Arrays of other ranks are N×1, and their shape stands in `<name>/shape`."""
    out = {}
    for name, stored in chunks.items():
        shapes = chunks.get(f"{name}/shape")
        if shapes is not None:
            stored = {frame: array.reshape(shapes[frame].tolist()) for frame, array in stored.items()}
        if not name.endswith("/shape") or name.removesuffix("/shape") not in chunks:
            out[name] = stored
    return out


def stacked(file: File, chunks: Chunks, name: str) -> np.ndarray | None:
    """All frames as one array, where each has the chunk with one type and shape."""
    stored = chunks[name]
    if len({array.dtype for array in stored.values()}) != 1:
        return None
    dtype = next(iter(stored.values())).dtype
    if file.schema == "hoomd":
        arrays = [fallback(chunks, name, frame, dtype) for frame in range(file.frames)]
    else:
        arrays = [stored.get(frame) for frame in range(file.frames)]
    if any(array is None for array in arrays) or len({array.shape for array in arrays}) != 1:
        return None
    return np.stack(arrays).astype(dtype)


# Schema hoomd

# Of each frame as a whole, or of the container's kinds: frame 0's whatever N is.
WHOLE = {
    "configuration/step": [0],
    "configuration/dimensions": [3],
    "configuration/box": [1, 1, 1, 0, 0, 0],
    "particles/N": [0],
    "particles/types": [[65, 0]],
}
PARTICLES = {
    "typeid": [0], "mass": [1], "charge": [0], "diameter": [1], "body": [-1], "moment_inertia": [0] * 3,
    "position": [0] * 3, "orientation": [1, 0, 0, 0], "velocity": [0] * 3, "angmom": [0] * 4, "image": [0] * 3,
}  # fmt: skip
GROUPS = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4, "pairs": 2, "constraints": 2}


def fallback(chunks: Chunks, name: str, frame: int, dtype: np.dtype) -> np.ndarray | None:
    """The value in a frame: its own, frame 0's, or the default. None where there is no such thing."""
    stored = chunks[name]
    if frame in stored:
        return stored[frame]
    container, _, last = name.partition("/")
    if container == "log":
        return stored.get(0)
    if name in WHOLE or (container in GROUPS and last == "N"):
        return stored.get(0, np.array(WHOLE.get(name, [0]), dtype))
    if container in ("particles", *GROUPS) and last in ("types", "type_shapes"):
        return stored.get(0, np.zeros((0, 0), dtype))  # no kinds, or those of no shape: not what is stored
    if container == "particles" and last in PARTICLES:
        row = PARTICLES[last]
    elif container in GROUPS and last == "group":
        row = [0] * GROUPS[container]
    elif container in GROUPS and last in ("typeid", "value"):
        row = [0]
    else:
        return None  # not of the schema, or state, which has neither
    count = number(chunks, container, frame)
    if count == number(chunks, container, 0) and 0 in stored:
        return stored[0]
    array = np.tile(np.array(row, dtype), (count, 1))
    return array[:, 0] if len(row) == 1 else array


def number(chunks: Chunks, container: str, frame: int) -> int:
    stored = chunks.get(f"{container}/N", {})
    found = stored.get(frame, stored.get(0))
    return 0 if found is None else int(found[0])
