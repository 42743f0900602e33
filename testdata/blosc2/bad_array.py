"""Arrays whose metalayer and chunks do not fit, and stores that are damaged."""

import struct
import zlib

import msgpack

import stores
from bad_header import bad
from hand import GEOMETRY, four, of_array, packed
from parts import Fixture, Frame, b2nd, copied
from values import changed

SHAPE, CHUNKS, BLOCKS = GEOMETRY


def shapes() -> list[Fixture]:
    def lie(name: str, about: str, meta: bytes, **changes: object) -> Fixture:
        return bad(name, about, of_array(meta, **changes).done(), suffix=".b2nd")

    meta = b2nd(*GEOMETRY, "<i4")
    return [
        lie("array_shape_larger", "a shape that wants more chunks", b2nd((50, 7), CHUNKS, BLOCKS, "<i4")),
        lie("array_shape_smaller", "a shape that wants fewer chunks", b2nd((4, 5), CHUNKS, BLOCKS, "<i4")),
        lie("array_shape_negative", "a negative shape", b2nd((-5, 7), CHUNKS, BLOCKS, "<i4")),
        lie("array_shape_max", "a shape whose product is beyond 64 bits", b2nd((2**62, 2**62), CHUNKS, BLOCKS, "<i4")),
        lie("array_shape_wraps", "a shape whose product is 0 modulo 2^64", b2nd((2**32, 2**32), CHUNKS, BLOCKS, "<i4")),
        lie("array_chunk_0", "chunks of no item", b2nd(SHAPE, (0, 5), BLOCKS, "<i4")),
        lie("array_chunk_negative", "chunks of a negative shape", b2nd(SHAPE, (-4, 5), BLOCKS, "<i4")),
        lie("array_chunk_max", "chunks whose product is beyond 32 bits", b2nd(SHAPE, (65536, 65536), BLOCKS, "<i4")),
        lie("array_chunk_other", "chunks that are not of the frame's size", b2nd(SHAPE, (4, 8), BLOCKS, "<i4")),
        lie("array_block_0", "blocks of no item", b2nd(SHAPE, CHUNKS, (2, 0), "<i4")),
        lie("array_block_max", "blocks whose product is beyond 32 bits", b2nd(SHAPE, CHUNKS, (65536, 65536), "<i4")),
        lie("array_block_other", "blocks that are not those of the chunks", b2nd(SHAPE, CHUNKS, (4, 1), "<i4")),
        lie("array_axes_17", "17 axes", b2nd((1,) * 17, (1,) * 17, (1,) * 17, "<i4")),
        lie("array_axes_255", "255 axes, of which two are there", changed(meta, 2, b"\xff")),
        lie("array_axes_1", "one axis, of which two are there", changed(meta, 2, b"\x01")),
        lie("array_meta_cut", "the metalayer is cut", meta[:30]),
        lie("array_meta_empty", "a metalayer of no byte", b""),
        lie("array_dtype_length", "a type whose text ends after the metalayer", changed(meta, len(meta) - 7, struct.pack(">I", 2**31))),
        lie("array_dtype_other", "a type of 8 bytes in a frame of 4", b2nd(*GEOMETRY, "<f8")),
        lie("array_dtype_unknown", "a type that nobody has", b2nd(*GEOMETRY, "<q4")),
        lie("array_dtype_text", "a type that is some text", b2nd(*GEOMETRY, "[('a', __import__('os'))]")),
    ]  # fmt: skip


def tensors() -> list[Fixture]:
    def lie(name: str, about: str, value: object) -> Fixture:
        return bad(name, about, four(vlmetas=[(b"__pack_tensor__", packed(value))]).done())

    return [
        lie("tensor_shape_larger", "a tensor of more elements than there are", ["numpy", [401], "<i4"]),
        lie("tensor_shape_wraps", "a tensor whose product is 0 modulo 2^64", ["numpy", [2**32, 2**32], "<i4"]),
        lie("tensor_type_other", "a tensor of larger elements", ["torch", [20, 20], "<f8"]),
        lie("tensor_objects", "a tensor of Python objects, of which there are addresses", ["numpy", [200], "|O"]),
        lie("tensor_no_list", "the description of a tensor is no list", {"shape": [400]}),
    ]


def zips() -> list[Fixture]:
    good = stores.made(".b2z", stores.dict_store)
    first = good.index(b"a.b2nd")
    size = struct.unpack_from("<I", good, first - 12)[0]
    start = first + len(b"a.b2nd")
    directory = good.index(b"PK\x01\x02")
    squeezed = zlib.compressobj(wbits=-15)
    leaf = good[start : start + size]
    small = squeezed.compress(leaf) + squeezed.flush()
    head = bytearray(good[:start])
    head[8:10], head[18:22] = b"\x08\0", struct.pack("<I", len(small))
    entry = bytearray(good[directory : good.index(b"PK\x01\x02", directory + 4)])
    entry[10:12], entry[20:24] = b"\x08\0", struct.pack("<I", len(small))
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(head) + len(small), 0)

    def lie(name: str, about: str, data: bytes, **more: object) -> Fixture:
        return bad(name, about, data, suffix=".b2z", **more)

    return [
        Fixture("zip_cut", "the end of a zip is missing", good[:-30], ".b2z", verdict="unreadable"),
        lie("zip_leaf_broken", "a member whose frame is broken", changed(good, start + 16, b"\xff" * 8)),
        lie("zip_crc", "a member that is not of its checksum", changed(good, start + 200, bytes([good[start + 200] ^ 1]))),
        Fixture("zip_deflated", "a member that is compressed", bytes(head) + small + bytes(entry) + end, ".b2z", verdict="unreadable"),
        lie("zip_offset_max", "a member at 2^32 - 1", changed(good, directory + 42, b"\xff" * 4)),
        lie("zip_size_max", "a member of 2^32 - 2 bytes", changed(good, directory + 20, (b"\xfe" + b"\xff" * 3) * 2)),
        Fixture("zip_name_up", "a member whose name leads out of the folder", good.replace(b"a.b2nd", b"../a.b"), ".b2z", reference=False, datasets={"b": stores.B}),
    ]  # fmt: skip


def embedded() -> list[Fixture]:
    def lie(name: str, about: str, offset: int, length: int) -> Fixture:
        frame = of_array().done()
        places = {"embed_map": {"/a": {"offset": offset, "length": length}}, "current_offset": len(frame)}
        made = Frame(
            [copied(frame)], typesize=1, metas=[(b"b2embed", msgpack.packb({"version": 1}))],
            vlmetas=[(b"estore_metadata", packed(places))],
        )  # fmt: skip
        return bad(name, about, made.done(), suffix=".b2e")

    size = len(of_array().done())
    return [
        lie("embed_beyond_end", "an array that begins after the end", 2**40, size),
        lie("embed_long", "an array that ends after the end", 0, size + 1),
        lie("embed_negative", "an array at -1", -1, size),
        lie("embed_inside", "an array that begins in itself", 8, size - 8),
    ]


def fixtures() -> list[Fixture]:
    return [*shapes(), *tensors(), *zips(), *embedded()]
