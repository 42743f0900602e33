"""python-blosc2 on command, either release: a JSON request on each line of stdin, a JSON answer on each line of stdout.

    .venv/bin/python -B testdata/blosc2/peer.py              # blosc2 4.14.1, C-Blosc2 3.3.5
    .venv/old-blosc2/bin/python -B testdata/blosc2/peer.py   # blosc2 3.1.1, C-Blosc2 2.16.0

An answer is `{"ok": true, ...}`, or `{"ok": false, "error": "ValueError: ..."}` where blosc2 raised. Arrays go through files:
`raw` names a file of their bytes in C order, which is read by what writes and written by what reads; short data of a
request can stand in it as `hex` instead. With `BLOSC_*` unset and one thread, the same requests make the same bytes.

| `do` | fields | answer |
|---|---|---|
| `version` | | `blosc2`, `c_blosc2`, `numpy`, `python` |
| `write` | `path`; `dtype`, `shape`, and `raw` or `hex` or `special` (`zeros`, `nans`, `uninit`, `full` with `value` as hex of an item); `chunks`, `blocks`, `sparse`, `cparams`, `meta`, `vlmeta` | |
| `frame` | `path`; `raw` or `hex` or `special` (as above, `value` a number) and `items`; `typesize`, `chunksize`, or `sizes` of each chunk; `sparse`, `cparams`, `meta`, `vlmeta` | |
| `tensor` | `path`; `dtype`, `shape`, `raw` or `hex`; `chunksize` (4.14) | |
| `read` | `path`; `offset` of a frame inside a file; `raw` to have the values | `kind` (`array` or `frame`), `dtype`, `shape`, `chunks`, `blocks` of an array; `nchunks`, `chunksize`, `blocksize`, `typesize`, `nbytes`, `cbytes`, `meta` and `vlmeta` (name to hex of the msgpack), `sha256` of the values |
| `slice` | `path`, `start`, `stop`, `step` per axis (or one number each for a frame, in items); `raw` | `shape`, `sha256` |
| `chunk` | `path`, `n`, `raw` | `size`, `sha256` of the decoded chunk |
| `mutate` | `path`, `steps` | |
| `memory` | `path`; `raw` | as `read`, of the file's bytes in memory |
| `open` | `path`, `handle` (a name of your choice), `mode`, `locking` | |
| `close` | `handle` | |
| `vlblock` | `path`, `n`, `block`, `raw` (4.14) | `size`, `sha256` of a block of a chunk of unequal ones |
| `batches` | `path`, `batches` (a list of lists), `items_per_block` (4.14) | |
| `store` | `path` (`.b2z`, `.b2d`, `.b2e`), `leaves` (key to the fields of `write`), `attributes` (key, or `/`, to a dictionary) (4.14) | |
| `keys` | `path` of a store (4.14) | `leaves`: key to that of `read` |
| `info` | `path` | `cparams` as numbers, `vlmeta` as values, `meta` (names), `contiguous` |
| `parts` | `path` of an array, `indices` (a list of selections), `raw` | `shapes`; the values of all go to `raw` |
| `numpy` | `dtype`, `shape`, `from` (a file of values), `indices`, `raw` | as `parts`, of an array of numpy |
| `replay` | `dtype`, `shape`, `from`, `steps`, `raw` | `shapes` after each step, of an array of numpy; the values go to `raw` |

A selection has for each axis a number, `[start, stop, step]` where `null` is left out, or `{"list": [...]}` (not in `parts`).
The steps of `replay`, with HEX the values: `["set", selection, HEX]`, `["resize", shape]`, `["append", axis, length, HEX]`,
`["insert", axis, at, length, HEX]`, `["delete", axis, start, stop]`; what `resize` adds is zeros.

What takes a `path` of a frame or an array takes a `handle` as well, which was opened before.

`cparams`: `codec` (`zstd`), `clevel`, `filters` (`[["shuffle", 0], ...]`), `typesize`, `blocksize`, `splitmode` (1 always, 2 never, 3 auto, 4
forward_compat), `use_dict`, `nthreads`, `codec_meta`. `meta` and `vlmeta` are JSON values, stored as msgpack.

A step of `mutate` is `[name, arguments...]`; DATA is `{"raw": path}` or `{"hex": text}`:
`["append", DATA]`, `["insert", n, DATA]`, `["update", n, DATA]`, `["delete", n]`, `["reorder", [n...]]`, `["zero", n]` (update to a special
chunk of zeros; 4.14), `["vlmeta", name, value]`, `["unvlmeta", name]`,
`["meta", name, value]`, `["lock"]`, `["unlock"]`, `["refresh"]` (4.14), and of arrays `["resize", shape]`, `["set", start, stop, DATA]`,
`["nd_append", DATA]` (of one axis; 4.14).
"""

