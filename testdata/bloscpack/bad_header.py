"""Headers, sections and tables that are wrong."""

import zlib

import items
import tool
from parts import Fixture, compact, digest, header, of_shape, plain, section, table, v3
from values import steps, text

DATA = steps(2000, 8)
READ = plain(DATA, 8)
BOTH = f"make.py, {tool.PRODUCER}"


def parts() -> list[bytes]:
    return [tool.chunk(DATA[at : at + 800], 8) for at in range(0, 2000, 800)]


def fixtures() -> list[Fixture]:
    return [*unreadable(), *headers(), *offsets(), *metadata(), *arrays(), *variable()]


def no(name: str, about: str, data: bytes, producer: str = "make.py") -> Fixture:
    return Fixture(name, about, data, "unreadable", producer=producer)


def refused(name: str, about: str, data: bytes) -> Fixture:
    """Recognised, and not read without being asked to."""
    return Fixture(name, about, data, "damaged", BOTH)


def damaged(
    name: str, about: str, data: bytes, *, repaired: bytes | None = None, values: bytes | None = None
) -> Fixture:
    """A damaged file, and the bytes that a repair should come to."""
    if repaired is None:
        return Fixture(name, about, data, "damaged", BOTH)
    read = plain(repaired, 8)
    return Fixture(
        name,
        about,
        data,
        "damaged",
        BOTH,
        dtype=read["dtype"],
        shape=READ["shape"],
        values=values,
        repaired=repaired,
        repaired_shape=read["shape"],
    )


def unreadable() -> list[Fixture]:
    good = v3(parts())
    return [
        no("empty", "no byte", b""),
        no("magic_alone", "4 bytes", b"blpk"),
        no("header_31", "one byte of the header is missing", good[:31]),
        no("blizzard_1", "a texture of Warcraft III has the same extension", b"BLP1" + bytes(160)),
        no("blizzard_2", "a texture of World of Warcraft has the same extension", b"BLP2" + bytes(160)),
        no("magic_upper", "magic in capitals", b"BLPK" + good[4:]),
        no("version_0", "version 0", good[:4] + b"\0" + good[5:]),
        no("version_5", "version 5", good[:4] + b"\5" + good[5:]),
        no("version_255", "version 255", good[:4] + b"\xff" + good[5:]),
        refused("option_bit_2", "version 3 with option bit 2, and no metadata", v3(parts(), options=4)),
        refused("option_bit_7", "version 3 with option bit 7", v3(parts(), options=128)),
        interim(),
        refused("vl_bit_2_clear", "version 4 without option bit 2", items.file([b"a"], options=1)),
        refused("v2_bit_2", "version 2 with option bit 2", items.file([b"a"], version=2)),
    ]  # fmt: skip


def interim() -> Fixture:
    """What development snapshots wrote in the first days of December 2012."""
    packed = zlib.compress(b'{"interim": true, "zeros": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}', 6)
    chunks = parts()
    at, places, body = 32 + len(packed) + 8 * len(chunks), [], b""
    for chunk in chunks:
        places.append(at + len(body))
        body += chunk + digest("adler32", chunk)
    head = header(3, options=7, checksum="adler32", chunk_size=800, last_chunk=400, tail=len(packed))
    file = head + packed + table(places) + body
    return Fixture(
        "v3_interim",
        "version 3 of a few days in 2012: metadata right after the header, compressed",
        file,
        "damaged",
        BOTH,
        dtype=READ["dtype"],
        shape=READ["shape"],
        repaired=DATA,
        repaired_shape=READ["shape"],
    )


