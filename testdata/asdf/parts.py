"""What the lists of fixtures are made of: headers, trees, blocks and indices by hand, and what a reader should make of them."""

import hashlib
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from values import noise

HANDMADE = "make.py"
MAGIC = b"\xd3BLK"
STREAMED = 1
Stored = bytes | dict[str, bytes]


@dataclass
class Fixture:
    """A file, or several that belong together, and what a reader should make of it."""

    name: str
    about: str
    data: Stored
    main: str = ""  # of several files, the one to open
    verdict: str = "sound"
    producer: str = HANDMADE
    arrays: Mapping[str, np.ndarray] | None = None  # what was put in, where the list knows it
    nodes: bool = False  # whether the manifest lists the tree's nodes
    unread: bool = False  # some array cannot be read: the manifest lists none
    repaired: Mapping[str, np.ndarray] | None = None  # what a repair comes to
    reference: str = ""  # why asdf 6.0.0 reads it otherwise
    facts: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        files = [self.data] if isinstance(self.data, bytes) else list(self.data.values())
        assert self.verdict != "damaged" or self.codes, f"{self.name}: what is wrong with it?"
        assert all(len(data) < 65536 for data in files), f"{self.name}: {[len(data) for data in files]}"

    @cached_property
    def codes(self) -> list[str]:
        import findings  # which needs this module

        return findings.of(self)

    @property
    def path(self) -> str:
        folder = "bad" if self.verdict != "sound" else "odd" if self.codes else "ok"
        return f"{folder}/{self.name}{'' if self.main else '.asdf'}"


# Values


def numbers(dtype: str, *shape: int, seed: int = 1) -> np.ndarray:
    """Exact in every type: small integers that grow slowly, of either sign where there are signs."""
    count = math.prod(shape)
    raw = np.cumsum(np.frombuffer(noise(count, seed), "u1") % 5, dtype="i8").reshape(shape) % 127
    kind = np.dtype(dtype).kind
    if kind in "ub":
        return (raw % 2 if kind == "b" else raw).astype(dtype)
    if kind == "c":
        return (raw - 20 - 1j * raw).astype(dtype)
    if kind in "SU":
        return np.array([chr(97 + it % 26) * (it % 4) for it in raw.ravel()], dtype).reshape(shape)
    return ((raw - 20) / 4 if kind == "f" else raw - 20).astype(dtype)


# Texts


def head(version: str = "1.0.0", standard: str | None = "1.6.0", *comments: str) -> bytes:
    lines = [f"#ASDF {version}", *([f"#ASDF_STANDARD {standard}"] if standard else []), *comments]
    return "".join(line + "\n" for line in lines).encode()


HEAD = head()
TAGS = "%TAG ! tag:stsci.edu:asdf/\n"


def tree(body: str, *, root: str = " !core/asdf-1.1.0", tags: str = TAGS, end: str = "...\n") -> bytes:
    """The tree, whose content begins on the line behind `---`."""
    return f"%YAML 1.1\n{tags}---{root}\n{body}{end}".encode()


def ndarray(
    name: str, source: object, dtype: str, shape: Sequence[object], *, tag: str = "core/ndarray-1.1.0", more: str = "", **rest: object
) -> str:
    """A node of the root: an array by hand, `dtype` numpy's."""
    kind = np.dtype(dtype)
    order = "big" if dtype.startswith(">") else "little"
    lines = [f"{name}: !{tag}", f"source: {source}", f"datatype: {datatype(kind)}", f"byteorder: {order}"]
    lines.append(f"shape: [{', '.join(map(str, shape))}]")
    lines += [f"{key}: {value}" for key, value in rest.items()]
    return "\n  ".join(lines) + "\n" + more


def datatype(kind: np.dtype) -> str:
    if kind.kind == "S":
        return f"[ascii, {kind.itemsize}]"
    if kind.kind == "U":
        return f"[ucs4, {kind.itemsize // 4}]"
    return {"bool": "bool8"}.get(kind.name, kind.name)


# Blocks


def block(
    data: bytes, label: bytes = b"", payload: bytes | None = None, *, header_size: int = 48, flags: int = 0,
    allocated: int | None = None, used: int | None = None, size: int | None = None, md5: bytes | None = None,
    fill: bytes = b"\0", present: int | None = None,
) -> bytes:  # fmt: skip
    """A block. `payload` is what is stored of `data`; `present`: so many bytes of the allocation are in the file."""
    payload = data if payload is None else payload
    md5 = hashlib.md5(payload).digest() if md5 is None else md5
    used = len(payload) if used is None else used
    allocated = max(used, len(payload)) if allocated is None else allocated
    size = len(data) if size is None else size
    out = MAGIC + struct.pack(">HI4sQQQ16s", header_size, flags, label, allocated, used, size, md5)
    out += b"\xee" * max(header_size - 48, 0) + payload
    room = (allocated if present is None else present) - len(payload)
    return out + (fill * room)[: max(room, 0)]


NO_MD5 = bytes(16)
LEGACY = "legacy"


def zipped(data: bytes, **fields: object) -> bytes:
    """A block of one zlib stream; `md5=LEGACY` as asdf before 5.3 made it."""
    if fields.get("md5") == LEGACY:
        fields["md5"] = hashlib.md5(data).digest()
    return block(data, b"zlib", zlib.compress(data), **fields)


def streamed(data: bytes, **fields: object) -> bytes:
    return block(data, flags=STREAMED, allocated=0, used=0, size=0, md5=NO_MD5, **fields)


# Files


def index(offsets: Sequence[int], *, flow: bool = False, end: str = "...\n") -> bytes:
    listed = f"--- [{', '.join(map(str, offsets))}]\n" if flow else "---\n" + "".join(f"- {it}\n" for it in offsets)
    return f"#ASDF BLOCK INDEX\n%YAML 1.1\n{listed}{end}".encode()


def places(front: int, blocks: Sequence[bytes]) -> list[int]:
    """Where each begins."""
    offsets = [front]
    for it in blocks:
        offsets.append(offsets[-1] + len(it))
    return offsets[:-1]


def file(body: str | bytes | None, *blocks: bytes, front: bytes = HEAD, pad: bytes = b"", indexed: bool = True, **of_index: object) -> bytes:
    """A whole file with its index; `body` as bytes is the whole tree."""
    text = b"" if body is None else tree(body) if isinstance(body, str) else body
    out = front + text + pad
    last = index(places(len(out), blocks), **of_index) if blocks and indexed else b""
    return out + b"".join(blocks) + last