import hashlib
import json
import os
import platform
import sys

for name in [name for name in os.environ if name.startswith("BLOSC")]:
    del os.environ[name]  # they change parameters behind one's back

import blosc2
import numpy as np

blosc2.set_nthreads(1)


def tuples(value):
    """numpy wants the fields of a record as tuples."""
    return [tuple(tuples(part) if isinstance(part, list) else part for part in field) for field in value]


def dtype_of(value):
    if isinstance(value, str):
        return np.dtype(value)
    fields = []
    for field in value:
        name, inner, *shape = field
        inner = dtype_of(inner) if isinstance(inner, list) else inner
        fields.append((name, inner, *[tuple(part) for part in shape]))
    return np.dtype(fields)


def data(request):
    if "hex" in request:
        return bytes.fromhex(request["hex"])
    with open(request["raw"], "rb") as file:
        return file.read()


def out(request, values):
    if "raw" in request:
        with open(request["raw"], "wb") as file:
            file.write(values)
    return hashlib.sha256(values).hexdigest()


def cparams(request, typesize=None):
    given = dict(request.get("cparams", {}))
    made = {"nthreads": given.pop("nthreads", 1)}
    if typesize is not None:
        made["typesize"] = typesize
    if "codec" in given:
        made["codec"] = blosc2.Codec[given.pop("codec").upper()]
    if "splitmode" in given:
        made["splitmode"] = blosc2.SplitMode(given.pop("splitmode"))
    if "filters" in given:
        filters = given.pop("filters")
        made["filters"] = [blosc2.Filter[name.upper()] for name, _ in filters]
        made["filters_meta"] = [meta for _, meta in filters]
    return made | given


def storage(request, typesize=None):
    made = {
        "urlpath": request["path"],
        "mode": "w",
        "contiguous": not request.get("sparse", False),
        "cparams": cparams(request, typesize),
        "dparams": {"nthreads": 1},
    }
    if request.get("meta"):
        made["meta"] = request["meta"]
    return made


def write(request):
    dtype, shape = dtype_of(request["dtype"]), tuple(request["shape"])
    more = storage(request)
    for name in ("chunks", "blocks"):
        if name in request:
            more[name] = tuple(request[name])
    special = request.get("special")
    if special is None:
        array = blosc2.asarray(np.frombuffer(data(request), dtype).reshape(shape), **more)
    elif special == "full":
        value = np.frombuffer(bytes.fromhex(request["value"]), dtype)[0]
        array = blosc2.full(shape, value, dtype=dtype, **more)
    else:
        array = getattr(blosc2, special)(shape, dtype=dtype, **more)
    for name, value in request.get("vlmeta", {}).items():
        array.schunk.vlmeta[name] = value
    return {}


SPECIAL = {
    "zeros": blosc2.SpecialValue.ZERO,
    "nans": blosc2.SpecialValue.NAN,
    "uninit": blosc2.SpecialValue.UNINIT,
    "full": blosc2.SpecialValue.VALUE,
}


def frame(request):
    more = storage(request, request["typesize"])
    special = request.get("special")
    values = data(request) if special is None else b""
    if special is not None:
        schunk = blosc2.SChunk(chunksize=request["chunksize"], **more)
        value = request.get("value")
        schunk.fill_special(request["items"], SPECIAL[special], *([] if value is None else [value]))
    elif "sizes" in request:
        schunk = blosc2.SChunk(chunksize=request.get("chunksize") or request["sizes"][0], **more)
        at = 0
        for size in request["sizes"]:
            schunk.append_data(values[at : at + size])
            at += size
    else:
        schunk = blosc2.SChunk(chunksize=request["chunksize"], data=values or None, **more)
    for name, value in request.get("vlmeta", {}).items():
        schunk.vlmeta[name] = value
    return {}


def tensor(request):
    array = np.frombuffer(data(request), dtype_of(request["dtype"])).reshape(request["shape"])
    blosc2.save_tensor(array, request["path"], chunksize=request.get("chunksize"))
    return {}


HANDLES = {}


def opened(request, mode="r"):
    if "handle" in request:
        return HANDLES[request["handle"]]
    more = {"offset": request["offset"]} if "offset" in request else {}
    return blosc2.open(request["path"], mode=mode, **more)


def schunk_of(thing):
    return getattr(thing, "schunk", thing)


def is_array(thing):
    return isinstance(thing, blosc2.NDArray)


