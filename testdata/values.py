"""Values that fixtures of every format are made of, and how a manifest spells them."""

import json

import numpy as np


def noise(length: int, seed: int = 1) -> bytes:
    """Bytes without a pattern: the high bytes of a 32-bit linear congruential generator."""
    out = bytearray()
    for _ in range(length):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out.append(seed >> 24)
    return bytes(out)


def steps(length: int, width: int = 4, seed: int = 1) -> bytes:
    """Little-endian numbers of `width` bytes that grow by 0 to 15; the last may be cut."""
    out, value = bytearray(), 0
    for step in noise(length // width + 1, seed):
        out += (value % 2 ** (8 * width)).to_bytes(width, "little")
        value += step % 16
    return bytes(out[:length])


def text(length: int) -> bytes:
    """Repetitive ASCII."""
    out, number = bytearray(), 0
    while len(out) < length:
        out += b"line %d of a text that says little new. " % number
        number += 1
    return bytes(out[:length])


def little(array: np.ndarray) -> bytes:
    """The elements in C order, numbers little-endian."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def spelling(dtype: np.dtype) -> str:
    """`dtype.str`, or the list of fields as JSON."""
    return dtype.str if dtype.names is None else json.dumps(dtype.descr, ensure_ascii=False)


def changed(data: bytes, at: int, patch: bytes) -> bytes:
    """`data` with `patch` over it."""
    at %= len(data)
    return data[:at] + patch + data[at + len(patch) :]
