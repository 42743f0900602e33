"""Every codec and filter, as both releases write them: what a reader has to undo."""

import itertools

import numpy as np

import tool
from arrays import written
from parts import Fixture, numbers
from values import noise, steps, text

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
FILTERS = {
    "none": [["nofilter", 0]],
    "shuffle": [["shuffle", 0]],
    "bitshuffle": [["bitshuffle", 0]],
    "bytedelta": [["shuffle", 0], ["bytedelta", 4]],
    "delta": [["delta", 0], ["shuffle", 0]],
    "two": [["bitshuffle", 0], ["shuffle", 2]],
}
LOSSY = {"trunc_prec": ["f4", "f8"], "int_trunc": ["i2", "u4", "i8"]}


def frame(
    peer: tool.Peer, name: str, about: str, data: bytes, typesize: int, chunksize: int, *steps_: list[object],
    reference: bool = True, after: bytes | None = None, **more: object,
) -> Fixture:  # fmt: skip
    """A super-chunk as `peer` writes it; `after` is what the steps make of `data`."""
    suffix = ".b2frame"
    made = tool.made(peer, "frame", suffix, *steps_, hex=data.hex(), typesize=typesize, chunksize=chunksize, **more)
    plain = (data if after is None else after, typesize)
    return Fixture(name, about, made, suffix, producer=peer.producer, plain=plain, reference=reference)


def codecs(peer: tool.Peer, start: str) -> list[Fixture]:
    found = []
    names = FILTERS if peer is tool.new() else ("shuffle", "bytedelta")
    for codec, filters in itertools.product(CODECS, names):
        # Several blocks in a chunk, a short last block and a short last chunk.
        data = steps(5000, 4)
        cparams = {"codec": codec, "clevel": 5, "filters": FILTERS[filters], "blocksize": 1024}
        name = f"{start}{codec}_{filters}"
        found.append(frame(peer, name, f"{codec}, filters {filters}", data, 4, 2400, cparams=cparams))
    return found


