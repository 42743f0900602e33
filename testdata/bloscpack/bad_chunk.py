"""Chunks that are wrong, each in a file that is right about them: their digests are true."""

import struct

import blosc1
import tool
from bad_header import DATA, damaged, parts
from parts import Fixture, nbytes, v3
from values import steps, text

FLAGS = blosc1.SHUFFLE


def fixtures() -> list[Fixture]:
    return [*files(), *headers(), *starts(), *streams(), *codecs()]


def one(name: str, about: str, chunk: bytes, typesize: int = 1) -> Fixture:
    size = min(nbytes(chunk), 2**31 - 17)
    file = v3([chunk], typesize=typesize, chunk_size=size, last_chunk=size)
    read = {"dtype": "|u1", "shape": [0], "values": b""} if not nbytes(chunk) else {}
    return Fixture(f"chunk_{name}", about, file, "damaged", **read)


def files() -> list[Fixture]:
    """Right chunks in the wrong place, or cut, or changed."""
    chunks = parts()
    good = v3(chunks)
    first = int.from_bytes(good[32:40], "little")
    second = int.from_bytes(good[40:48], "little")

    def flipped(at: int) -> bytes:
        return good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :]

    return [
        damaged("digest_wrong", "a bit of a digest is wrong", flipped(second - 2), repaired=None),
        damaged("chunk_bit_flipped", "a bit of a chunk is wrong", flipped(second - 9)),
        damaged("chunk_nbytes_flipped", "a bit of a chunk's nbytes is wrong", flipped(first + 5)),
        damaged("cut_in_last_digest", "two bytes of the last digest are missing", good[:-2]),
        damaged("cut_in_last_chunk", "the last chunk is cut", good[:-50], repaired=DATA[:1600]),
        damaged("cut_after_first_chunk", "the second chunk and all after it are missing", good[: second], repaired=DATA[:800]),
        damaged("chunk_missing", "the second of three chunks is gone, and its offset", v3([chunks[0], chunks[2]], nchunks=3, offsets=False),
                repaired=None),
        damaged("chunk_sizes_uneven", "a middle chunk of another size than the header says",
                v3([chunks[0], chunks[2], chunks[1]], chunk_size=800, last_chunk=800),
                repaired=DATA[:800] + DATA[1600:] + DATA[800:1600], values=DATA[:800] + DATA[1600:] + DATA[800:1600]),
    ]  # fmt: skip


def headers() -> list[Fixture]:
    data = text(600)
    good = blosc1.stored(data)

    def field(at: int, value: int) -> bytes:
        return good[:at] + struct.pack("<I", value) + good[at + 4 :]

    def byte(at: int, value: int) -> bytes:
        return good[:at] + bytes([value]) + good[at + 1 :]

    packed = blosc1.chunk(600, 600, [blosc1.stream(data)], flags=blosc1.UNSPLIT)
    return [
        one("cbytes_0", "cbytes 0, which stands still when walking", field(12, 0)),
        one("cbytes_15", "cbytes less than the header", field(12, 15)),
        one("cbytes_beyond_end", "cbytes past the end of the file", packed[:12] + struct.pack("<I", 10**6) + packed[16:]),
        one("cbytes_max", "cbytes 2^32 - 1", packed[:12] + b"\xff" * 4 + packed[16:]),
        one("cbytes_stored", "stored bytes, and cbytes past the end of the file", field(12, 10**6)),
        one("stored_too_short", "stored bytes, fewer than nbytes", field(4, 601)),
        one("stored_too_long", "stored bytes, more than nbytes", field(4, 599)),
        one("nbytes_2_gib", "16 bytes that claim 2 GiB", blosc1.header(2**31 - 17, 2**20, 16)),
        one("nbytes_max", "nbytes 2^32 - 1", field(4, 2**32 - 1)),
        one("nbytes_0_with_bytes", "nbytes 0, and yet bytes", field(4, 0)),
        one("version_0", "chunk version 0", byte(0, 0)),
        one("version_7", "chunk version 7", byte(0, 7)),
        one("versionlz_9", "a codec version that nobody has", packed[:1] + b"\x09" + packed[2:]),
        one("typesize_0", "typesize 0", packed[:3] + b"\0" + packed[4:]),
        one("blocksize_0", "blocksize 0, by which one divides", packed[:8] + bytes(4) + packed[12:]),
        one("blocksize_max", "blocksize 2^32 - 1", packed[:8] + b"\xff" * 4 + packed[12:]),
        one("blocksize_1", "600 blocks, and no room for their starts", packed[:8] + b"\1\0\0\0" + packed[12:]),
        one("reserved_flag", "flag bit 3 in a chunk of version 2", packed[:2] + bytes([packed[2] | 8]) + packed[3:]),
        one("codec_5", "codec format 5", packed[:2] + bytes([packed[2] | 5 << 5]) + packed[3:]),
        one("codec_7", "codec format 7", packed[:2] + bytes([packed[2] | 7 << 5]) + packed[3:]),
        one("blosc2_lazy", "the lazy flag, which no file may hold",
            bytes.fromhex("0501350440000000400000006800000000000000000001000000000000000008") + bytes(72), 4),
    ]  # fmt: skip


