"""Python asdf on command, any release: a JSON request on each line of stdin, a JSON answer on each line of stdout.

    .venv/bin/python -B testdata/asdf/peer.py            # asdf 6.0.0
    .venv/mid-asdf/bin/python -B testdata/asdf/peer.py   # asdf 5.2.0
    .venv/old-asdf/bin/python -B testdata/asdf/peer.py   # asdf 2.15.2

An answer is `{"ok": true, ...}`, or `{"ok": false, "error": "ValueError: ..."}` where asdf raised. The same requests make the
same files: SOURCE_DATE_EPOCH stands where a time is written, and the block size of the file system is taken to be 4096.

| `do` | fields | answer |
|---|---|---|
| `version` | | `asdf`, `numpy`, `yaml`, `python` |
| `write` | `path`, `tree` (VALUE below); `standard` (`1.6.0`), `options` (keywords of `write_to`: `all_array_storage`, `all_array_compression`, `compression_kwargs`, `pad_blocks`, `include_block_index`), `config` (`array_inline_threshold`, `default_array_save_base`, `io_block_size`), `history` (a list of descriptions), `tail` (hex: bytes behind the file, the rows of a stream) | |
| `read` | `path`; `checksums` (true: they are checked), `raw` (a folder: the values of each array go into a file there, named by its place in `arrays`), `resolve` (true: `$ref` is followed) | `standard`, `tree` (VALUE), `arrays`, `warnings` |
| `blocks` | `path` | `blocks`: the decoded bytes of each block, hex; asdf 5 and later |
| `validate` | `path` | `warnings`: checksums and schemas checked, all data loaded; not ok where asdf refuses |
| `update` | `path`, `set` (a list of `[PATH, VALUE]`), `unset` (a list of PATH), `options`, `config` | |
| `rewrite` | `path`, `to`, `options`, `config`, `standard` | reads and writes again |
| `tool` | `args` of asdftool | `status`, `stdout` |
| `yaml` | `text` (a document) | `nodes`: what PyYAML with libyaml makes of it, see NODES |
| `yaml_values` | `texts` (each a plain scalar) | `values`: the IS of each, or `error: ...`, as the value of a key in a mapping |
| `emit` | `tree` (VALUE without arrays); `standard` | `text`: as asdf writes it |

PATH is the list of keys from the root: `["a", 0, "b"]`; as text, in `arrays`, `a/0/b` with `~0` for `~` and `~1` for `/`.

VALUE is JSON, but for mappings with one key that begins with `$`:
`{"$array": {...}}`, `{"$bytes": HEX}`, `{"$float": "nan" | "inf" | "-inf" | "-0.0"}`, `{"$complex": [re, im]}` (each a number or as
`$float`), `{"$datetime": "2001-12-14T21:59:43+00:00"}`, `{"$date": "2001-12-14"}`, `{"$map": [[KEY, VALUE], ...]}` (keys that are no strings, or begin with `$`),
`{"$tag": [TAG, VALUE]}` (a tagged node that no converter knows), `{"$integer": "12345"}` (core/integer), `{"$constant": VALUE}`,
`{"$external": {"fileuri", "target", "dtype", "shape"}}` (core/externalarray), `{"$stream": {"dtype", "shape"}}` (shape of a row),
`{"$same": NAME}` (the object that was made by `{"$named": [NAME, VALUE]}`, earlier in the tree), `{"$other": TEXT}` (in answers: what none of these are).

An `$array` in a request: `dtype` (numpy's, or a list of fields), `shape`, `hex` (values in C order) or `raw` (a file of them); `order` (`F`), `slices` (a list of
`[start, stop, step]` or numbers: the view that is saved), `of` (the name of an array this is a view of; then no values), `mask` (a VALUE that is an array: a masked array),
`storage` (`internal`, `inline`, `external`), `compression` (`zlib`, ...), `kwargs` of it.
In an answer: `dtype`, `shape`, `sha256` (of the values in C order, in their own byte order), and of masked ones `mask` (sha256 of the mask as bytes, broadcast).

`arrays` of an answer: a list of `{"path", "dtype", "shape", "values", "mask"}`, `values` the sha256 of the values in C order, numbers little-endian, whatever is masked.

NODES: a list of `[PATH as text, IS]` in the order of the document (what is merged behind the others), where IS is `null`, `bool true`, `int 15`, `float 3ff8000000000000` (its bits; `float nan`), `str TEXT`, `binary HEX`, `timestamp 2001-12-14` (or
`2001-12-14T21:59:43.100000+00:00`; without a zone where none is written), `seq`, `map`, `alias of PATH` (a node met before), `TAG TEXT` (a scalar of any other tag), `TAG seq`, `TAG map`.
Merge keys are merged, and of equal keys the last counts.
"""

