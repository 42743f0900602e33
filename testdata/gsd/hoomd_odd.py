"""Files of schema hoomd by hand: what other writers spell otherwise, and what cannot be in a simulation."""

import json

import numpy as np

from parts import V10, Fixture, Hand, grid, numbers

NAN, INF = float("nan"), float("inf")
CUBE = [8, 8, 8, 0, 0, 0]


def base(
    n: int = 3,
    count: int = 2,
    version: int = 0x10004,
    box: list[float] = CUBE,
    steps: list[int] | None = None,
    floats: str = "f4",
    **options: object,
) -> Hand:
    """Frames with a step, a box, N and positions."""
    hand = Hand(**({"schema": "hoomd", "schema_version": version, "slots": 32, "units": 8} | options))
    for frame in range(count):
        hand.chunk(frame, "configuration/step", np.array([steps[frame] if steps else 10 * frame], "u8"))
        hand.chunk(frame, "configuration/box", np.array(box, floats))
        hand.chunk(frame, "particles/N", np.array([n], "u4"))
        hand.chunk(frame, "particles/position", grid(n, frame).astype(floats))
    return hand


def with_chunks(chunks: dict[str, object], frame: int = 0, **options: object) -> bytes:
    hand = base(**options)
    for name, data in chunks.items():
        hand.chunk(frame, name, data)
    return hand.done()


def rows(*names: bytes, width: int = 0, dtype: str = "i1") -> np.ndarray:
    width = width or max(map(len, names)) + 1
    return np.frombuffer(b"".join(name.ljust(width, b"\0") for name in names), dtype).reshape(
        len(names), width
    )


def spellings() -> list[Fixture]:
    """Right, if not as gsd.hoomd would write it."""
    mixed = base(version=0x20000, count=3)
    mixed.chunk(0, "particles/mass", np.array([1.5, 2, 3], "f4"))
    mixed.chunk(1, "particles/mass", np.array([1.1, 2, 3], "f8"))
    wide = Hand(schema="hoomd", schema_version=0x10004)
    wide.chunk(0, "configuration/box", np.array([CUBE], "f4"))
    wide.chunk(0, "particles/N", np.array([1], "u4"))
    wide.chunk(0, "particles/position", np.zeros((1, 3), "f4"))
    late_log = base()
    late_log.chunk(1, "log/late", np.array([1.5]))
    peer = base()
    peer.chunk(0, "particles/types", rows(b"A", b"B", width=64, dtype="u1"))
    peer.chunk(0, "particles/typeid", np.array([0, 1, 0], "u4"))
    peer.chunk(0, "log/energy", np.array([0.5]))
    peer.chunk(1, "log/energy", np.array([0.75]))
    default = Hand(schema="hoomd", schema_version=0x10000)
    default.chunk(0, "particles/N", np.array([2], "u4"))
    default.chunk(2, "particles/velocity", numbers("f4", 2, 3))
    text = json.dumps({"type": "Sphere", "diameter": 1.0}).encode()
    signed = {"bonds/N": np.array([1], "u4"), "bonds/group": np.array([[0, 1]], "i4")}
    return [
        *(
            Fixture(f"hoomd_1_{minor}", f"schema 1.{minor}", base(version=0x10000 + minor).done())
            for minor in range(4)
        ),
        *older(),
        Fixture("hoomd_v1", "schema 1.0 in a file of version 1.0", in_version_1()),
        Fixture("hoomd_be", "a trajectory of a big-endian machine", base(big=True).done(), reference=False),
        Fixture(
            "hoomd_wide_types", "types in rows of 64 unsigned bytes, as the Rust writer has them", peer.done()
        ),
        Fixture(
            "hoomd_types_without_nul",
            "types whose rows are full to the last byte",
            with_chunks({"particles/types": rows(b"AB", b"CD", width=2)}),
        ),
        Fixture(
            "hoomd_types_utf8",
            "types in UTF-8",
            with_chunks({"particles/types": rows("é".encode(), "粒子".encode())}),
        ),
        Fixture(
            "hoomd_types_none",
            "a list of no types",
            with_chunks({"bonds/types": np.zeros((0, 1), "i1"), "bonds/N": np.array([0], "u4")}),
            reference=False,
        ),
        Fixture("hoomd_box_1x6", "the box as one row of six", wide.done(), reference=False),
        Fixture(
            "hoomd_mixed_precision",
            "masses in f4, then in f8: they do not stack",
            mixed.done(),
            reference=False,
        ),
        Fixture(
            "hoomd_groups_signed", "groups of signed numbers, as gsd before 5 wrote them", with_chunks(signed)
        ),
        Fixture(
            "hoomd_other_chunks",
            "chunks that the schema does not know: no fallback",
            with_chunks({"mine/x": numbers("f8", 4), "particles/colour": numbers("u1", 3)}),
        ),
        Fixture(
            "hoomd_defaults_only", "velocities of frame 2 alone, frame 1 without a chunk", default.done()
        ),
        Fixture("hoomd_schema_2_1", "schema 2.1, which is newer than this", base(version=0x20001).done()),
        Fixture(
            "hoomd_schema_3_0",
            "schema 3.0, of which nothing is known",
            base(version=0x30000).done(),
            reference=False,
        ),
        Fixture("hoomd_late_log", "a log that frame 0 does not have", late_log.done(), reference=False),
        Fixture(
            "hoomd_log_types_change",
            "a log that is a number, then a string",
            log_types_change(),
            reference=False,
        ),
        Fixture(
            "hoomd_f8_in_1_4",
            "schema 1.4 with doubles, which it does not have",
            base(floats="f8").done(),
            reference=False,
        ),
        Fixture(
            "hoomd_shapes_short",
            "shapes of one of two types",
            with_chunks({"particles/types": rows(b"A", b"B"), "particles/type_shapes": rows(text)}),
        ),
    ]


