"""One moment of a trajectory, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np


class Field(NamedTuple):
    """A quantity of the schema `hoomd`: type, columns (None for one axis), and the value of rows that no frame has.

    Source: the description of the schema, https://gsd.readthedocs.io/en/stable/schema-hoomd.html.
    """

    dtype: str
    columns: int | None
    default: Any
    # Floats of a frame may be of either precision.
    is_float: bool = False


def _floats(columns: int | None, default: Any) -> Field:
    return Field("<f4", columns, np.array(default, "<f4"), True)


class Group:
    """Quantities of particles, bonds or constraints: `N` rows each. Those that are None are not written, and fall back when read."""

    _fields: ClassVar[dict[str, Field]] = {}
    _types: ClassVar[list[str] | None] = None

    N: Any

    def __init__(self) -> None:
        self.N = 0
        self._default_value = self._defaults()
        for name in self._default_value:
            if name != "N":
                setattr(self, name, None)

    def _fields_of(self) -> Mapping[str, Field]:
        return self._fields

    def _defaults(self) -> dict[str, Any]:
        """The value of each quantity that no frame has."""
        made: dict[str, Any] = {"N": np.uint32(0)}
        if self._types is not None:
            made["types"] = list(self._types)
        return made | {name: field.default for name, field in self._fields_of().items()}

    def cast(self) -> dict[str, Any]:
        """The arrays of all quantities that are set, in C order, of the schema's types and shapes: a dict by name. Copies where types differ. The
        group stays as it is.

        Raises ValueError where a shape does not fit `N`, and for names of types that are there twice.
        """
        made = {}
        for name, field in self._fields_of().items():
            value = getattr(self, name)
            if value is None:
                continue
            dtype: Any = field.dtype
            if field.is_float:
                # Lists of Python's floats are double, arrays keep their precision.
                is_double = getattr(value, "dtype", np.dtype("f8")) == np.float64
                dtype = np.float64 if is_double else np.float32
            shape = [self.N] if field.columns is None else [self.N, field.columns]
            made[name] = np.ascontiguousarray(value, dtype).reshape(shape)
        self._check_types()
        return made

    def _check_types(self) -> None:
        types = getattr(self, "types", None)
        if types is not None and len(set(types)) != len(types):
            raise ValueError("Type names must be unique.")

    def validate(self, inplace: bool = False) -> None:
        """Checks names of types; with `inplace`, also shapes, and puts the arrays of `cast` in the place of what was set.

        Raises ValueError.
        """
        if inplace:
            for name, array in self.cast().items():
                setattr(self, name, array)
        self._check_types()

    def __repr__(self) -> str:
        given = [name for name in self._default_value if name != "N" and getattr(self, name) is not None]
        return f"<{type(self).__name__} N={self.N} {' '.join(given)}>".replace(" >", ">")


class ParticleData(Group):
    """Particles of a frame. Each quantity is None or an array of N rows; lists are turned into arrays when the frame is written.

    N : number of particles
    types : names of types
    type_shapes : shapes of types, a dict for each
    typeid : (N,) uint32, indices into `types`
    body : (N,) int32, the rigid body of a particle, -1 for none
    image : (N, 3) int32, box lengths that a particle has crossed
    mass, charge, diameter : (N,) float32 or float64
    position, velocity, moment_inertia : (N, 3) float32 or float64
    orientation, angmom : (N, 4) float32 or float64, quaternions with the real part first

    Lengths, masses and times are in units of the simulation, which files do not name.
    """

    types: Sequence[str] | None
    type_shapes: Sequence[Mapping[str, Any]] | None
    typeid: Any
    mass: Any
    charge: Any
    diameter: Any
    body: Any
    moment_inertia: Any
    position: Any
    orientation: Any
    velocity: Any
    angmom: Any
    image: Any

    _types = ["A"]  # noqa: RUF012
    _fields: ClassVar[dict[str, Field]] = {
        "typeid": Field("<u4", None, np.uint32(0)),
        "mass": _floats(None, 1),
        "charge": _floats(None, 0),
        "diameter": _floats(None, 1),
        "body": Field("<i4", None, np.int32(-1)),
        "moment_inertia": _floats(3, [0, 0, 0]),
        "position": _floats(3, [0, 0, 0]),
        "orientation": _floats(4, [1, 0, 0, 0]),
        "velocity": _floats(3, [0, 0, 0]),
        "angmom": _floats(4, [0, 0, 0, 0]),
        "image": Field("<i4", 3, np.array([0, 0, 0], "<i4")),
    }

    def _defaults(self) -> dict[str, Any]:
        return super()._defaults() | {"type_shapes": [{}]}


class BondData(Group):
    """Bonds, angles, dihedrals, impropers or pairs of a frame: `N` groups of `M` particles.

    M : particles in a group: 2 in bonds and pairs, 3 in angles, 4 in dihedrals and impropers
    types : names of types
    typeid : (N,) uint32, indices into `types`
    group : (N, M) uint32, indices of particles from 0
    """

    types: Sequence[str] | None
    typeid: Any
    group: Any

    _types = []  # noqa: RUF012

    def __init__(self, M: int) -> None:
        self.M = M
        super().__init__()

    def _fields_of(self) -> Mapping[str, Field]:
        return {
            "typeid": Field("<u4", None, np.uint32(0)),
            "group": Field("<u4", self.M, np.zeros(self.M, "<u4")),
        }


class ConstraintData(Group):
    """Distances that are kept: `N` pairs of particles.

    value : (N,) float32 or float64, lengths
    group : (N, 2) uint32, indices of particles from 0
    """

    value: Any
    group: Any

    _fields: ClassVar[dict[str, Field]] = {
        "value": _floats(None, 0),
        "group": Field("<u4", 2, np.zeros(2, "<u4")),
    }

    def __init__(self) -> None:
        self.M = 2
        super().__init__()


class ConfigurationData:
    """Step, dimensions and box of a frame.

    step : number of the time step, 0 or more
    dimensions : 2 or 3
    box : (6,) float32: lengths lx, ly, lz, and tilt factors xy, xz, yz
    """

    def __init__(self) -> None:
        self.step: Any = None
        self.dimensions: Any = None
        self._box: Any = None
        self._default_value = {
            "step": np.uint64(0),
            "dimensions": np.uint8(3),
            "box": np.array([1, 1, 1, 0, 0, 0], "<f4"),
        }

    @property
    def box(self) -> Any:
        """Lengths and tilts of the box, (6,) floats. Setting it sets `dimensions`, unless they are set: 2 where lz is 0."""
        return self._box

    @box.setter
    def box(self, box: Any) -> None:
        self._box = box
        if box is not None and self.dimensions is None:
            self.dimensions = 2 if box[2] == 0 else 3

    def cast(self) -> dict[str, Any]:
        """The box as the schema has it, (6,) float32, where it is set: a dict."""
        if self._box is None:
            return {}
        return {"box": np.ascontiguousarray(self._box, np.float32).reshape([6])}

    def validate(self, inplace: bool = False) -> None:
        """Checks nothing; with `inplace`, the box, and puts the array of `cast` in its place.

        Raises ValueError.
        """
        made = self.cast() if inplace else {}
        if made:
            self._box = made["box"]


class Frame:
    """One moment of a trajectory, in memory: what is None is not written, and is that of frame 0 or the schema's default when read.

    configuration : a `ConfigurationData`
    particles : a `ParticleData`
    bonds, angles, dihedrals, impropers, pairs : a `BondData` each
    constraints : a `ConstraintData`
    log : quantities by name without "log/": arrays of one or two axes of integers or floats, or text in ASCII
    """

    def __init__(self) -> None:
        self.configuration = ConfigurationData()
        self.particles = ParticleData()
        self.bonds = BondData(2)
        self.angles = BondData(3)
        self.dihedrals = BondData(4)
        self.impropers = BondData(4)
        self.constraints = ConstraintData()
        self.pairs = BondData(2)
        self.log: dict[str, Any] = {}

    def validate(self, inplace: bool = False) -> None:
        """Checks all parts; with `inplace`, turns what was set into arrays of the schema's types and shapes.

        Raises ValueError.
        """
        self.configuration.validate(inplace)
        for name in GROUPS:
            getattr(self, name).validate(inplace)

    def __repr__(self) -> str:
        return f"<holdall.gsd.Frame step={self.configuration.step} N={self.particles.N}>"


GROUPS = ("particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs")
"""The groups of a frame, in the order in which they are written."""