import contextlib
import datetime
import hashlib
import io
import json
import math
import os
import platform
import struct
import subprocess
import sys
import warnings
from pathlib import Path

os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")
sys.set_int_max_str_digits(0)

import asdf
import numpy as np
import yaml
from asdf.tags.core.ndarray import NDArrayType

try:
    from asdf.tags.core import IntegerType, ExternalArrayReference
except ImportError:
    from asdf import IntegerType, ExternalArrayReference

PREFIX = "tag:yaml.org,2002:"


# Requests


def dtype_of(value):
    if isinstance(value, str):
        return np.dtype(value)
    fields = []
    for name, inner, *shape in value:
        fields.append((name, dtype_of(inner), *[tuple(part) for part in shape]))
    return np.dtype(fields)


def number(value):
    return float(value["$float"]) if isinstance(value, dict) else value


class Maker:
    """Makes objects of the values in a request."""

    def __init__(self):
        self.named = {}
        self.settings = []  # of arrays, once the file is there

    def array(self, about):
        if "of" in about:
            base = self.named[about["of"]]
        else:
            data = Path(about["raw"]).read_bytes() if "raw" in about else bytes.fromhex(about["hex"])
            base = np.frombuffer(data, dtype_of(about["dtype"])).reshape(about["shape"])
            base = np.array(base, order=about.get("order", "C"))
            if "name" in about:
                self.named[about["name"]] = base
        slices = [slice(*it) if isinstance(it, list) else it for it in about.get("slices", [])]
        made = base[tuple(slices)] if slices else base
        if "mask" in about:
            made = np.ma.array(made, mask=self.value(about["mask"]))
        self.settings.append((made, about))
        return made

    def value(self, it):
        if isinstance(it, list):
            return [self.value(part) for part in it]
        if not isinstance(it, dict):
            return it
        if len(it) != 1 or not next(iter(it)).startswith("$") or next(iter(it)) == "$ref":
            return {name: self.value(part) for name, part in it.items()}
        ((kind, value),) = it.items()
        return getattr(self, "of_" + kind[1:])(value)

    of_array = array

    def of_bytes(self, value):
        return bytes.fromhex(value)

    def of_float(self, value):
        return float(value)

    def of_complex(self, value):
        return complex(*map(number, value))

    def of_datetime(self, value):
        return datetime.datetime.fromisoformat(value)

    def of_date(self, value):
        return datetime.date.fromisoformat(value)

    def of_map(self, value):
        return {self.value(name): self.value(part) for name, part in value}

    def of_tag(self, value):
        tag, inner = value
        inner = self.value(inner)
        kinds = {dict: asdf.tagged.TaggedDict, list: asdf.tagged.TaggedList, str: asdf.tagged.TaggedString}
        if isinstance(inner, str):
            made = asdf.tagged.TaggedString(inner)
            made._tag = tag
            return made
        return kinds[type(inner)](inner, tag)

    def of_integer(self, value):
        return IntegerType(int(value))

    def of_constant(self, value):
        from asdf.tags.core import Constant

        return Constant(self.value(value))

    def of_external(self, value):
        return ExternalArrayReference(value["fileuri"], value["target"], value["dtype"], tuple(value["shape"]))

    def of_stream(self, value):
        return asdf.Stream(value["shape"], dtype_of(value["dtype"]))

    def of_named(self, value):
        name, inner = value
        if isinstance(inner, dict) and set(inner).isdisjoint({"$array"}):
            self.named[name] = made = {}
            made.update(self.value(inner))
        elif isinstance(inner, list):
            self.named[name] = made = []
            made.extend(self.value(inner))
        else:
            self.named[name] = made = self.value(inner)
        return made

    def of_same(self, value):
        return self.named[value]

    def settle(self, file):
        """What is set for each array."""
        for made, about in self.settings:
            array = made if not isinstance(made, np.ma.MaskedArray) else made.data
            if "storage" in about:
                file.set_array_storage(array, about["storage"])
            if "compression" in about:
                file.set_array_compression(array, about["compression"], **about.get("kwargs", {}))


@contextlib.contextmanager
def config_of(request):
    with asdf.config_context() as config:
        config.io_block_size = 4096
        for name, value in request.get("config", {}).items():
            if hasattr(type(config), name):
                setattr(config, name, value)
        yield config


# Answers


def text_of(path):
    return "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)


def descr(dtype):
    """numpy's spelling: a text, or the list of fields."""
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        inner = dtype.fields[name][0]
        shape = list(inner.shape)
        fields.append([name, descr(inner.base), shape] if shape else [name, descr(inner.base)])
    return fields


