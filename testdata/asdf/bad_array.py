"""Arrays that are not what their nodes say, by hand, and some that are legal where readers give up: each file has a sound array
too."""

import numpy as np

from parts import Fixture, block, file, ndarray, numbers, streamed

BASE = numbers("<i4", 24)
GOOD = ndarray("good", 0, "<i4", [24])
BLOCK = block(BASE.tobytes())


def bad(name: str, about: str, node: str, *blocks: bytes, **more: object) -> Fixture:
    """A node beside a sound array."""
    return Fixture(f"array_{name}", about, file(GOOD + node, *(blocks or (BLOCK,))), verdict="damaged", **more)


def odd(name: str, about: str, node: str, *blocks: bytes, **more: object) -> Fixture:
    """The same of a node that is odd and no worse."""
    return Fixture(f"array_{name}", about, file(GOOD + node, *(blocks or (BLOCK,))), **more)


def node(**keys: object) -> str:
    """Of a sound array, but for these keys; without those that are None."""
    fields = {"source": 0, "datatype": "int32", "byteorder": "little", "shape": [24]} | keys
    listed = ", ".join(f"{name}: {value}" for name, value in fields.items() if value is not None)
    return f"a: !core/ndarray-1.1.0 {{{listed}}}\n"


def places() -> list[Fixture]:
    return [
        bad("offset_minus_1", "one byte before the block", node(offset=-1, shape=[2])),
        bad("offset_minus_4096", "far before the block", node(offset=-4096, shape=[2])),
        bad("offset_long", "the last element beyond the block", node(offset=4)),
        bad("offset_end", "behind the block", node(offset=96, shape=[1])),
        bad("offset_huge", "an offset of 2^63", node(offset=2**63, shape=[1])),
        bad("offset_max", "an offset of 2^64 - 4", node(offset=2**64 - 4, shape=[2])),
        bad("offset_word", "an offset that is no number", node(offset="here", shape=[2])),
        bad("offset_float", "an offset with a dot", node(offset=1.5, shape=[2])),
        bad("shape_long", "more elements than the block has", node(shape=[25])),
        bad("shape_huge", "2^40 elements", node(shape=[2**40])),
        bad("shape_overflow", "a shape whose product is 2^66", node(shape=[2**33, 2**33])),
        bad("shape_wraps", "a shape whose product in 64 bits is 0", node(shape=[2**32, 2**32])),
        bad("shape_max", "an axis of 2^64", node(shape=[2**64])),
        bad("shape_minus_1", "an axis of -1", node(shape=[-1])),
        bad("shape_word", "a shape that is no list", node(shape="many")),
        bad("shape_words", "a shape of words", node(shape="[a, b]")),
        bad("shape_none", "no shape", node(shape=None)),
        bad("shape_star_second", "an asterisk that is not the first", node(shape="[2, '*']")),
        odd("shape_star_zero", "an asterisk before an axis of 0, which has no row", node(shape="['*', 0]"), reference="it divides by zero"),
        odd("shape_rank", "64 axes, the most that numpy has", node(shape=[24] + [1] * 63)),
        bad("strides_beyond", "a step that leads out of the block", node(shape=[4], strides=[32])),
        bad("strides_before", "a step back from the first element", node(shape=[4], strides=[-4])),
        bad("strides_few", "fewer strides than axes", node(shape=[2, 2], strides=[4])),
        bad("strides_many", "more strides than axes", node(shape=[2], strides=[4, 4])),
        bad("strides_huge", "a stride of 2^62", node(shape=[4], strides=[2**62])),
        bad("strides_max", "a stride of 2^63", node(shape=[2], strides=[2**63])),
        bad("strides_lowest", "a stride of -2^63", node(shape=[2], strides=[-(2**63)])),
        bad("strides_zero_large", "2^62 times the same row, by a stride of 0: more than anyone can hold", node(shape=[2**62, 6], strides=[0, 4])),
        bad("strides_star", "an asterisk with a stride of 0", node(shape="['*', 6]", strides=[0, 4])),
    ]  # fmt: skip


def sources() -> list[Fixture]:
    return [
        bad("source_1", "a block that is not there", node(source=1)),
        bad("source_minus_2", "a block before the first", node(source=-2)),
        bad("source_huge", "a block beyond all numbers", node(source=2**70)),
        bad("source_lowest", "a block of -2^63", node(source=-(2**63))),
        bad("source_float", "a block with a dot", node(source=0.5)),
        bad("source_list", "a list in place of a block", node(source="[0]")),
        bad("source_none", "neither a block nor data", node(source=None)),
        bad("source_and_data", "a block and data", node(data="[1, 2]")),
        bad("unknown_label", "a block of an unknown codec", ndarray("a", 1, "<i4", [6]), BLOCK, block(bytes(24), b"what", bytes(10))),
        bad("label_input", "a block of the codec that Python asdf keeps for itself", ndarray("a", 1, "<i4", [6]), BLOCK, block(bytes(24), b"inpu", bytes(10))),
    ]  # fmt: skip


