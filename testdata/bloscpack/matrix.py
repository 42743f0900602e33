"""Codecs, filters, typesizes and lengths: every pair of them is in some file."""

import numpy as np

import tool
from parts import Fixture, compact, plain, section, v3
from values import steps, text

TYPESIZES = (1, 2, 4, 8, 14, 24, 300)
FILTERS = ("none", "byte", "bit")
LEVELS = (5, 7, 9, 1)
CHUNK = 3360  # a multiple of every typesize but 300

# Name, bytes, bytes of a chunk, of a block (0: Blosc's own choice), in words.
LENGTHS = (
    ("empty", 0, CHUNK, 0, "no byte: one chunk of nothing"),
    ("tiny", 96, CHUNK, 0, "too short for Blosc to compress"),
    ("one", 3000, 1 << 20, 0, "one chunk, shorter than the chunks asked for"),
    ("exact", 4 * CHUNK, CHUNK, 0, "whole chunks"),
    ("remainder", 3 * CHUNK + 1001, CHUNK, 0, "a last chunk that is shorter"),
    ("blocks", 4 * CHUNK + 333, 1 << 20, CHUNK, "one chunk of several blocks, the last shorter"),
)


def fixtures() -> list[Fixture]:
    found = []
    for number, codec in enumerate(tool.CODECS):
        for shuffle, kind in enumerate(FILTERS):
            for at, typesize in enumerate(TYPESIZES):
                length = LENGTHS[(number + 2 * shuffle + at) % len(LENGTHS)]
                level = LEVELS[(number + shuffle + at) % len(LEVELS)]
                make = wide if typesize == 300 else narrow
                found.append(make(codec, level, shuffle, kind, typesize, *length))
    return [*found, *levels()]


def narrow(
    codec: str,
    level: int,
    shuffle: int,
    kind: str,
    typesize: int,
    name: str,
    length: int,
    chunk: int,
    block: int,
    words: str,
) -> Fixture:
    data = text(length) if typesize == 1 else steps(length, typesize, typesize)
    options = {"codec": codec, "level": level, "shuffle": shuffle, "typesize": typesize}
    file = tool.pack(data, chunk_size=chunk, blocksize=block, **options)
    about = f"{codec} level {level}, {kind} shuffle, typesize {typesize}: {words}"
    return Fixture(
        f"{codec}_{kind}_{typesize}_{name}", about, file, producer=tool.PRODUCER, **plain(data, typesize)
    )


def wide(
    codec: str,
    level: int,
    shuffle: int,
    kind: str,
    typesize: int,
    name: str,
    length: int,
    chunk: int,
    block: int,
    words: str,
) -> Fixture:
    """Elements that no typesize can say: Blosc stores 1. Bloscpack reads such files, and refuses to write them."""
    count, chunk = -(-length // typesize), chunk // typesize * typesize
    data = steps(count * typesize, 4, 3)
    tool.blosc.set_blocksize(block)
    pieces = [data[at : at + chunk] for at in range(0, len(data), chunk)] or [b""]
    chunks = [tool.chunk(piece, 1, level, shuffle, codec) for piece in pieces]
    tool.blosc.set_blocksize(0)
    described = {"dtype": repr(f"|V{typesize}"), "shape": [count], "order": "C", "container": "numpy"}
    file = v3(chunks, typesize=1, spare=2, metadata=section(compact(described)))
    about = f"{codec} level {level}, {kind} shuffle, elements of {typesize} bytes: {words}"
    read = {"dtype": f"|V{typesize}", "shape": [count], "values": data}
    assert tool.array(file).tobytes() == data
    return Fixture(
        f"{codec}_{kind}_{typesize}_{name}", about, file, producer=f"make.py, {tool.PRODUCER}", **read
    )


def levels() -> list[Fixture]:
    """What the matrix leaves out."""
    data = steps(2000, 8)
    stored = Fixture(
        "level_0",
        "level 0 stores the bytes as they are, whatever the shuffle flag says",
        tool.pack(data, level=0, chunk_size=800),
        producer=tool.PRODUCER,
        **plain(data, 8),
    )
    noisy = np.random.RandomState(1).bytes(5000)
    refused = Fixture(
        "incompressible",
        "noise, which every codec gives up: chunks are stored, the shuffle flag is set",
        tool.pack(noisy, codec="lz4", chunk_size=2000),
        producer=tool.PRODUCER,
        **plain(noisy, 8),
    )
    long = steps(150_000, 4)
    several = Fixture(
        "own_blocks",
        "blocks of the size that Blosc chooses",
        tool.pack(long, codec="zstd", level=5, typesize=4),
        producer=tool.PRODUCER,
        **plain(long, 4),
    )
    odd = text(1000)
    uneven = Fixture(
        "typesize_does_not_divide",
        "1000 bytes of typesize 7 are no whole elements, so they are bytes",
        tool.pack(odd, typesize=7),
        producer=tool.PRODUCER,
        **plain(odd, 7),
    )
    short = noisy[:13]
    less = Fixture(
        "shorter_than_typesize",
        "13 bytes of typesize 24",
        tool.pack(short, typesize=24),
        producer=tool.PRODUCER,
        **plain(short, 24),
    )
    page = bytes.fromhex(
        "626c706b 03 01 01 08 0f000000 0f000000 0100000000000000 0a00000000000000 7800000000000000"
        + "ffffffffffffffff" * 10
        + "02 01 13 08 0f000000 08000000 1f000000"
        + b"hello bloscpack".hex()
        + "3b06db36"
    )
    assert tool.pack(b"hello bloscpack") == page
    hello = Fixture(
        "hello", "the smallest file that says something", page, **plain(b"hello bloscpack", 8)
    )
    return [stored, refused, several, uneven, less, hello]