def older() -> list[Fixture]:
    """Chunks of schemas 1.1 to 1.3 in files of version 1.0."""
    pairs = {
        "pairs/N": np.array([2], "u4"),
        "pairs/types": rows(b"p"),
        "pairs/typeid": np.array([0, 0], "u4"),
        "pairs/group": np.array([[0, 1], [1, 2]], "i4"),
    }
    state = {
        "particles/types": rows(b"A", b"B"),
        "state/hpmc/integrate/d": np.array([0.25]),
        "state/hpmc/sphere/radius": np.array([0.5, 1.5], "f4"),
    }
    files = [
        ("hoomd_1_1_pairs", "schema 1.1 in a file of version 1.0: pairs", 0x10001, pairs),
        ("hoomd_1_2_state", "schema 1.2 in a file of version 1.0: state of HPMC in frame 0", 0x10002, state),
        (
            "hoomd_1_3_orientable",
            "schema 1.3 in a file of version 1.0: which spheres turn",
            0x10003,
            state | {"state/hpmc/sphere/orientable": np.array([0, 1], "u1")},
        ),
    ]
    made = []
    for name, about, version, chunks in files:
        hand = base(version=version, units=16)
        hand.version = V10
        for chunk, data in chunks.items():
            hand.chunk(0, chunk, data)
        hand.entries.sort(key=lambda entry: entry.frame)
        made.append(Fixture(name, about, hand.done()))
    return made


def in_version_1() -> bytes:
    hand = base(version=0x10000)
    hand.version = V10
    return hand.done()


def log_types_change() -> bytes:
    hand = base()
    hand.chunk(0, "log/x", np.array([1.5]))
    hand.chunk(1, "log/x", "text")
    return hand.done()


def boxes() -> list[Fixture]:
    cases = [
        ("zero", "an empty box", [0, 0, 0, 0, 0, 0]),
        ("negative", "a negative edge", [8, -8, 8, 0, 0, 0]),
        ("nan", "an edge that is not a number", [8, NAN, 8, 0, 0, 0]),
        ("infinite", "an infinite tilt", [8, 8, 8, INF, 0, 0]),
        ("flat_3d", "Lz is 0 in three dimensions", [8, 8, 0, 0, 0, 0]),
    ]
    made = [Fixture(f"physics_box_{name}", about, base(box=box).done()) for name, about, box in cases]
    for dimensions in (0, 4):
        data = with_chunks({"configuration/dimensions": np.array([dimensions], "u1")})
        made.append(Fixture(f"physics_dimensions_{dimensions}", f"{dimensions} dimensions", data))
    short = Hand(schema="hoomd", schema_version=0x10004)
    short.chunk(0, "configuration/box", np.array([8, 8, 8], "f4"))
    return [*made, Fixture("physics_box_of_3", "a box of three numbers", short.done(), reference=False)]


