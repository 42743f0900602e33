"""Index entries that lie, names that are lost, files that end early."""

import numpy as np

from parts import V10, Fixture, Hand, changed, frames, numbers, three_frames

GOOD = three_frames().done()
# Entries by their place in the index: step and position of frames 0, 1, 2.
STEP_1, POSITION_1, STEP_2, LAST = 2, 3, 4, 5
# Bytes within an entry.
FRAME, N, LOCATION, M, ID, TYPE, FLAGS = 0, 8, 16, 24, 28, 30, 31


def bad(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, verdict="damaged", **more)


def entry(index: int, **fields: int) -> bytes:
    """The good file with fields of one entry set to what they are not."""
    hand = three_frames()
    for name, value in fields.items():
        setattr(hand.entries[index], name, value)
    hand.sort = False
    return hand.done()


def fields() -> list[Fixture]:
    places = [e.location for e in three_frames().entries]
    size = len(GOOD)
    made = [
        # where
        ("location_beyond_end", "a chunk after the end of the file", entry(POSITION_1, location=size + 1000)),
        ("location_last_byte", "a chunk that begins with the last byte", entry(POSITION_1, location=size - 1)),
        ("location_negative", "a chunk at -1", entry(POSITION_1, location=-1)),
        ("location_min", "a chunk at -2^63", entry(POSITION_1, location=-(2**63))),
        ("location_max", "a chunk at 2^63 - 1", entry(POSITION_1, location=2**63 - 1)),
        ("location_wraps", "the chunk's end is 0 modulo 2^64", entry(POSITION_1, location=-60)),
        ("location_in_header", "a chunk within the header", entry(POSITION_1, location=8)),
        ("location_in_index", "a chunk within the index", entry(POSITION_1, location=256)),
        ("location_in_names", "a chunk within the namelist", entry(POSITION_1, location=512)),
        ("chunks_overlap", "two chunks share 4 bytes", entry(POSITION_1, location=places[POSITION_1] - 4)),
        # how much
        ("n_max", "2^64 - 1 rows", entry(POSITION_1, n=2**64 - 1)),
        ("n_wraps", "2^62 rows of 16 bytes: 0 modulo 2^64", entry(POSITION_1, n=2**62, m=4)),
        ("n_wraps_16", "2^60 + 1 rows of 16 bytes: 16 modulo 2^64", entry(POSITION_1, n=2**60 + 1, m=4)),
        ("n_one_too_many", "the last chunk has a row too many", entry(LAST, n=6)),
        ("m_0", "no column", entry(POSITION_1, m=0)),
        ("m_0_n_0", "neither row nor column", entry(POSITION_1, m=0, n=0)),
        ("n_0_beyond_end", "no row, after the end of the file", entry(POSITION_1, n=0, location=size + 1)),
        ("m_max", "2^32 - 1 columns", entry(POSITION_1, m=2**32 - 1)),
        # what
        *((f"type_{code}", f"type {code}", entry(POSITION_1, type=code)) for code in (0, 12, 128, 255)),
        *((f"flags_{flags}", f"flags {flags}", entry(POSITION_1, flags=flags)) for flags in (1, 255)),
        ("id_2", "one more than there are names", entry(POSITION_1, id=2)),
        ("id_77", "name 77 of 2", entry(POSITION_1, id=77)),
        ("id_max", "name 65535, which stands for none", entry(POSITION_1, id=65535)),
        # when
        ("frame_8", "the last frame is the number of slots: no reader opens it", entry(LAST, frame=8)),
        ("frame_1000_last", "the last entry is of frame 1000", entry(LAST, frame=1000)),
        ("frame_1000_within", "an entry of frame 1000 among others", entry(POSITION_1, frame=1000)),
        ("frame_max", "frame 2^64 - 1", entry(LAST, frame=2**64 - 1)),
        ("frame_back", "frame 0 after frame 1", entry(STEP_2, frame=0)),
        ("first_frame_7", "the first entry is of frame 7", entry(0, frame=7)),
        ("first_type_0", "the first entry has type 0", entry(0, type=0)),
    ]  # fmt: skip
    return [bad(*it) for it in made]


