"""Super-chunks as both releases write and change them: chunk sizes, metadata, sparse ones, and what changes leave behind."""

import json
from collections.abc import Sequence

import numpy as np

import tool
from arrays import written
from parts import Fixture, numbers
from values import noise, steps, text
from pipelines import frame

FIVE = [steps(400, 4, seed) for seed in range(5)]  # the chunks of what is changed below
WHOLE = b"".join(FIVE)
CALIBRATION = {"gain": 1.5, "channels": [1, 2, 3], "name": "größe", "none": None, "on": True}


def variable(name: str, about: str, chunks: Sequence[bytes], *steps_: list[object], after: Sequence[bytes] | None = None, **more: object) -> Fixture:
    """Chunks of different sizes, which only the new release writes."""
    made = tool.made(
        tool.new(), "frame", ".b2frame", *steps_, hex=b"".join(chunks).hex(), typesize=4,
        sizes=[len(chunk) for chunk in chunks], **more,
    )  # fmt: skip
    return Fixture(name, about, made, producer=tool.new().producer, chunks=after or chunks)


def sizes() -> list[Fixture]:
    found = []
    for peer, start in ((tool.new(), ""), (tool.old(), "old_")):
        for size in (0, 1, 31, 32, 33, 1000, 1001, 2000):
            about = f"{size} bytes in chunks of 1000"
            found.append(frame(peer, f"{start}bytes_{size}", about, noise(size), 1, 1000))
        if peer is tool.old():
            break
    new = tool.new()
    found.append(frame(new, "old_school_zeros", "chunks of zeros among others", bytes(400) + WHOLE + bytes(800), 4, 400))
    found.append(frame(new, "all_zeros", "zeros alone: no chunk is stored", bytes(1300), 4, 400))
    found.append(frame(new, "three_chunks", "an index too short to compress", WHOLE[:1200], 4, 400))
    many = bytes(np.arange(6000, dtype="<u2").tobytes())
    found.append(frame(new, "many_chunks", "an index of 200 chunks", many, 2, 60))
    return found


def specials() -> list[Fixture]:
    """No chunk is stored, or one that repeats a value; the index repeats one offset."""
    found = []
    values = {"zeros": np.zeros(133), "nans": np.full(133, np.nan), "full": np.full(133, 7.5)}
    for peer, start in ((tool.new(), ""), (tool.old(), "old_")):
        for kind, array in values.items():
            more = {"value": 7.5} if kind == "full" else {}
            made = tool.made(peer, "frame", ".b2frame", special=kind, items=133, typesize=8, chunksize=400, **more)
            plain = (array.tobytes(), 8)
            found.append(Fixture(f"{start}fill_{kind}", f"filled: {kind}", made, producer=peer.producer, plain=plain))
    return found


def variables() -> list[Fixture]:
    parts = [steps(size, 4, size) for size in (100, 52, 400, 4)]
    return [
        variable("variable", "chunks of four sizes", parts),
        variable("variable_growing", "each chunk is longer", [noise(8 * it, it) for it in range(1, 9)]),
        variable("variable_by_update", "a chunk got another size", [parts[0]] * 3, ["update", 1, {"hex": parts[2].hex()}], after=[parts[0], parts[2], parts[0]]),
        variable("variable_by_insert", "a chunk of another size came between", [parts[0]] * 3, ["insert", 1, {"hex": parts[1].hex()}], after=[parts[0], parts[1], parts[0], parts[0]]),
        variable("variable_after_short", "chunks after a short one", [parts[2], parts[0], parts[2]]),
        variable("variable_sparse", "chunks of four sizes, each in its file", parts, sparse=True),
    ]  # fmt: skip