def raw_metas(schunk):
    """The bytes of the metalayers as stored."""
    fixed = {name: blosc2.blosc2_ext.meta__getitem__(schunk, name).hex() for name in schunk.meta}
    variable = {name: super(type(schunk.vlmeta), schunk.vlmeta).get_vlmeta(name).hex() for name in schunk.vlmeta}
    return {"meta": fixed, "vlmeta": variable}


def facts(thing, request):
    schunk = schunk_of(thing)
    made = {"kind": "array" if is_array(thing) else "frame"}
    if is_array(thing):
        dtype = thing.dtype
        made |= {
            "dtype": dtype.str if dtype.names is None else json.loads(json.dumps(dtype.descr)),
            "shape": list(thing.shape),
            "chunks": list(thing.chunks),
            "blocks": list(thing.blocks),
        }
    for name in ("nchunks", "chunksize", "blocksize", "typesize", "nbytes", "cbytes"):
        made[name] = int(getattr(schunk, name))
    made |= raw_metas(schunk)
    return made | {"sha256": out(request, values_of(thing))}


def values_of(thing):
    if is_array(thing):
        return np.ascontiguousarray(thing[()]).tobytes() if thing.ndim == 0 else np.ascontiguousarray(thing[...]).tobytes()
    return b"".join(thing.decompress_chunk(n) for n in range(thing.nchunks))


def read(request):
    return facts(opened(request), request)


def memory(request):
    with open(request["path"], "rb") as file:
        frame = file.read()
    schunk = blosc2.schunk_from_cframe(frame, True)
    return facts(blosc2.ndarray_from_cframe(frame, True) if "b2nd" in schunk.meta else schunk, request)


def keep(request):
    more = {"locking": True} if request.get("locking") else {}
    HANDLES[request["handle"]] = blosc2.open(request["path"], mode=request.get("mode", "r"), **more)
    return {}


def close(request):
    del HANDLES[request["handle"]]
    return {}


def cut(request):
    thing = opened(request)
    if not is_array(thing):
        values = thing.get_slice(request["start"], request["stop"])
        return {"size": len(values), "sha256": out(request, values)}
    steps = request.get("step") or [1] * len(request["start"])
    values = thing[tuple(slice(*part) for part in zip(request["start"], request["stop"], steps))]
    return {"shape": list(values.shape), "sha256": out(request, np.ascontiguousarray(values).tobytes())}


def chunk(request):
    thing = opened(request)  # frees its chunks when it goes
    values = schunk_of(thing).decompress_chunk(request["n"])
    return {"size": len(values), "sha256": out(request, values)}


def vlblock(request):
    values = schunk_of(opened(request)).get_vlblock(request["n"], request["block"])
    return {"size": len(values), "sha256": out(request, values)}


def batches(request):
    path, per_block = request["path"], request["items_per_block"]
    array = blosc2.BatchArray(
        urlpath=path, mode="w", contiguous=True, items_per_block=per_block, cparams=cparams(request)
    )
    for batch in request["batches"]:
        array.append(batch)
    return {}


def leaf(request):
    dtype, shape = dtype_of(request["dtype"]), tuple(request["shape"])
    more = {name: tuple(request[name]) for name in ("chunks", "blocks") if name in request}
    return blosc2.asarray(np.frombuffer(data(request), dtype).reshape(shape), cparams=cparams(request), **more)


def store(request):
    path, one = request["path"], blosc2.CParams(nthreads=1)
    if path.endswith(".b2e"):
        made = blosc2.EmbedStore(path, mode="w", cparams=one)
        for key, value in request["leaves"].items():
            made[key] = leaf(value)
        return {}
    with blosc2.TreeStore(path, mode="w", cparams=one) as made:
        for key, value in request["leaves"].items():
            made[key] = leaf(value)
        for key, values in request.get("attributes", {}).items():
            group = made if key == "/" else made[key]
            for name, value in values.items():
                group.vlmeta[name] = value
    return {}


def keys(request):
    path = request["path"]
    made = blosc2.EmbedStore(path, mode="r") if path.endswith(".b2e") else blosc2.open(path)
    leaves = {key: made[key] for key in made.keys()}
    arrays = {key: facts(it, {}) for key, it in leaves.items() if isinstance(it, (blosc2.NDArray, blosc2.SChunk))}
    return {"leaves": arrays}


