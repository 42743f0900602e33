"""The chunks of python-blosc2 and python-blosc for ours to read, and theirs as judges of ours.

`blosc_cases.py write FILE` writes chunks with what they hold; `blosc_cases.py read FILE` decodes each chunk of such a
file and compares. Both print how many there were. A file is records of three byte strings, each after its length as
u32, little-endian: name, chunk, plain bytes. The name's first word says which library: blosc1, blosc2, or vl, whose
blocks are in the plain bytes as they follow each other.
"""

import itertools
import os
import struct
import sys

# Environment variables override what is asked for.
for name in [name for name in os.environ if name.startswith("BLOSC")]:
    del os.environ[name]

import blosc
import blosc2
import numpy as np

CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
SHUFFLE, BITSHUFFLE, DELTA, TRUNC_PREC, BYTEDELTA, INT_TRUNC = 1, 2, 3, 4, 35, 36
PIPELINES = {
    "none": [],
    "shuffle": [(SHUFFLE, 0)],
    "bitshuffle": [(BITSHUFFLE, 0)],
    "delta": [(DELTA, 0)],
    "delta+shuffle": [(DELTA, 0), (SHUFFLE, 0)],
    "delta+bitshuffle": [(DELTA, 0), (BITSHUFFLE, 0)],
    "shuffle+delta": [(SHUFFLE, 0), (DELTA, 0)],
    "shuffle:2": [(SHUFFLE, 2)],
    "shuffle+bytedelta": [(SHUFFLE, 0), (BYTEDELTA, 0)],
    "bytedelta": [(BYTEDELTA, 0)],
}
LOSSY = {
    "trunc_prec": [(TRUNC_PREC, 7)],
    "trunc_prec+shuffle": [(TRUNC_PREC, 12), (SHUFFLE, 0)],
    "int_trunc+bitshuffle": [(INT_TRUNC, 5), (BITSHUFFLE, 0)],
}
TYPESIZES = (1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 255, 256, 300)
LENGTHS = (0, 1, 31, 32, 33, 127, 128, 129, 1000, 4096 + 3, 20_000, 70_001)
BLOCKSIZES = (0, 0, 0, 2048, 7168)
LEVELS = (1, 5, 0, 9, 3)
SPLITS = (3, 1, 4, 2)
SPECIALS = {"zeros": 1, "nans": 2, "value": 3, "uninit": 4}


