"""Files older than version 3, put together from the descriptions of their time, and chunks of old Blosc releases."""

import numpy as np

import blosc1
import tool
from parts import MAGIC, Fixture, as_array, compact, digest, header, plain, section, table, v3
from values import steps, text


def fixtures() -> list[Fixture]:
    return [*before_version_1(), *version_1(), *version_2(), *spellings(), *chunks(), *streams()]


def joined(chunks: list[bytes]) -> bytes:
    return b"".join(tool.decompress(chunk) for chunk in chunks)


def pieces(data: bytes, size: int, typesize: int = 4) -> list[bytes]:
    return [tool.chunk(data[at : at + size], typesize) for at in range(0, len(data), size)]


def before_version_1() -> list[Fixture]:
    """0.1.0-rc1 and rc2: magic, number of chunks as u32, chunks."""
    data = steps(5000, 4)
    found = []
    # 1 looks like version 1, 2 and 3 like versions 2 and 3 without options; what follows tells.
    for count in (1, 2, 3, 5):
        parts = pieces(data, -(-len(data) // count // 4) * 4)
        assert len(parts) == count and joined(parts) == data
        file = MAGIC + count.to_bytes(4, "little") + b"".join(parts)
        about = f"a file of 0.1.0-rc1 with {count} chunk{'s' * (count > 1)}"
        found.append(Fixture(f"p0_{count}", about, file, producer=f"make.py, {tool.PRODUCER}", **plain(data, 4)))
    return found


def version_1() -> list[Fixture]:
    """0.1.0-rc3 to 0.1.1, and the chunk files of bcolz, BLZ and Blaze."""
    data = steps(5000, 4)
    parts = pieces(data, 2048)
    assert joined(parts) == data
    head = MAGIC + bytes([1, 0, 0, 0])
    three = head + (3).to_bytes(8, "little") + b"".join(parts)
    unknown = head + (-1).to_bytes(8, "little", signed=True) + b"".join(parts)
    column = np.arange(500, dtype="<f8") / 3
    one = tool.chunk(column.tobytes(), 8, 5, 1, "lz4")
    bcolz = head + (1).to_bytes(8, "little") + one
    bits = tool.chunk(column.tobytes(), 8, 5, 2, "blosclz")
    both = f"make.py, {tool.PRODUCER}"
    return [
        Fixture("v1", "version 1 with three chunks", three, producer=both, **plain(data, 4)),
        Fixture(
            "v1_count_unknown",
            "version 1 with -1 chunks: as many as there are",
            unknown,
            producer=both,
            **plain(data, 4),
        ),
        Fixture(
            "v1_bcolz", "a chunk file as bcolz writes it: __0.blp", bcolz, producer=both, **plain(column.tobytes(), 8)
        ),
        Fixture(
            "v1_bcolz_bitshuffle",
            "a chunk file of bcolz, bit-shuffled",
            head + (1).to_bytes(8, "little") + bits,
            producer=both,
            **plain(column.tobytes(), 8),
        ),
        Fixture("v1_empty", "version 1 without a chunk", head + bytes(8), **plain(b"", 1)),
    ]


def version_2() -> list[Fixture]:
    """0.2.0 and 0.2.1: as version 3, without metadata and spare offsets, the last 8 bytes reserved."""
    data = steps(4100, 8)

    def made(
        name: str, about: str, sizes: list[int], *, chunk_size: int, checksum: str = "adler32", options: int = 1
    ) -> Fixture:
        assert sum(sizes) == len(data)
        ends = np.cumsum([0, *sizes]).tolist()
        parts = [tool.chunk(data[a:b], 8) for a, b in zip(ends, ends[1:])]
        head = header(
            len(parts),
            version=2,
            options=options,
            checksum=checksum,
            typesize=8,
            chunk_size=chunk_size,
            last_chunk=sizes[-1],
        )
        body, at, places = b"", 32 + 8 * len(parts) * (options & 1), []
        for part in parts:
            places.append(at + len(body))
            body += part + digest(checksum, part)
        file = head + (table(places) if options & 1 else b"") + body
        return Fixture(name, about, file, producer=f"make.py, {tool.PRODUCER}", **plain(data, 8))

    return [
        made("v2", "version 2, adler32 and offsets", [1600, 1600, 900], chunk_size=1600),
        made("v2_plain", "version 2, no checksum, no offsets", [1600, 1600, 900], chunk_size=1600, checksum="None", options=0),
        made("v2_sha1", "version 2, sha1", [1600, 1600, 900], chunk_size=1600, checksum="sha1"),
        made("v2_chunk_size_0", "one chunk: 0.2 writes chunk-size 0", [4100], chunk_size=0),
        made("v2_last_larger", "--nchunks 2 made the last chunk larger", [2048, 2052], chunk_size=2048),
        made("v2_last_empty", "--nchunks 3 made an empty last chunk", [2050, 2050, 0], chunk_size=2050),
        made("v2_other_options", "bits that 0.2 ignores", [1600, 1600, 900], chunk_size=1600, options=0x81),
    ]  # fmt: skip


def spellings() -> list[Fixture]:
    """How numpy types were written down before 0.7.2."""
    data = np.arange(300, dtype="<f8") / 7
    record = np.zeros(50, [("a", "<i4"), ("b", ">f8")])
    record["a"], record["b"] = np.arange(50), np.arange(50) / 3
    deep = np.zeros(40, [("a", "<i4"), ("in", [("x", "<f8"), ("y", "<i2", (2,))])])
    deep["a"], deep["in"]["y"] = np.arange(40), np.arange(80).reshape(40, 2)
    cases = (
        ("plain", "0.4.1 to 0.7.1: the type as text", data, "<f8"),
        ("list_of_one", "0.4.0: a list of one field without a name", data, [["", "<f8"]]),
        ("record", "0.4.1 to 0.7.1: fields as JSON lists", record, [["a", "<i4"], ["b", ">f8"]]),
        ("record_nested", "fields within fields as JSON lists", deep, [["a", "<i4"], ["in", [["x", "<f8"], ["y", "<i2", [2]]]]]),
        ("repr", "since 0.7.2: Python's repr of the text", data, "'<f8'"),
        ("double_quotes", "double quotes in the text", data, '"<f8"'),
        ("python_2", "unicode literals of Python 2", record, "[(u'a', '<i4'), (u'b', '>f8')]"),
    )  # fmt: skip
    found = []
    for name, about, array, dtype in cases:
        described = {"dtype": dtype, "shape": list(array.shape), "order": "C", "container": "numpy"}
        parts = [tool.chunk(array.tobytes(), min(array.itemsize, 255))]
        file = v3(parts, typesize=array.itemsize, metadata=section(compact(described)))
        producer = f"make.py, {tool.PRODUCER}"
        found.append(Fixture(f"spelling_{name}", about, file, producer=producer, **as_array(array)))
    return found


def one(name: str, about: str, made: bytes, data: bytes, typesize: int, by_tool: bool = True, **options: object) -> Fixture:
    """A file of version 3 around one chunk, which python-blosc must read the same, if it can."""
    if by_tool:
        assert tool.decompress(made) == data, name
    file = v3([made], typesize=typesize, **options)
    return Fixture(name, about, file, **plain(data, typesize))


def chunks() -> list[Fixture]:
    """Chunks as Blosc releases of long ago wrote them."""
    wide = steps(24 * 400, 24)
    unsplit = [blosc1.stream(blosc1.shuffled(block, 24)) for block in blosc1.cut(wide, 4800)]
    small = steps(8 * 200, 8)
    few = [blosc1.stream(blosc1.shuffled(block, 8)) for block in blosc1.cut(small, 400)]
    plain_text = text(1000)
    snappy = [blosc1.stream(blosc1.snappy_literals(block)) for block in blosc1.cut(plain_text, 300)]
    numbers_8 = steps(8 * 300, 8)
    planes = blosc1.cut(blosc1.shuffled(numbers_8, 8), 300)
    split_snappy = [b"".join(blosc1.stream(blosc1.snappy_literals(plane)) for plane in planes)]
    shuffle = blosc1.SHUFFLE
    return [
        one(
            "chunk_unsplit_by_typesize",
            "typesize 24 before flag bit 4 was there: not split, because over 16",
            blosc1.chunk(len(wide), 4800, unsplit, flags=shuffle | blosc1.LZ4, typesize=24),
            wide,
            24,
        ),
        one(
            "chunk_unsplit_by_length",
            "typesize 8 before flag bit 4 was there: not split, because blocks have under 128 elements",
            blosc1.chunk(len(small), 400, few, flags=shuffle | blosc1.LZ4, typesize=8),
            small,
            8,
        ),
        one(
            "chunk_snappy",
            "snappy, literals only, in four blocks",
            blosc1.chunk(len(plain_text), 300, snappy, flags=blosc1.SNAPPY),
            plain_text,
            1,
            by_tool=False,
        ),
        one(
            "chunk_snappy_split",
            "snappy in eight streams, each longer than what it holds",
            blosc1.chunk(len(numbers_8), 2400, split_snappy, flags=shuffle | blosc1.SNAPPY, typesize=8),
            numbers_8,
            8,
            by_tool=False,
        ),
    ]


def streams() -> list[Fixture]:
    """Streams by hand: every way to say a byte."""
    data = steps(4 * 160 * 2 + 40, 4)
    blocks = blosc1.cut(data, 640)
    split = [
        b"".join(blosc1.stream(plane) for plane in blosc1.cut(blosc1.shuffled(block, 4), 160)) for block in blocks[:2]
    ] + [blosc1.stream(blosc1.shuffled(blocks[2], 4))]
    length = len(data)
    flags = blosc1.SHUFFLE
    head = 16 + 4 * 3
    turned = [split[2], split[0], split[1]]
    at = [head + len(split[2]), head + len(split[2]) + len(split[0]), head]
    spaced = [split[0] + b"\xaa" * 11, split[1] + b"\xaa" * 3, split[2]]
    run_q = bytes.fromhex("2351515151e0ffe50302515151")
    abc = bytes.fromhex("25616263616263e0ffcf0502616263")
    bits = steps(4 * 83, 4)
    return [
        one("chunk_stored_streams", "streams as long as what they hold, the last block unsplit",
            blosc1.chunk(length, 640, split, flags=flags, typesize=4), data, 4),
        one("chunk_blocks_out_of_order", "blocks in the order in which threads were done",
            blosc1.chunk(length, 640, turned, flags=flags, typesize=4, starts=at), data, 4),
        one("chunk_gaps", "bytes between blocks",
            blosc1.chunk(length, 640, spaced, flags=flags, typesize=4), data, 4),
        one("chunk_same_block", "two blocks at one place",
            blosc1.chunk(1280, 640, [split[0], b""], flags=flags, typesize=4, starts=[24, 24]), blocks[0] * 2, 4),
        one("chunk_blosclz_run", "500 times Q",
            blosc1.chunk(500, 500, [blosc1.stream(run_q)], flags=blosc1.UNSPLIT), b"Q" * 500, 1),
        one("chunk_blosclz_far_run", "500 times Q by a distance of 1",
            blosc1.chunk(500, 500, [blosc1.stream(blosc1.blosclz_run(0x51, 500))], flags=blosc1.UNSPLIT), b"Q" * 500, 1),
        one("chunk_blosclz_period", "480 bytes of abc",
            blosc1.chunk(480, 480, [blosc1.stream(abc)], flags=blosc1.UNSPLIT), b"abc" * 160, 1),
        one("chunk_lz4_run", "5000 times 7",
            blosc1.chunk(5000, 5000, [blosc1.stream(blosc1.lz4_run(7, 5000))], flags=blosc1.UNSPLIT | blosc1.LZ4),
            b"\x07" * 5000, 1),
        one("chunk_bitshuffle_plain", "bit shuffle of 83 elements, which is none",
            blosc1.chunk(len(bits), len(bits), [blosc1.stream(bits)],
                         flags=blosc1.BITSHUFFLE | blosc1.UNSPLIT | blosc1.LZ4, typesize=4), bits, 4),
        one("chunk_bitshuffle_tail", "bit shuffle of 80 elements and 3 bytes more",
            blosc1.chunk(323, 323, [blosc1.stream(blosc1.bitshuffled(bits[:323], 4))],
                         flags=blosc1.BITSHUFFLE | blosc1.UNSPLIT | blosc1.LZ4, typesize=4), bits[:323], 4),
        one("chunk_both_shuffles_stored", "both shuffle bits over stored bytes: neither is undone",
            blosc1.stored(bits, 4, flags=blosc1.SHUFFLE), bits, 4),
    ]  # fmt: skip