def step(thing, name, *args):
    schunk = schunk_of(thing)
    if name == "append":
        schunk.append_data(data(args[0]))
    elif name == "insert":
        schunk.insert_data(args[0], data(args[1]), True)
    elif name == "update":
        schunk.update_data(args[0], data(args[1]), True)
    elif name == "delete":
        schunk.delete_chunk(args[0])
    elif name == "reorder":
        schunk.reorder_offsets(args[0])
    elif name == "zero":
        schunk.update_special(args[0], blosc2.SpecialValue.ZERO)
    elif name in ("lock", "unlock", "refresh"):
        getattr(schunk, name)()
    elif name == "vlmeta":
        schunk.vlmeta[args[0]] = args[1]
    elif name == "unvlmeta":
        del schunk.vlmeta[args[0]]
    elif name == "meta":
        schunk.meta[args[0]] = args[1]
    elif name == "resize":
        thing.resize(tuple(args[0]))
    elif name == "set":
        start, stop, values = args
        shape = [b - a for a, b in zip(start, stop)]
        values = np.frombuffer(data(values), thing.dtype).reshape(shape)
        thing[tuple(slice(*part) for part in zip(start, stop))] = values
    elif name == "nd_append":
        thing.append(np.frombuffer(data(args[0]), thing.dtype))
    else:
        raise ValueError(f"no step {name!r}")


def mutate(request):
    thing = opened(request, "a")
    for name, *args in request["steps"]:
        step(thing, name, *args)
    return {}


def info(request):
    thing = opened(request)
    schunk = schunk_of(thing)
    params = schunk.cparams
    names = ("codec", "codec_meta", "clevel", "typesize", "blocksize", "splitmode", "filters", "filters_meta")
    values = {name: getattr(params, name) for name in names}
    plain = {name: [int(getattr(it, "value", it)) for it in value] if isinstance(value, (list, tuple)) else
             int(getattr(value, "value", value)) for name, value in values.items()}  # fmt: skip
    return {
        "kind": "array" if is_array(thing) else "frame",
        "cparams": plain,
        "vlmeta": {name: schunk.vlmeta[name] for name in schunk.vlmeta},
        "meta": list(schunk.meta),
        "contiguous": bool(schunk.contiguous),
    }


def key_of(selection):
    return tuple(slice(*part) if isinstance(part, list) else part for part in selection)


def select(array, selection):
    """Axis by axis, lists too."""
    axis = 0
    for part in selection:
        if isinstance(part, dict):
            array = np.take(array, np.array(part["list"], "i8"), axis)
        else:
            array = array[(slice(None),) * axis + (slice(*part) if isinstance(part, list) else part,)]
        axis += not isinstance(part, int)
    return array


def all_of(arrays, dtype, request):
    # An element is in the byte order of the machine, if it was not made an array again.
    arrays = [np.asarray(array, dtype, order="C") for array in arrays]
    out(request, b"".join(array.tobytes() for array in arrays))
    return {"shapes": [list(array.shape) for array in arrays]}


def parts(request):
    array = opened(request)
    return all_of([array[key_of(selection)] for selection in request["indices"]], array.dtype, request)


def start_of(request):
    with open(request["from"], "rb") as file:
        return np.frombuffer(file.read(), dtype_of(request["dtype"])).reshape(request["shape"])


def numpy(request):
    array = start_of(request)
    return all_of([select(array, selection) for selection in request["indices"]], array.dtype, request)


def replay(request):
    array, states = start_of(request).copy(), []
    for name, *args in request["steps"]:
        values = np.frombuffer(bytes.fromhex(args[-1]), array.dtype) if isinstance(args[-1], str) else None
        if name == "resize":
            old, array = array, np.zeros(args[0], array.dtype)
            common = tuple(slice(min(pair)) for pair in zip(old.shape, array.shape))
            array[common] = old[common]
        elif name == "set":
            key = key_of(args[0])
            array[key] = values.reshape(array[key].shape)
        elif name == "delete":
            array = np.delete(array, slice(args[1], args[2]), args[0])
        else:
            axis, at = args[0], args[1] if name == "insert" else array.shape[args[0]]
            shape = [args[-2] if n == axis else length for n, length in enumerate(array.shape)]
            before, after = np.split(array, [at], axis)
            array = np.concatenate([before, values.reshape(shape), after], axis)
        states.append(array.copy())
    return all_of(states, array.dtype, request)


def version(_request):
    return {
        "blosc2": blosc2.__version__,
        "c_blosc2": blosc2.blosclib_version.split()[0],
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


DO = {
    "version": version, "write": write, "frame": frame, "read": read, "slice": cut, "chunk": chunk, "mutate": mutate,
    "memory": memory, "open": keep, "close": close, "vlblock": vlblock, "batches": batches, "store": store, "keys": keys,
    "info": info, "tensor": tensor, "parts": parts, "numpy": numpy, "replay": replay,
}  # fmt: skip


def answer(request):
    try:
        return {"ok": True} | DO[request["do"]](request)
    except Exception as error:
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints is no answer
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
