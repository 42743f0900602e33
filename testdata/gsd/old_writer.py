"""Run by `tool.of_old_release` with an old release on the path: writes its files into the folder that is named."""

import sys
from pathlib import Path

import gsd.fl
import gsd.hoomd
import gsd.version
import numpy as np


def grid(n: int, seed: int) -> np.ndarray:
    steps = (np.arange(3 * n) * 7 + 3 * seed) % 31
    return (steps.reshape(n, 3) / 4 - 3.75).astype("f4")


def frame(step: int, n: int) -> gsd.hoomd.Frame:
    made = gsd.hoomd.Frame()
    made.configuration.step = step
    made.configuration.box = [8, 8, 8, 0, 0, 0]
    made.particles.N = n
    made.particles.position = grid(n, step)
    return made


def full(step: int) -> gsd.hoomd.Frame:
    it = frame(step, 4)
    particles = it.particles
    particles.types = ["A", "B"]
    particles.typeid = [0, 1, 1, step % 2]
    particles.mass = [1, 2, 3, step]
    particles.charge = [-1, 0, 1, step]
    particles.diameter = [1, 2, 1, step]
    particles.body = [-1, 0, 0, step]
    particles.moment_inertia = grid(4, 1) ** 2
    particles.orientation = np.tile(np.array([0, 0.6, 0.8, 0], "f4"), (4, 1))
    particles.velocity = grid(4, 2 + step)
    particles.angmom = np.arange(16).reshape(4, 4) + step
    particles.image = np.arange(12).reshape(4, 3) - step
    for name, width in (("bonds", 2), ("angles", 3), ("dihedrals", 4), ("impropers", 4), ("pairs", 2)):
        group = getattr(it, name)
        group.N = 2
        group.types = ["one", name]
        group.typeid = [1, step % 2]
        group.group = np.arange(2 * width).reshape(2, width) % 4
    it.constraints.N = 1
    it.constraints.value = [0.5]
    it.constraints.group = [[1, 2]]
    it.log["energy"] = np.array([step / 4])
    return it


def hpmc(shape: str, step: int) -> gsd.hoomd.Frame:
    """Two kinds of particles, as HPMC wrote them before schema 1.4 had type_shapes."""
    it = frame(step, 2)
    it.particles.types = ["A", "B"]
    it.state["hpmc/integrate/d"] = [0.25]
    it.state["hpmc/integrate/a"] = [0.125]
    state = {f"hpmc/{shape}/{name}": value for name, value in STATES[shape].items()}
    it.state.update(state)
    return it


FLAT = [[-1, -1], [1, -1], [0, 1], [-1, -1], [1, -1], [1, 1], [-1, 1]]
DEEP = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
STATES = {
    "sphere": {"radius": [0.5, 1.5], "orientable": [0, 1]},
    "ellipsoid": {"a": [1, 2], "b": [3, 4], "c": [5, 6]},
    "convex_polygon": {"N": [3, 4], "vertices": FLAT},
    "convex_spheropolygon": {"N": [3, 4], "vertices": FLAT, "sweep_radius": [0.5, 0.25]},
    "simple_polygon": {"N": [3, 4], "vertices": FLAT},
    "convex_polyhedron": {"N": [4, 4], "vertices": DEEP},
    "convex_spheropolyhedron": {"N": [4, 4], "vertices": DEEP, "sweep_radius": [0.5, 0.25]},
}


def file_layer(path: Path) -> None:
    with gsd.fl.open(
        name=str(path), mode="w", application="make.py", schema="none", schema_version=[1, 2]
    ) as file:
        for step in range(40):
            file.write_chunk("step", np.array([step], "u8"))
            for dtype in ("u1", "i2", "f8"):
                file.write_chunk(dtype, np.arange(step, step + 6, dtype=dtype))
            file.end_frame()


def append(path: Path) -> None:
    """One more frame, where the others have a step and positions."""
    with gsd.fl.open(name=str(path), mode="r+") as file:
        file.write_chunk("step", np.array([10 * file.nframes], "u8"))
        file.write_chunk("position", np.arange(15, dtype="f4").reshape(5, 3))
        file.end_frame()


def upgrade(path: Path) -> None:
    with gsd.fl.open(name=str(path), mode="r+") as file:
        file.upgrade()


def main(folder: Path) -> None:
    assert int(gsd.version.version.split(".")[0]) < 4, f"gsd {gsd.version.version} is not an old release"
    for path in folder.glob("append_*.gsd"):
        append(path)
    for path in folder.glob("upgrade_*.gsd"):
        upgrade(path)
    file_layer(folder / "fl.gsd")
    files = {"full": [full(10), full(21)], "small": [frame(0, 3), frame(5, 3)]}
    files |= {f"state_{shape}": [hpmc(shape, 1), hpmc(shape, 2)] for shape in STATES}
    files["state_first_frame"] = [hpmc("sphere", 1), frame(2, 2)]
    for name, frames in files.items():
        with gsd.hoomd.open(name=str(folder / f"{name}.gsd"), mode="w") as file:
            file.extend(frames)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