def order() -> list[Fixture]:
    swapped = three_frames()
    swapped.entries[STEP_1], swapped.entries[POSITION_1] = (
        swapped.entries[POSITION_1],
        swapped.entries[STEP_1],
    )
    swapped.sort = False
    frames_swapped = three_frames()
    frames_swapped.entries = [frames_swapped.entries[i] for i in (0, 1, 4, 5, 2, 3)]
    frames_swapped.sort = False
    v1 = three_frames(version=V10)
    v1.entries = [v1.entries[i] for i in (0, 1, 4, 5, 2, 3)]
    hole = bytearray(GOOD)
    hole[256 + 32 * STEP_1 : 256 + 32 * STEP_2] = bytes(64)
    first = bytearray(GOOD)
    first[256 : 256 + 32] = bytes(32)
    chunkless = Hand(slots=2)
    chunkless.chunk(200, "x", np.array([1], "u1"))
    saved = Hand(slots=256)
    saved.chunk(200, "x", np.array([1], "u1"))
    garbage = changed(GOOD, 256 + 32 * 6, b"\xee" * 32)
    return [
        bad("unsorted_ids", "version 2: ids of a frame out of order", swapped.done(), repaired_of=GOOD),
        bad("unsorted_frames", "version 2: frames out of order", frames_swapped.done(), repaired_of=GOOD),
        bad(
            "v1_unsorted_frames",
            "version 1.0: frames out of order",
            v1.done(),
            repaired_of=three_frames(version=V10).done(),
        ),
        bad("hole_in_index", "the entries of frame 1 are zero", bytes(hole)),
        bad("hole_at_start", "the first entry is zero", bytes(first)),
        bad("entry_after_end", "an entry of nonsense after the last", garbage, repaired_of=GOOD),
        bad(
            "frame_200_of_2_slots",
            "200 frames without chunks, then one: the index has fewer slots than frames",
            chunkless.done(),
            repaired_of=saved.done(),
        ),
    ]


def torn() -> list[Fixture]:
    """The last write of the index, cut by a kill: what was not written is zero. The data of the frame are all there."""
    at = 256 + 32 * LAST
    made = []
    for size in (8, 16, 20, 24, 28, 30):
        torn_entry = changed(GOOD, at + size, bytes(32 - size))
        made.append(
            bad(
                f"torn_entry_{size}",
                f"{size} bytes of the last entry were written",
                torn_entry,
                repaired_of=GOOD,
            )
        )
    straddling = changed(GOOD, 256 + 32 * STEP_2 + 28, bytes(36))
    made.append(
        bad(
            "torn_frame_28", "28 bytes of the last frame's entries were written", straddling, repaired_of=GOOD
        )
    )
    return made


def names() -> list[Fixture]:
    v1 = three_frames(version=V10).done()
    empty = Hand()
    empty.chunk(0, "a", np.array([1], "u1"))
    empty.chunk(0, "", np.array([2], "u1"))
    empty.chunk(0, "c", np.array([3], "u1"))
    return [
        bad("names_zero", "the namelist is all zero", changed(GOOD, 512, bytes(256))),
        bad("names_first_zero", "the first name begins with a NUL", changed(GOOD, 512, b"\0")),
        bad("names_noise", "the namelist is overwritten", changed(GOOD, 512, b"\xee" * 256)),
        bad("names_nul_lost", "two names have become one", changed(GOOD, 516, b"_")),
        bad("names_last_byte", "the namelist does not end with a NUL", changed(GOOD, 767, b"x")),
        bad("name_empty", "an empty name ends the namelist before its end", empty.done()),
        bad("v1_names_zero", "version 1.0, the second slot is zero", changed(v1, 576, bytes(64))),
        bad(
            "v1_name_unterminated",
            "version 1.0, the last slot is full to its last byte",
            changed(v1, 704, b"x" * 64),
        ),
    ]


def cuts() -> list[Fixture]:
    hand = three_frames()
    places = [e.location for e in hand.entries]
    one, two = (frames(Hand(), range(count)).done() for count in (1, 2))
    v1 = three_frames(version=V10)
    big = three_frames(big=True).done()
    made = [
        ("cut_last_byte", "the last byte is missing", GOOD[:-1], two),
        ("cut_in_last_chunk", "the last chunk is cut", GOOD[:-30], two),
        ("cut_last_chunk", "the last chunk is missing", GOOD[: places[LAST]], two),
        ("cut_last_frame", "the data of the last frame are missing", GOOD[: places[STEP_2]], two),
        ("cut_in_frame_1", "the file ends in frame 1", GOOD[: places[POSITION_1] + 7], one),
        ("cut_data", "all data are missing", GOOD[: places[0]], None),
        ("cut_in_names", "the file ends in the namelist", GOOD[:540], None),
        ("cut_in_index", "the file ends in the index", GOOD[:400], None),
        ("cut_after_header", "a header and nothing more", GOOD[:256], None),
        (
            "v1_cut",
            "version 1.0, the last chunk is cut",
            v1.done()[:-1],
            frames(Hand(version=V10), range(2)).done(),
        ),
        ("be_cut", "big-endian, the last chunk is cut", big[:-1], two),
    ]
    text = Hand()
    text.chunk(0, "log", "0123456789")
    text.chunk(1, "log", "abcdefghij")
    alone = Hand()
    alone.chunk(0, "log", "0123456789")
    made.append(("cut_in_text", "a string is cut", text.done()[:-4], alone.done()))
    only = Hand()
    only.chunk(0, "data", numbers("f8", 100))
    made.append(("cut_only_frame", "the only frame's only chunk is cut", only.done()[:-8], None))
    return [bad(name, about, data, repaired_of=repaired) for name, about, data, repaired in made]


def fixtures() -> list[Fixture]:
    return [*fields(), *order(), *torn(), *names(), *cuts()]
