"""Makes plugins.txt: chunks with a codec and a filter of the user's own, by python-blosc2 4.14.1 (C-Blosc2 3.3.5).

    python make_plugins.py > plugins.txt

The codec stores runs as a count and a byte, the byte XORed with the meta of the chunk. The filter adds a ramp. The tests of
`plugins` have both as well.

Fields: name, data, typesize, block size, filters, their metas, chunk.
"""

import blosc2
import numpy as np


def encode(src, dst, meta, schunk):
    src, out, at = bytes(src), bytearray(), 0
    while at < len(src):
        end = at
        while end < len(src) and src[end] == src[at] and end - at < 255:
            end += 1
        out += bytes([end - at, src[at] ^ meta])
        at = end
    if len(out) > len(dst):
        return 0
    dst[: len(out)] = np.frombuffer(bytes(out), dtype=np.uint8)
    return len(out)


def decode(src, dst, meta, schunk):
    src = bytes(src)
    out = b"".join(bytes([src[at + 1] ^ meta]) * src[at] for at in range(0, len(src), 2))
    assert len(out) == len(dst)
    dst[:] = np.frombuffer(out, dtype=np.uint8)
    return len(out)


def ramp(len_, meta):
    return (np.arange(len_) * meta).astype(np.uint8)


def forward(src, dst, meta, schunk):
    dst[:] = np.asarray(src) + ramp(len(src), meta)


def backward(src, dst, meta, schunk):
    dst[:] = np.asarray(src) - ramp(len(src), meta)


blosc2.register_codec("runs", 200, encode, decode, version=3)
blosc2.register_filter(201, forward, backward, "ramp")

# 32-bit numbers, each 16 times.
steps = (np.arange(300, dtype=np.int32) // 16).tobytes()
# What the ramp of 7 makes nearly constant.
slope = (100 - np.arange(300) * 7 + np.arange(300) // 50).astype(np.uint8).tobytes()
ALWAYS, NEVER = blosc2.SplitMode.ALWAYS_SPLIT, blosc2.SplitMode.NEVER_SPLIT
marks = bytes(range(200, 215)) * 20
cases = [
    ("one stream", "steps", 4, 0, [1], [0], NEVER),
    ("a stream for each byte, and a last block", "steps", 4, 512, [1], [0], ALWAYS),
    ("the filter alone", "slope", 1, 128, [201], [7], NEVER),
    ("the filter before shuffle", "steps", 4, 512, [201, 1], [0, 0], NEVER),
    ("delta before the filter", "marks", 1, 75, [3, 201], [0, 0], NEVER),
    ("the filter before delta", "slope", 1, 100, [201, 3], [7, 0], NEVER),
]
for name, data, typesize, blocksize, filters, metas, split in cases:
    values = {"steps": steps, "slope": slope, "marks": marks}[data]
    cparams = dict(codec=200, codec_meta=0x5A, clevel=5, typesize=typesize, nthreads=1, splitmode=split)
    cparams |= dict(filters=filters, filters_meta=metas, blocksize=blocksize)
    schunk = blosc2.SChunk(chunksize=len(values), cparams=cparams, dparams=dict(nthreads=1))
    schunk.append_data(values)
    assert schunk.decompress_chunk(0) == values
    slots = [",".join(map(str, slot)) for slot in (filters, metas)]
    print(name, data, typesize, blocksize, *slots, schunk.get_chunk(0).hex(), sep="|")
