"""The containers of python-blosc2 that are made of several frames: stores, objects, tables, and arrays that stand for others."""

import dataclasses
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

for variable in [name for name in os.environ if name.startswith("BLOSC")]:
    del os.environ[variable]  # they change parameters behind one's back

import blosc2
import msgpack
import numpy as np

import tool
from parts import Fixture, Stored, numbers
from values import text

blosc2.set_nthreads(1)
# Chunks and blocks of text columns follow from the caches of the processor (compute_chunks_blocks of python-blosc2 4.14).
blosc2.cpu_info.update(l1_data_cache_size=48 << 10, l2_cache_size=2 << 20, l3_cache_size=32 << 20)
ONE = {"nthreads": 1}
A, B, C = numbers("i4", 5, 7), numbers("f8", 11), numbers("u2", 3, 4, 5)
DATE = b"\x00\x00\x21\x00"  # 1980-01-01 00:00, as a zip has it


@dataclasses.dataclass
class Row:
    number: int = blosc2.field(blosc2.int32(), default=0)
    value: float = blosc2.field(blosc2.float64(), default=0.0)
    good: bool = blosc2.field(blosc2.bool(), default=False)
    name: str = blosc2.field(blosc2.string(max_length=8), default="")


@dataclasses.dataclass
class Words:
    number: int = blosc2.field(blosc2.int64(), default=0)
    kind: str = blosc2.field(blosc2.dictionary(), default="")
    word: str = blosc2.field(blosc2.vlstring(), default="")


@dataclasses.dataclass
class Nulls:
    """A column of each kind that can be null, and of each way to say so."""

    number: int = blosc2.field(blosc2.int32())
    int_flag: int = blosc2.field(blosc2.int32(nullable=True, null_storage="mask"))
    int_value: int = blosc2.field(blosc2.int16(nullable=True, null_value=-32768))
    float_flag: float = blosc2.field(blosc2.float64(nullable=True, null_storage="mask"))
    float_value: float = blosc2.field(blosc2.float32(nullable=True, null_value=float("nan")))
    bool_value: bool = blosc2.field(blosc2.bool(nullable=True, null_storage="sentinel"))
    complex_flag: complex = blosc2.field(blosc2.complex64(nullable=True))
    string_value: str = blosc2.field(blosc2.string(max_length=4, nullable=True, null_value="n/a"))
    bytes_value: bytes = blosc2.field(blosc2.bytes(max_length=4, nullable=True, null_value=b"none"))
    time_value: object = blosc2.field(blosc2.timestamp(unit="ms", nullable=True, null_storage="sentinel"))
    time_flag: object = blosc2.field(blosc2.timestamp(unit="us", timezone="UTC", nullable=True, null_storage="mask"))
    array_value: object = blosc2.field(blosc2.ndarray((2,), np.int16, nullable=True, null_value=-1))
    array_flag: object = blosc2.field(blosc2.ndarray((2,), np.float32, nullable=True, null_storage="mask"))
    word: str = blosc2.field(blosc2.dictionary(nullable=True))
    text: str = blosc2.field(blosc2.utf8())
    text_value: str = blosc2.field(blosc2.utf8(nullable=True, null_value="n/a"))
    text_flag: str = blosc2.field(blosc2.utf8(nullable=True, null_storage="mask"))
    item: str = blosc2.field(blosc2.vlstring(nullable=True))
    item_bytes: bytes = blosc2.field(blosc2.vlbytes(nullable=True))
    sequence: list[int] = blosc2.field(blosc2.list(blosc2.int64(), nullable=True))


def params() -> blosc2.CParams:
    """A store changes what it is given."""
    return blosc2.CParams(nthreads=1)


