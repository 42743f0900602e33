"""What three releases of Python asdf write: every type in every version of the standard, codecs, streams, and what trees hold."""

from functools import cache

import numpy as np

import tool
from arrays import SCALARS
from parts import Fixture, numbers

STANDARDS = {"new": ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"], "mid": ["1.5.0", "1.6.0"], "old": ["1.0.0", "1.2.0", "1.4.0", "1.5.0"]}
PEERS = {"new": tool.new, "mid": tool.mid, "old": tool.old}


def asked(array: np.ndarray, **more: object) -> dict[str, object]:
    """A request for this array."""
    descr = array.dtype.str if array.dtype.names is None else array.dtype.descr
    data = np.ascontiguousarray(array).tobytes().hex()
    return {"$array": {"dtype": descr, "shape": list(array.shape), "hex": data} | more}


def one(release: str, name: str, about: str, tree: dict[str, object], *steps: object, more: dict[str, object] | None = None, **request: object) -> Fixture:
    peer = PEERS[release]()
    prefix = "" if release == "new" else f"{release}_"
    return Fixture(prefix + name, about, tool.made(peer, tree, *steps, **request), producer=peer.producer, **(more or {}))


@cache
def kinds(order: str) -> dict[str, np.ndarray]:
    found = {}
    for at, it in enumerate(SCALARS):
        name = {"?": "bool"}.get(it, it.replace("S", "ascii").replace("U", "ucs"))
        values = numbers(order + it, 2, 3, seed=at)
        if name == "f8":
            values[0, 0] = -0.0
        found[name] = values
    return found


def types() -> list[Fixture]:
    made = []
    for release, standards in STANDARDS.items():
        for standard in standards:
            for order, word in (("<", "little"), (">", "big")):
                if release != "new" and order == "<" and standard != "1.5.0":
                    continue
                values = {name: it for name, it in kinds(order).items() if name != "f2" or standard == "1.6.0"}
                name = f"types_{standard.replace('.', '')}_{word}"
                tree = {name: asked(it) for name, it in values.items()}
                made.append(one(release, name, f"every type, {word}-endian, standard {standard}", tree, standard=standard, more={"arrays": values}))
            values = {name: it.astype(it.dtype.newbyteorder("<")) for name, it in kinds("<").items() if name not in ("f2",)}
            tree = {name: asked(it, storage="inline") for name, it in values.items()}
            made.append(one(release, f"inline_{standard.replace('.', '')}", f"every type within the tree, standard {standard}", tree, standard=standard, more={"arrays": values}))
    return made


def codecs() -> list[Fixture]:
    made = []
    ramp = np.arange(1000, dtype="<i8").reshape(20, 50)
    waves = (np.sin(np.arange(900) / 7) * 1000).round().astype(">f4").reshape(30, 30)
    values = {"ramp": ramp, "waves": waves, "none": np.zeros(0, "<f8")}
    tree = {name: asked(it) for name, it in values.items()}
    for release in PEERS:
        for label in ("zlib", "bzp2", "lz4"):
            made.append(one(release, f"codec_{label}", f"blocks of {label}", tree, options={"all_array_compression": label}, more={"arrays": values}))
    for label in ("lz4f", "blsc", "zstd"):
        made.append(one("new", f"codec_{label}", f"blocks of {label}, by asdf-compression", {"ramp": asked(ramp), "waves": asked(waves)}, options={"all_array_compression": label}, more={"arrays": {"ramp": ramp, "waves": waves}}))
    pieces = {"all_array_compression": "lz4", "compression_kwargs": {"compression_block_size": 1024}}
    level = {"all_array_compression": "zlib", "compression_kwargs": {"level": 1}}
    mixed = {"a": asked(ramp, compression="zlib"), "b": asked(ramp, compression="bzp2"), "c": asked(ramp, compression="lz4"), "d": asked(ramp), "e": asked(ramp[:2, :4], storage="inline")}
    return [
        *made,
        one("new", "codec_lz4_pieces", "LZ4 in pieces of 1024 bytes", tree, options=pieces, more={"arrays": values}),
        one("new", "codec_zlib_1", "zlib of level 1", tree, options=level, more={"arrays": values}),
        one("new", "codec_mixed", "each array by a codec of its own", mixed),
    ]  # fmt: skip


def streams() -> list[Fixture]:
    made = []
    for release in PEERS:
        rows = numbers(">f8", 4, 2, 3)
        tree = {"s": {"$stream": {"dtype": ">f8", "shape": [2, 3]}}, "a": asked(numbers("<i4", 6))}
        made.append(one(release, "stream_written", "a stream behind a plain block", tree, tail=rows.tobytes().hex(), more={"arrays": {"s": rows}}))
    record = np.dtype([("t", "<f8"), ("n", "<u2", (3,))])
    rows = np.frombuffer(bytes(range(140)), record)
    return [
        *made,
        one("new", "stream_written_none", "a stream without rows", {"s": {"$stream": {"dtype": "<i2", "shape": [4]}}}),
        one("new", "stream_written_records", "a stream of records", {"s": {"$stream": {"dtype": [["t", "<f8"], ["n", "<u2", [3]]], "shape": []}}}, tail=rows.tobytes().hex(), more={"arrays": {"s": rows}}),
    ]  # fmt: skip


TREE = {
    "null": None, "bool": True, "ints": [0, -1, 2**63 - 1, -(2**62)], "floats": [0.5, 1e22, 1e-7, 5e-324, 0.1, 1e16, {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, {"$float": "-0.0"}],
    "strings": ["", " ", "yes", "017", "0o17", "1e3", "1:30", "2001-12-14", "~", "null", ".5", "=", "<<", "- a", "a: b", "a #b", "#a", "'", '"', "\\", "a\nb", "a\nb\n", "\ttab", "trailing ", "é", "日本", "😀", "\u2028", "\x07", "x" * 200, "word " * 40, "[a", "{a", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "?", ":", "-", "...", "---", ",", "a,b"],
    "bytes": {"$bytes": "00ff10"}, "when": {"$datetime": "2020-01-02T03:04:05.000678+00:00"}, "naive": {"$datetime": "2020-01-02T03:04:05"}, "day": {"$date": "2020-01-02"},
    "complex": [{"$complex": [1, 2]}, {"$complex": [-0.5, {"$float": "nan"}]}, {"$complex": [0, -1]}], "empty": [{}, []], "deep": {"a": {"b": [{"c": [[1], [[2]]]}]}},
    "twice": [{"$named": ["one", {"k": [1]}]}, {"$same": "one"}], "cycle": {"$named": ["two", {"me": {"$same": "two"}}]}, "list": {"$named": ["three", [1, {"$same": "three"}]]},
    "tagged": {"$tag": ["tag:example.org:thing-1.0.0", {"x": [1]}]}, "text": {"$tag": ["asdf://example.org/tags/text-1.0.0", "word"]}, "keys": {"$map": [[1, "a"], [True, "b"], ["~/", "c"], ["1", "d"]]},
    "integer": {"$integer": str(-(2**200) + 7)}, "external": {"$external": {"fileuri": "x.fits", "target": 1, "dtype": "float64", "shape": [3, 4]}},
}  # fmt: skip


def trees() -> list[Fixture]:
    made = []
    for release in PEERS:
        made.append(one(release, "tree_written", "all that a tree may hold", TREE, history=["made", "changed"], more={"nodes": True}))
    few = {name: value for name, value in TREE.items() if name not in ("external", "integer", "null")}
    for standard in ("1.0.0", "1.3.0"):
        made.append(one("new", f"tree_written_{standard.replace('.', '')}", f"all that a tree may hold, standard {standard}", few, standard=standard, history=["made"], more={"nodes": True}))
    return [
        *made,
        one("new", "tree_written_empty", "no content", {}, more={"nodes": True}),
        one("new", "threshold", "short arrays within the tree, longer ones in blocks", {"a": asked(numbers("<i4", 3)), "b": asked(numbers("<i4", 30))}, config={"array_inline_threshold": 10}),
        one("new", "many_arrays", "60 arrays in a list", {"list": [asked(numbers("<f4", it % 5 + 1, seed=it)) for it in range(60)]}),
    ]  # fmt: skip


def image() -> list[Fixture]:
    """An image as a telescope's pipeline leaves it: counts, errors, flags, and what is known of the exposure."""
    rows, columns = np.mgrid[0:48, 0:64]
    counts = 100 + (rows * 7 + columns * 13) % 11
    for row, column, peak in ((12, 18, 900), (30, 44, 2500), (37, 9, 400)):
        counts = counts + (peak / (1 + ((rows - row) ** 2 + (columns - column) ** 2) / 4)).round()
    data = counts.astype("<f4")
    data[5, 60] = np.nan
    flags = np.zeros(data.shape, "<u4")
    flags[5, 60] = 1
    flags[30, 44] = 2
    values = {"roman/data": data, "roman/dq": flags, "roman/err": np.sqrt(data).round(2).astype("<f2")}
    meta = {
        "telescope": "ROMAN",
        "instrument": {"name": "WFI", "detector": "WFI01", "optical_element": "F158"},
        "exposure": {"type": "WFI_IMAGE", "exposure_time": 107.5, "nresultants": 6},
        "pointing": {"ra_v1": 270.94, "dec_v1": 66.56},
        "unit": "DN",
    }
    arrays = {path.rsplit("/", 1)[1]: asked(it) for path, it in values.items()}
    about = "an image with its errors, flags and metadata, as a pipeline leaves it"
    return [one("new", "image", about, {"roman": {"meta": meta, **arrays}}, options={"all_array_compression": "lz4"}, more={"arrays": values})]


def fixtures() -> list[Fixture]:
    return [*types(), *codecs(), *streams(), *trees(), *image()]