def particles() -> list[Fixture]:
    def one(
        name: str, about: str, chunks: dict[str, object], reference: bool = True, **options: object
    ) -> Fixture:
        return Fixture(f"physics_{name}", about, with_chunks(chunks, **options), reference=reference)

    outside = grid(3, 0)
    outside[1] = [4.5, 0, 0]
    broken = grid(3, 0)
    broken[2, 1] = NAN
    two = rows(b"A", b"B")
    return [
        one(
            "typeid_2_of_2",
            "a typeid as large as the number of types",
            {"particles/types": two, "particles/typeid": np.array([0, 1, 2], "u4")},
        ),
        one(
            "typeid_of_default",
            "typeid 1 where only the default type is",
            {"particles/typeid": np.array([0, 1, 0], "u4")},
        ),
        one(
            "typeid_signed",
            "typeids of signed numbers",
            {"particles/types": two, "particles/typeid": np.array([0, 1, -1], "i4")},
            reference=False,
        ),
        one(
            "length_short",
            "masses of two of three particles",
            {"particles/mass": np.array([1, 2], "f4")},
            reference=False,
        ),
        one(
            "length_long",
            "masses of four of three particles",
            {"particles/mass": np.array([1, 2, 3, 4], "f4")},
            reference=False,
        ),
        one(
            "width",
            "velocities of two numbers each",
            {"particles/velocity": numbers("f4", 3, 2)},
            reference=False,
        ),
        one("mass_nan", "a mass that is not a number", {"particles/mass": np.array([1, NAN, 3], "f4")}),
        one("types_twice", "two types of one name", {"particles/types": rows(b"A", b"A")}, reference=False),
        one("types_not_utf8", "a type in Latin-1", {"particles/types": rows(b"caf\xe9")}, reference=False),
        one(
            "shapes_not_json",
            "shapes that are not JSON",
            {"particles/type_shapes": rows(b"{diameter 1}")},
            reference=False,
        ),
        one(
            "shapes_nan",
            "a shape with NaN, which JSON does not have",
            {"particles/type_shapes": rows(b'{"type":"Sphere","diameter":NaN}')},
        ),
        one("n_signed", "N is a signed number", {"bonds/N": np.array([-1], "i4")}, reference=False),
        one("n_two", "N is two numbers", {"bonds/N": np.array([1, 2], "u4")}, reference=False),
        one(
            "position_integers",
            "images of floating point numbers",
            {"particles/image": numbers("f4", 3, 3)},
            reference=False,
        ),
        one(
            "bond_tag_3_of_3",
            "a bond with a particle that is not there",
            {
                "bonds/N": np.array([1], "u4"),
                "bonds/types": rows(b"b"),
                "bonds/group": np.array([[0, 3]], "u4"),
            },
        ),
        one(
            "bond_typeid",
            "a bond of a type that is not there",
            {
                "bonds/N": np.array([1], "u4"),
                "bonds/types": rows(b"b"),
                "bonds/typeid": np.array([1], "u4"),
                "bonds/group": np.array([[0, 1]], "u4"),
            },
        ),
        one(
            "bond_tag_negative",
            "a bond with particle -1",
            {"bonds/N": np.array([1], "u4"), "bonds/group": np.array([[0, -1]], "i4")},
        ),
        replaced("outside", "a particle outside the box", outside),
        replaced("position_nan", "a position that is not a number", broken),
        Fixture("physics_steps_back", "step 10, then 5", base(steps=[10, 5]).done()),
        Fixture("physics_steps_same", "step 10 twice", base(steps=[10, 10]).done()),
    ]


def replaced(name: str, about: str, position: np.ndarray) -> Fixture:
    hand = base(count=1)
    hand.entries.pop()
    del hand.blob[-36:]
    hand.chunk(0, "particles/position", position)
    return Fixture(f"physics_{name}", about, hand.done())


def fixtures() -> list[Fixture]:
    return [*spellings(), *boxes(), *particles()]