def starts() -> list[Fixture]:
    data = steps(1280, 4)
    blocks = [
        b"".join(blosc1.stream(plane) for plane in blosc1.cut(blosc1.shuffled(block, 4), 160))
        for block in blosc1.cut(data, 640)
    ]
    first, second = 24, 24 + len(blocks[0])

    def at(name: str, about: str, *places: int) -> Fixture:
        made = blosc1.chunk(1280, 640, blocks, flags=FLAGS, typesize=4, starts=places)
        return one(f"start_{name}", about, made, 4)

    return [
        at("negative", "a block that starts before the chunk", first, -4),
        at("in_header", "a block that starts in the header", first, 8),
        at("in_table", "a block that starts in the table of starts", first, 20),
        at("beyond_end", "a block that starts past the end of the chunk", first, 5000),
        at("at_end", "a block that starts 3 bytes before the end", first, second + len(blocks[1]) - 3),
        at("max", "a block that starts at 2^31 - 1", first, 2**31 - 1),
    ]


def streams() -> list[Fixture]:
    data = text(600)

    def lengths(name: str, about: str, length: int, payload: bytes = data) -> Fixture:
        block = struct.pack("<i", length) + payload
        return one(f"stream_{name}", about, blosc1.chunk(600, 600, [block], flags=blosc1.UNSPLIT))

    return [
        lengths("length_0", "a stream of no byte, a zero run in Blosc2 alone", 0),
        lengths("length_negative", "a stream of -1 byte, a run in Blosc2 alone", -1),
        lengths("length_too_long", "a stream longer than the chunk", 601),
        lengths("length_max", "a stream of 2^31 - 1 bytes", 2**31 - 1),
        lengths("cut", "a stream of the right length, with fewer bytes", 600, data[:599]),
    ]


def codecs() -> list[Fixture]:
    plain = text(600)
    good = {codec: tool.chunk(plain, 1, 9, 0, codec) for codec in tool.CODECS}

    def coded(name: str, about: str, codec: int, payload: bytes, length: int = 600) -> Fixture:
        made = blosc1.chunk(length, length, [blosc1.stream(payload)], flags=blosc1.UNSPLIT | codec)
        return one(f"{name}", about, made)

    def payload(codec: str) -> bytes:
        chunk = good[codec]
        assert chunk[8:12] == struct.pack("<I", 600)  # one block
        start = struct.unpack_from("<i", chunk, 16)[0]
        length = struct.unpack_from("<i", chunk, start)[0]
        assert start + 4 + length == len(chunk)
        return chunk[start + 4 :]

    from_zlib, from_zstd, from_lz4 = payload("zlib"), payload("zstd"), payload("lz4")
    run = bytes.fromhex("2351515151e0ffe50302515151")
    twice = text(1200)
    long = tool.chunk(twice, 1, 9, 0, "zlib")
    long_zlib = long[struct.unpack_from("<i", long, 16)[0] + 4 :]
    found = [
        coded("blosclz_before_start", "a distance of more than what is there", blosc1.BLOSCLZ, b"\x20A" + run[5:], 500),
        coded("blosclz_run_without_end", "a length that never ends", blosc1.BLOSCLZ, b"\x23QQQQ\xe0" + b"\xff" * 40, 500),
        coded("blosclz_ends_in_match", "a match at the very end", blosc1.BLOSCLZ, run[:-4], 497),
        coded("blosclz_one_over", "one byte more than the stream holds", blosc1.BLOSCLZ, run, 499),
        coded("blosclz_one_short", "one byte less than the stream holds", blosc1.BLOSCLZ, run, 501),
        coded("blosclz_literals_cut", "literals that end early", blosc1.BLOSCLZ, b"\x3fQQ", 32),
        coded("lz4_before_start", "a distance of more than what is there", blosc1.LZ4, b"\x1fQ\x09\x00\x20\x50QQQQQ", 61),
        coded("lz4_distance_0", "a distance of 0", blosc1.LZ4, b"\x1fQ\x00\x00\x20\x50QQQQQ", 57),
        coded("lz4_cut", "cut", blosc1.LZ4, from_lz4[:-4]),
        coded("lz4_one_over", "one byte more than the stream holds", blosc1.LZ4, blosc1.lz4_run(7, 601)),
        coded("lz4_one_short", "one byte less than the stream holds", blosc1.LZ4, blosc1.lz4_run(7, 599)),
        coded("snappy_length", "a length that is not that of the stream", blosc1.SNAPPY,
              blosc1.snappy_literals(plain[:599])),
        coded("snappy_length_max", "a length of 2^32 - 1", blosc1.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"\x00A"),
        coded("snappy_before_start", "a distance of more than what is there", blosc1.SNAPPY, b"\x08\x00A\x0d\x09", 8),
        coded("zlib_broken", "broken", blosc1.ZLIB, from_zlib[:20] + b"\xff\xff\xff" + from_zlib[23:]),
        coded("zlib_adler", "the adler of zlib is wrong", blosc1.ZLIB, from_zlib[:-1] + bytes([from_zlib[-1] ^ 1])),
        coded("zlib_longer", "twice as much as the stream holds", blosc1.ZLIB, long_zlib),
        coded("zlib_trailing", "bytes after the zlib stream", blosc1.ZLIB, from_zlib + b"more"),
        coded("zstd_broken", "broken", blosc1.ZSTD, from_zstd[:12] + b"\xff\xff\xff\xff" + from_zstd[16:]),
        coded("zstd_cut", "cut", blosc1.ZSTD, from_zstd[:-3]),
        coded("zstd_window", "a window of 2 TiB, and no block", blosc1.ZSTD,
              bytes.fromhex("28b52ffd 00 f8 010000")),
        coded("zstd_magic", "no magic", blosc1.ZSTD, b"\0" + from_zstd[1:]),
    ]  # fmt: skip
    return found
