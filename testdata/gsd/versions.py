"""By hand, what today's library does not write: versions 0.3, 1.0 and 2.0, either byte order, the layouts of others."""

import numpy as np

from parts import CODES, V03, V10, V20, Fixture, Hand, edges, frames, numbers, three_frames

NUMERIC = [dtype for dtype in CODES if dtype != "S1"]


def everything(**options: object) -> Hand:
    """Every numeric type, scalars and matrices, in two frames."""
    hand = Hand(slots=64, units=24, **options)
    for frame in range(2):
        for dtype in NUMERIC:
            hand.chunk(frame, f"edges/{dtype}", edges(dtype))
            hand.chunk(frame, f"matrix/{dtype}", numbers(dtype, 3, 2, seed=frame + 1))
    return hand


def first_version() -> list[Fixture]:
    unordered = Hand(version=V10)
    for frame, order in enumerate([("a", "b", "c"), ("c", "a"), ("b", "c", "a")]):
        for name in order:
            unordered.chunk(frame, name, np.array([frame, ord(name)], "i4"))
    long = Hand(version=V10)
    for i, name in enumerate([b"n" * 63, b"n" * 62, b"m"]):
        long.chunk(0, name, np.array([i], "u1"))
    grown = Hand(version=V10, slots=128, units=128)
    for frame in range(32):
        for name in ("step", "x", "y", "z"):
            grown.chunk(frame, name, np.array([frame], "u2"))
    grown.move_index(256)
    for name in ("z", "step", "y", "x"):
        grown.chunk(32, name, np.array([32], "u2"))
    return [
        Fixture("v1_small", "version 1.0: names in slots of 64 bytes", three_frames(version=V10).done()),
        Fixture("v1_types", "version 1.0, every type", everything(version=V10).done()),
        Fixture("v1_write_order", "version 1.0: the index in the order of writing", unordered.done()),
        Fixture("v1_long_names", "version 1.0: a name of 63 bytes fills its slot", long.done()),
        Fixture(
            "v1_reserved_sizes",
            "version 1.0 as its library laid it out: 128 entries, 128 names",
            three_frames(version=V10, slots=128, units=128).done(),
        ),
        Fixture("v1_index_moved", "version 1.0: 132 entries, the index moved to the end", grown.done()),
        Fixture("v1_0_frames", "version 1.0 without a frame", Hand(version=V10).done()),
        Fixture(
            "v1_2_minor",
            "version 1.7 is 1.0 to every reader",
            three_frames(version=V10).done(gsd_version=0x10007),
        ),
        Fixture("v03_small", "version 0.3", three_frames(version=V03).done()),
        Fixture("v03_types", "version 0.3, every type", everything(version=V03).done()),
    ]


def second_version() -> list[Fixture]:
    strings = Hand()
    strings.chunk(0, "text", "données, 粒子")
    strings.chunk(0, "terminated", "abc\0")
    table = Hand()
    table.chunk(0, "empty", np.zeros(0, "S1"))
    table.chunk(0, "table", np.array([[b"a", b"b"], [b"c", b""]], "S1"))
    single = Hand(slots=1, units=1)
    single.chunk(0, "data", numbers("f4", 3))
    text = Hand(schema="fancy", schema_version=0x10005)
    text.chunk(0, "data", numbers("f4", 3))
    return [
        Fixture("v20_small", "version 2.0", three_frames(version=V20).done()),
        Fixture("v20_types", "version 2.0, every type", everything(version=V20).done()),
        Fixture("v21_small", "version 2.1", three_frames().done()),
        Fixture("v21_strings", "strings in UTF-8, with a NUL", strings.done()),
        Fixture(
            "v21_string_shapes", "no character, and characters of two columns", table.done(), reference=False
        ),
        Fixture("v29_minor", "version 2.9 is 2.1 to every reader", three_frames().done(gsd_version=0x20009)),
        Fixture(
            "v21_one_slot",
            "an index of one entry and a namelist of 64 bytes, both full or nearly",
            single.done(),
        ),
        Fixture(
            "v21_application_63",
            "an application of 63 bytes, a schema of 63",
            three_frames().done(application=b"a" * 63, schema=b"s" * 63),
        ),
        Fixture(
            "v21_no_application",
            "neither an application nor a schema",
            three_frames().done(application=b"", schema=b""),
        ),
        Fixture("v21_other_schema", "a schema that nobody knows", text.done()),
        Fixture(
            "v21_schema_version_max",
            "schema version 65535.65535",
            three_frames().done(schema_version=2**32 - 1),
        ),
    ]


