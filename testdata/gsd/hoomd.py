"""What gsd.hoomd writes: schema 2.0 in single and double precision."""

import gsd.hoomd
import numpy as np

import tool
from parts import Fixture, grid, numbers
from tool import frame, trajectory

GROUPS = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4, "pairs": 2}
SHAPES = [
    {},
    {"type": "Sphere", "diameter": 2.0},
    {"type": "Ellipsoid", "a": 1.0, "b": 0.5, "c": 0.25},
    {"type": "Polygon", "rounding_radius": 0.1, "vertices": [[0, 0], [1, 0], [0, 1]]},
    {
        "type": "ConvexPolyhedron",
        "rounding_radius": 0,
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    },
    {"type": "Mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "indices": [[0, 1, 2]]},
    {"type": "SphereUnion", "diameters": [1, 1], "centers": [[0, 0, 0], [0, 0, 1]]},
]


def made(
    name: str, about: str, frames: list[gsd.hoomd.Frame], precision: str = "single", reference: bool = True
) -> Fixture:
    data = trajectory(frames, precision)
    return Fixture(name, about, data, producer=tool.PRODUCER, reference=reference)


def full(step: int, n: int = 4) -> gsd.hoomd.Frame:
    """Every field of every container, none of them a default."""
    it = frame(step, n, seed=step)
    particles = it.particles
    particles.types = ["A", "Bee"]
    particles.typeid = np.arange(n) % 2
    particles.mass = numbers("f4", n, seed=step) ** 2 + 1
    particles.charge = numbers("f4", n, seed=step + 1)
    particles.diameter = numbers("f4", n, seed=step + 2) ** 2 + 0.5
    particles.body = np.arange(n) // 2 - 1
    particles.moment_inertia = numbers("f4", n, 3, seed=step + 3) ** 2
    particles.orientation = np.tile(np.array([0, 0.6, 0.8, 0], "f4"), (n, 1))
    particles.velocity = numbers("f4", n, 3, seed=step + 4)
    particles.angmom = numbers("f4", n, 4, seed=step + 5)
    particles.image = numbers("i4", n, 3, seed=step + 6)
    particles.type_shapes = SHAPES[1:3]
    for name, width in GROUPS.items():
        group = getattr(it, name)
        group.N = 2
        group.types = ["near", "far", name]
        group.typeid = [2, step % 2]
        group.group = np.arange(2 * width).reshape(2, width) % n
    it.constraints.N = 1
    it.constraints.value = [1.5]
    it.constraints.group = [[0, 3]]
    return it


def kinds() -> list[Fixture]:
    plane = frame(7, 3)
    plane.configuration.box, plane.configuration.dimensions = [8, 8, 0, 0.25, 0, 0], 2
    plane.particles.position = grid(3, 1) * [1, 1, 0]
    tilted = frame(9, 3)
    tilted.configuration.box = [8, 9, 10, 0.5, -0.25, 0.125]
    tilted.particles.position = grid(3, 1) / 2
    shaped = frame(0, 7)
    shaped.particles.types = [f"T{i}" for i in range(7)]
    shaped.particles.typeid = np.arange(7)
    shaped.particles.type_shapes = SHAPES
    return [
        made("hoomd_full", "every field of every container, in both frames", [full(10), full(20)]),
        made("hoomd_full_double", "the same in double precision", [full(10), full(20)], "double"),
        made("hoomd_0_frames", "a trajectory without frames", []),
        made("hoomd_default_frame", "a frame of one default particle", [default_frame()]),
        made("hoomd_2d", "two dimensions: Lz is 0", [plane]),
        made("hoomd_triclinic", "all three tilt factors", [tilted]),
        made("hoomd_type_shapes", "each class of type_shapes", [shaped]),
        made("hoomd_no_particles", "no particle, steps alone", [frame(step, 0) for step in (0, 5)]),
    ]


def default_frame() -> gsd.hoomd.Frame:
    it = gsd.hoomd.Frame()
    it.configuration.step = 1
    it.particles.N = 1
    return it


def falls_back() -> list[Fixture]:
    changes = [frame(0, 3), frame(1, 3, seed=2), frame(2, 3, seed=3)]
    changes[0].particles.mass = [2, 3, 4]
    changes[0].particles.types = ["A", "B"]
    changes[0].particles.typeid = [0, 1, 0]
    changes[1].particles.mass = [2, 3, 5]  # frame 2 has frame 0's again
    changes[2].particles.velocity = numbers("f4", 3, 3)  # frames 0 and 1 have the default
    changes[2].particles.body = [-1, 4, 4]
    grows = [frame(step, 2 + step, seed=step) for step in range(3)]
    grows[0].particles.charge = [1, -1]  # of two particles only
    grows[2].particles.mass = [1, 2, 3, 4]
    returns = [frame(step, n, seed=step) for step, n in enumerate([2, 3, 2])]
    returns[0].particles.diameter = [5, 6]
    bonded = [frame(step, 4, seed=step) for step in range(4)]
    for step in (0, 2):
        bonded[step].bonds.N = 2
        bonded[step].bonds.types = ["b"]
        bonded[step].bonds.group = [[0, 1], [step, 3]]
    bonded[3].bonds.N = 0
    late = [frame(step, 2, seed=step) for step in range(3)]
    late[1].bonds.N = 1
    late[1].bonds.types = ["late"]
    late[1].bonds.typeid = [0]
    late[1].bonds.group = [[0, 1]]
    late[2].particles.types = ["A", "B"]
    late[2].particles.image = [[1, 0, 0], [0, 0, -1]]
    boxes = [frame(step, 2) for step in range(4)]
    boxes[2].configuration.box = [9, 9, 9, 0, 0, 0]
    return [
        made(
            "hoomd_falls_back", "chunks missing where a frame has what frame 0 has, or the default", changes
        ),
        made("hoomd_falls_back_double", "the same in double precision", changes, "double"),
        made("hoomd_n_grows", "N changes: frame 0's values are for as many particles only", grows),
        made("hoomd_n_returns", "N changes and comes back: frame 0's values count again", returns),
        made("hoomd_bonds_change", "bonds that change, and end", bonded),
        made("hoomd_late", "bonds, types and images that come after frame 0", late),
        made("hoomd_box_changes", "one frame has another box", boxes),
        made(
            "hoomd_step_0",
            "steps 0, 10, 20: the first is the default and not stored",
            [frame(10 * i, 1) for i in range(3)],
        ),
    ]


def logged(step: int, n: int = 3) -> gsd.hoomd.Frame:
    it = frame(step, n, seed=step)
    it.log["md/temperature"] = np.array([1.5 + step])
    it.log["md/pressure_tensor"] = numbers("f8", 6, seed=step)
    it.log["particles/force"] = numbers("f4", n, 3, seed=step)
    it.log["matrix"] = numbers("i4", 2, 2, seed=step)
    it.log["text"] = f"step {step}"
    it.log["bonds/energy"] = numbers("f8", 2)
    return it


def logs() -> list[Fixture]:
    gap = [logged(step) for step in (1, 2, 3)]
    del gap[1].log["md/temperature"]
    del gap[1].log["particles/force"]
    silent = [frame(step, 1) for step in (1, 2)]
    silent[0].log["text"] = "said once"
    varied = [logged(step, n) for step, n in ((1, 2), (2, 3))]
    varied[1].log["text"] = "another length"
    return [
        made(
            "hoomd_log",
            "scalars, vectors, matrices, text, per particle and bond",
            [logged(s) for s in (1, 2, 3)],
        ),
        made("hoomd_log_gaps", "frames without some of what is logged: frame 0's stands in", gap),
        # gsd.hoomd itself fails where a text falls back.
        made("hoomd_log_text_gap", "a text of frame 0 alone", silent, reference=False),
        made("hoomd_log_shape_changes", "what is logged per particle follows N", varied),
        made("hoomd_log_typed", "logs of integers that no double holds, of texts, and of a shape that changes", typed()),
        made("hoomd_log_alone", "logs of a simulation, no particle", [log_alone(step) for step in range(20)]),
    ]


def typed() -> list[gsd.hoomd.Frame]:
    frames = []
    for step, width in enumerate([2, 2, 3]):
        it = frame(10 * step, 2)
        it.log["tag"] = np.array([2**53 + 1 + 2 * step])
        it.log["seed"] = np.array([2**64 - 1 - step], "u8")
        it.log["state"] = "fluid" if step < 2 else "a solid"
        it.log["changes"] = np.arange(width, dtype="f8")
        frames.append(it)
    return frames


def log_alone(step: int) -> gsd.hoomd.Frame:
    it = gsd.hoomd.Frame()
    it.configuration.step = 100 * step
    it.log["md/potential_energy"] = np.array([-step / 8])
    it.log["loop/walltime"] = np.array([step * 0.5])
    return it


def fixtures() -> list[Fixture]:
    return [*kinds(), *falls_back(), *logs()]