def headers() -> list[Fixture]:
    chunks = parts()
    good = v3(chunks)

    def with_bytes(at: int, new: bytes) -> bytes:
        return good[:at] + new + good[at + len(new) :]

    most = 2**63 - 1
    return [
        damaged("checksum_9", "a checksum code that nobody has", with_bytes(6, b"\x09")),
        damaged("chunk_size_wrong", "chunk-size 9999", v3(chunks, chunk_size=9999), repaired=DATA, values=DATA),
        damaged("chunk_size_minus_2", "chunk-size -2", v3(chunks, chunk_size=-2), repaired=DATA, values=DATA),
        damaged("chunk_size_too_large", "chunk-size 2147483632, one over the most", v3(chunks, chunk_size=2147483632),
                repaired=DATA, values=DATA),
        damaged("last_chunk_wrong", "last-chunk 8 too small", v3(chunks, last_chunk=392), repaired=DATA, values=DATA),
        damaged("last_chunk_larger", "last-chunk over chunk-size", v3(chunks, last_chunk=801), repaired=DATA, values=DATA),
        damaged("nchunks_too_many", "4 chunks claimed, 3 there, without offsets", v3(chunks, offsets=False, nchunks=4),
                repaired=DATA),
        damaged("nchunks_2e40", "2^40 chunks claimed", v3(chunks, offsets=False, nchunks=2**40), repaired=DATA),
        damaged("nchunks_max", "2^63 - 1 chunks, and as many spare ones",
                header(most, options=1, checksum="adler32", chunk_size=800, last_chunk=400, tail=most) + good[32:]),
        damaged("nchunks_minus_2", "-2 chunks", v3(chunks, offsets=False, nchunks=-2), repaired=DATA, values=DATA),
        damaged("nchunks_unknown_offsets", "-1 chunks in a file with offsets", v3(chunks, nchunks=-1, listed=[-1] * 3),
                repaired=DATA, values=DATA),
        damaged("nchunks_unknown_offsets_set", "-1 chunks in a file with the offsets of 3", v3(chunks, nchunks=-1),
                repaired=DATA, values=DATA),
        damaged("nchunks_unknown_offsets_wrong", "-1 chunks, and offsets that point into the header",
                v3(chunks, nchunks=-1, listed=[9] * 3)),
        damaged("spare_2e60", "2^60 spare offsets in a file of a kilobyte", with_bytes(24, (2**60).to_bytes(8, "little")),
                repaired=DATA, values=DATA),
        damaged("spare_one_too_many", "one spare offset claimed that is not there: everything shifts",
                with_bytes(24, (1).to_bytes(8, "little")), repaired=DATA, values=DATA),
        damaged("spare_negative", "-1 spare offsets", with_bytes(24, b"\xff" * 8), repaired=DATA, values=DATA),
        damaged("header_alone", "the header of 3 chunks, and nothing after it", good[:32]),
        damaged("table_cut", "the table of offsets ends early", good[:45]),
    ]  # fmt: skip


def offsets() -> list[Fixture]:
    chunks = parts()
    good = v3(chunks)
    true = [int.from_bytes(good[at : at + 8], "little") for at in (32, 40, 48)]

    spare = v3(chunks, spare=2)
    spare_used = spare[: 32 + 24] + table([77]) + spare[32 + 32 :]

    def listed(name: str, about: str, *places: int) -> Fixture:
        return damaged(f"offsets_{name}", about, v3(chunks, listed=places), repaired=DATA, values=DATA)

    return [
        listed("all_minus_1", "every offset -1: the writing was aborted", -1, -1, -1),
        listed("one_minus_1", "the second offset -1", true[0], -1, true[2]),
        listed("into_header", "an offset into the header", 8, *true[1:]),
        listed("into_table", "an offset into the table", true[0], 40, true[2]),
        listed("into_digest", "an offset into the digest before it", true[0], true[1] - 2, true[2]),
        listed("into_chunk", "an offset into a chunk", true[0], true[0] + 16, true[2]),
        listed("beyond_end", "an offset beyond the end of the file", true[0], true[1], 10**6),
        listed("max", "an offset of 2^63 - 1", true[0], true[1], 2**63 - 1),
        listed("minus_2", "an offset of -2", true[0], -2, true[2]),
        listed("same", "two offsets at one chunk", true[0], true[0], true[2]),
        damaged("offsets_spare_used", "a spare offset that is not -1", spare_used, repaired=DATA, values=DATA),
        listed("swapped", "two offsets swapped", true[1], true[0], true[2]),
    ]  # fmt: skip


def metadata() -> list[Fixture]:
    chunks = parts()
    packed = zlib.compress(b'{"zeros":[' + b"0," * 99 + b"0]}", 6)
    size = 10 + 200 + 1

    def file(name: str, about: str, made: bytes, repaired: bytes | None = DATA) -> Fixture:
        return damaged(f"meta_{name}", about, v3(chunks, metadata=made), repaired=repaired)

    return [
        file("digest", "the digest of the metadata is wrong", section(b'{"a":1}', made_digest=b"\1\2\3\4")),
        file("checksum_9", "a metadata checksum that nobody has", section(b'{"a":1}', checksum=9, made_digest=b""), None),
        file("codec_2", "a metadata codec that nobody has", section(b'{"a":1}', codec=2)),
        file("area_too_small", "max-meta-size is less than what is stored", section(b'{"a":1}', stored=900), None),
        file("area_huge", "max-meta-size goes past the end of the file", section(b'{"a":1}' )[:16] + b"\xff" * 4 + section(b'{"a":1}')[20:], None),
        file("size_too_small", "meta-size is less than what is compressed", section(packed, codec=1, size=20)),
        file("size_4_gib", "meta-size claims 4 GiB", section(packed, codec=1, size=2**32 - 1)),
        file("size_raw", "meta-size of uncompressed metadata is wrong", section(b'{"a":1}', size=9)),
        file("zlib_broken", "the zlib stream is broken", section(packed[:10] + b"\xff\xff" + packed[12:], codec=1, size=size)),
        file("zlib_cut", "the zlib stream is cut", section(packed[:-6], codec=1, size=size)),
        file("zlib_more", "bytes after the zlib stream", section(packed + b"\xff\xff", codec=1, size=size)),
        file("not_json", "no JSON", section(b"a = 1")),
        file("json_cut", "JSON that ends early", section(b'{"a":')),
        file("not_utf8", "no UTF-8", section(b'{"a":"\xff"}')),
        file("format", "a format other than JSON", section(b"a: 1", magic=b"YAML\0\0\0\0")),
        file("deep", "2000 lists in each other", section(b"[" * 2000 + b"]" * 2000)),
    ]  # fmt: skip