def big_endian() -> list[Fixture]:
    strings = Hand(big=True)
    strings.chunk(0, "text", "abc")
    strings.chunk(0, "bytes", numbers("u1", 4))
    made = [
        ("be_v1_small", "version 1.0 of a big-endian machine", three_frames(version=V10, big=True)),
        ("be_v1_types", "version 1.0 of a big-endian machine, every type", everything(version=V10, big=True)),
        ("be_v03_small", "version 0.3 of a big-endian machine", three_frames(version=V03, big=True)),
        ("be_v20_small", "version 2.0 of a big-endian machine", three_frames(version=V20, big=True)),
        ("be_v21_types", "version 2.1 of a big-endian machine, every type", everything(big=True)),
        ("be_v21_strings", "text has no byte order", strings),
        ("be_v21_0_frames", "big-endian, without a frame", Hand(big=True)),
    ]
    return [Fixture(name, about, hand.done(), reference=False) for name, about, hand in made]


def layouts() -> list[Fixture]:
    aligned = Hand(slots=8)
    for frame in range(2):
        aligned.chunk(frame, "u1", numbers("u1", 5), align=64)
        aligned.chunk(frame, "f8", numbers("f8", 5, seed=frame + 1), align=64)
    shaped = Hand()
    cube = numbers("i2", 24)
    shaped.chunk(0, "data", cube)
    shaped.chunk(0, "data/shape", np.array([2, 3, 4], "u8"))
    scalar = Hand()
    scalar.chunk(0, "data", numbers("f8", 1))
    scalar.chunk(0, "data/shape", np.zeros(0, "u8"))
    backwards = Hand()
    for frame in (2, 1, 0):
        frames(backwards, [frame])
    return [
        Fixture("aligned_64", "every chunk begins at a multiple of 64", aligned.done()),
        Fixture("data_backwards", "the first frame's data are the last in the file", backwards.done()),
        Fixture("shape_2x3x4", "an array of three axes: N×1 and its shape", shaped.done()),
        Fixture("shape_scalar", "an array of no axis: a value and an empty shape", scalar.done()),
        *committed(),
    ]


def committed() -> list[Fixture]:
    """The header counts the entries that are committed, and room for more follows: no free slot is to be seen."""
    full = three_frames(slots=16)
    grown = three_frames(slots=6)
    grown.move_index(16)
    empty = Hand(slots=16)
    body = three_frames(slots=16)
    body.write_index()
    torn = body.entries.copy()
    frames(body, [3])
    four = body.done()
    ahead = body.done(index_allocated=len(torn))
    return [
        Fixture(
            "commit_full", "as many slots as entries, and zeroes behind them", full.done(index_allocated=6)
        ),
        Fixture(
            "commit_moved",
            "the same at the end of the file, over an old index",
            grown.done(index_allocated=6),
        ),
        Fixture("commit_0_frames", "one free slot stands for an empty index", empty.done(index_allocated=1)),
        Fixture(
            "commit_ahead", "a frame whose entries are written and not yet committed", ahead, repaired_of=four
        ),
        Fixture(
            "commit_exact", "the index is full and ends where the data begin", three_frames(slots=6).done()
        ),
    ]


def fixtures() -> list[Fixture]:
    return [*first_version(), *second_version(), *big_endian(), *layouts()]
