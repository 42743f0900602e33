"""Writes arrays.txt, one chunk of an array a line: what it is | shape of a block | typesize | the chunk | what it decodes to, both in
hexadecimal.

Made with python-blosc2 4.14.1 (C-Blosc2 3.3.5); what the chunks decode to is what C-Blosc2 says.
"""

import pathlib

import blosc2
import numpy as np
from blosc2 import Codec, Filter, SplitMode

LINES = []


def emit(name, array, blocks, codec, meta=0, filters=(), split=SplitMode.AUTO_SPLIT, stored=False):
    ids, metas = [f for f, _ in filters] or [Filter.NOFILTER], [m for _, m in filters] or [0]
    cparams = {
        "codec": codec,
        "codec_meta": meta % 256,
        "clevel": 5,
        "typesize": array.itemsize,
        "filters": ids,
        "filters_meta": metas,
        "splitmode": split,
        "nthreads": 1,
    }
    made = blosc2.asarray(array, chunks=array.shape, blocks=blocks, cparams=cparams)
    chunk, data = made.schunk.get_chunk(0), made.schunk.decompress_chunk(0)
    # Not a copy of the data, which would prove nothing.
    assert bool(chunk[2] & 2) == stored, name
    words = "+".join(f.name.lower() for f in ids)
    name = f"{name} {array.dtype} {codec.name.lower()} {words}"
    LINES.append(f"{name}|{','.join(map(str, blocks))}|{array.itemsize}|{chunk.hex()}|{data.hex()}")


def waves(shape, dtype):
    grid = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    return sum(np.sin(axis / (3 + k)) * (5 + k) for k, axis in enumerate(grid)).astype(dtype)


SHAPES = [((21,), (11,)), ((9, 10), (5, 7)), ((5, 6, 9), (5, 6, 5)), ((4, 4, 5, 4), (4, 4, 5, 4))]
for shape, blocks in SHAPES:
    for dtype in ("f4", "f8"):
        array = waves(shape, dtype)
        emit("cells", array, blocks, Codec.ZFP_ACC, -2)
        emit("cells", array, blocks, Codec.ZFP_PREC, 6)
        emit("cells", array, blocks, Codec.ZFP_RATE, 20 if len(shape) < 3 else 8)
flat, blocks = waves((12, 13), "f4"), (7, 6)
emit("coarse", flat, blocks, Codec.ZFP_ACC, 1)
emit("fine", waves((8, 8), "f8"), (8, 8), Codec.ZFP_ACC, -10)
emit("most precise", np.ldexp(waves((4, 4), "f4"), -6), (4, 4), Codec.ZFP_PREC, 0)
emit("capped", np.round(waves((8, 8), "f8")), (8, 8), Codec.ZFP_PREC, 200)
emit("least rate", flat, blocks, Codec.ZFP_RATE, 0)
emit("zeros and a row", flat * (np.arange(12) == 3)[:, None].astype("f4"), blocks, Codec.ZFP_ACC, -3)
emit("far apart", flat * np.float32(10) ** (np.arange(13, dtype="f4") * 5 - 30), blocks, Codec.ZFP_PREC, 9)
emit("copied streams", flat, blocks, Codec.ZFP_ACC, -3, [(Filter.SHUFFLE, 0)], SplitMode.ALWAYS_SPLIT, True)
lower = flat[:6, :6] * (np.arange(6) > 2)[:, None].astype("f4")
emit("runs and copied streams", lower, (6, 6), Codec.ZFP_ACC, -3, split=SplitMode.ALWAYS_SPLIT)
emit("behind shuffle", flat, blocks, Codec.ZFP_ACC, -3, [(Filter.SHUFFLE, 0)])
emit("behind ndcell", flat, blocks, Codec.ZFP_RATE, 50, [(Filter.NDCELL, 4)])

y, x = np.mgrid[:40, :32]
# Cells of one byte, of noise, and with rows and whole cells as before.
image = (x // 8 * 40 + y // 16 * 3 + (x > 20) * (x * (y % 5) * 37 % 101)).astype("u1")
for side in (4, 8):
    emit(f"cells of {side}", image, (27, 31), Codec.NDLZ, side)
    planes = image.astype("u2") * 3
    emit(f"planes, cells of {side}", planes, (27, 31), Codec.NDLZ, side, [(Filter.SHUFFLE, 0)], SplitMode.ALWAYS_SPLIT)

for shape, blocks in (((150,), (101,)), ((10, 21), (10, 11)), ((6, 6, 7), (5, 6, 7)), ((5, 4, 5, 4), (5, 3, 5, 4))):
    steps = (np.arange(np.prod(shape)) // 50 * 3).reshape(shape)
    for dtype in ("u1", "u2", "f8"):
        filters = [(Filter.NDCELL, 3 if dtype == "u2" else 4), (Filter.SHUFFLE, 0)]
        emit("steps", steps.astype(dtype), blocks, Codec.LZ4, 0, filters)
for shape, blocks in (((200,), (111,)), ((10, 21), (10, 11)), ((6, 6, 7), (5, 6, 7))):
    for dtype in ("f4", "f8"):
        emit("means", waves(shape, dtype), blocks, Codec.ZSTD, 0, [(Filter.NDMEAN, 4)])
        emit("means", waves(shape, dtype), blocks, Codec.ZLIB, 0, [(Filter.NDMEAN, 5), (Filter.SHUFFLE, 0)])
pathlib.Path(__file__).with_name("arrays.txt").write_text("\n".join(LINES) + "\n")
