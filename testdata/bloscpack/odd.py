"""Sound files with something to remark on."""

import tool
from parts import Fixture, compact, digest, header, plain, section, table, v3
from values import steps

# What python-blosc2 4.14.1 makes of i32 0..39: LZ4, SHUFFLE, one block. Three of its four streams are zero runs.
BLOSC2_CHUNK = bytes.fromhex(
    "05012504a0000000a00000005c000000010000000000010000000000000000002400000028000000"
    + bytes(range(40)).hex()
    + "000000000000000000000000"
)


def fixtures() -> list[Fixture]:
    data = steps(2000, 8)
    parts = [tool.chunk(data[at : at + 800], 8) for at in range(0, 2000, 800)]
    both = f"make.py, {tool.PRODUCER}"
    read = plain(data, 8)
    true = v3(parts)
    gaps = v3(parts, gap=24)
    placeholders = unfinished(parts, -1)
    return [
        Fixture("trailing_bytes", "bytes after the last digest", true + b"left over",
                producer=both, trailing=9, **read),
        Fixture("blosc2_chunk", "a chunk of Blosc2 inside", v3([BLOSC2_CHUNK], typesize=4),
                producer="make.py, python-blosc2 4.14.1", **plain(b"".join(n.to_bytes(4, "little") for n in range(40)), 4)),
        Fixture("gaps", "bytes after each chunk, which only the offsets skip", gaps, producer=both, trailing=24, **read),
        Fixture("streamed", "-1 for chunk-size, last-chunk and the number of chunks, as a stream begins", placeholders, producer=both, **read),
        Fixture("chunk_size_unknown", "-1 for chunk-size and last-chunk alone", v3(parts, chunk_size=-1, last_chunk=-1), producer=both, **read),
        Fixture("no_chunks", "0 chunks", header(0, chunk_size=0, last_chunk=0), **plain(b"", 8)),
        Fixture("no_chunks_spare", "0 chunks and 5 spare offsets",
                header(0, options=1, checksum="adler32", chunk_size=0, last_chunk=0, tail=5) + table([-1] * 5), **plain(b"", 8)),
        Fixture("meta_blank_padded", "JSON padded with blanks, as the README of Bloscpack says",
                v3(parts, metadata=section(b'{"a":1}', magic=b"JSON    ")), producer=both, **read),
        Fixture("meta_stale_padding", "what longer metadata left behind",
                v3(parts, metadata=section(b'{"a":1}', padding=b"stale bytes")), producer=both, **read),
        Fixture("meta_options", "option bits of the metadata that nobody defined",
                v3(parts, metadata=section(b'{"a":1}', options=4)), producer=both, **read),
        Fixture("meta_not_numpy", "a dtype without the word numpy: no array",
                v3(parts, metadata=section(compact({"dtype": "'<f4'", "shape": [500], "order": "C"}))),
                producer=both, **read),
        Fixture("meta_duplicate_keys", "a key twice", v3(parts, metadata=section(b'{"a":1,"a":2}')),
                producer=both, **read),
        Fixture("meta_lone_surrogate", "half a surrogate pair", v3(parts, metadata=section(b'{"a":"\\ud800"}')), producer=both, **read),
        Fixture("meta_nan", "NaN and infinities, which Python writes and JSON lacks",
                v3(parts, metadata=section(compact({"a": float("nan"), "b": [float("inf"), -float("inf")], "c": "NaN"}))),
                producer=both, **read),
        Fixture("meta_python", "metadata as a Python literal", v3(parts, metadata=section(b"{'a': 1}")), producer=both, **read),
        Fixture("nchunks_too_few", "2 chunks claimed, 3 there", v3(parts, nchunks=2, offsets=False, last_chunk=800),
                producer=both, trailing=len(parts[2]) + 4, **plain(data[:1600], 8)),
        Fixture("spare_without_offsets", "spare offsets without a table", spare_without_table(parts), producer=both, **read),
        Fixture("meta_bit_v2", "version 2 with the bit that version 3 uses for metadata", v2_with_metadata_bit(data),
                producer=both, **read),
        Fixture("typesize_0", "a header of typesize 0: the chunks have one", v3(parts, typesize=0), producer=both, **read),
    ]  # fmt: skip


def unfinished(parts: list[bytes], nchunks: int) -> bytes:
    """No offsets, and nothing in the header that is known only at the end."""
    body = b"".join(part + digest("adler32", part) for part in parts)
    return header(nchunks, checksum="adler32") + body


def spare_without_table(parts: list[bytes]) -> bytes:
    file = v3(parts, offsets=False)
    return file[:24] + (5).to_bytes(8, "little") + file[32:]


def v2_with_metadata_bit(data: bytes) -> bytes:
    part = tool.chunk(data, 8)
    return header(1, version=2, options=2, chunk_size=0, last_chunk=len(data)) + part