def metadata() -> list[Fixture]:
    new, old = tool.new(), tool.old()
    array = numbers("i4", 5, 7)
    parts = ((4, 5), (2, 3))
    many = {f"layer{it:02}": it for it in range(15)}
    long = {"n" * 31: "thirty-one letters"}
    sixteen = {f"key {it}": {"number": it, "text": "x" * it} for it in range(16)}
    found = []
    for peer, start in ((new, ""), (old, "old_")):
        found += [
            written(peer, f"{start}meta", "a metalayer beside that of the array", array, *parts, meta={"calibration": CALIBRATION}),
            written(peer, f"{start}vlmeta", "a piece of user metadata", array, *parts, vlmeta={"calibration": CALIBRATION}),
            written(peer, f"{start}vlmeta_16", "16 of them, the most that C-Blosc2 writes", array, *parts, vlmeta=sixteen),
        ]  # fmt: skip
    found += [
        written(new, "meta_16", "16 metalayers, the most there may be", array, *parts, meta=many),
        written(new, "meta_json", "JSON text inside msgpack", array, *parts, meta={"schema": json.dumps(CALIBRATION)}, vlmeta={"schema": json.dumps([CALIBRATION])}),
        written(new, "meta_long_names", "names of 31 letters", array, *parts, meta=long, vlmeta=long),
        written(new, "meta_utf8_names", "names that are not ASCII", array, *parts, meta={"größe": 1}, vlmeta={"大きさ": 2}),
        written(new, "vlmeta_large", "one that is compressed", array, *parts, vlmeta={"text": text(5000).decode(), "zeros": [0] * 500}),
        written(new, "vlmeta_changed", "set, changed, deleted and set", array, *parts, ["vlmeta", "a", 1], ["vlmeta", "b", [2]], ["vlmeta", "a", "longer than it was"], ["unvlmeta", "b"], ["vlmeta", "c", None]),
        written(new, "vlmeta_emptied", "the only one was deleted", array, *parts, ["unvlmeta", "a"], vlmeta={"a": 1}),
        written(new, "meta_changed", "a metalayer was changed in place", array, *parts, ["meta", "number", 2], meta={"number": 1}),
        frame(new, "vlmeta_no_chunks", "metadata without a chunk", b"", 8, 800, meta={"a": [1, 2]}, vlmeta={"b": {"c": "d"}}),
        frame(new, "meta_plain", "metadata of a frame that is no array", WHOLE, 4, 400, meta={"a": [1, 2]}, vlmeta={"b": {"c": "d"}}),
    ]  # fmt: skip
    return found


def tensors() -> list[Fixture]:
    """Arrays that `save_tensor` packs: type and shape are user metadata."""
    found = []
    record = np.dtype([("a", "<i4"), ("b", "<f8", (2,))])
    records = np.zeros(5, record)
    records["a"], records["b"] = numbers("i4", 5), numbers("f8", 5, 2)
    cases = {
        "tensor_chunks": ("rows that chunks cut", numbers("i4", 10, 6), 64),
        "tensor_big_endian": ("the other byte order", numbers(">i2", 4, 3, 5), None),
        "tensor_scalar": ("no axis", np.array(3.5), None),
        "tensor_empty": ("no element", np.zeros((0, 3)), None),
        "tensor_booleans": ("booleans", np.eye(3, dtype="?"), None),
        "tensor_texts": ("texts", np.array(["ab", "größe"]), None),
        "tensor_records": ("records with an array in them", records, None),
    }
    for name, (about, array, chunksize) in cases.items():
        shape, dtype = list(array.shape), array.dtype.descr if array.dtype.names else array.dtype.str
        made = tool.made(
            tool.new(), "tensor", ".b2frame", dtype=dtype, shape=shape, hex=array.tobytes().hex(), chunksize=chunksize
        )  # fmt: skip
        found.append(Fixture(name, f"save_tensor: {about}", made, producer=tool.new().producer, tensor=array))
    return found


def sparse() -> list[Fixture]:
    new, old, found = tool.new(), tool.old(), []
    for peer, start in ((new, ""), (old, "old_")):
        found += [
            frame(peer, f"{start}sparse", "each chunk in a file of its own", WHOLE, 4, 400, sparse=True),
            written(peer, f"{start}sparse_array", "an array, each chunk in a file of its own", numbers("f8", 9, 7), (4, 5), (2, 3), sparse=True, vlmeta={"a": 1}),
        ]  # fmt: skip
    found += [
        frame(new, "sparse_empty", "no chunk", b"", 4, 400, sparse=True),
        written(new, "sparse_zeros", "zeros, and no file of a chunk", np.zeros((9, 7)), (4, 5), (2, 3), sparse=True, special="zeros"),
        frame(new, "sparse_zeros_between", "chunks of zeros, which have no file, among others", FIVE[0] + bytes(400) + FIVE[1], 4, 400, sparse=True),
        frame(new, "sparse_deleted", "the file of a chunk is gone", WHOLE, 4, 400, ["delete", 1], sparse=True, after=FIVE[0] + b"".join(FIVE[2:])),
        frame(new, "sparse_inserted", "chunks are not in the order of their numbers", WHOLE, 4, 400, ["insert", 1, hexed(FIVE[4])], sparse=True, after=FIVE[0] + FIVE[4] + b"".join(FIVE[1:])),
        frame(new, "sparse_updated", "a chunk was replaced", WHOLE, 4, 400, ["update", 1, hexed(noise(400))], sparse=True, after=FIVE[0] + noise(400) + b"".join(FIVE[2:])),
        frame(new, "sparse_update_zeros", "a chunk became zeros", WHOLE, 4, 400, ["update", 1, hexed(bytes(400))], sparse=True, after=FIVE[0] + bytes(400) + b"".join(FIVE[2:])),
    ]  # fmt: skip
    return found