def values(kind: int, length: int, typesize: int, seed: int) -> bytes:
    """Bytes of several characters: small steps, a smooth field with noise, few values, noise, all the same."""
    random = np.random.RandomState(seed)
    if kind == 0:
        data = np.cumsum(random.randint(0, 9, length // 4 + 1)).astype("<i4").tobytes()
    elif kind == 1:
        at = np.arange(length // 8 + 1)
        data = (np.sin(at / 50) + 1e-3 * random.randn(len(at))).astype("<f8").tobytes()
    elif kind == 2:
        data = (random.randint(0, 3, length + 1) * 7).astype("u1").tobytes()
    elif kind == 3:
        data = random.bytes(length + 1)
    else:
        data = bytes(range(1, min(typesize, 200) + 1)) * (length // min(typesize, 200) + 1)
    return data[:length]


class Out:
    """Writes records and counts them."""

    def __init__(self, path: str):
        self.file, self.count = open(path, "wb"), 0

    def put(self, name: str, chunk: bytes, plain: bytes) -> None:
        for field in (name.encode(), bytes(chunk), bytes(plain)):
            self.file.write(struct.pack("<I", len(field)) + field)
        self.count += 1


def records(path: str):
    data = memoryview(open(path, "rb").read())
    at = 0
    while at < len(data):
        fields = []
        for _ in range(3):
            (length,) = struct.unpack_from("<I", data, at)
            fields.append(bytes(data[at + 4 : at + 4 + length]))
            at += 4 + length
        yield fields[0].decode(), fields[1], fields[2]


def slots(filters: list[tuple[int, int]]) -> dict[str, list[int]]:
    """The last slots, as C does with a single filter."""
    filters = [(0, 0)] * (6 - len(filters)) + filters
    return {"filters": [id for id, _ in filters], "filters_meta": [meta for _, meta in filters]}


def c_loses_the_tail(pipeline: str, length: int, typesize: int) -> bool:
    """DELTA and the truncating filters of C-Blosc2 do not copy bytes after the last whole word of a block."""
    if "delta" not in pipeline.replace("bytedelta", "") and "trunc" not in pipeline:
        return False
    word = typesize if typesize in (1, 2, 4, 8) else 8 if typesize % 8 == 0 else 1
    return length % word != 0


def write_blosc2(out: Out) -> None:
    number = 0
    for codec, pipeline, typesize, length in itertools.product(CODECS, PIPELINES, TYPESIZES, LENGTHS):
        number += 1
        if length > 5000 and number % 3 or c_loses_the_tail(pipeline, length, typesize):
            continue
        if typesize > 255 and "bytedelta" in pipeline:
            continue  # python-blosc2 puts the typesize into the filter's byte
        turn = number * 2654435761 % 2**32 >> 12
        level, split = LEVELS[turn % 5], SPLITS[turn // 5 % 4]
        threads, blocksize = 1 + turn // 20 % 2, BLOCKSIZES[turn // 40 % 5]
        # Of blocks longer than the data, C-Blosc2 writes chunks that it does not read.
        blocksize = 0 if blocksize > length else blocksize - blocksize % typesize
        kind = turn // 200 % 5
        plain = values(kind, length, typesize, number)
        options = dict(codec=blosc2.Codec(CODECS[codec]), clevel=level, typesize=typesize, nthreads=threads)
        options |= dict(splitmode=blosc2.SplitMode(split), blocksize=blocksize, **slots(PIPELINES[pipeline]))
        chunk = blosc2.compress2(plain, **options)
        name = f"blosc2 {codec}:{level} {pipeline} typesize {typesize} length {length} split {split}"
        name += f" threads {threads} blocksize {blocksize} kind {kind}"
        if not length:
            assert chunk[4:8] == bytes(4)
        elif blosc2.decompress2(chunk, nthreads=1) != plain:
            sys.exit(f"{name}: C-Blosc2 does not read its own chunk")
        out.put(name, chunk, plain)


def write_lossy(out: Out) -> None:
    for pipeline, typesize, length in itertools.product(LOSSY, (4, 8), (32, 128, 4096, 20_000)):
        plain = values(1, length, typesize, length)
        chunk = blosc2.compress2(plain, codec=blosc2.Codec.LZ4, typesize=typesize, nthreads=1, **slots(LOSSY[pipeline]))
        # What is kept is what C says.
        kept = blosc2.decompress2(chunk, nthreads=1)
        out.put(f"blosc2 lz4 {pipeline} typesize {typesize} length {length}", chunk, kept)


def write_dictionaries(out: Out) -> None:
    words = b"".join(b'{"id":%d,"name":"item %d","tags":["a","b"]}\n' % (n, n * n % 977) for n in range(6000))
    for codec, level, blocksize in itertools.product(("zstd", "lz4", "lz4hc"), (1, 5, 9), (4096, 16_384, 65_536)):
        options = dict(codec=blosc2.Codec(CODECS[codec]), clevel=level, typesize=1, blocksize=blocksize, nthreads=1)
        for pipeline in ("none", "shuffle"):
            chunk = blosc2.compress2(words, use_dict=True, **options, **slots(PIPELINES[pipeline]))
            used = chunk[31] & 1
            out.put(f"blosc2 {codec}:{level} {pipeline} dictionary {used} blocksize {blocksize}", chunk, words)


def write_special(out: Out) -> None:
    for (word, code), typesize, items in itertools.product(SPECIALS.items(), (1, 2, 4, 8, 24), (1, 100, 5000)):
        if word == "nans" and typesize not in (4, 8):
            continue
        value = bytes(range(7, 7 + typesize))
        schunk = blosc2.SChunk(chunksize=5000 * typesize, cparams={"typesize": typesize})
        schunk.fill_special(items, blosc2.SpecialValue(code), value if word == "value" else None)
        if word in ("zeros", "uninit"):
            plain = bytes(items * typesize)
        elif word == "value":
            plain = value * items
        else:
            plain = np.full(items, np.nan, f"<f{typesize}").tobytes()
        out.put(f"blosc2 special {word} typesize {typesize} items {items}", schunk.get_chunk(0), plain)


def write_variable(out: Out) -> None:
    """Chunks of blocks of any length."""
    blocks = [values(n % 4, 1 + n * n * 37 % 3001, 4, n) for n in range(12)]
    for codec, pipeline in itertools.product(CODECS, ("none", "shuffle", "bitshuffle")):
        for count in (1, 2, 12):
            options = dict(codec=blosc2.Codec(CODECS[codec]), clevel=5, typesize=4, nthreads=1)
            chunk = blosc2.blosc2_ext.vlcompress(blocks[:count], **options, **slots(PIPELINES[pipeline]))
            out.put(f"vl {codec} {pipeline} blocks {count}", chunk, b"".join(blocks[:count]))


def write_blosc1(out: Out) -> None:
    number = 0
    for codec, shuffle, typesize, length in itertools.product(CODECS, range(3), TYPESIZES[:-2], LENGTHS):
        number += 1
        turn = number * 2654435761 % 2**32 >> 12
        level, threads, kind = LEVELS[turn % 5], 1 + turn // 5 % 2, turn // 10 % 5
        blosc.set_nthreads(threads)
        blosc.set_blocksize(BLOCKSIZES[turn // 50 % 5])
        plain = values(kind, length, typesize, number)
        chunk = blosc.compress(plain, typesize, level, shuffle, codec)
        name = f"blosc1 {codec}:{level} shuffle {shuffle} typesize {typesize} length {length} threads {threads} kind {kind}"
        out.put(name, chunk, plain)


def write(path: str) -> None:
    out = Out(path)
    for part in (write_blosc2, write_lossy, write_dictionaries, write_special, write_variable, write_blosc1):
        before = out.count
        part(out)
        print(f"{part.__name__.removeprefix('write_')} {out.count - before}")


def decoded(name: str, chunk: bytes) -> bytes:
    library = name.split()[0]
    if library == "blosc1":
        return blosc.decompress(chunk)
    if library == "vl":
        return b"".join(blosc2.blosc2_ext.vldecompress(chunk))
    if chunk[4:8] == bytes(4):
        return b""  # python-blosc2 refuses to decompress nothing
    # On several threads, C-Blosc2 gives wrong bytes for DELTA after SHUFFLE, about every other time.
    return blosc2.decompress2(chunk, nthreads=1)


def read(path: str) -> None:
    count = wrong = 0
    for name, chunk, plain in records(path):
        if "special uninit" in name:
            continue  # which is read as whatever the memory held before
        count += 1
        try:
            found = decoded(name, chunk)
            problem = None if found == plain else f"other bytes (from byte {first_difference(found, plain)})"
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            wrong += 1
            if wrong <= 20:
                print(f"{name}: {problem}", file=sys.stderr)
    print(count)
    if wrong:
        sys.exit(f"{wrong} of {count} chunks are not read as they were written")


def first_difference(a: bytes, b: bytes) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
