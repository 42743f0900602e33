"""What the releases of gsd make of files that others wrote: appended to and upgraded. What gsd 3 writes itself, and what a kill leaves."""

import contextlib
import struct

import gsd.hoomd
import numpy as np

import tool
from parts import V10, V20, Fixture, three_frames


def starts() -> dict[str, tuple[str, bytes]]:
    """Files to append a fourth frame to."""
    moved = three_frames(slots=6)
    moved.move_index(16)
    return {
        "v1": ("of version 1.0", three_frames(version=V10).done()),
        "v20": ("of version 2.0", three_frames(version=V20).done()),
        "v1_full": ("of version 1.0 whose index is full", three_frames(version=V10, slots=6).done()),
        "committed": (
            "whose header counts committed entries",
            three_frames(slots=16).done(index_allocated=6),
        ),
        "moved": ("whose index moved before", moved.done()),
    }


def by_the_new_release() -> list[Fixture]:
    def append(start: bytes) -> bytes:
        def write(path: str) -> None:
            with open(path, "wb") as file:
                file.write(start)
            with tool.fl(path, mode="r+") as file:
                file.write_chunk("step", np.array([10 * file.nframes], "u8"))
                file.write_chunk("position", np.arange(15, dtype="f4").reshape(5, 3))
                file.write_chunk("energy", np.array([0.5]))
                file.end_frame()

        return tool.written(write)

    def upgrade(start: bytes) -> bytes:
        def write(path: str) -> None:
            with open(path, "wb") as file:
                file.write(start)
            with tool.fl(path, mode="r+") as file:
                file.upgrade()

        return tool.written(write)

    producer = f"make.py, {tool.PRODUCER}"
    return [
        *(
            Fixture(f"append5_{name}", f"gsd 5 appended to a file {about}", append(start), producer=producer)
            for name, (about, start) in starts().items()
        ),
        Fixture(
            "upgrade5_v1",
            "gsd 5 made it a file of version 2.1",
            upgrade(starts()["v1"][1]),
            producer=producer,
        ),
    ]


def by_the_old_release() -> list[Fixture]:
    start = {f"append_{name}.gsd": data for name, (_, data) in starts().items()}
    start["upgrade_v1.gsd"] = starts()["v1"][1]
    made = tool.of_old_release(start)
    both = f"make.py, {tool.OLD_PRODUCER}"
    about = {
        "fl": "every frame a step and three arrays: the index moves",
        "full": "schema 1.4, every field of every container; groups are signed",
        "small": "schema 1.4, two frames",
        "state_first_frame": "HPMC state of the first frame alone: it has no fallback",
    }
    out = []
    for name, data in sorted(made.items()):
        if name.startswith("append_"):
            _, _, kind = name.partition("_")
            out.append(
                Fixture(
                    f"append3_{kind}", f"gsd 3 appended to a file {starts()[kind][0]}", data, producer=both
                )
            )
        elif name == "upgrade_v1":
            out.append(Fixture("upgrade3_v1", "gsd 3 made it a file of version 2.1", data, producer=both))
        else:
            shape = name.removeprefix("state_").replace("_", " ")
            text = about.get(name, f"schema 1.4 with the state of HPMC: {shape}")
            out.append(Fixture(f"gsd3_{name}", text, data, producer=tool.OLD_PRODUCER))
    return out


def killed() -> list[Fixture]:
    def whole(schema: str) -> bytes:
        """The same 25 frames, flushed at the end as well."""
        frames = [
            {"step": np.array([step], "u8"), "x": np.arange(step, step + 6, dtype="f8")} for step in range(25)
        ]
        if schema == "none":
            return tool.file_of(frames)
        made = []
        for step in range(25):
            it = tool.frame(10 * (step + 1), 4)
            it.particles.position = ((np.arange(12) * 7 + 3 * step) % 31).reshape(4, 3) / 4 - 3.75
            made.append(it)
        return tool.trajectory(made)

    return [
        Fixture(
            f"killed_{schema}",
            "25 frames were written, 3 flushed, and the writer killed: the data of the others are there",
            tool.killed(schema),
            producer=tool.PRODUCER,
            repaired_of=whole(schema),
        )
        for schema in ("none", "hoomd")
    ]


def killed_first() -> Fixture:
    """A commit writes chunks and names, waits for the disk, and then writes the entries."""
    made = []
    for step in range(5):
        it = tool.frame(10 * (step + 1), 4)
        it.particles.position = ((np.arange(12) * 7 + 3 * step) % 31).reshape(4, 3) / 4 - 3.75
        it.log["energy"] = np.array([step - 0.5])
        made.append(it)
    whole = tool.trajectory(made)
    place, slots = struct.unpack_from("<QQ", whole, 8)
    return Fixture(
        "killed_first",
        "the writer was killed within its first commit: five frames, their names, and no entry",
        whole[:place] + bytes(32 * slots) + whole[place + 32 * slots :],
        verdict="damaged",
        producer=tool.PRODUCER,
        repaired_of=whole,
    )


def repeated() -> Fixture:
    """An append raised an exception at a text that gsd does not take, and the frame was mended and appended again."""

    def write(path: str) -> None:
        with gsd.hoomd.open(name=path, mode="w") as file:
            for step in range(3):
                it = tool.frame(step, 3, seed=step + 1)
                if step == 1:
                    it.bonds.N, it.bonds.types, it.bonds.typeid, it.bonds.group = 1, ["\u00e9"], [0], [[0, 1]]
                    with contextlib.suppress(UnicodeEncodeError):
                        file.append(it)
                    it.particles.position = -it.particles.position
                    it.bonds.types = ["e"]
                file.append(it)

    return Fixture(
        "duplicate_repeated",
        "an append raised an exception and was repeated: its frame has chunks twice",
        tool.written(write),
        producer=tool.PRODUCER,
    )


def fixtures() -> list[Fixture]:
    return [*by_the_new_release(), *by_the_old_release(), *killed(), killed_first(), repeated()]
