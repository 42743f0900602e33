"""The side of gsd's own library in the tests of tests/gsd.

    gsd_cases.py calls (SCRIPT GSD)...   does what each script says, by gsd_calls.py, to the file beside it
    gsd_cases.py chunks DIR              lists the chunks of each NAME.gsd: NAME.fl by gsd.fl, NAME.pygsd by gsd.pygsd
    gsd_cases.py frames DIR              lists the fields of each frame, by gsd.hoomd over both: NAME.hoomd, NAME.hoomd_pygsd
    gsd_cases.py random DIR SEED COUNT   writes random frames by gsd.hoomd, NAME.gsd, and what was given, NAME.given
    gsd_cases.py repeated DIR SEED COUNT writes trajectories in which appends failed and were repeated, NAME.gsd
    gsd_cases.py typed DIR               writes trajectories with logs of many types, NAME.gsd, and lists these logs, NAME.logs
    gsd_cases.py uncommitted DIR KILLED  writes trajectories, NAME.gsd, and to KILLED what a kill within the first commit leaves
    gsd_cases.py late DIR                writes trajectories with and without a log, NAME.gsd
    gsd_cases.py stacks DIR              lists what does not change in type and shape, as one array of all frames: NAME.stacks
    gsd_cases.py pack NPYS DIR           writes each array of one or two axes that GSD has a type for, by gsd.fl
    gsd_cases.py unpack NPYS DIR BACK    each array was converted to NAME.gsd of DIR if GSD has its type, and from there to BACK
    gsd_cases.py unpacked DIR BACK       each NAME.gsd of `pack` was converted to NAME.npy

Lists are lines of: frame, name, dtype, shape, MD5 of the bytes, with tabs between. What cannot be read is a line that says why.
With an older gsd on the path, `random` keeps to what that one knows.
"""

import contextlib
import hashlib
import json
import logging
import struct
import sys
from pathlib import Path

import gsd.fl
import gsd.hoomd
import gsd.pygsd
import gsd.version
import numpy as np

import gsd_calls

OLD = int(gsd.version.version.split(".")[0]) < 5


def line(frame: int, name: str, value: object) -> str:
    if isinstance(value, str):
        # Texts have no shape here, and their end is not told from NULs.
        data, dtype, shape = value.encode().rstrip(b"\0"), "text", ""
    else:
        array = np.asarray(value)
        data, dtype = array.tobytes(), array.dtype.str
        # gsd.pygsd gives every empty chunk one axis.
        shape = ",".join(map(str, array.shape)) if array.size else "0"
    return f"{frame}\t{name}\t{dtype}\t{shape}\t{hashlib.md5(data).hexdigest()}"


def chunk_lines(file: gsd.fl.GSDFile) -> list[str]:
    names = file.find_matching_chunk_names("")
    there = ((at, name) for at in range(file.nframes) for name in names if file.chunk_exists(frame=at, name=name))
    return [f"{file.nframes} frames", *sorted(line(at, name, file.read_chunk(frame=at, name=name)) for at, name in there)]


def write_list(path: Path, suffix: str, listing: object) -> None:
    try:
        lines = listing()
    except Exception as error:
        lines = [f"{type(error).__name__}: {error}"]
    path.with_suffix(suffix).write_text("\n".join(lines), encoding="utf-8", newline="\n")


@contextlib.contextmanager
def opened(path: Path, slow: bool):
    if slow:
        with path.open("rb") as raw:
            yield gsd.pygsd.GSDFile(raw)
    else:
        with gsd.fl.open(name=str(path), mode="r") as file:
            yield file


def chunks(folder: str) -> None:
    for path in sorted(Path(folder).glob("*.gsd")):
        for suffix, slow in ((".fl", False), (".pygsd", True)):

            def listing() -> list[str]:
                with opened(path, slow) as file:
                    return chunk_lines(file)

            write_list(path, suffix, listing)


GROUPS = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4, "pairs": 2}
WIDTHS = {"moment_inertia": 3, "position": 3, "orientation": 4, "velocity": 3, "angmom": 4, "image": 3}
PARTICLES = (
    "typeid", "mass", "charge", "diameter", "body", "moment_inertia", "position", "orientation", "velocity", "angmom",
    "image",
)  # fmt: skip


