"""Compares what holdall reads of a file with what the file's own library reads: every array, type and piece of metadata.

Runs in the Python of the peers. `compare` gives an `Outcome`; a file that its own library does not open is left out.
"""

from __future__ import annotations

import base64
import datetime
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import holdall
import holdall.gsd.fl

# Chunks of a GSD file that are read through `holdall.open` as well.
MAX_LENS_CHUNKS = 300
# Bytes above which a file is left out: a test of large files.
MAX_LEN = 512 << 20


@dataclass
class Outcome:
    """What came of a file."""

    format: str
    arrays: int = 0
    differences: list[str] = field(default_factory=list)
    # Why nothing, or less, was compared.
    skipped: list[str] = field(default_factory=list)

    def same(self, name: str, ours: Any, theirs: Any) -> None:
        """Counts an array, and records how the two differ."""
        self.arrays += 1
        problem = array_problem(np.asanyarray(ours), np.asanyarray(theirs))
        if problem:
            self.differences.append(f"{name}: {problem}")

    def equal(self, name: str, ours: Any, theirs: Any, arrays: frozenset[str] = frozenset()) -> None:
        """Records how two plain values differ, but for those at the paths of `arrays`."""
        problem = value_problem(ours, theirs, "", arrays)
        if problem:
            self.differences.append(f"{name}{problem}")


def array_problem(ours: np.ndarray, theirs: np.ndarray) -> str | None:
    """How two arrays differ in type, shape or a value; None where they do not."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, theirs {theirs.shape}"
    # Scalars of numpy have lost their byte order.
    left, right = (np.dtype(it.dtype).newbyteorder("=") for it in (ours, theirs))
    if left != right:
        return f"type {ours.dtype}, theirs {theirs.dtype}"
    if ours.dtype != theirs.dtype and ours.ndim:
        return f"byte order {ours.dtype.str}, theirs {theirs.dtype.str}"
    return None if _same_values(ours, theirs) else "values differ"


def _same_values(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.names is not None:
        return all(_same_values(a[name], b[name]) for name in a.dtype.names)
    if a.dtype.kind in "fc":
        return bool(np.array_equal(a, b, equal_nan=True))
    if a.dtype.kind in "mM":
        return bool(np.array_equal(a.view("i8"), b.view("i8")))
    return a.tobytes() == b.tobytes()


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as Python's own types, so that those of two libraries compare. What holds itself ends there."""
    if isinstance(value, (dict, list, tuple)) and (id(value) in above or len(above) > 100):
        return "<itself>"
    inside = (*above, id(value))
    if isinstance(value, dict):
        return {key_text(key): plain(one, inside) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, inside) for one in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bool) or value is None:
        return value
    for kind in (int, float, str, bytes):
        if isinstance(value, kind):
            return kind(value)
    return f"<{type(value).__name__}>"


def key_text(key: Any) -> str:
    """A key as holdall shows it: as YAML spells it."""
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return base64.encodebytes(key).decode() if isinstance(key, bytes) else str(plain(key))


def value_problem(ours: Any, theirs: Any, at: str = "", arrays: frozenset[str] = frozenset()) -> str | None:
    """Where and how two plain values differ."""
    # What holds itself has a reference in ours.
    if at in arrays or (theirs == "<itself>" and isinstance(ours, dict) and "$ref" in ours):
        return None
    # Objects that python-blosc2 makes of what is stored.
    if isinstance(theirs, str) and theirs.startswith("<") and theirs.endswith(">"):
        return None
    # The schema of a table, which is JSON text.
    if isinstance(ours, dict) and isinstance(theirs, str) and theirs.startswith("{"):
        return value_problem(ours, json.loads(theirs), at, arrays)
    # A map whose keys are not all text is a list of pairs in ours.
    if (
        isinstance(ours, list)
        and isinstance(theirs, dict)
        and all(isinstance(it, list) and len(it) == 2 for it in ours)
    ):
        ours = {key_text(key): value for key, value in ours}
    # An ordered map is a list of maps in ours, one of pairs in PyYAML's.
    if isinstance(ours, dict) and isinstance(theirs, list) and len(ours) == 1 and len(theirs) == 2:
        ((key, value),) = ours.items()
        return value_problem([key, value], [key_text(theirs[0]), theirs[1]], at, arrays)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"{at}: keys {sorted(set(ours) ^ set(theirs))[:5]} on one side"
        problems = (value_problem(ours[key], theirs[key], f"{at}/{key}", arrays) for key in ours)
        return next((problem for problem in problems if problem), None)
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return f"{at}: {len(ours)} items, theirs {len(theirs)}"
        pairs = enumerate(zip(ours, theirs, strict=True))
        problems = (value_problem(*pair, f"{at}/{number}", arrays) for number, pair in pairs)
        return next((problem for problem in problems if problem), None)
    if type(ours) is not type(theirs):
        return f"{at}: {ours!r:.60} ({type(ours).__name__}), theirs {theirs!r:.60} ({type(theirs).__name__})"
    is_same = ours == theirs or (ours != ours and theirs != theirs)
    return None if is_same else f"{at}: {ours!r:.60}, theirs {theirs!r:.60}"


