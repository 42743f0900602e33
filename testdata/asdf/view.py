"""What is in a file, read from its bytes by the format's page: layout, tree and arrays. Of asdf nothing is used."""

import bz2
import hashlib
import lzma
import math
import posixpath
import re
import struct
import urllib.parse
import zlib
from dataclasses import dataclass

import blosc
import blosc2
import lz4.block
import lz4.frame
import numpy as np
import yaml
import zstandard

from parts import MAGIC, STREAMED, Stored

MARKER = b"#ASDF BLOCK INDEX"
NDARRAY = re.compile(r"tag:stsci\.edu:asdf/core/ndarray-1\.[01]\.0")
KNOWN = {label.ljust(4, b"\0") for label in (b"", b"zlib", b"bzp2", b"lz4", b"lz4f", b"blsc", b"bls2", b"bsc2", b"zstd", b"xz")}
# Where numpy has another name, or no such type.
NAMES = {"bool8": "?", "int128": "V16", "uint128": "V16", "complex32": "V4"}
COMPLEX = "tag:stsci.edu:asdf/core/complex-1.0.0"


@dataclass
class Block:
    start: int
    header_size: int
    flags: int
    label: bytes
    allocated: int
    used: int
    size: int
    md5: bytes
    stored: bytes

    @property
    def streamed(self) -> bool:
        return self.flags & STREAMED != 0

    @property
    def end(self) -> int:
        return self.start + 6 + self.header_size + (len(self.stored) if self.streamed else self.allocated)

    def decoded(self) -> bytes:
        data = decode(self.label.rstrip(b"\0"), self.stored, self.size)
        assert self.streamed or len(data) == self.size, f"{len(data)} bytes of {self.size}"
        return data

    def checksum(self) -> str:
        """Which bytes the checksum is of."""
        if self.streamed or self.md5 == bytes(16):
            return "absent"
        if self.md5 == hashlib.md5(self.stored).digest():
            return "stored"
        return "decoded" if self.md5 == hashlib.md5(self.decoded()).digest() else "wrong"


@dataclass
class View:
    version: str
    standard: str | None
    tree: tuple[int, int] | None
    text: bytes
    blocks: list[Block]
    index: tuple[int, int] | None


def chunks(stored: bytes, prefix: int) -> list[bytes]:
    """Of a payload in pieces, each behind its length."""
    found, at = [], 0
    while at < len(stored):
        (length,) = struct.unpack_from(">I", stored, at)
        found.append(stored[at + prefix : at + prefix + length])
        at += prefix + length
    return found


def decode(label: bytes, stored: bytes, size: int) -> bytes:
    if label == b"":
        return stored
    if label == b"zlib":
        return zlib.decompress(stored)
    if label == b"bzp2":
        return bz2.decompress(stored)
    if label == b"lz4f" or (label == b"lz4" and stored[:4] == b"\x04\x22\x4d\x18"):
        return lz4.frame.decompress(stored)
    if label == b"lz4":
        return b"".join(lz4.block.decompress(it) for it in chunks(stored, 4))
    if label == b"blsc":
        bare = stored[0] == 2 and struct.unpack_from("<I", stored, 12)[0] == len(stored)
        return b"".join(map(blosc.decompress, [stored] if bare else chunks(stored, 4)))
    if label in (b"bls2", b"bsc2"):
        if stored[2:9] != b"b2frame":
            return blosc2.decompress2(stored)
        frame = blosc2.schunk_from_cframe(stored)
        return b"".join(frame.decompress_chunk(at) for at in range(frame.nchunks))
    if label == b"zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(stored)
    if label == b"xz":
        return lzma.decompress(stored)
    raise ValueError(f"label {label}")


def parse(data: bytes) -> View:
    at, standard = data.find(b"\n") + 1 or len(data), None
    version = data[:at].split()[1].decode()
    while data[at : at + 1] == b"#":
        end = data.find(b"\n", at) + 1 or len(data)
        words = data[at:end].split()
        if words[0] == b"#ASDF_STANDARD" and standard is None:
            standard = words[1].decode()
        at = end
    tree = None
    start = re.compile(rb"[ \t\r\n]*").match(data, at).end()
    if data[start : start + 5] == b"%YAML" or data[start : start + 3] == b"---":
        end = re.compile(rb"\n\.\.\.[ \t]*(?:\r?\n|\Z)").search(data, start).end()
        tree = (start, end)
        at = end
    blocks = []
    while (found := data.find(MAGIC, at)) >= 0:
        size, *fields = struct.unpack_from(">HI4sQQQ16s", data, found + 4)
        body = found + 6 + size
        length = len(data) - body if fields[0] & STREAMED else fields[3]
        if fields[0] & STREAMED:
            # An index of these very blocks is none of its rows.
            text = "".join(f"- {it}\n" for it in [*[it.start for it in blocks], found])
            own = MARKER + f"\n%YAML 1.1\n---\n{text}...\n".encode()
            length -= len(own) if data.endswith(own) else 0
        blocks.append(Block(found, size, *fields, data[body : body + length]))
        at = blocks[-1].end
    index = None
    if marker := re.compile(re.escape(MARKER) + rb"\r?\n").search(data, at):
        found = marker.start()
        dots = re.compile(rb"\n\.\.\.(?:\r?\n|\Z)").search(data, found)
        index = (found, dots.end() if dots else len(data))
    return View(version, standard, tree, data[slice(*tree)] if tree else b"", blocks, index)


