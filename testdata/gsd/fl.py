"""What gsd.fl writes: types, shapes, names, frames, flushes and growth."""

import numpy as np

import tool
from parts import CODES, Fixture, edges, numbers


def made(name: str, about: str, data: bytes) -> Fixture:
    return Fixture(name, about, data, producer=tool.PRODUCER)


def types() -> list[Fixture]:
    numeric = [dtype for dtype in CODES if dtype != "S1"]
    return [
        *(
            made(
                f"fl_{dtype}",
                f"two frames of {dtype}: the ends of its range, and a matrix",
                tool.file_of(
                    [{"edges": edges(dtype), "matrix": numbers(dtype, 4, 3, seed=seed)} for seed in (1, 2)]
                ),
            )
            for dtype in numeric
        ),
        made(
            "fl_strings",
            "strings of one length stack, of several do not",
            tool.file_of([{"same": "abc", "other": "x"}, {"same": "def", "other": "longer"}]),
        ),
        made(
            "fl_all_types",
            "every type in one frame, in an order that is not the types'",
            tool.file_of({f"t/{dtype}": numbers(dtype, 7) for dtype in reversed(numeric)} | {"t/S1": "text"}),
        ),
    ]


def shapes() -> list[Fixture]:
    return [
        made(
            "fl_shapes",
            "no row, one row, one column, many columns",
            tool.file_of(
                {
                    "0x3": np.zeros((0, 3), "f4"),
                    "0": np.zeros(0, "u8"),
                    "1": np.array([7], "i2"),
                    "1x1": np.array([[8]], "i2"),
                    "1x5": numbers("f8", 1, 5),
                    "5x1": numbers("f8", 5, 1),
                    "2x300": numbers("u1", 2, 300),
                    "300": numbers("u2", 300),
                }
            ),
        ),
        made(
            "fl_all_empty",
            "every chunk of both frames has no row",
            tool.file_of([{"a": np.zeros((0, 4), "f8"), "b": np.zeros(0, "i1")}] * 2),
        ),
        made(
            "fl_rows_change",
            "as many rows as the frame's number: nothing stacks but the step",
            tool.file_of([{"step": np.array([i], "u8"), "x": numbers("f4", i, 3)} for i in range(4)]),
        ),
        made(
            "fl_columns_change",
            "3 columns, then 4",
            tool.file_of([{"x": numbers("f4", 2, 3)}, {"x": numbers("f4", 2, 4)}]),
        ),
        made(
            "fl_type_changes",
            "one name in f4, then in f8",
            tool.file_of([{"x": numbers("f4", 4)}, {"x": numbers("f8", 4)}]),
        ),
    ]


def names() -> list[Fixture]:
    long = "n" * 64
    return [
        made(
            "fl_names",
            "names that are prefixes of names, that look like paths, frames, selections and addresses",
            tool.file_of(
                {
                    name: np.array([i], "u4")
                    for i, name in enumerate(
                        [
                            "a",
                            "ab",
                            "abc",
                            "a/b",
                            "a/",
                            "/",
                            "frames/0/a",
                            "a[0]",
                            "a::b",
                            " ",
                            "données",
                            "粒子",
                        ]
                    )
                }
            ),
        ),
        made(
            "fl_long_names",
            "of 63, 64, 65 and 900 bytes, alike in their first 63: the namelist moves",
            tool.file_of(
                {name: np.array([len(name)], "u2") for name in (long[:63], long, long + "m", "m" * 900)}
            ),
        ),
        made(
            "fl_names_full",
            "the namelist is full to its last byte",
            tool.file_of({f"{i:07}": np.array([i], "u1") for i in range(128)}),
        ),
        made(
            "fl_many_names",
            "150 names of one frame: index and namelist move",
            tool.file_of({f"quantity {i:03}": np.array([i], "u1") for i in range(150)}),
        ),
        made(
            "fl_names_unused",
            "a name came with a frame that was never ended, flushed all the same",
            tool.written(unused_name),
        ),
    ]