def hexed(data: bytes) -> dict[str, str]:
    return {"hex": data.hex()}


def changes() -> list[Fixture]:
    """Each change, by both releases: where they leave dead bytes or an index that is not in order, `findings.py` says so."""
    found = []
    small, large = bytes([5]) * 400, noise(400, 9)
    for peer, start in ((tool.new(), ""), (tool.old(), "old_")):
        cases: list[tuple[str, str, list[list[object]], bytes]] = [
            ("appended", "chunks were appended", [["append", hexed(small)], ["append", hexed(large)]], WHOLE + small + large),
            ("inserted", "a chunk was inserted", [["insert", 1, hexed(large)]], FIVE[0] + large + b"".join(FIVE[1:])),
            ("inserted_first", "a chunk was inserted before all", [["insert", 0, hexed(large)]], large + WHOLE),
            ("deleted_first", "the first chunk was deleted", [["delete", 0]], b"".join(FIVE[1:])),
            ("deleted_middle", "a chunk was deleted", [["delete", 2]], b"".join(FIVE[:2] + FIVE[3:])),
            ("deleted_last", "the last chunk was deleted", [["delete", 4]], b"".join(FIVE[:4])),
            ("deleted_all", "all chunks were deleted", [["delete", 0]] * 5, b""),
            ("updated_smaller", "a chunk became shorter", [["update", 1, hexed(small)]], FIVE[0] + small + b"".join(FIVE[2:])),
            ("updated_larger", "a chunk became longer", [["update", 1, hexed(large)]], FIVE[0] + large + b"".join(FIVE[2:])),
            ("updated_zeros", "a chunk became zeros", [["update", 1, hexed(bytes(400))]], FIVE[0] + bytes(400) + b"".join(FIVE[2:])),
            ("updated_twice", "a chunk became longer twice", [["update", 1, hexed(small)], ["update", 1, hexed(large)]], FIVE[0] + large + b"".join(FIVE[2:])),
        ]  # fmt: skip
        if peer is tool.new():
            cases.append(("reordered", "the order of chunks was changed", [["reorder", [4, 2, 0, 1, 3]]], b"".join(FIVE[it] for it in (4, 2, 0, 1, 3))))
        found += [frame(peer, f"{start}{name}", about, WHOLE, 4, 400, *steps_, after=after) for name, about, steps_, after in cases]
    return found


def array_changes() -> list[Fixture]:
    array = numbers("i4", 6, 7)
    grown = np.zeros((9, 12), "i4")
    grown[:6, :7] = array
    found = []
    for peer, start in ((tool.new(), ""), (tool.old(), "old_")):
        patched = array.copy()
        patched[1:5, 2:4] = numbers("i4", 4, 2, seed=7)
        patch = {"hex": numbers("i4", 4, 2, seed=7).tobytes().hex()}
        cases = [
            ("grown", "resized to more of both axes", grown, [["resize", [9, 12]]]),
            ("shrunk", "resized to less of both axes", array[:3, :4].copy(), [["resize", [3, 4]]]),
            ("patched", "a part was set", patched, [["set", [1, 2], [5, 4], patch]]),
        ]
        for name, about, after, steps_ in cases:
            made = written(peer, f"{start}array_{name}", about, array, (4, 5), (2, 3), *steps_)
            made.array = after
            found.append(made)
    line, more = numbers("f4", 10), numbers("f4", 5, seed=3)
    for size, name in ((8, "aligned"), (10, "unaligned")):
        made = written(tool.new(), f"array_appended_{name}", "items were appended", line[:size], (4,), (2,), ["nd_append", hexed(more.tobytes())])
        made.array = np.concatenate([line[:size], more])
        found.append(made)
    return found


def fixtures() -> list[Fixture]:
    return [*sizes(), *specials(), *variables(), *metadata(), *tensors(), *sparse(), *changes(), *array_changes()]