# The tree


def root(view: View) -> yaml.Node | None:
    loader = yaml.CSafeLoader(view.text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def plain(node: yaml.Node) -> object:
    """Its value, tags aside."""
    if isinstance(node, yaml.MappingNode):
        return {plain(name): value for name, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(it) for it in node.value]
    if node.tag == COMPLEX:
        return complex(node.value.replace("i", "j").replace("I", "j").replace("J", "j"))
    loader = yaml.SafeLoader("")
    known = node.tag.startswith("tag:yaml.org,2002:")
    value = loader.construct_object(node) if known else node.value
    # PyYAML's NaN has a sign.
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def dtype_of(node: yaml.Node, order: str) -> np.dtype:
    """That of a datatype; fields are packed."""
    sign = {"big": ">", "little": "<"}[order]
    if isinstance(node, yaml.ScalarNode):
        return np.dtype(NAMES.get(node.value, node.value)).newbyteorder(sign)
    items = node.value
    if items[0].value in ("ascii", "ucs4") and len(items) == 2 and str(plain(items[1])).isdigit():
        return np.dtype(f"{sign}{'S' if items[0].value == 'ascii' else 'U'}{plain(items[1])}")
    fields = []
    for at, item in enumerate(items):
        if not isinstance(item, yaml.MappingNode):
            fields.append((f"f{at}", dtype_of(item, order)))
            continue
        keys = plain(item)
        own = keys["byteorder"].value if "byteorder" in keys else order
        shape = tuple(plain(keys["shape"])) if "shape" in keys else ()
        inner = dtype_of(keys["datatype"], own)
        name = keys["name"].value if "name" in keys else f"f{at}"
        fields.append((name, inner, shape) if shape else (name, inner))
    return np.dtype(fields)


def inferred(values: list[object]) -> np.dtype:
    """That of inline data without a datatype."""
    kinds = {type(it) for it in values if it is not None}
    if str in kinds:
        return np.dtype(f"<U{max(len(str(it)) for it in values if it is not None)}")
    for kind, name in ((complex, "<c16"), (float, "<f8"), (int, "<i8"), (bool, "?")):
        if kind in kinds:
            return np.dtype(name)
    return np.dtype("<f8")


def filled(value: object, dtype: np.dtype, depth: int) -> object:
    """Lists, but tuples for records; null as zero."""
    if depth:
        return [filled(it, dtype, depth - 1) for it in value]
    if value is None:
        return np.zeros((), dtype).item()
    if dtype.names is None:
        return value.encode() if dtype.kind == "S" and isinstance(value, str) else value
    parts = []
    for name, it in zip(dtype.names, value):
        inner = dtype.fields[name][0]
        parts.append(filled(it, inner.base, len(inner.shape)))
    return tuple(parts)


def leaves(value: object) -> list[object]:
    return [leaf for it in value for leaf in leaves(it)] if isinstance(value, list) else [value]


def inline(node: yaml.Node, keys: dict[str, yaml.Node]) -> np.ndarray:
    data = plain(node)
    dtype = dtype_of(keys["datatype"], "little") if "datatype" in keys else inferred(leaves(data))
    shape, at = [], data
    while isinstance(at, list):
        shape.append(len(at))
        at = at[0] if at else None
    if dtype.names is not None:
        shape = plain(keys["shape"]) if "shape" in keys else shape[:-1]
    return np.array(filled(data, dtype, len(shape)), dtype).reshape(shape)


def part_of(uri: str) -> str:
    """The name of the file, relative to the one that names it."""
    return posixpath.normpath(urllib.parse.unquote(uri))


def array(node: yaml.Node, view: View, parts: dict[str, bytes]) -> np.ndarray:
    """That of a node."""
    if isinstance(node, yaml.SequenceNode):
        return inline(node, {})
    keys = plain(node)
    if "source" not in keys:
        return inline(keys["data"], keys)
    source = plain(keys["source"])
    blocks = parse(parts[part_of(source)]).blocks[:1] if isinstance(source, str) else view.blocks
    data = blocks[0 if isinstance(source, str) else source].decoded()
    dtype = dtype_of(keys["datatype"], keys["byteorder"].value)
    shape, offset = plain(keys["shape"]), plain(keys["offset"]) if "offset" in keys else 0
    strides = plain(keys["strides"]) if "strides" in keys else None
    if shape and shape[0] == "*":
        row = strides[0] if strides else int(np.prod(shape[1:])) * dtype.itemsize
        shape[0] = (len(data) - offset) // row if row else 0
    count = int(np.prod(shape))
    if strides is None:
        return np.frombuffer(data, dtype, count, offset).reshape(shape)
    return np.ndarray(shape, dtype, data, offset, strides)


def arrays(data: Stored, main: str) -> dict[str, np.ndarray]:
    """By path, each as often as it is reached."""
    parts = {main: data} if isinstance(data, bytes) else data
    view = parse(parts[main])
    found = {}

    def visit(node: yaml.Node, path: tuple[str, ...], above: tuple[int, ...]) -> None:
        if isinstance(node, yaml.ScalarNode) or id(node) in above or id(node) not in fertile:
            return
        above = (*above, id(node))
        if NDARRAY.fullmatch(node.tag):
            found["/".join(it.replace("~", "~0").replace("/", "~1") for it in path) or "."] = array(node, view, parts)
            mask = dict((name.value, it) for name, it in node.value).get("mask") if isinstance(node, yaml.MappingNode) else None
            if mask is not None:
                visit(mask, (*path, "mask"), above)
            return
        if isinstance(node, yaml.SequenceNode):
            for at, it in enumerate(node.value):
                visit(it, (*path, str(at)), above)
            return
        yaml.constructor.SafeConstructor().flatten_mapping(node)
        for name, it in {name.value: it for name, it in node.value}.items():
            visit(it, (*path, name), above)

    top = root(view) if view.text else None
    if top is not None:
        fertile = reaching(top)
        visit(top, (), ())
    return found


def reaching(top: yaml.Node) -> set[int]:
    """The nodes from which an array can be reached; aliases may reach all others again and again."""
    holders: dict[int, list[int]] = {}
    fertile, todo = [], [top]
    while todo:
        node = todo.pop()
        if NDARRAY.fullmatch(node.tag):
            fertile.append(id(node))
        parts = [] if isinstance(node, yaml.ScalarNode) else node.value
        for it in [it for pair in parts for it in pair] if isinstance(node, yaml.MappingNode) else parts:
            if id(it) not in holders:
                todo.append(it)
            holders.setdefault(id(it), []).append(id(node))
    found = set()
    while fertile:
        at = fertile.pop()
        if at not in found:
            found.add(at)
            fertile += holders.get(at, [])
    return found


def odd(data: Stored, main: str) -> list[str]:
    """What there is to note of the layout of a sound file: bytes that nothing uses, checksums of old, no index."""
    data = data if isinstance(data, bytes) else data[main]
    view, codes = parse(data), []
    first = view.blocks[0].start if view.blocks else view.index[0] if view.index else len(data)
    if view.tree and first > view.tree[1]:
        codes.append("padding")
    for it in view.blocks:
        if not it.streamed and it.allocated > it.used:
            codes.append("padding")
        if it.checksum() == "decoded":
            codes.append("legacy_checksum")
    if view.blocks and not view.blocks[-1].streamed and view.index is None:
        codes.append("no_index")
    return codes


def facts(data: bytes) -> dict[str, object]:
    """What the manifest says of the layout."""
    view = parse(data)
    made: dict[str, object] = {"version": view.version}
    if view.standard is not None:
        made["standard"] = view.standard
    if view.tree is not None:
        made["tree"] = list(view.tree)
    listed = []
    for it in view.blocks:
        fields: dict[str, object] = {"start": it.start, "header_size": it.header_size, "flags": it.flags}
        fields |= {"label": it.label.rstrip(b"\0").decode(), "allocated": it.allocated, "used": it.used, "size": it.size}
        if it.label in KNOWN:
            fields |= {"checksum": it.checksum(), "decoded": hashlib.sha256(it.decoded()).hexdigest()}
        listed.append(fields)
    if listed:
        made["stored_blocks"] = listed
    if view.index is not None:
        made["index"] = list(view.index)
    return made
