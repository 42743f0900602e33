"""GSD trajectories of HOOMD-blue: the module `gsd.hoomd` of the package gsd, and more.

    import holdall.gsd as gsd_hoomd       # in place of: import gsd.hoomd as gsd_hoomd

Scripts run as they are. Beside it there are `stack`, all frames of a quantity in one array; `follow`, frames as a simulation writes them;
and files that a killed program leaves whole.
"""

from . import fl
from ._errors import GSDError
from ._frame import BondData, ConfigurationData, ConstraintData, Frame, ParticleData
from ._log import read_log
from ._trajectory import HOOMDTrajectory, open

Trajectory = HOOMDTrajectory

__all__ = [
    "BondData",
    "ConfigurationData",
    "ConstraintData",
    "Frame",
    "GSDError",
    "HOOMDTrajectory",
    "ParticleData",
    "Trajectory",
    "fl",
    "open",
    "read_log",
]