def arrays() -> list[Fixture]:
    """Metadata that say of an array what is not so."""
    chunks = parts()

    def file(name: str, about: str, dtype: object, shape: object, order: object = "C") -> Fixture:
        described = {"dtype": dtype, "shape": shape, "order": order, "container": "numpy"}
        made = v3(chunks, metadata=section(compact(described)))
        repaired = None if name.startswith("overflow") else DATA
        return damaged(f"np_{name}", about, made, repaired=repaired)

    lost = v3(chunks[:2] + [tool.chunk(DATA[:388], 8)], metadata=section(compact(
        {"dtype": "'<f4'", "shape": [500], "order": "C", "container": "numpy"})))  # fmt: skip
    short = {"dtype": "'<f8'", "shape": [249], "order": "C", "container": "numpy"}
    return [
        Fixture("np_too_short", "a shape of less than the bytes, as `blpk append` leaves it",
                v3(chunks, metadata=section(compact(short))), "damaged", BOTH,
                **of_shape(DATA[:1992], "<f8", [249])),
        damaged("np_bytes_lost", "0.11 to 0.14 lost the end when chunk-size was no multiple of typesize", lost),
        file("too_long", "a shape of more than the bytes", "'<f8'", [251]),
        file("overflow", "a shape whose product wraps to 250", "'<f8'", [2**63 + 125, 2]),
        file("overflow_0", "a shape whose product wraps to 0", "'<f8'", [2**32, 2**32]),
        file("negative", "a negative length", "'<f8'", [-250]),
        file("object", "Python objects: what would be pointers", "'|O'", [250]),
        file("dtype_code", "a dtype that would be run by eval", "__import__('os')", [250]),
        file("dtype_number", "a dtype that is a number", 8, [250]),
        file("dtype_unknown", "a dtype that numpy lacks", "'<q9'", [250]),
        file("order", "an order that is neither C nor F", "'<f8'", [250], "K"),
        file("shape_text", "a shape that is text", "'<f8'", "250"),
        file("shape_float", "a shape of fractions", "'<f8'", [250.5]),
        file("axes_70", "70 axes", "'<f8'", [1] * 69 + [250]),
    ]  # fmt: skip


def variable() -> list[Fixture]:
    """The variable-length proposal, damaged."""
    long = [text(300), b"", b"abc"]
    meta = items.described("blob", 3)
    good = items.file(long, meta)
    at = 32 + len(meta)
    true = [int.from_bytes(good[at + 8 * n : at + 8 * n + 8], "little") for n in range(3)]

    # The first item is read where nothing that is wrong concerns it.
    first = {"dtype": "|u1", "shape": [300], "values": long[0]}

    def file(
        name: str, about: str, repaired: list[bytes] | None, readable: bool = False, **options: object
    ) -> Fixture:
        data = items.file(long, options.pop("metadata", meta), **options)
        read = first if readable else {}
        return Fixture(f"vl_{name}", about, data, "damaged", BOTH, repaired_items=repaired, **read)

    broken = bytearray(good)
    broken[true[0] + 40] ^= 1
    return [
        file("no_offsets", "the offsets bit is clear", long, options=6),
        file("offsets_minus_1", "every offset -1: the writing was aborted", long, True, listed=[-1] * 3),
        file("offsets_overlap", "two items at one place", None, listed=[true[0], true[0], true[2]]),
        file("offset_into_table", "an offset into the table", long, True, listed=[true[0], at + 8, true[2]]),
        file("offset_beyond_end", "an offset beyond the end", long, True, listed=[true[0], true[1], 10**9]),
        file("count_2e50", "2^50 items", None, nchunks=2**50),
        file("shape_wrong", "a shape of 5 items for 3", long, True, metadata=items.described("blob", 5)),
        file("meta_size_2e31", "a metadata size of 2^31", None, meta_size=2**31),
        file("meta_size_without_bit", "a metadata size without the metadata bit", None, options=5),
        file("metadata_broken", "metadata that are no JSON", long, True, metadata=b'{"dtype": '),
        Fixture("vl_item_digest", "the digest of an item is wrong", bytes(broken), "damaged", BOTH),
        Fixture("vl_cut", "the last item is cut", good[:-5], "damaged", BOTH, **first),
    ]  # fmt: skip