def digest(data):
    return hashlib.sha256(data).hexdigest()


def little(array):
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def float_of(value):
    if math.isnan(value):
        return {"$float": "nan"}
    if math.isinf(value) or (value == 0 and math.copysign(1, value) < 0):
        return {"$float": repr(value)}
    return value


class Viewer:
    """Says what is in a tree."""

    def __init__(self, raw=None):
        self.arrays = []
        self.above = {}
        self.raw = raw

    def array(self, it, path):
        whole = it[...] if isinstance(it, NDArrayType) else it
        values = np.ma.getdata(whole)
        stored = np.ascontiguousarray(values).reshape(values.shape)
        about = {"dtype": descr(values.dtype), "shape": list(values.shape)}
        listed = {"path": text_of(path)} | about
        if values.dtype.hasobject:
            return {"$array": about}
        listed["values"] = digest(little(values))
        about["sha256"] = digest(stored.tobytes())
        if isinstance(whole, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(whole)
            listed["mask"] = about["mask"] = digest(mask.astype("u1").tobytes())
        if self.raw is not None:
            (Path(self.raw) / str(len(self.arrays))).write_bytes(stored.tobytes())
        self.arrays.append(listed)
        return {"$array": about}

    def value(self, it, path=()):
        if isinstance(it, (NDArrayType, np.ndarray)):
            return self.array(it, path)
        if isinstance(it, (dict, list, tuple)):
            if id(it) in self.above:
                return {"$same": text_of(self.above[id(it)])}
            self.above[id(it)] = path
            made = self.container(it, path)
            del self.above[id(it)]
            return made
        if it is None or isinstance(it, (bool, int)):
            return it
        if isinstance(it, float):
            return float_of(it)
        if isinstance(it, complex):
            return {"$complex": [float_of(it.real), float_of(it.imag)]}
        if isinstance(it, bytes):
            return {"$bytes": it.hex()}
        if isinstance(it, datetime.datetime):
            return {"$datetime": it.isoformat()}
        if isinstance(it, datetime.date):
            return {"$date": it.isoformat()}
        if isinstance(it, str):
            return {"$tag": [it._tag, str(it)]} if hasattr(it, "_tag") else str(it)
        if isinstance(it, IntegerType):
            return {"$integer": str(int(it))}
        if isinstance(it, ExternalArrayReference):
            return {
                "$external": {"fileuri": it.fileuri, "target": it.target, "dtype": it.dtype, "shape": list(it.shape)}
            }
        if type(it).__name__ == "Constant":
            return {"$constant": self.value(it._value, path)}
        if isinstance(it, np.generic):
            return self.value(it.item(), path)
        return {"$other": type(it).__name__}

    def container(self, it, path):
        tag = getattr(it, "_tag", None)
        if isinstance(it, dict):
            items = [(name, self.value(part, (*path, name))) for name, part in it.items()]
            if all(isinstance(name, str) and not name.startswith("$") for name, _ in items):
                made = dict(items)
            else:
                made = {"$map": [[self.value(name), part] for name, part in items]}
        else:
            made = [self.value(part, (*path, at)) for at, part in enumerate(it)]
        return {"$tag": [tag, made]} if tag is not None else made


# YAML


def value_of(tag, text, loader, node):
    """The IS of a scalar."""
    if tag == "null":
        return "null"
    if tag == "bool":
        return "bool true" if loader.construct_yaml_bool(node) else "bool false"
    if tag == "int":
        return f"int {loader.construct_yaml_int(node)}"
    if tag == "float":
        value = loader.construct_yaml_float(node)
        return "float nan" if math.isnan(value) else "float " + struct.pack(">d", value).hex()
    if tag == "binary":
        return "binary " + loader.construct_yaml_binary(node).hex()
    if tag == "timestamp":
        return "timestamp " + loader.construct_yaml_timestamp(node).isoformat()
    return f"str {text}"


def scalar_of(loader, node):
    if node.tag.startswith(PREFIX) and node.tag[len(PREFIX) :] in (
        "null", "bool", "int", "float", "binary", "timestamp", "str",
    ):  # fmt: skip
        return value_of(node.tag[len(PREFIX) :], node.value, loader, node)
    return f"{node.tag} {node.value}"


def nodes_of(text):
    loader = yaml.CSafeLoader(text)
    listed = []
    seen = {}

    def visit(node, path):
        if id(node) in seen:
            if not isinstance(node, yaml.ScalarNode):
                listed.append([text_of(path), f"alias of {text_of(seen[id(node)])}"])
                return
        seen[id(node)] = path
        if isinstance(node, yaml.ScalarNode):
            listed.append([text_of(path), scalar_of(loader, node)])
            return
        kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
        usual = node.tag == PREFIX + kind
        listed.append([text_of(path), kind if usual else f"{node.tag} {kind}"])
        if kind == "seq":
            for at, part in enumerate(node.value):
                visit(part, (*path, at))
            return
        own = [it for it in node.value if it[0].tag != PREFIX + "merge"]
        loader.flatten_mapping(node)  # puts what is merged before the others
        merged = node.value[: len(node.value) - len(own)]
        for name, part in {**keyed(own), **{key: it for key, it in keyed(merged).items() if key not in keyed(own)}}.values():
            visit(part, (*path, name.value if isinstance(name, yaml.ScalarNode) else "?"))

    def keyed(pairs):
        # As Python compares keys: 1, 1.0 and true are one.
        scalar = lambda node: loader.construct_object(node) if node.tag.startswith(PREFIX) else (node.tag, node.value)
        return {scalar(it[0]) if isinstance(it[0], yaml.ScalarNode) else id(it[0]): it for it in pairs}

    try:
        node = loader.get_single_node()
        if node is not None:
            visit(node, ())
    finally:
        loader.dispose()
    return listed


# What is asked for


def do_version(request):
    return {
        "asdf": asdf.__version__,
        "numpy": np.__version__,
        "yaml": yaml.__version__,
        "python": platform.python_version(),
    }


def save(request, file, maker, path):
    maker.settle(file)
    for text in request.get("history", []):
        file.add_history_entry(text)
    file.write_to(path, **request.get("options", {}))
    if "tail" in request:
        with open(path, "ab") as end:
            end.write(bytes.fromhex(request["tail"]))
    return {}


def do_write(request):
    with config_of(request):
        maker = Maker()
        tree = maker.value(request["tree"])
        file = asdf.AsdfFile(tree, version=request.get("standard"))
        return save(request, file, maker, request["path"])


def do_read(request):
    with config_of(request), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        checks = request.get("checksums", False)
        with asdf.open(request["path"], validate_checksums=checks, lazy_load=not checks) as file:
            if request.get("resolve"):
                file.resolve_references()
            viewer = Viewer(request.get("raw"))
            tree = viewer.value(file.tree)
            standard = str(file.version)
        return {"standard": standard, "tree": tree, "arrays": viewer.arrays, "warnings": [str(it.message) for it in told]}


def do_blocks(request):
    with asdf.open(request["path"]) as file:
        return {"blocks": [bytes(block.cached_data).hex() for block in file._blocks.blocks]}


def do_validate(request):
    with config_of(request) as config, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        config.validate_on_read = True
        with asdf.open(request["path"], validate_checksums=True, lazy_load=False) as file:
            Viewer().value(file.tree)
        return {"warnings": [str(it.message) for it in told]}


def change(file, request):
    maker = Maker()
    for path, value in request.get("set", []):
        *parents, last = path
        at = file.tree
        for part in parents:
            at = at[part]
        at[last] = maker.value(value)
    for path in request.get("unset", []):
        *parents, last = path
        at = file.tree
        for part in parents:
            at = at[part]
        del at[last]
    maker.settle(file)


def do_update(request):
    # With `pad_blocks`, update of asdf 6.0.0 never comes to an end.
    with config_of(request), asdf.open(request["path"], mode="rw") as file:
        change(file, request)
        file.update(**request.get("options", {}))
    return {}


def do_rewrite(request):
    with config_of(request), asdf.open(request["path"]) as file:
        change(file, request)
        if "standard" in request:
            file.version = request["standard"]
        file.write_to(request["to"], **request.get("options", {}))
    return {}


def do_tool(request):
    tool = Path(sys.executable).with_name("asdftool" + (".exe" if os.name == "nt" else ""))
    done = subprocess.run([tool, *request["args"]], capture_output=True, text=True, encoding="utf-8")
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def do_yaml(request):
    return {"nodes": nodes_of(request["text"])}


def do_yaml_values(request):
    values = []
    for text in request["texts"]:
        try:
            nodes = nodes_of(f"a: {text}\n")
            values.append(nodes[1][1] if [path for path, _ in nodes] == ["", "a"] else "error: no scalar")
        except Exception as error:
            # PyYAML raises whatever comes to it.
            values.append(f"error: {type(error).__name__}")
    return {"values": values}


def do_emit(request):
    with config_of(request):
        maker = Maker()
        file = asdf.AsdfFile(maker.value(request["tree"]), version=request.get("standard"))
        buffer = io.BytesIO()
        file.write_to(buffer)
        return {"text": buffer.getvalue().decode("utf-8")}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = {"ok": True} | globals()["do_" + request["do"]](request)
        except Exception as error:
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
