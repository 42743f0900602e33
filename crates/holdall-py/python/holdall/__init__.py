"""Reads, writes, verifies, repairs and converts ASDF, Bloscpack, GSD, Blosc2 (b2nd) and RawArray files.

>>> import holdall
>>> with holdall.open("image.asdf") as file:          # doctest: +SKIP
...     print(list(file), file["roman/data"][0:10, ::4].mean())
"""

from ._dataset import Dataset
from ._errors import (
    ChecksumError,
    DamageError,
    DifferenceError,
    HoldallError,
    HoldallLossWarning,
    LimitError,
    MalformedError,
    TruncatedError,
    UnsupportedError,
    UsageError,
    WrongFormatError,
)
from ._file import File
from ._functions import append, convert, diff, digest, formats, load, open, recode, repair, save, verify
from ._holdall import __version__
from ._options import options
from ._plot import Picture, plot
from ._refs import References, refs
from ._threads import set_threads
from ._types import (
    Conversion,
    Difference,
    Finding,
    Histogram,
    Loss,
    Repair,
    RepairItem,
    Segment,
    Stat,
    Verification,
)
from ._view import View, view

__all__ = [
    "ChecksumError",
    "Conversion",
    "DamageError",
    "Dataset",
    "Difference",
    "DifferenceError",
    "File",
    "Finding",
    "Histogram",
    "HoldallError",
    "HoldallLossWarning",
    "LimitError",
    "Loss",
    "MalformedError",
    "Picture",
    "References",
    "Repair",
    "RepairItem",
    "Segment",
    "Stat",
    "TruncatedError",
    "UnsupportedError",
    "UsageError",
    "Verification",
    "View",
    "WrongFormatError",
    "__version__",
    "append",
    "convert",
    "diff",
    "digest",
    "formats",
    "load",
    "open",
    "options",
    "plot",
    "recode",
    "refs",
    "repair",
    "save",
    "set_threads",
    "verify",
    "view",
]
