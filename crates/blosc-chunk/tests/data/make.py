"""Writes chunks.txt, one chunk a line: what it is | kind of data | their length | typesize | the chunk in hexadecimal.

Made with python-blosc2 4.14.1 (C-Blosc2 3.3.5) and python-blosc 1.11.4 (C-Blosc 1.21.7.dev).
"""

import pathlib
import struct

import blosc
import blosc2
from blosc2 import Codec, Filter, SplitMode, blosc2_ext

LINES = []


def data(kind, length):
    """The same as `data` of src/decode/tests/stored.rs."""
    if kind == "ints":
        return b"".join(struct.pack("<i", k * k // 3) for k in range(length // 4 + 1))[:length]
    if kind == "half":
        return (bytes(length // 2) + data("ints", length))[:length]
    if kind == "noise":
        state, out = 1, bytearray()
        while len(out) < length:
            state = (state * 69069 + 1) % 2**32
            out.append(state >> 24)
        return bytes(out)
    if kind == "text":
        items = (b'{"id": %d, "name": "item %d"}, ' % (k, k * k) for k in range(length // 20))
        return b"".join(items)[:length]
    if kind == "nan32":
        return bytes.fromhex("0000c07f") * (length // 4)
    if kind == "value":
        return (bytes(range(10, 210)) * 5)[:length]
    return bytes(length)


def emit(name, kind, length, typesize, chunk):
    LINES.append(f"{name}|{kind}|{length}|{typesize}|{bytes(chunk).hex()}")


def blosc2_chunk(name, kind, length, typesize, codec, filters, blocksize=0, split=SplitMode.AUTO_SPLIT, **more):
    ids, metas = [f for f, _ in filters], [m for _, m in filters]
    source = data(kind, length)
    chunk = blosc2.compress2(
        source,
        codec=codec,
        clevel=5,
        typesize=typesize,
        filters=[Filter.NOFILTER] * (6 - len(ids)) + ids,
        filters_meta=[0] * (6 - len(ids)) + metas,
        blocksize=blocksize,
        splitmode=split,
        nthreads=1,
        **more,
    )
    # C-Blosc2 3.3.5 reads what it wrote with DELTA behind SHUFFLE now rightly, now wrongly.
    assert ids == [SHUFFLE, DELTA] or blosc2.decompress2(chunk) == source, name
    words = "+".join(f.name.lower() for f in ids) or "none"
    emit(f"{name} {codec.name.lower()} {words}", kind, length, typesize, chunk)


SHUFFLE, BITSHUFFLE, DELTA, BYTEDELTA = Filter.SHUFFLE, Filter.BITSHUFFLE, Filter.DELTA, Filter.BYTEDELTA
CODECS = [Codec.BLOSCLZ, Codec.LZ4, Codec.LZ4HC, Codec.ZLIB, Codec.ZSTD]
for codec in CODECS:
    for filters in ([], [(SHUFFLE, 0)], [(BITSHUFFLE, 0)]):
        blosc2_chunk("blocks", "ints", 600, 4, codec, filters, 256)
    blosc2_chunk("split", "half", 1000, 8, codec, [(SHUFFLE, 0)], 400, SplitMode.ALWAYS_SPLIT)
for filters in (
    [(DELTA, 0)],
    [(DELTA, 0), (SHUFFLE, 0)],
    [(DELTA, 0), (BITSHUFFLE, 0)],
    [(SHUFFLE, 0), (DELTA, 0)],
    [(SHUFFLE, 0), (BYTEDELTA, 4)],
    [(SHUFFLE, 0), (BYTEDELTA, 0)],
    [(BYTEDELTA, 3)],
    [(SHUFFLE, 2)],
):
    for split in (SplitMode.NEVER_SPLIT, SplitMode.ALWAYS_SPLIT):
        blosc2_chunk(split.name.lower(), "ints", 600, 4, Codec.LZ4, filters, 256, split)
for typesize in (1, 3, 7, 12, 16, 24, 255):
    blosc2_chunk("wide", "ints", 601, typesize, Codec.LZ4, [(SHUFFLE, 0)], 10 * typesize)
    blosc2_chunk("wide", "ints", 601, typesize, Codec.LZ4, [(BITSHUFFLE, 0)], 10 * typesize)
blosc2_chunk("stored", "noise", 40, 4, Codec.LZ4, [(SHUFFLE, 0)])
blosc2_chunk("stored streams", "noise", 300, 4, Codec.ZLIB, [(SHUFFLE, 0)])
blosc2_chunk("zeros", "zeros", 100000, 4, Codec.ZSTD, [(SHUFFLE, 0)])
blosc2_chunk("empty", "zeros", 0, 4, Codec.ZSTD, [(SHUFFLE, 0)])
for codec in (Codec.LZ4, Codec.ZSTD):
    blosc2_chunk("dictionary", "text", 12000, 1, codec, [], 1024, use_dict=True)
for name, kind, length, typesize, array in (
    ("nan", "nan32", 400, 4, blosc2.nans((100,), dtype="f4", chunks=(100,))),
    ("uninit", "zeros", 400, 4, blosc2.uninit((100,), dtype="f4", chunks=(100,))),
    ("value", "value", 1000, 200, blosc2.full((5,), bytes(range(10, 210)), dtype="S200", chunks=(5,))),
):
    emit(name, kind, length, typesize, array.schunk.get_chunk(0))
text = data("text", 1200)
emit("variable blocks", "text", 1200, 1, blosc2_ext.vlcompress([text[:500], text[500:507], text[507:]], codec=Codec.LZ4, typesize=1))
for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
    for shuffle in (0, 1, 2):
        blosc.set_blocksize(520)
        blosc.set_nthreads(1)
        emit(f"blosc1 {codec} {shuffle}", "ints", 1100, 4, blosc.compress(data("ints", 1100), typesize=4, clevel=5, shuffle=shuffle, cname=codec))
emit("blosc1 odd tail", "ints", 1103, 4, blosc.compress(data("ints", 1103), typesize=4, clevel=9, shuffle=2, cname="lz4"))
emit("blosc1 copy", "ints", 100, 4, blosc.compress(data("ints", 100), typesize=4, clevel=9, shuffle=1, cname="zlib"))
emit("blosc1 empty", "ints", 0, 4, blosc.compress(b"", typesize=4))
pathlib.Path(__file__).with_name("chunks.txt").write_text("\n".join(LINES) + "\n")
