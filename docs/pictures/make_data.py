"""Writes the files of docs/gallery.md into data/: made-up data by asdf, gsd, blosc2 and numpy, less than 64 KiB each.

    python docs/pictures/make_data.py

The pictures are drawn from these by `cargo xtask docs`.
"""

import struct
from pathlib import Path

import asdf
import blosc2
import gsd.hoomd
import numpy as np

DATA = Path(__file__).parent / "data"


def sky() -> None:
    """An image with a spiral, stars, a hot pixel and dead ones; its unit is next to it."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:120, 0:160]
    image = rng.normal(20, 1.5, x.shape)
    r, angle = np.hypot((x - 88) / 1.3, y - 62), np.arctan2(y - 62, (x - 88) / 1.3)
    image += 55 * np.exp(-r / 14) * (1.1 + np.cos(2 * angle - r / 6)) + 60 * np.exp(-((r / 4) ** 2))
    for _ in range(40):
        u, v, light = rng.uniform(0, 160), rng.uniform(0, 120), 25 * rng.pareto(1.2) + 8
        image += min(light, 300) * np.exp(-((x - u) ** 2 + (y - v) ** 2) / 2.2)
    image[31, 24] = 60000
    image[80:83, 140] = np.nan
    tree = {"roman": {"data": image.astype("f2"), "unit": "DN / s", "meta": {"telescope": "none"}}}
    asdf.AsdfFile(tree).write_to(DATA / "sky.asdf")


def chains() -> None:
    """Chains in a periodic box, and a log whose steps grow."""
    rng = np.random.default_rng(5)
    length, positions, bonds, types = 12.0, [], [], []
    for _ in range(11):
        at, way = rng.uniform(-length / 2, length / 2, 3), rng.normal(size=3)
        for bead in range(18):
            if bead:
                bonds.append([len(positions) - 1, len(positions)])
            positions.append((at + length / 2) % length - length / 2)
            types.append(0 if bead < 9 else 1)
            way = way / np.linalg.norm(way) + 0.3 * rng.normal(size=3)
            at = at + 1.35 * way / np.linalg.norm(way)
    frames = []
    for number in range(40):
        frame = gsd.hoomd.Frame()
        frame.configuration.step = int(500 * number**1.5)
        frame.particles.N = len(positions)
        if number == 0:
            # The other frames have the same.
            frame.configuration.box = [length] * 3 + [0] * 3
            frame.particles.position = positions
            frame.particles.types, frame.particles.typeid = ["A", "B"], types
            frame.particles.diameter = [0.9] * len(positions)
            frame.bonds.types = ["backbone"]
            frame.bonds.group, frame.bonds.typeid = bonds, [0] * len(bonds)
        frame.bonds.N = len(bonds)
        energy = 40 * np.exp(-number / 9) - 75 + rng.normal(0, 0.6)
        frame.log["md/potential_energy"] = np.array([energy])
        frames.append(frame)
    with gsd.hoomd.open(DATA / "chains.gsd", "w") as file:
        file.extend(frames)


def directions(count: int, rng: np.random.Generator) -> np.ndarray:
    found = rng.normal(size=(count, 4))
    return found / np.linalg.norm(found, axis=1)[:, None]


def solids() -> None:
    """Ellipsoids, cubes, octahedra and dimers, turned at random."""
    rng = np.random.default_rng(2)
    places = np.array([(x, y, z) for z in range(5) for y in range(5) for x in range(5)])
    half = 0.62
    cube = [[a, b, c] for a in (-half, half) for b in (-half, half) for c in (-half, half)]
    far = 1.05
    octahedron = [[far, 0, 0], [-far, 0, 0], [0, far, 0], [0, -far, 0], [0, 0, far], [0, 0, -far]]
    frame = gsd.hoomd.Frame()
    frame.configuration.box = [12.5] * 3 + [0] * 3
    frame.particles.N = len(places)
    frame.particles.position = (places - 2) * 2.35
    frame.particles.orientation = directions(len(places), rng)
    frame.particles.types = ["ellipsoid", "cube", "octahedron", "dimer"]
    frame.particles.typeid = rng.integers(0, 4, len(places))
    frame.particles.type_shapes = [
        {"type": "Ellipsoid", "a": 1.1, "b": 0.6, "c": 0.6},
        {"type": "ConvexPolyhedron", "vertices": cube, "rounding_radius": 0},
        {"type": "ConvexPolyhedron", "vertices": octahedron, "rounding_radius": 0},
        {"type": "SphereUnion", "centers": [[-0.45, 0, 0], [0.45, 0, 0]], "diameters": [1.1, 1.1]},
    ]
    with gsd.hoomd.open(DATA / "solids.gsd", "w") as file:
        file.append(frame)


def flat() -> None:
    """Polygons, rounded squares, ellipses and discs in a plane."""
    rng = np.random.default_rng(4)
    places = np.array([(x, y) for y in range(9) for x in range(12)])
    count = len(places)
    angle = rng.uniform(0, 2 * np.pi, count)
    frame = gsd.hoomd.Frame()
    frame.configuration.box, frame.configuration.dimensions = [18, 13.5, 0, 0, 0, 0], 2
    frame.particles.N = count
    position = (places - [5.5, 4]) * 1.45
    frame.particles.position = np.column_stack([position, np.zeros(count)])
    swirl = np.exp(-((position - [1.5, 0.5]) ** 2).sum(1) / 20)[:, None] * (position - [1.5, 0.5]) @ [[0, 1], [-1, 0]]
    frame.particles.velocity = np.column_stack([swirl, np.zeros(count)])
    frame.particles.orientation = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], -1)
    frame.particles.types = ["triangle", "square", "ellipse", "disc"]
    frame.particles.typeid = rng.integers(0, 4, count)
    frame.particles.type_shapes = [
        {"type": "Polygon", "vertices": [[-0.65, -0.5], [0.65, -0.5], [0, 0.72]], "rounding_radius": 0},
        {
            "type": "Polygon",
            "vertices": [[-0.35, -0.35], [0.35, -0.35], [0.35, 0.35], [-0.35, 0.35]],
            "rounding_radius": 0.18,
        },
        {"type": "Ellipsoid", "a": 0.7, "b": 0.35, "c": 0.35},
        {"type": "Sphere", "diameter": 1.2},
    ]
    with gsd.hoomd.open(DATA / "flat.gsd", "w") as file:
        file.append(frame)


def sunset() -> None:
    """A picture of bytes: red, green, blue."""
    y, x = np.mgrid[0:120, 0:180]
    sun = np.clip(28 - np.hypot(x - 120, y - 62), 0, 1)
    down = y / 119
    colors = np.stack([255 - 90 * down, 120 + 70 * np.sin(3 * down), 90 + 120 * down], -1)
    colors = colors * (1 - sun[..., None]) + np.array([255, 236, 170]) * sun[..., None]
    for height, dark in ((70, 0.62), (84, 0.45), (100, 0.28)):
        hill = height + 7 * np.sin(x / (9 + height / 9)) + 4 * np.sin(x / 5.3 + height)
        colors[y > hill] = np.array([90, 70, 110]) * dark * 1.4
    blosc2.asarray(colors.astype("u1"), urlpath=str(DATA / "sunset.b2nd"), mode="w")


def vortex() -> None:
    """A complex field with vortices, as RawArray: column-major."""
    y, x = np.mgrid[-1:1:72j, -1:1:72j]
    z = x + 1j * y
    field = (z - 0.4 - 0.3j) * (z + 0.5 - 0.1j) * (np.conj(z) - 0.1 - 0.5j) * np.exp(-(abs(z) ** 2))
    head = struct.pack("<6Q", 0, 4, 8, field.size * 8, 2, 72)
    body = field.astype("<c8").T.tobytes("F")
    (DATA / "vortex.ra").write_bytes(b"rawarray" + head + struct.pack("<Q", 72) + body)


def signals() -> None:
    """Three signals with noise."""
    rng = np.random.default_rng(1)
    t = np.linspace(0, 1, 600)
    table = np.stack([np.sin(9 * t) * np.exp(-2 * t), 0.5 * np.cos(23 * t), 0.8 * t - 0.4], -1)
    np.save(DATA / "signals.npy", (table + rng.normal(0, 0.03, table.shape)).astype("f4"))


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for make in (sky, chains, solids, flat, sunset, vortex, signals):
        make()