def shortest(array: np.ndarray) -> np.ndarray:
    """Reals that f32 holds as f32: defaults are of either type, here and there."""
    if array.dtype != np.dtype("f8"):
        return array
    single = array.astype("f4")
    return single if (single == array).all() else array


def frame_lines(trajectory: gsd.hoomd.HOOMDTrajectory) -> list[str]:
    lines = [f"{len(trajectory)} frames"]
    for at in range(len(trajectory)):
        frame = trajectory[at]
        lines += [line(at, "configuration/step", np.array([frame.configuration.step], "u8"))]
        lines += [line(at, "configuration/dimensions", np.array([frame.configuration.dimensions], "u1"))]
        lines += [line(at, "configuration/box", shortest(frame.configuration.box))]
        for container in ("particles", *GROUPS, "constraints"):
            data = getattr(frame, container)
            lines += [line(at, f"{container}/N", np.array([data.N], "u4"))]
            names = PARTICLES if container == "particles" else ("typeid", "group")
            for name in ("value", "group") if container == "constraints" else names:
                value = getattr(data, name)
                # Up to 5.0.0, tags are i32.
                value = value.astype("u4") if name == "group" else shortest(value)
                lines += [line(at, f"{container}/{name}", value)]
            if container != "constraints":
                lines += [line(at, f"{container}/types", "\n".join(data.types))]
        # By default there is one, whatever the types are.
        shapes = frame.particles.type_shapes
        shapes = [json.dumps(shape) for shape in (shapes if any(shapes) else [])]
        lines += [line(at, "particles/type_shapes", "\n".join(shapes))]
        lines += [line(at, f"log/{name}", value) for name, value in frame.log.items()]
    return [lines[0], *sorted(lines[1:])]


def frames(folder: str) -> None:
    for path in sorted(Path(folder).glob("*.gsd")):
        for suffix, slow in ((".hoomd", False), (".hoomd_pygsd", True)):

            def listing() -> list[str]:
                with opened(path, slow) as file:
                    return frame_lines(gsd.hoomd.HOOMDTrajectory(file))

            write_list(path, suffix, listing)


def table(texts: list[str]) -> np.ndarray:
    width = max(map(len, texts)) + 1
    return np.array(texts, dtype=f"S{width}").view("i1").reshape(len(texts), width)