def nd(array: np.ndarray) -> blosc2.NDArray:
    chunks = tuple(max(1, size - 2) for size in array.shape)
    blocks = tuple(max(1, size // 2) for size in array.shape)
    return blosc2.asarray(array, chunks=chunks, blocks=blocks, cparams=ONE)


def undated(data: bytes) -> bytes:
    """A zip whose members are of 1980: it has the time of its making."""
    out = bytearray(data)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        with zipfile.ZipFile(file) as archive:
            members, at = archive.infolist(), archive.start_dir
    for member in members:
        out[member.header_offset + 10 : member.header_offset + 14] = DATE
        out[at + 12 : at + 16] = DATE
        name, extra, comment = (int.from_bytes(out[at + k : at + k + 2], "little") for k in (28, 30, 32))
        at += 46 + name + extra + comment
    return bytes(out)


def made(suffix: str, write: Callable[[str], None]) -> Stored:
    """What `write` makes of the path that it is given."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        write(str(path))
        data = tool.stored(path)
        return undated(data) if suffix == ".b2z" else data


def store(name: str, about: str, suffix: str, write: Callable[[str], None], **more: object) -> Fixture:
    return Fixture(name, about, made(suffix, write), suffix, producer=tool.new().producer, **more)


def dict_store(path: str) -> None:
    with blosc2.DictStore(path, mode="w", cparams=params()) as store:
        store["/a"] = nd(A)
        store["/b"] = nd(B)


def embedded(path: str) -> None:
    with blosc2.DictStore(path, mode="w", threshold=1 << 20, cparams=params()) as store:
        store["/a"] = nd(A)
        store["/deep/b"] = nd(B)


def tree_store(path: str) -> None:
    with blosc2.TreeStore(path, mode="w", cparams=params()) as store:
        store["/a"] = nd(A)
        store["/group/b"] = nd(B)
        store["/group/deeper/c"] = nd(C)
        store.vlmeta["title"] = "a tree"
        store["/group"].vlmeta["unit"] = {"b": "m", "scale": [1, 2.5]}


def empty_tree(path: str) -> None:
    with blosc2.TreeStore(path, mode="w", cparams=params()) as store:
        store.vlmeta["title"] = "nothing yet"


def embed_store(path: str) -> None:
    store = blosc2.EmbedStore(path, mode="w", cparams=params())
    store["/a"] = nd(A)
    store["/group/b"] = nd(B)


def embed_deleted(path: str) -> None:
    embed_store(path)
    store = blosc2.EmbedStore(path, mode="a")
    del store["/a"]


OBJECTS = [1, -5, 2.5, "größe", None, True, [1, [2, "x"]], {"a": {"b": 1}}, b"\0\1", ""]


def objects(path: str) -> None:
    array = blosc2.ObjectArray(urlpath=path, mode="w", contiguous=True, cparams=ONE)
    for value in OBJECTS:
        array.append(value)


BATCHES = [["a", "bc", "def", "x" * 50, ""], [{"n": 1}, {"n": 2}], [5]]


def batches(path: str) -> None:
    array = blosc2.BatchArray(urlpath=path, mode="w", contiguous=True, items_per_block=2, cparams=ONE)
    for batch in BATCHES:
        array.append(batch)


def batched() -> tuple[list[bytes], list[list[int]]]:
    """The bytes of each batch, and how long its blocks are."""
    chunks, sizes = [], []
    for batch in BATCHES:
        blocks = [msgpack.packb(batch[at : at + 2]) for at in range(0, len(batch), 2)]
        chunks.append(b"".join(blocks))
        sizes.append([len(block) for block in blocks])
    return chunks, sizes


ROWS = [(1, 0.5, True, "one"), (-2, float("nan"), False, ""), (3, 1e300, True, "three")]


def table(path: str) -> None:
    made = blosc2.CTable(Row, urlpath=path, mode="w", expected_size=8, cparams=ONE, create_summary_index=False)
    made.extend(ROWS)
    made.close()


def words(path: str) -> None:
    made = blosc2.CTable(Words, urlpath=path, mode="w", expected_size=8, cparams=ONE, create_summary_index=False)
    made.extend([(1, "a", "some words"), (2, "b", ""), (3, "a", "more")])
    made.close()


def null_row(k: int) -> tuple[object, ...]:
    """Row `k`; rows 1 and 5 are null."""
    if k in (1, 5):
        texts = (None, f"größe {k}", "n/a", None, None, None, None)
        arrays = (np.full(2, -1, np.int16), None)
        return (k, None, -32768, None, float("nan"), 255, None, "n/a", b"none", np.datetime64("NaT"), None, *arrays, *texts)
    texts = (("red", "green")[k % 2], f"größe {k}", f"a{k}", f"b{k}" if k else "", f"c{k}", b"\0" + bytes([k + 1]), list(range(k)))
    times = (np.datetime64("2020-01-02T03:04:05.678") + np.timedelta64(k, "ms"), np.datetime64("1969-12-31T23:59:59.999999") + np.timedelta64(k, "us"))
    arrays = (np.array([k, -1], np.int16), np.array([k, np.nan], np.float32))
    return (k, 7 * k, 100 * k, float("nan") if k == 3 else k / 4, k / 2, k % 2, complex(k, -k), f"s{k}", b"b%d" % k, *times, *arrays, *texts)


def nulls(path: str) -> None:
    """Seven rows, of which row 2 is deleted."""
    made = blosc2.CTable(Nulls, urlpath=path, mode="w", expected_size=7, cparams=ONE, create_summary_index=False)
    for k in range(7):
        made.append(null_row(k))
    made.delete(2)
    made.close()


def nulls_embedded(path: str) -> None:
    """The same as bytes, as python-blosc2 sends tables."""
    inner = str(Path(path).parent / "inner.b2d")
    nulls(inner)
    Path(path).write_bytes(blosc2.open(inner).to_cframe())
    shutil.rmtree(inner)


def expression(path: str) -> None:
    folder = Path(path).parent
    here = Path.cwd()
    os.chdir(folder)  # so that paths of operands are the same on every machine
    try:
        a = blosc2.asarray(A, urlpath="operand_a.b2nd", mode="w", cparams=ONE)
        b = blosc2.asarray(A, urlpath="operand_b.b2nd", mode="w", cparams=ONE)
        (a + 2 * b).save(urlpath=Path(path).name)
    finally:
        os.chdir(here)


def source(path: str) -> None:
    folder = Path(path).parent
    here = Path.cwd()
    os.chdir(folder)
    try:
        array = blosc2.asarray(A, urlpath="source.b2nd", mode="w", chunks=(4, 5), blocks=(2, 3), cparams=ONE)
        proxy = blosc2.Proxy(array, urlpath=Path(path).name, mode="w")
        proxy[:4, :5]  # one of four chunks is fetched
    finally:
        os.chdir(here)


def tenfold(inputs, output, offset):
    output[:] = inputs[0] * 10


def function(path: str) -> None:
    here = Path.cwd()
    os.chdir(Path(path).parent)
    try:
        array = blosc2.asarray(A, urlpath="operand.b2nd", mode="w", cparams=ONE)
        blosc2.lazyudf(tenfold, (array,), A.dtype).save(urlpath=Path(path).name)
    finally:
        os.chdir(here)


def old_expression(path: str) -> None:
    """As python-blosc2 saved expressions before it had the metalayer b2o."""
    array = blosc2.zeros(A.shape, A.dtype, urlpath=path, mode="w", cparams=ONE, meta={"LazyArray": 0})
    operands = {"a": "operand_a.b2nd", "b": "operand_b.b2nd"}
    array.schunk.vlmeta["_LazyArray"] = {"expression": "a + 2 * b", "UDF": None, "operands": operands}


def on_server(path: str) -> None:
    """As python-blosc2 saves a C2Array that another object refers to."""
    array = blosc2.empty(A.shape, A.dtype, urlpath=path, mode="w", cparams=ONE, meta={"b2o": {"kind": "c2array", "version": 1}})
    array.schunk.vlmeta["b2o"] = {"kind": "c2array", "version": 1, "path": "@public/a.b2nd", "urlbase": "https://example.org/"}


def blocks_fetched(path: str) -> None:
    """A proxy whose source serves blocks: all of chunk 0, the first block of chunk 1, nothing of the others."""
    meta = {"proxy-source": {"source_kind": "fsspec", "local_abspath": None, "urlpath": "https://example.org/a.b2nd", "caterva2_env": False}}
    array = blosc2.asarray(A, urlpath=path, mode="w", chunks=(4, 5), blocks=(2, 3), cparams=ONE, meta=meta)
    array.schunk.vlmeta["proxy-fetched-bpc"] = 4
    array.schunk.vlmeta["proxy-fetched-blocks"] = b"\x1f\x00"


def stand_ins(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = blosc2.EmbedStore(path, mode="w", cparams=params())
        store["/plain"] = nd(A)
        for name, write in (("expression", old_expression), ("proxy", source)):
            leaf = str(Path(folder) / f"{name}.b2nd")
            write(leaf)
            store[f"/{name}"] = blosc2.blosc2_ext.open(leaf, "r", 0)  # as it is, not what it stands for


def tensors(path: str) -> None:
    blosc2.save_tensor(A, path, mode="w", cparams=ONE)


def fixtures() -> list[Fixture]:
    trees = {"a": A, "group/b": B, "group/deeper/c": C}
    chunks, sizes = batched()
    found = []
    for suffix, kind in ((".b2z", "a zip"), (".b2d", "a folder")):
        name = suffix[1:]
        found += [
            store(f"dict_{name}", f"a store, {kind}: each array is a file", suffix, dict_store, datasets={"a": A, "b": B}),
            store(f"embedded_{name}", f"a store, {kind}: arrays are inside embed.b2e", suffix, embedded, datasets={"a": A, "deep/b": B}),
            store(f"tree_{name}", f"a tree, {kind}: with attributes", suffix, tree_store, datasets=trees),
            store(f"tree_empty_{name}", f"a tree, {kind}: attributes alone", suffix, empty_tree, datasets={}),
            store(f"table_{name}", f"a table, {kind}", suffix, table, facts={"rows": len(ROWS)}),
            store(f"table_words_{name}", f"a table, {kind}: a dictionary and texts", suffix, words, facts={"rows": 3}),
        ]  # fmt: skip
    found += [
        store("table_nulls", "a table with nulls in columns of every kind, and a deleted row", ".b2z", nulls, facts={"rows": 6}),
        store("table_embedded", "a table with nulls and a deleted row as one frame", ".b2e", nulls_embedded, reference=False),
        store("embed", "arrays one behind the other in a frame", ".b2e", embed_store, datasets={"a": A, "group/b": B}),
        store("embed_deleted", "one was deleted, and its bytes are still there", ".b2e", embed_deleted, datasets={"group/b": B}),
        store("objects", "a chunk for each object", ".b2f", objects, chunks=[msgpack.packb(it) for it in OBJECTS]),
        store("batches", "a chunk for each batch, of blocks of two items", ".b2b", batches, chunks=chunks, blocks=sizes),
        store("expression", "an array that stands for a + 2 * b", ".b2nd", expression, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("expression_old", "the same as it was saved before the metalayer b2o", ".b2nd", old_expression, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("expression_function", "an array that stands for a function of another", ".b2nd", function, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("expression_on_server", "an array that stands for one on a server", ".b2nd", on_server, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("proxy", "an array that was fetched in part: one chunk of four", ".b2nd", source, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("proxy_blocks", "an array that was fetched in part: five blocks of sixteen", ".b2nd", blocks_fetched, reference=False, facts={"dtype": "<i4", "shape": [5, 7]}),
        store("expressions", "an array, an expression and a proxy", ".b2e", stand_ins, reference=False),
        store("tensor", "an array as save_tensor keeps it", ".b2frame", tensors, tensor=A),
    ]
    return found