def format_of(path: str) -> str | None:
    """The format by its first bytes, as far as one of the peers reads it."""
    try:
        if os.path.isdir(path):
            if os.path.exists(os.path.join(path, "chunks.b2frame")):
                return "blosc2"
            return "store" if os.path.exists(os.path.join(path, "embed.b2e")) else None
        if os.path.getsize(path) > MAX_LEN:
            return None
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError:
        return None
    if head.startswith(b"#ASDF"):
        return "asdf"
    if head.startswith(b"blpk"):
        return "bloscpack"
    if head[2:10] == b"b2frame\0":
        return "blosc2"
    if head.startswith(b"PK") and path.endswith(".b2z"):
        return "store"
    # The magic 0x65DF65DF65DF65DF, as either byte order has it.
    return "gsd" if head[:8] in (b"\xdf\x65" * 4, b"\x65\xdf" * 4) else None


def compare(path: str) -> Outcome | None:
    """Compares a file; None for one of no format of the peers."""
    name = format_of(path)
    if name is None:
        return None
    outcome = Outcome(name)
    try:
        theirs = OPENERS[name](path)
    except Exception as refused:  # noqa: BLE001 - whatever a peer raises
        outcome.skipped.append(f"the peer does not open it: {type(refused).__name__}: {refused}"[:160])
        return outcome
    try:
        READERS[name](path, theirs, outcome)
    except (holdall.HoldallError, OSError) as refused:
        outcome.differences.append(f"refused: {type(refused).__name__}: {refused}"[:300])
    finally:
        close = getattr(theirs, "close", None)
        if callable(close):
            close()
    return outcome


def open_gsd(path: str) -> Any:
    import gsd.fl

    return gsd.fl.open(path, "r")


def read_gsd(path: str, theirs: Any, outcome: Outcome) -> None:
    names = theirs.find_matching_chunk_names("")
    chunks = [(at, name) for at in range(theirs.nframes) for name in names if theirs.chunk_exists(at, name)]
    with holdall.gsd.fl.open(path, "r", None, None) as ours:
        outcome.equal("frames", ours.nframes, theirs.nframes)
        outcome.equal("names", ours.find_matching_chunk_names(""), names)
        for what in ("application", "schema", "schema_version", "gsd_version"):
            outcome.equal(what, plain(getattr(ours, what)), plain(getattr(theirs, what)))
        for at, name in chunks:
            left, right = ours.read_chunk(at, name), theirs.read_chunk(at, name)
            if isinstance(right, str):
                outcome.arrays += 1
                outcome.equal(f"{at}/{name}", left, right)
            else:
                outcome.same(f"{at}/{name}", left, right)
        missing = [(at, name) for at in range(theirs.nframes) for name in names if ours.chunk_exists(at, name)]
        outcome.equal("chunks", [list(it) for it in missing], [list(it) for it in chunks])
    with holdall.open(path, stored=True) as lens:
        for at, name in chunks[:MAX_LENS_CHUNKS]:
            right = theirs.read_chunk(at, name)
            if not isinstance(right, str):
                key = f"frames/{at}/{name}"
                if key in lens:
                    outcome.same(f"lens {key}", lens[key].read(order="C").reshape(right.shape), right)


def open_asdf(path: str) -> Any:
    import asdf

    return asdf.open(path, lazy_load=True, memmap=False)


def node_at(tree: Any, path: str) -> Any:
    """A node by the path of a dataset. Keys may hold slashes."""
    if not path:
        return tree
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        key, rest = "/".join(parts[:count]), "/".join(parts[count:])
        if isinstance(tree, list) and key.isdecimal() and int(key) < len(tree):
            return node_at(tree[int(key)], rest)
        if isinstance(tree, dict):
            for known in tree:
                if str(known) == key:
                    return node_at(tree[known], rest)
    raise KeyError(path)


def asdf_array(theirs: Any, key: str) -> Any:
    """The array that asdf has at the path of a dataset, blocks and masks among them."""
    if key.startswith("blocks/"):
        return theirs._blocks.blocks[int(key.split("/")[1])].data
    try:
        node = node_at(theirs.tree, key)
    except KeyError:
        if not key.endswith("/mask"):
            raise
        return np.ma.getmaskarray(asdf_array(theirs, key.removesuffix("/mask")))
    return node._make_array() if hasattr(node, "_make_array") else node