def typesizes() -> list[Fixture]:
    found = []
    for typesize in (1, 2, 3, 7, 8, 12, 16, 17, 24, 255, 256, 300):
        data = steps(typesize * (3000 // typesize), min(typesize, 8))
        cparams = {"codec": "lz4", "clevel": 9, "blocksize": typesize * max(1, 600 // typesize)}
        chunksize = typesize * (1300 // typesize)
        found.append(frame(tool.new(), f"typesize_{typesize}", f"elements of {typesize} bytes", data, typesize, chunksize, cparams=cparams))
    return found


def levels() -> list[Fixture]:
    found = []
    for clevel in (0, 1, 9):
        cparams = {"codec": "zstd", "clevel": clevel}
        found.append(frame(tool.new(), f"level_{clevel}", f"zstd, level {clevel}", text(3000), 1, 1000, cparams=cparams))
    for mode, name in ((1, "always"), (2, "never"), (4, "forward_compat")):
        cparams = {"codec": "blosclz", "splitmode": mode, "blocksize": 512}
        found.append(frame(tool.new(), f"split_{name}", f"blocks are split: {name}", steps(4000, 8), 8, 2000, cparams=cparams))
    found.append(frame(tool.new(), "noise", "nothing to compress: chunks are copies", noise(3000), 8, 1000))
    runs = bytes([0, 0, 7, 7]) * 500
    found.append(frame(tool.new(), "runs", "streams of one byte", runs, 4, 1000, cparams={"codec": "lz4", "blocksize": 400}))
    return found


def lossy() -> list[Fixture]:
    """What comes back is what the filter left; worked out by numpy."""
    found = []
    for name, types in LOSSY.items():
        for dtype in types:
            array = numbers(dtype, 300) * (np.dtype(dtype).type(3) if dtype[0] != "f" else np.dtype(dtype).type(1.1))
            bits = array.itemsize * 8
            keep = 10 if dtype[0] == "f" else bits - 3
            zeroed = {"f4": 23, "f8": 52}.get(dtype, bits) - keep
            word = np.dtype(f"u{array.itemsize}")
            mask = word.type((1 << bits) - (1 << zeroed))
            left = (array.view(word) & mask).view(array.dtype)
            cparams = {"codec": "zstd", "filters": [[name, keep], ["shuffle", 0]], "blocksize": 400}
            about = f"{name} has cut off low bits before"
            made = frame(tool.new(), f"{name}_{dtype}", about, array.tobytes(), array.itemsize, 1000, cparams=cparams)
            made.plain = (left.tobytes(), array.itemsize)
            found.append(made)
    return found


def cells() -> list[Fixture]:
    """Filters and codecs that know the shape of blocks."""
    new, found = tool.new(), []
    for cell in (2, 4):
        array = numbers("i4", 20, 17)
        cparams = {"codec": "lz4", "filters": [["ndcell", cell], ["shuffle", 0]]}
        found.append(written(new, f"ndcell_{cell}", f"cells of side {cell}, cut at the edges of blocks", array, (16, 12), (8, 6), cparams=cparams))
    array = numbers("f4", 6, 20, 17)
    cparams = {"codec": "zstd", "filters": [["ndcell", 4], ["shuffle", 0]]}
    found.append(written(new, "ndcell_3d", "cells of three axes", array, (5, 16, 12), (5, 8, 6), cparams=cparams))
    for meta in (4, 8):
        array = numbers("u1", 40, 50)
        cparams = {"codec": "ndlz", "codec_meta": meta, "filters": [["nofilter", 0]], "splitmode": 2}
        found.append(written(new, f"ndlz_{meta}", f"codec NDLZ, cells of side {meta}", array, (32, 32), (17, 20), cparams=cparams))
    return found


ZFP = {"zfp_acc": 253, "zfp_prec": 12, "zfp_rate": 37}  # a tolerance of 0.001, 12 bits, 37 percent
BOXES = {
    1: ((50,), (40,), (16,)),
    2: ((20, 17), (16, 12), (8, 6)),
    3: ((6, 20, 17), (5, 16, 12), (5, 8, 6)),
    4: ((5, 6, 7, 9), (5, 5, 6, 8), (4, 5, 4, 4)),
}


def near() -> list[Fixture]:
    """Values that are not those that were written, but near them: what the reference makes of them is what they are."""
    found = []
    for (codec, meta), dtype in itertools.product(ZFP.items(), ("f4", "f8")):
        for nd, (shape, chunks, blocks) in BOXES.items():
            if dtype == "f8" and nd != 2:
                continue
            array = numbers(dtype, *shape)
            cparams = {"codec": codec, "codec_meta": meta, "filters": [["nofilter", 0]], "splitmode": 2}
            about = f"codec {codec.upper()}, blocks of {nd} axes"
            found.append(written(tool.new(), f"{codec}_{dtype}_{nd}d", about, array, chunks, blocks, cparams=cparams))
    for cell in (2, 3):
        array = numbers("f4", 20, 17)
        cparams = {"codec": "lz4", "filters": [["ndmean", cell], ["shuffle", 0]]}
        about = f"each cell of side {cell} is its mean"
        found.append(written(tool.new(), f"ndmean_{cell}", about, array, (16, 12), (8, 6), cparams=cparams))
    for it in found:
        read = np.frombuffer(tool.values(tool.new(), it.data, it.suffix), it.array.dtype).reshape(it.array.shape)
        assert np.abs(read - it.array).max() < 32, f"{it.name}: {np.abs(read - it.array).max()}"
        it.array = read
    return found


def dictionaries() -> list[Fixture]:
    data = text(24000)
    found = []
    for peer, start, codecs_ in ((tool.new(), "", ("zstd", "lz4", "lz4hc")), (tool.old(), "old_", ("zstd",))):
        for codec in codecs_:
            cparams = {"codec": codec, "use_dict": True, "blocksize": 1000, "clevel": 5}
            found.append(frame(peer, f"{start}dict_{codec}", f"a dictionary for all blocks of a chunk, {codec}", data, 1, 12000, cparams=cparams))
    return found


def fixtures() -> list[Fixture]:
    found = [*codecs(tool.new(), ""), *codecs(tool.old(), "old_"), *typesizes(), *levels(), *lossy(), *cells()]
    return [*found, *near(), *dictionaries()]
