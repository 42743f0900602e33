"""C-Blosc2 as a contender, through the library that python-blosc2 brings along: does what stdin says, one line each.

A line is a command and its arguments, separated by tabs; the answer is "ok" and fields, or "error" and what went wrong.
Times are CPU seconds of this thread for one thread, wall time for more; all buffers are warm and used again.
"""

import ctypes
import os
import platform
from pathlib import Path
from time import perf_counter, thread_time

for name in list(os.environ):
    if name.startswith("BLOSC_"):
        del os.environ[name]  # they override parameters

import blosc2
import numpy as np
import turns

HERE = Path(blosc2.__file__).parent
LIB = ctypes.CDLL(str(next((HERE / "lib").glob("libblosc2.so*"))))
CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
FILTERS = {"none": 0, "shuffle": 1, "bitshuffle": 2}


class Cparams(ctypes.Structure):
    """blosc2_cparams of blosc2.h."""

    _fields_ = [
        ("compcode", ctypes.c_uint8),
        ("compcode_meta", ctypes.c_uint8),
        ("clevel", ctypes.c_uint8),
        ("use_dict", ctypes.c_int),
        ("typesize", ctypes.c_int32),
        ("nthreads", ctypes.c_int16),
        ("blocksize", ctypes.c_int32),
        ("splitmode", ctypes.c_int32),
        ("schunk", ctypes.c_void_p),
        ("filters", ctypes.c_uint8 * 6),
        ("filters_meta", ctypes.c_uint8 * 6),
        ("prefilter", ctypes.c_void_p),
        ("preparams", ctypes.c_void_p),
        ("tuner_params", ctypes.c_void_p),
        ("tuner_id", ctypes.c_int),
        ("instr_codec", ctypes.c_bool),
        ("codec_params", ctypes.c_void_p),
        ("filter_params", ctypes.c_void_p * 6),
    ]


class Dparams(ctypes.Structure):
    """blosc2_dparams of blosc2.h."""

    _fields_ = [
        ("nthreads", ctypes.c_int16),
        ("schunk", ctypes.c_void_p),
        ("postfilter", ctypes.c_void_p),
        ("postparams", ctypes.c_void_p),
        ("typesize", ctypes.c_int32),
    ]


VOID, INT = ctypes.c_void_p, ctypes.c_int32
for function, arguments, result in [
    ("blosc2_create_cctx", [Cparams], VOID),
    ("blosc2_create_dctx", [Dparams], VOID),
    ("blosc2_compress_ctx", [VOID, VOID, INT, VOID, INT], ctypes.c_int),
    ("blosc2_decompress_ctx", [VOID, VOID, INT, VOID, INT], ctypes.c_int),
    ("blosc2_getitem_ctx", [VOID, VOID, INT, ctypes.c_int, ctypes.c_int, VOID, INT], ctypes.c_int),
    ("blosc2_free_ctx", [VOID], None),
    ("blosc2_init", [], None),
    ("blosc2_get_version_string", [], ctypes.c_char_p),
]:
    getattr(LIB, function).argtypes = arguments
    getattr(LIB, function).restype = result
LIB.blosc2_init()

FILES = {}
OUT = np.zeros(0, "u1")


def held(path):
    """A file's bytes, read once."""
    if path not in FILES:
        FILES[path] = np.fromfile(path, "u1")
    return FILES[path]


def room(size):
    """A warm buffer of at least `size` bytes."""
    global OUT
    if OUT.size < size:
        OUT = np.zeros(size, "u1")
        OUT[:] = 1
    return OUT


def clock(threads):
    return thread_time if threads == 1 else perf_counter


def decoder(threads):
    return LIB.blosc2_create_dctx(Dparams(threads, None, None, None, 0))


def encode(data, typesize, codec, filter_, level, threads, chunk_len, target):
    """Encodes in pieces of `chunk_len`; the chunks go to `target`, one after the other."""
    typesize, level, threads, chunk_len = int(typesize), int(level), int(threads), int(chunk_len)
    params = Cparams(compcode=CODECS[codec], clevel=level, typesize=typesize, nthreads=threads, splitmode=4)
    params.filters[5] = FILTERS[filter_]
    context = LIB.blosc2_create_cctx(params)
    source = held(data)
    pieces = [(at, min(chunk_len, source.size - at)) for at in range(0, source.size, chunk_len)]
    out = room(source.size + 64 * len(pieces))
    now = clock(threads)
    at = 0
    start = now()
    for begin, size in pieces:
        made = LIB.blosc2_compress_ctx(
            context, source.ctypes.data + begin, size, out.ctypes.data + at, size + 32
        )
        if made <= 0:
            raise RuntimeError(f"blosc2_compress_ctx: {made}")
        at += made
    seconds = now() - start
    LIB.blosc2_free_ctx(context)
    if target != "-":
        out[:at].tofile(target)
    return seconds, at


def decode(chunks, threads):
    """Decodes the chunks of a file."""
    threads = int(threads)
    source = held(chunks)
    pieces, at, total = [], 0, 0
    while at < source.size:
        nbytes, _, cbytes = (int(word) for word in source[at + 4 : at + 16].view("<i4"))
        pieces.append((at, cbytes, total, nbytes))
        at, total = at + cbytes, total + nbytes
    out = room(total)
    context = decoder(threads)
    now = clock(threads)
    start = now()
    for begin, cbytes, to, nbytes in pieces:
        made = LIB.blosc2_decompress_ctx(
            context, source.ctypes.data + begin, cbytes, out.ctypes.data + to, nbytes
        )
        if made != nbytes:
            raise RuntimeError(f"blosc2_decompress_ctx: {made}")
    seconds = now() - start
    LIB.blosc2_free_ctx(context)
    words = out[: total // 8 * 8].view("<u8")
    return seconds, int(words.sum(dtype=np.uint64))


def getitem(chunks, items, count, stride):
    """Reads `items` items at `count` places of the first chunk, `stride` items apart; seconds for each place.

    The time of as many calls that do nothing is taken off: they cost about as much as the shortest read.
    """
    items, count, stride = int(items), int(count), int(stride)
    source = held(chunks)
    nbytes, _, cbytes = (int(word) for word in source[4:16].view("<i4"))
    typesize = int(source[3])
    out = room(items * typesize)
    context = decoder(1)
    places = [at * stride % (nbytes // typesize - items) for at in range(count)]
    get, data, to, size = LIB.blosc2_getitem_ctx, source.ctypes.data, out.ctypes.data, items * typesize
    nothing = thread_time()
    for _ in places:
        get(context, data, 0, 0, 0, to, 0)  # fails at once: a chunk of no bytes
    nothing = thread_time() - nothing
    start = thread_time()
    for place in places:
        get(context, data, cbytes, place, items, to, size)
    seconds = thread_time() - start - nothing
    total = 0
    for place in places:
        if get(context, data, cbytes, place, items, to, size) != size:
            raise RuntimeError("blosc2_getitem_ctx")
        total += int(out[:size].sum(dtype=np.uint64))
    LIB.blosc2_free_ctx(context)
    return seconds / count, total


def forget():
    """Lets go of the files."""
    FILES.clear()
    return ("-",)


def version():
    return (f"Python {platform.python_version()}, C-Blosc2 {LIB.blosc2_get_version_string().decode()}",)


COMMANDS = {
    "version": version,
    "encode": encode,
    "decode": decode,
    "getitem": getitem,
    "forget": forget,
}


turns.serve(COMMANDS)