def read_asdf(path: str, theirs: Any, outcome: Outcome, digests: Any = "whole") -> None:
    import asdf

    with holdall.open(path, digests=digests) as ours:
        try:
            for key in ours:
                read_asdf_dataset(key, ours[key], theirs, outcome)
        except holdall.ChecksumError as error:
            # Its values are compared all the same.
            outcome.differences.append(f"refused: ChecksumError: {error}"[:200])
            return read_asdf(path, theirs, outcome, "ignore")
        try:
            tree = asdf.util.load_yaml(path)
        except Exception as refused:  # noqa: BLE001 - whatever a peer raises
            outcome.skipped.append(f"asdf does not load the tree: {type(refused).__name__}")
            return None
        if tree is not None:
            arrays = frozenset(f"/{key}" for key in ours.all())
            outcome.equal("tree", plain(ours.meta), plain(tree), arrays)


def read_asdf_dataset(key: str, dataset: Any, theirs: Any, outcome: Outcome) -> None:
    try:
        node = asdf_array(theirs, key)
        array = node if isinstance(node, np.ma.MaskedArray) else np.asarray(node)
    except Exception as refused:  # noqa: BLE001 - converters and files beside it raise anything
        outcome.skipped.append(f"asdf does not read {key}: {type(refused).__name__}: {refused}"[:160])
        return
    if array.dtype.hasobject:
        outcome.skipped.append(f"asdf makes a {type(node).__name__} of {key}")
        return
    outcome.same(key, dataset[...], np.ma.getdata(array))
    if isinstance(array, np.ma.MaskedArray) and array.mask is not np.ma.nomask:
        mask = dataset.mask()
        found = np.zeros(array.shape, bool) if mask is None else mask
        outcome.same(f"{key} (mask)", found, np.ma.getmaskarray(array))


def open_blosc2(path: str) -> Any:
    import blosc2

    return blosc2.blosc2_ext.open(path, "r", 0)


def read_blosc2(path: str, theirs: Any, outcome: Outcome) -> None:
    import blosc2

    with holdall.open(path) as ours:
        schunk = getattr(theirs, "schunk", theirs)
        expected = plain(schunk.vlmeta.getall() if len(schunk.vlmeta) else {})
        meta: Any = ours.meta
        if "estore_metadata" in expected:
            # A store in a frame: its arrays are ours, its table is metadata of the frame.
            outcome.equal("vlmeta", plain(as_map(meta["embedded"]["/"].get("vlmeta", {}))), expected)
            return read_leaves(ours, blosc2.EmbedStore(urlpath=path, mode="r"), outcome)
        told = plain(as_map(meta.get("vlmeta", {}) if isinstance(meta, dict) else {}))
        outcome.equal("vlmeta", told, expected)
        if isinstance(theirs, blosc2.NDArray):
            try:
                values = theirs[...]
            except Exception as refused:  # noqa: BLE001 - whatever a peer raises: a writer was killed
                outcome.skipped.append(f"the peer does not read the array: {type(refused).__name__}: {refused}"[:120])
                return None
            outcome.same("data", ours["data"][...], values)
            outcome.equal("chunks", list(ours["data"].chunks or theirs.chunks), list(theirs.chunks))
            return None
        if "data" not in ours:
            outcome.skipped.append(f"datasets {', '.join(list(ours)[:3])}"[:60] + " of chunks of another kind")
            return None
        outcome.arrays += 1
        problem = bytes_problem(ours["data"][...], schunk)
        if problem:
            outcome.differences.append(f"data: {problem}")


def as_map(value: Any) -> Any:
    """Maps of keys that are not text, which are lists of pairs in ours."""
    return value if isinstance(value, dict) else dict(value)


def bytes_problem(found: np.ndarray, schunk: Any) -> str | None:
    """The difference between the bytes of a frame as ours and as its chunks, decoded by the peer."""
    import blosc2

    data, at = found.tobytes(), 0
    for chunk in schunk.iterchunks_info():
        theirs = schunk.decompress_chunk(chunk.nchunk)
        ours = data[at : at + len(theirs)]
        at += len(theirs)
        # Uninitialised values are none: zeros in ours, whatever memory held in theirs.
        if ours != theirs and (chunk.special != blosc2.SpecialValue.UNINIT or len(ours) != len(theirs)):
            return f"chunk {chunk.nchunk}: {len(ours)} bytes, theirs {len(theirs)}"
    return None if at == len(data) else f"{len(data)} bytes, theirs {at}"


