"""Sound, with something to say of the file layer: dead and orphan bytes, spellings, what other readers stumble over."""

import numpy as np

from parts import V10, Entry, Fixture, Hand, changed, frames, numbers, three_frames


def spare_bytes() -> list[Fixture]:
    dead = three_frames(slots=6)
    dead.move_index(16)
    frames(dead, [3, 4])
    twice = three_frames(slots=6)
    twice.move_index(8)
    frames(twice, [3])
    twice.move_index(16)
    frames(twice, [4, 5])
    names = three_frames(units=1)
    names.move_names(4)
    names.chunk(2, "a name that came later and needs its room " * 2, np.array([1], "u1"))
    orphan = Hand()
    for frame in range(3):
        frames(orphan, [frame])
        orphan.put(b"\xaa" * 33)
    whole = three_frames(slots=16)
    for frame in (3, 4):  # data as they would be written, and no entry
        whole.put(np.array([10 * frame], "u8").tobytes())
        whole.put(numbers("f4", 5, 3, seed=frame + 1).tobytes())
    saved = frames(Hand(slots=16), range(5))
    half = three_frames(slots=16)
    half.put(np.array([30], "u8").tobytes() + numbers("f4", 2, 3).tobytes())
    return [
        Fixture("dead_index", "the index moved: its old copy is dead", dead.done()),
        Fixture("dead_index_twice", "the index moved twice", twice.done()),
        Fixture("dead_names", "the namelist moved", names.done()),
        Fixture("orphans_between", "33 bytes after each frame that nothing names", orphan.done()),
        Fixture(
            "orphan_frames",
            "the writer was killed: two whole frames of data without entries",
            whole.done(),
            repaired_of=saved.done(),
        ),
        Fixture("orphan_half_frame", "the writer was killed within a frame", half.done()),
        Fixture("trailing_zeros", "4000 zeros at the end", three_frames().done() + bytes(4000)),
        Fixture("trailing_text", "text at the end", three_frames().done() + b"appended by a text editor\n"),
    ]


def header() -> list[Fixture]:
    good = three_frames().done()
    return [
        Fixture("reserved_not_zero", "reserved bytes that are not zero", changed(good, 176, b"\x01hint")),
        Fixture("application_64", "an application of 64 bytes without a NUL", changed(good, 48, b"a" * 64)),
        Fixture("schema_64", "a schema of 64 bytes without a NUL", changed(good, 112, b"s" * 64)),
        Fixture("application_not_utf8", "an application in Latin-1", changed(good, 48, b"caf\xe9\0\0\0")),
        Fixture(
            "application_after_nul", "bytes after the application's NUL", changed(good, 48, b"make\0left")
        ),
    ]


def index() -> list[Fixture]:
    chunkless = Hand()
    frames(chunkless, [1, 3])
    sparse = Hand(slots=64)
    sparse.chunk(0, "a", np.array([1], "u1"))
    sparse.chunk(63, "a", np.array([2], "u1"))
    same = Hand()
    for value in (1, 1):
        same.chunk(0, "a", np.array([value], "u1"))
    other = Hand()
    for value in (1, 2):
        other.chunk(0, "a", np.array([value], "u1"))
    other.chunk(0, "b", np.array([3], "u1"))
    shared = Hand()
    first = shared.chunk(0, "a", numbers("f4", 4))
    shared.entries.append(Entry(1, 4, first.location, 1, first.id, first.type))
    inside = Hand()
    inside.chunk(0, "a", np.zeros((0, 3), "f4"))
    inside.chunk(0, "b", np.array([1], "u1"))
    inside.entries[0].location = 256
    return [
        Fixture("chunkless_frames", "frames 0 and 2 of four have no chunk", chunkless.done()),
        Fixture("chunkless_62_frames", "frames 0 and 63 with chunks, none between", sparse.done()),
        Fixture("duplicate_same", "one chunk twice with the same value", same.done(), ambiguous=True),
        Fixture(
            "duplicate_other", "one chunk twice with two values: readers differ", other.done(), ambiguous=True
        ),
        Fixture("shared_data", "two frames name the same bytes", shared.done()),
        Fixture("empty_chunk_in_index", "a chunk without rows whose place is in the index", inside.done()),
    ]


def names() -> list[Fixture]:
    latin = Hand()
    latin.chunk(0, b"caf\xe9", np.array([1], "u1"))
    latin.chunk(0, "b", np.array([2], "u1"))
    control = Hand()
    for i, name in enumerate(["tab\tbell\x07", "line\nbreak", "\x1b[31mred", "\u202eright"]):
        control.chunk(0, name, np.array([i], "u1"))
    dots = Hand()
    for i, name in enumerate(["../up", "/abs", "a//b", ".", "C:\\x", "a\\b"]):
        dots.chunk(0, name, np.array([i], "u1"))
    twice = Hand()
    twice.chunk(0, "a", np.array([1], "u1"))
    twice.names.append(b"a")
    twice.entries.append(Entry(0, 1, twice.put(b"\x02"), 1, 1, 1))
    unused = three_frames()
    unused.names.append(b"never")
    left = bytearray(three_frames().done())
    left[600:610] = b"left\0over\0"
    cut = Hand(version=V10)
    cut.chunk(0, "é" * 32, np.array([1], "u1"))
    return [
        Fixture("name_not_utf8", "a name in Latin-1", latin.done(), ambiguous=True),
        Fixture("name_control", "names that would do things to a terminal", control.done()),
        Fixture("name_paths", "names that would do things to a file system", dots.done()),
        Fixture("names_same", "two ids of one name", twice.done(), ambiguous=True),
        Fixture("names_unused", "a name that no chunk has", unused.done()),
        Fixture("names_after_end", "bytes after the end of the namelist", bytes(left), reference=False),
        Fixture("v1_name_cut", "a name cut at 63 bytes within a letter", cut.done(), ambiguous=True),
    ]


def fixtures() -> list[Fixture]:
    return [*spare_bytes(), *header(), *index(), *names()]