def unused_name(path: str) -> None:
    with tool.fl(path) as file:
        file.write_chunk("used", np.array([1], "u1"))
        file.end_frame()
        file.write_chunk("unused", np.array([2], "u1"))
        file.flush()


def frames() -> list[Fixture]:
    step = [{"step": np.array([i], "u8")} for i in range(5)]
    return [
        made("fl_0_frames", "nothing was ever written", tool.file_of([])),
        made("fl_1_frame", "one frame, one chunk", tool.file_of([{"data": numbers("f4", 6, 2)}])),
        made(
            "fl_empty_at_the_end",
            "frames without chunks at the end: nobody can tell that they were there",
            tool.file_of([*step[:2], {}, {}]),
        ),
        made(
            "fl_empty_first",
            "the first two frames have no chunk",
            tool.file_of([{}, {}, {"x": numbers("f4", 3)}]),
        ),
        made(
            "fl_empty_between", "a frame without chunks between others", tool.file_of([step[0], {}, step[2]])
        ),
        made(
            "fl_sparse",
            "each chunk is in some frames only",
            tool.file_of(
                [
                    {f"every_{n}": np.array([frame], "i4") for n in (1, 2, 3, 5) if frame % n == 0}
                    for frame in range(8)
                ]
            ),
        ),
        made(
            "fl_200_frames",
            "the index moves once",
            tool.file_of([{"x": np.array([i, -i], "i2")} for i in range(200)]),
        ),
        made("fl_order", "written in another order than the names came first", tool.written(other_order)),
        made("fl_flushes", "flushed after every frame, new names between", tool.written(flushes)),
        made("fl_index_moves_twice", "300 entries, flushed every 7 frames", tool.written(moves_twice)),
        made(
            "fl_unended", "a frame that was not ended leaves its data without an entry", tool.written(unended)
        ),
        made("fl_truncated_then_written", "truncate, then two frames", tool.written(truncated)),
        made("fl_reopened", "three sessions of two frames", tool.written(reopened)),
    ]


def other_order(path: str) -> None:
    with tool.fl(path) as file:
        for frame in range(4):
            names = ["a", "b", "c"] if frame % 2 == 0 else ["c", "a", "b"]
            for name in names:
                file.write_chunk(name, np.array([frame, ord(name)], "u2"))
            file.end_frame()


def flushes(path: str) -> None:
    with tool.fl(path) as file:
        for frame in range(6):
            file.write_chunk("always", np.array([frame], "u4"))
            file.write_chunk(f"only_{frame}", numbers("f4", 2, 2, seed=frame))
            file.end_frame()
            file.flush()


def moves_twice(path: str) -> None:
    with tool.fl(path) as file:
        for frame in range(150):
            file.write_chunk("step", np.array([frame], "u8"))
            file.write_chunk("x", np.array([frame % 7], "u1"))
            file.end_frame()
            if frame % 7 == 0:
                file.flush()


def unended(path: str) -> None:
    with tool.fl(path) as file:
        for frame in range(2):
            file.write_chunk("x", numbers("i2", 10, seed=frame + 1))
            file.end_frame()
        file.write_chunk("x", numbers("i2", 10, seed=3))


def truncated(path: str) -> None:
    with tool.fl(path) as file:
        for frame in range(3):
            file.write_chunk("old", numbers("f8", 20))
            file.end_frame()
        file.flush()
        file.truncate()
        for frame in range(2):
            file.write_chunk("new", np.array([frame], "u4"))
            file.end_frame()


def reopened(path: str) -> None:
    for session in range(3):
        with tool.fl(path, mode="w" if session == 0 else "r+") as file:
            for frame in range(2):
                file.write_chunk("session", np.array([session], "u1"))
                file.write_chunk("x", numbers("f4", 3, 3, seed=2 * session + frame))
                file.end_frame()


def fixtures() -> list[Fixture]:
    return [*types(), *shapes(), *names(), *frames()]
