"""Headers that lie, or are not there."""

from parts import MAGIC, V10, Fixture, Hand, changed, frames, three_frames

GOOD = three_frames().done()
SIZE = len(GOOD)


def bad(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, verdict="damaged", **more)


def unreadable(name: str, about: str, data: bytes) -> Fixture:
    return Fixture(name, about, data, verdict="unreadable")


def not_gsd() -> list[Fixture]:
    swapped = MAGIC.to_bytes(8, "big")
    return [
        unreadable("empty", "no byte", b""),
        unreadable("magic_alone", "8 bytes", GOOD[:8]),
        unreadable("header_cut_100", "100 bytes of header", GOOD[:100]),
        unreadable("header_cut_255", "all of the header but a byte", GOOD[:255]),
        unreadable("magic_wrong", "a bit of the magic is wrong", changed(GOOD, 3, b"\x64")),
        unreadable("magic_zero", "zeros where the magic was", bytes(8) + GOOD[8:]),
        unreadable("magic_mixed", "half of the magic is big-endian", GOOD[:4] + swapped[4:] + GOOD[8:]),
        unreadable("all_zero", "a file of zeros, as a lost write leaves it", bytes(1024)),
        *(
            unreadable(
                f"version_{name}",
                f"version {major}.{minor}",
                three_frames().done(gsd_version=major << 16 | minor),
            )
            for name, major, minor in (
                ("0_0", 0, 0),
                ("0_2", 0, 2),
                ("0_4", 0, 4),
                ("3_0", 3, 0),
                ("65535", 65535, 65535),
            )
        ),
        unreadable(
            "big_magic_little_rest",
            "the magic is big-endian, all else little-endian",
            swapped + GOOD[8:],
        ),
    ]


def index_place() -> list[Fixture]:
    good = {"repaired_of": GOOD}

    def lie(name: str, about: str, **fields: int) -> Fixture:
        return bad(name, about, three_frames().done(**fields), **good)

    return [
        lie("index_allocated_0", "an index of no entry", index_allocated=0),
        lie("index_allocated_2e59", "2^59 entries: their bytes are 0 modulo 2^64", index_allocated=2**59),
        lie(
            "index_allocated_2e59_8",
            "2^59 + 8 entries: their bytes are 256 modulo 2^64",
            index_allocated=2**59 + 8,
        ),
        lie("index_allocated_max", "2^64 - 1 entries", index_allocated=2**64 - 1),
        lie(
            "index_allocated_beyond_end",
            "as many entries as to pass the end by one",
            index_allocated=(SIZE - 256) // 32 + 1,
        ),
        lie("index_location_0", "the index at byte 0", index_location=0),
        lie("index_location_8", "the index within the header", index_location=8),
        lie("index_location_max", "the index at 2^64 - 32", index_location=2**64 - 32),
        lie("index_location_wraps", "the index's end is 0 modulo 2^64", index_location=2**64 - 256),
        lie("index_location_end", "the index at the end of the file", index_location=SIZE),
        lie("index_location_beyond_end", "the index after the end of the file", index_location=2 * SIZE),
        lie("index_location_odd", "the index 16 bytes too late", index_location=272),
        lie("index_in_names", "the index in the namelist", index_location=512),
        lie("index_over_names", "the index reaches into the namelist", index_allocated=10),
    ]


def names_place() -> list[Fixture]:
    def lie(name: str, about: str, **fields: int) -> Fixture:
        return bad(name, about, three_frames().done(**fields))

    return [
        lie("names_allocated_0", "a namelist of no byte", namelist_allocated=0),
        lie("names_allocated_2e58", "2^58 units: their bytes are 0 modulo 2^64", namelist_allocated=2**58),
        lie(
            "names_allocated_2e58_4",
            "2^58 + 4 units: their bytes are 256 modulo 2^64",
            namelist_allocated=2**58 + 4,
        ),
        lie("names_allocated_max", "2^64 - 1 units", namelist_allocated=2**64 - 1),
        lie("names_allocated_beyond_end", "the namelist passes the end", namelist_allocated=SIZE // 64),
        lie("names_location_0", "the namelist at byte 0", namelist_location=0),
        lie("names_location_max", "the namelist at 2^64 - 64", namelist_location=2**64 - 64),
        lie("names_location_end", "the namelist at the end of the file", namelist_location=SIZE),
        lie("names_in_index", "the namelist in the index", namelist_location=256),
    ]


def both() -> list[Fixture]:
    moved = three_frames(slots=6)
    moved.move_index(16)
    frames(moved, [3, 4])
    whole = moved.done()
    v1 = three_frames(version=V10, slots=6)
    v1.move_index(16)
    frames(v1, [3, 4])
    five = frames(Hand(slots=16), range(5)).done()
    cut_at = moved.index_at + 40
    return [
        bad(
            "v1_as_v2",
            "a file of version 1.0 that calls itself 2.1",
            three_frames(version=V10).done(gsd_version=0x20001),
        ),
        bad("v2_as_v1", "a file of version 2.1 that calls itself 1.0", three_frames().done(gsd_version=V10)),
        bad(
            "pointer_lost",
            "the header's pointer to the index is lost, the index is not",
            changed(whole, 8, bytes(8)),
            repaired_of=five,
        ),
        bad(
            "pointer_beyond_end",
            "the header points after the end, the index is there",
            changed(whole, 8, (2**40).to_bytes(8, "little")),
            repaired_of=five,
        ),
        bad(
            "index_cut",
            "an interrupted copy ends within the index; its old copy is at 256",
            whole[:cut_at],
            repaired_of=GOOD,
        ),
        bad(
            "index_not_arrived",
            "an interrupted copy ends before the index; its old copy is at 256",
            whole[: moved.index_at],
            repaired_of=GOOD,
        ),
        bad(
            "index_overwritten",
            "the index is overwritten; its old copy is at 256",
            changed(whole, moved.index_at, b"\xee" * 32 * 16),
        ),
        bad(
            "v1_index_not_arrived",
            "version 1.0, an interrupted copy ends before the index",
            v1.done()[: v1.index_at],
            repaired_of=three_frames(version=V10).done(),
        ),
    ]


def fixtures() -> list[Fixture]:
    return [*not_gsd(), *index_place(), *names_place(), *both()]