class Random:
    """One random trajectory: frames as they are given, and the chunks that say the same."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.double = not OLD and seed % 3 == 2
        self.real = np.dtype("f8" if self.double else "f4")
        self.logs = {name: self.log_kind(name) for name in ("energy", "näme", "vector", "text", "particles/force", "bonds/x")}
        self.first: dict[str, np.ndarray] = {}

    def chance(self, of_ten: int) -> bool:
        return self.random.integers(10) < of_ten

    def log_kind(self, name: str) -> np.dtype | None:
        dtypes = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]
        return None if name == "text" else np.dtype(dtypes[self.random.integers(10)])

    def numbers(self, dtype: np.dtype, *shape: int) -> np.ndarray:
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return self.random.normal(0, 3, shape).astype(dtype)
        info = np.iinfo(dtype)
        return self.random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)

    def types(self, most: int) -> list[str]:
        return [f"{'type' * int(self.random.integers(3))}{at}" for at in range(1 + self.random.integers(most))]

    def frame(self, at: int) -> tuple[gsd.hoomd.Frame, dict[str, np.ndarray]]:
        made, given = gsd.hoomd.Frame(), {}

        def give(container: str, name: str, value: object, stored: np.ndarray) -> None:
            setattr(getattr(made, container), name, value)
            given[f"{container}/{name}"] = stored

        def numbers(container: str, name: str, default: object, dtype: np.dtype, *shape: int) -> None:
            """Nothing, the default, what frame 0 has, or something else."""
            if self.chance(4):
                return
            path = f"{container}/{name}"
            value = self.numbers(dtype, *shape)
            if name == "typeid":
                value %= 2
            if self.chance(3):
                value = np.broadcast_to(np.array(default, dtype), shape).copy()
            elif self.chance(3) and path in self.first and self.first[path].shape == value.shape:
                value = self.first[path]
            give(container, name, value, value)

        if self.chance(9) or at == 0:
            step = int(self.random.integers(1 << 60)) if self.chance(8) else 0
            give("configuration", "step", step, np.array([step], "u8"))
        if self.chance(6):
            box = self.random.integers(1, 100, 6).astype("f4") / 4
            if self.chance(3):
                box[2:] = [0, box[3], 0, 0]
            give("configuration", "box", box, box.astype(self.real))
        if self.chance(3):
            dimensions = int(self.random.integers(2, 4))
            give("configuration", "dimensions", dimensions, np.array([dimensions], "u1"))
        elif "configuration/box" in given:
            given["configuration/dimensions"] = np.array([made.configuration.dimensions], "u1")
        before = int(self.first.get("particles/N", [4])[0])
        n = before if self.chance(6) else int(self.random.integers(7))
        give("particles", "N", n, np.array([n], "u4"))
        if self.chance(4) or at == 0:
            types = self.types(4)
            give("particles", "types", types, table(types))
        defaults = {"mass": 1, "diameter": 1, "body": -1, "orientation": [1, 0, 0, 0]}
        kinds = {"typeid": "u4", "body": "i4", "image": "i4"}
        for name in PARTICLES:
            width = [WIDTHS[name]] if name in WIDTHS else []
            numbers("particles", name, defaults.get(name, 0), kinds.get(name, self.real), n, *width)
        if self.chance(3):
            shapes = [{"type": "Sphere", "diameter": 0.5 + at}, {}, {"type": "Ellipsoid", "a": 0.5, "b": 0.25, "c": 2.0}]
            give("particles", "type_shapes", shapes, table([json.dumps(shape) for shape in shapes]))
        for container, width in (*GROUPS.items(), ("constraints", 2)):
            if self.chance(5):
                # N that is not said is 0 in gsd.hoomd, and frame 0's here.
                getattr(made, container).N = int(self.first.get(f"{container}/N", [0])[0])
                continue
            n = int(self.random.integers(4))
            give(container, "N", n, np.array([n], "u4"))
            if container == "constraints":
                numbers(container, "value", 0, self.real, n)
            else:
                if self.chance(5):
                    types = self.types(3)
                    give(container, "types", types, table(types))
                numbers(container, "typeid", 0, "u4", n)
            numbers(container, "group", 0, "u4" if not OLD else "i4", n, width)
        for name, dtype in self.logs.items():
            # gsd.hoomd fails at a log that frame 0 lacks, and inherits no texts.
            if at and dtype is not None and self.chance(3):
                continue
            if dtype is None:
                value = f"text {at} {'x' * int(self.random.integers(9))}"
            elif name == "energy":
                value = self.numbers(dtype, 1)
            elif name == "particles/force":
                value = self.numbers(dtype, int(self.random.integers(5)), 3)
            else:
                value = self.numbers(dtype, int(self.random.integers(1, 5)))
            made.log[name] = given[f"log/{name}"] = value
        if at == 0:
            self.first = given
        return made, given


def random(folder: str, seed: str, count: str) -> None:
    for number in range(int(seed), int(seed) + int(count)):
        source = Random(number)
        path = Path(folder) / f"random{number:03}.gsd"
        precision = {} if OLD else {"precision": "double" if source.double else "single"}
        version = [1, 4] if OLD else [2, 0]
        given = gsd.fl.open(
            str(path.with_suffix(".given")), mode="w", application="given", schema="hoomd", schema_version=version
        )
        with gsd.hoomd.open(str(path), mode="w", **precision) as trajectory, given:
            for at in range(int(source.random.integers(1, 9))):
                made, stored = source.frame(at)
                trajectory.append(made)
                for name, value in stored.items():
                    given.write_chunk(name, value)
                given.end_frame()


def stack_lines(trajectory: gsd.hoomd.HOOMDTrajectory) -> list[str]:
    stacks: dict[str, list[np.ndarray]] = {}
    for at in range(len(trajectory)):
        frame = trajectory[at]
        stacks.setdefault("configuration/step", []).append(np.array([frame.configuration.step], "u8"))
        stacks.setdefault("configuration/box", []).append(frame.configuration.box)
        for name in PARTICLES:
            stacks.setdefault(f"particles/{name}", []).append(getattr(frame.particles, name))
        for name, value in frame.log.items():
            stacks.setdefault(f"log/{name}", []).append(np.asarray(value))
    lines = []
    for name, values in stacks.items():
        if values[0].dtype.kind != "U" and len({value.shape for value in values}) == 1:
            stack = np.stack(values)
            # The schema's reals are read as f64, in whatever precision they are stored.
            if not name.startswith("log/") and stack.dtype.kind == "f":
                stack = stack.astype("f8")
            # One column, or one row, is an axis to some and none to others.
            lines.append(line(len(values), name, stack.reshape(-1)))
    return sorted(lines)


def stacks(folder: str) -> None:
    for path in sorted(Path(folder).glob("*.gsd")):

        def listing() -> list[str]:
            with gsd.hoomd.open(str(path)) as trajectory:
                return stack_lines(trajectory)

        write_list(path, ".stacks", listing)


def has_type(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize in (4, 8))


def pack(npys: str, folder: str) -> None:
    for path in sorted(Path(npys).glob("*.npy")):
        array = np.load(path)
        if has_type(array.dtype) and array.ndim in (1, 2) and array.shape[-1]:
            target = Path(folder) / f"{path.stem}.gsd"
            with gsd.fl.open(str(target), mode="w", application="cases", schema="none", schema_version=[1, 0]) as file:
                file.write_chunk("data", np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))))
                file.end_frame()


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    expected = expected.astype(expected.dtype.newbyteorder("="))
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def unpack(npys: str, folder: str, back: str) -> None:
    problems = []
    for path in sorted(Path(npys).glob("*.npy")):
        array = np.load(path)
        converted = Path(folder) / f"{path.stem}.gsd"
        if not has_type(array.dtype):
            # Bytes are characters, which gsd.fl gives as text.
            if converted.exists() and array.dtype != np.dtype("S1"):
                problems.append(f"{path.name}: {array.dtype} as it is")
            continue
        with gsd.fl.open(str(converted), mode="r") as file:
            data = file.read_chunk(frame=0, name="data")
            if file.chunk_exists(frame=0, name="data/shape"):
                data = data.reshape(file.read_chunk(frame=0, name="data/shape").tolist())
        if not same(data, array):
            problems.append(f"{path.name}: {array.dtype} {array.shape}, not {data.dtype} {data.shape}")
        if not same(np.load(Path(back) / path.name), array):
            problems.append(f"{path.name} came back otherwise")
    end(problems)


def unpacked(folder: str, back: str) -> None:
    problems = []
    for path in sorted(Path(folder).glob("*.gsd")):
        with gsd.fl.open(str(path), mode="r") as file:
            if not same(np.load(Path(back) / f"{path.stem}.npy"), file.read_chunk(frame=0, name="data")):
                problems.append(path.name)
    end(problems)


def end(problems: list[str]) -> None:
    if problems:
        sys.exit("\n".join([f"{len(problems)} problems", *problems[:20]]))


def calls(*paths: str) -> None:
    for script, path in zip(paths[::2], paths[1::2], strict=True):
        gsd_calls.run(Path(script).read_text(encoding="utf-8"), path)


def repeated(folder: str, seed: str, count: str) -> None:
    """Trajectories in which an append raised an exception, and the same frame was mended and appended again."""
    for number in range(int(seed), int(seed) + int(count)):
        random = np.random.default_rng(number)
        frames, fails, n = int(random.integers(1, 9)), random.random(9) < 0.3, int(random.integers(1, 5))
        with gsd.hoomd.open(name=str(Path(folder) / f"{number}.gsd"), mode="w") as trajectory:
            for step in range(frames):
                frame = gsd.hoomd.Frame()
                frame.configuration.step = 10 * step + int(random.integers(0, 2))
                frame.configuration.box = [10 + step % 3, 10, 10, 0, 0, 0]
                frame.particles.N = n
                frame.particles.position = random.random((n, 3)) * 4
                if random.random() < 0.5:
                    frame.particles.mass = random.random(n) + 1
                if step % 2 or random.random() < 0.5:
                    frame.log["e"] = random.random(1)
                    frame.log["f"] = random.random(1)
                if fails[step]:
                    frame.bonds.N, frame.bonds.types = 1, ["\u00e9"]
                    frame.bonds.typeid, frame.bonds.group = [0], [[0, 0]]
                    good = frame.particles.position
                    frame.particles.position = good - 4
                    with contextlib.suppress(UnicodeEncodeError):
                        trajectory.append(frame)
                    frame.particles.position = good
                    if random.random() < 0.5:
                        frame.bonds.types = ["e"]
                    else:
                        frame.bonds = type(frame.bonds)(2)
                trajectory.append(frame)
                if random.random() < 0.3:
                    trajectory.flush()


def snapshot(step: int, n: int = 3) -> gsd.hoomd.Frame:
    frame = gsd.hoomd.Frame()
    frame.configuration.step = 10 * step
    frame.configuration.box = [12, 12, 12, 0, 0, 0]
    frame.particles.N = n
    frame.particles.position = np.arange(3 * n, dtype="f4").reshape(n, 3) % 5 - step / 4
    return frame


def log_lines(path: Path) -> list[str]:
    """The log of each frame: what it stores, else what frame 0 does."""
    with gsd.fl.open(name=str(path), mode="r") as file:
        lines = [f"{file.nframes} frames"]
        for name in file.find_matching_chunk_names("log/"):
            for at in range(file.nframes):
                stored = [frame for frame in (at, 0) if file.chunk_exists(frame=frame, name=name)]
                lines += [line(at, name, file.read_chunk(frame=frame, name=name)) for frame in stored[:1]]
        return [lines[0], *sorted(lines[1:])]


def typed(folder: str) -> None:
    """Integers that no double holds, one of them not in frame 0; texts; shapes that change."""
    large = 2**53 + 1
    logs = [
        {"i": np.array([large + 2 * at], "i8"), "u": np.array([2**64 - 1 - at], "u8"), "text": "fluid" * at + "."}
        for at in range(4)
    ]
    for at in (1, 3):
        logs[at]["late"] = np.array([-large - at], "i8")
        del logs[at]["u"]
    for at, shape in enumerate([2, 2, 3, 2]):
        logs[at]["changes"] = np.arange(shape, dtype="f8")
    logs[2]["matrix"] = np.arange(6, dtype="u2").reshape(2, 3)
    for kind in ("i1", "i2", "i4", "u1", "u2", "u4", "f4", "f8"):
        for at in (0, 2):
            logs[at][f"types/{kind}"] = np.array([[1, 2], [3, at]], kind)
    for name, some in (("typed", logs), ("one_frame", logs[:1])):
        path = Path(folder) / f"{name}.gsd"
        with gsd.hoomd.open(name=str(path), mode="w") as trajectory:
            for at, log in enumerate(some):
                frame = snapshot(at)
                frame.log = {name: value for name, value in log.items()}
                trajectory.append(frame)
        path.with_suffix(".logs").write_text("\n".join(log_lines(path)), encoding="utf-8", newline="\n")


def uncommitted(folder: str, killed: str) -> None:
    """hoomd-blue#2234. A commit writes chunks and names, waits, and then writes the entries: a kill in between leaves none."""
    for count in (1, 2, 5, 12):
        for kind in ("plain", "logged", "typed"):
            path = Path(folder) / f"{kind}{count}.gsd"
            with gsd.hoomd.open(name=str(path), mode="w") as trajectory:
                for step in range(count):
                    frame = snapshot(step + 1, 4)
                    if kind == "logged":
                        frame.log["energy"] = np.array([step - 0.5])
                    if kind == "typed":
                        frame.particles.types, frame.particles.typeid = ["A", "Bee"], [0, 1, 1, step % 2]
                    trajectory.append(frame)
            data = bytearray(path.read_bytes())
            place, slots = struct.unpack_from("<QQ", data, 8)
            data[place : place + 32 * slots] = bytes(32 * slots)
            (Path(killed) / path.name).write_bytes(data)


def late(folder: str) -> None:
    for name, logs in (("e", ["e"]), ("both", ["e", "f"]), ("late", ["e"])):
        with gsd.hoomd.open(name=str(Path(folder) / f"{name}.gsd"), mode="w") as trajectory:
            for step in range(3):
                frame = snapshot(step)
                for log in logs + ["g"] * (name == "late" and step > 0):
                    frame.log[log] = np.array([step + len(log) / 2])
                trajectory.append(frame)


def main() -> None:
    logging.disable(logging.WARNING)
    command, *args = sys.argv[1:]
    commands = (calls, chunks, frames, late, random, repeated, stacks, pack, typed, uncommitted, unpack, unpacked)
    {function.__name__: function for function in commands}[command](*args)


if __name__ == "__main__":
    main()