def types() -> list[Fixture]:
    return [
        bad("type_unknown", "a type that is none", node(datatype="int33")),
        bad("type_none", "no type", node(datatype=None)),
        bad("type_number", "a number in place of a type", node(datatype=5)),
        bad("type_python", "numpy's name of a type", node(datatype="'<i4'")),
        bad("type_empty", "a record without a field", node(datatype="[]")),
        bad("type_ascii_minus", "text of a negative length", node(datatype="[ascii, -1]")),
        bad("type_ascii_huge", "text of 2^62 bytes", node(datatype=f"[ascii, {2**62}]", shape=[1])),
        bad("type_ucs4_wraps", "text whose size in 64 bits is 0", node(datatype=f"[ucs4, {2**62}]", shape=[1])),
        bad("type_mapping", "a mapping that is no field", node(datatype="{a: b}")),
        bad("type_field_none", "a field without a type", node(datatype="[{name: a}]")),
        bad("type_field_shape", "a field with a shape of 2^70 elements", node(datatype=f"[{{name: a, datatype: int8, shape: [{2**35}, {2**35}]}}]", shape=[1])),
        bad("type_field_twice", "two fields of one name", node(datatype="[{name: a, datatype: int16}, {name: a, datatype: int16}]")),
        Fixture("array_type_deep", "300 records, one within the other", file(GOOD + node(datatype="[" * 300 + "int8" + "]" * 300, shape=[1]), BLOCK), verdict="unreadable"),
        bad("type_cycle", "a record that holds itself", "a: !core/ndarray-1.1.0 {source: 0, datatype: &d [{name: a, datatype: *d}], byteorder: little, shape: [1]}\n"),
        bad("byteorder_unknown", "an order of bytes that is none", node(byteorder="middle")),
        bad("byteorder_none", "no order of bytes", node(byteorder=None)),
        bad("ucs4_beyond", "a character beyond U+10FFFF", ndarray("a", 1, "<U2", [1]), BLOCK, block(b"\xff" * 8)),
        odd("short_records", "records with room between, whose node tells of none, as Python asdf 6 writes them", ndarray("a", 1, "<i4", [3]).replace("int32", "[uint8, float64]"), BLOCK, block(bytes(range(48))), reference=""),
    ]  # fmt: skip


def inline() -> list[Fixture]:
    def one(name: str, about: str, text: str) -> Fixture:
        return bad(f"inline_{name}", about, f"a: !core/ndarray-1.1.0 {text}\n")

    return [
        one("ragged", "rows of different lengths", "[[1, 2], [3]]"),
        one("depths", "a number beside a list", "[1, [2]]"),
        one("mapping", "a mapping among numbers", "[1, {a: b}]"),
        one("word", "a word that is to be a number", "{data: [1, x], datatype: int16}"),
        one("range", "a number beyond its type", "{data: [1, 70000], datatype: int16}"),
        one("negative", "a negative number without room for a sign", "{data: [1, -1], datatype: uint8}"),
        one("float", "a float that is to be an integer", "{data: [1, 1.5], datatype: int16}"),
        one("ascii", "letters that are no ASCII", "{data: [é], datatype: [ascii, 5]}"),
        one("long_text", "text that is longer than its type", "{data: [abcdef], datatype: [ascii, 3]}"),
        one("shape", "another shape than that of the data", "{data: [1, 2, 3], datatype: int16, shape: [2]}"),
        odd("inline_number", "a number in place of a list, which has no axis", "a: !core/ndarray-1.1.0 {data: 5, datatype: int16}\n", reference="it wants a list"),
        one("scalar", "a node that is text", "text"),
        one("cycle", "a list that holds itself", "&x [1, *x]"),
        one("beyond_int64", "a number beyond 64 bits without a type", "[1, 18446744073709551616]"),
    ]  # fmt: skip


def masks() -> list[Fixture]:
    return [
        bad("mask_shape", "a mask of another shape", node(mask="!core/ndarray-1.1.0 [true, false]")),
        bad("mask_source", "a mask in a block that is not there", node(mask="!core/ndarray-1.1.0 {source: 9, datatype: bool8, byteorder: little, shape: [24]}")),
        bad("mask_cycle", "a mask that is the array itself", "a: &a !core/ndarray-1.1.0 {source: 0, datatype: int32, byteorder: little, shape: [24], mask: *a}\n"),
        bad("bool_2", "a boolean that is neither 0 nor 1", ndarray("a", 1, "?", [4]), BLOCK, block(bytes([0, 1, 2, 255]))),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*places(), *sources(), *types(), *inline(), *masks()]