class Table:
    """A table as python-blosc2 reads it: what its columns hold."""

    def __init__(self, path: str) -> None:
        import blosc2

        table = blosc2.CTable.open(path, mode="r")
        computed = set(getattr(table, "_computed_cols", ()))
        self.columns = {name: table[name][:] for name in table.col_names if name not in computed}
        if any(len(values) != len(table) for values in self.columns.values()):
            raise ValueError("a table that is being written")


def open_store(path: str) -> Any:
    import blosc2

    store = blosc2.DictStore(path, mode="r")
    return Table(path) if "/_valid_rows" in store else store


def read_store(path: str, theirs: Any, outcome: Outcome) -> None:
    with holdall.open(path) as ours:
        if not isinstance(theirs, Table):
            return read_leaves(ours, theirs, outcome)
        for name, values in theirs.columns.items():
            key = f"_cols/{name}"
            if key not in ours:
                # Columns of rows and of objects are shown in parts of their own.
                outcome.skipped.append(f"a column of {type(values).__name__} that is no dataset")
                continue
            try:
                found = ours[key][...]
            except holdall.UnsupportedError as refused:
                outcome.skipped.append(f"holdall does not read a column: {str(refused).partition(':')[2]}"[:80])
                continue
            mask = ours[key].mask() if found.ndim == 1 else None
            missing = np.zeros(len(found), bool) if mask is None else mask
            if isinstance(values, np.ma.MaskedArray):
                # What lies at missing elements is nobody's value.
                outcome.same(f"{key} (mask)", missing, np.ma.getmaskarray(values))
                found, values = found[~missing], np.ma.getdata(values)[~missing]
            elif values is not None and mask is not None:
                kept = [value for value, is_missing in zip(values, missing, strict=True) if not is_missing]
                found, values = found[~missing], values[~missing] if isinstance(values, np.ndarray) else kept
            if isinstance(values, np.ndarray) and values.dtype.kind not in "TO":
                outcome.same(key, found, values)
            else:
                outcome.arrays += 1
                outcome.equal(key, plain(found.tolist()), plain(list(values)))


def read_leaves(ours: Any, theirs: Any, outcome: Outcome) -> None:
    """Compares the arrays of a store by their keys."""
    import blosc2

    for key in list(theirs.keys()):
        try:
            leaf = theirs[key]
            is_array = isinstance(leaf, blosc2.NDArray)
            values = leaf[...] if is_array else None
        except Exception as refused:  # noqa: BLE001 - whatever a peer raises
            outcome.skipped.append(f"the peer does not read a leaf: {type(refused).__name__}: {refused}"[:120])
            continue
        name = key.strip("/")
        group, _, last = key.rpartition("/")
        if last == "__vlmeta__":
            meta = ours.meta["attributes"].get(group or "/", {})
            outcome.equal(f"attributes of {group}", plain(as_map(meta)), plain(leaf.vlmeta.getall()))
        elif not is_array and not isinstance(leaf, blosc2.SChunk):
            outcome.skipped.append(f"a leaf that is a {type(leaf).__name__}")
        elif name not in ours:
            outcome.differences.append(f"leaf {name}: there is none (there are {', '.join(list(ours)[:5])})")
        elif is_array:
            outcome.same(f"leaf {name}", ours[name][...], values)
        else:
            outcome.arrays += 1
            problem = bytes_problem(ours[name][...], leaf)
            if problem:
                outcome.differences.append(f"leaf {name}: {problem}")


def open_bloscpack(path: str) -> Any:
    import bloscpack

    return bloscpack.unpack_bytes_from_file(path)


def read_bloscpack(path: str, theirs: Any, outcome: Outcome) -> None:
    import bloscpack

    import holdall.bloscpack

    data, metadata = theirs
    found, told = holdall.bloscpack.unpack_bytes_from_file(path)
    outcome.arrays += 1
    outcome.equal("bytes", found, data)
    outcome.equal("metadata", plain(told), plain(metadata))
    with holdall.open(path) as ours:
        if isinstance(metadata, dict) and metadata.get("container") == "numpy":
            array = bloscpack.unpack_ndarray_from_file(path)
            outcome.same("data", ours["data"][...], array)
            outcome.same("array", holdall.bloscpack.unpack_ndarray_from_file(path), array)
        else:
            outcome.equal("lens", ours["data"][...].tobytes(), data)


OPENERS: dict[str, Callable[[str], Any]] = {
    "gsd": open_gsd,
    "asdf": open_asdf,
    "blosc2": open_blosc2,
    "bloscpack": open_bloscpack,
    "store": open_store,
}
READERS: dict[str, Callable[[str, Any, Outcome], None]] = {
    "gsd": read_gsd,
    "asdf": read_asdf,
    "blosc2": read_blosc2,
    "bloscpack": read_bloscpack,
    "store": read_store,
}
