"""Types of parameters, and records of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray

StrPath = Union[str, "PathLike[str]"]
Json = Union[None, bool, int, float, str, bytes, "list[Json]", "dict[str, Json]"]
Index = Union[int, slice, None, Sequence[int], "NDArray[Any]", "tuple[Any, ...]", Any]
Progress = Callable[[int, int], object]
Codec = Union[str, "tuple[str, int | None]"]
Digests = Literal["whole", "compare", "ignore"]
Order = Literal["K", "C", "F"]
OnLoss = Literal["warn", "raise", "ignore"]


class Readable(Protocol):
    """A file object that can be read at any place."""

    def read(self, n: int = -1, /) -> bytes: ...
    def seek(self, at: int, whence: int = 0, /) -> int: ...


class Finding(NamedTuple):
    """One thing that a check found.

    severity : "note", "warning", "unchecked" or "error"
    code : a stable name, such as "checksum"
    message : a line of text
    range : the bytes, `(start, stop)` from the start of the file, without `stop`; None for the whole
    dataset : the path of the dataset, or None
    part : the file, in containers of several files, or None
    """

    severity: str
    code: str
    message: str
    range: tuple[int, int] | None = None
    dataset: str | None = None
    part: str | None = None


class Segment(NamedTuple):
    """One range of the physical map of a file.

    start, stop : bytes from the start of the file, without `stop`
    role : what it is, in the format's own words: "magic", "data"
    codec, checksum : names, of an encoded or checked block; else None
    stored, decoded : bytes of a block in the file, and of its elements; else None
    dataset : the path of the dataset, or None
    part : the file, in containers of several files, or None
    """

    start: int
    stop: int
    role: str
    codec: str | None = None
    stored: int | None = None
    decoded: int | None = None
    checksum: str | None = None
    dataset: str | None = None
    part: str | None = None


class Loss(NamedTuple):
    """A thing that a target does not hold.

    dataset : the path of the dataset; None for the file as a whole
    what : a line of text
    """

    dataset: str | None
    what: str


class Difference(NamedTuple):
    """One thing in which two files differ.

    dataset : the path of the dataset; None for the file as a whole
    what : a line of text
    """

    dataset: str | None
    what: str


class Conversion(NamedTuple):
    """Result of `convert` and `recode`.

    format : the target's format by its machine name
    datasets : paths of the datasets in the source
    losses : what the target does not hold
    """

    format: str
    datasets: list[str]
    losses: list[Loss]


class RepairItem(NamedTuple):
    """A part of a file that a repair kept, guessed or lost.

    range : the bytes in the damaged file, `(start, stop)` without `stop`, or None
    what : a line of text
    evidence : for what came over after a change, why it is right: "digest", "second copy", "walk", "index", "committed frame" or "known damage"
    """

    range: tuple[int, int] | None
    what: str
    evidence: str | None = None


class Repair(NamedTuple):
    """Result of `repair`, or without a target, what it would be. Nothing is lost where `lost` is empty.

    format : the format by its machine name
    kept, guessed, lost : lists of `RepairItem`
    """

    format: str
    kept: list[RepairItem]
    guessed: list[RepairItem]
    lost: list[RepairItem]


class Histogram(NamedTuple):
    """Numbers of values in equal intervals between two ends.

    low, high : the ends, both inclusive
    counts : one for each interval
    """

    low: float
    high: float
    counts: list[int]


@dataclass(frozen=True)
class Stat:
    """Numbers about a dataset, or about one field of its records (docs/json.md, holdall.stat/1). Made by `Dataset.stat`.

    All but the counts are of the finite values that no mask hides; None without any.

    field : name of the field, or None
    of : "values", "modulus" (of complex numbers), "dates", "length" (of strings) or "nothing"
    count : number of elements, with those that are masked or not finite
    masked, nan, neg_inf, pos_inf, empty : numbers of elements that are missing, not a number (also NaT), infinite, texts without letters
    min, max : integers of any size, floats, or text of dates
    sum : exact for integers, else rounded once
    mean, std : floats; `std` is that of the population, divided by the count
    percentiles : values by "1", "5", "25", "50", "75", "95", "99", interpolated as numpy does
    histogram : a `Histogram` between `min` and `max`
    """

    field: str | None
    of: str
    count: int
    masked: int
    nan: int
    neg_inf: int
    pos_inf: int
    empty: int
    min: Any
    max: Any
    sum: Any
    mean: float | None
    std: float | None
    percentiles: dict[str, Any] | None
    histogram: Histogram | None


class Verification:
    """Findings about a file; true where it is sound. Made by `verify`.

    path : the file
    format : its format by its machine name, or None
    verdict : "sound", "unchecked" (nothing wrong in what could be checked), "damaged" or "unreadable"
    findings : a list of `Finding`, errors first
    blocks : numbers of blocks: "total", "checked", "bad"
    """

    __slots__ = ("blocks", "findings", "format", "path", "verdict")

    path: str
    format: str | None
    verdict: Literal["sound", "unchecked", "damaged", "unreadable"]
    findings: list[Finding]
    blocks: dict[str, int]

    def __init__(
        self,
        path: str,
        format: str | None,
        verdict: Literal["sound", "unchecked", "damaged", "unreadable"],
        findings: list[Finding],
        blocks: dict[str, int],
    ) -> None:
        self.path, self.format, self.verdict, self.findings, self.blocks = path, format, verdict, findings, blocks

    def __bool__(self) -> bool:
        return self.verdict == "sound"

    def raise_if_damaged(self) -> None:
        """Raises DamageError for the first error, or UnsupportedError where something could not be checked; nothing where the file is sound."""
        from ._errors import DamageError, UnsupportedError

        if self:
            return
        worst = self.findings[0] if self.findings else Finding("error", "unreadable", "the file cannot be read")
        more = f" (and {len(self.findings) - 1} more)" if len(self.findings) > 1 else ""
        kind = UnsupportedError if self.verdict == "unchecked" else DamageError
        raise kind(f"{self.path}: {worst.message}{more}", worst.range, worst.part, f"holdall repair {self.path} -o NEW")

    def __repr__(self) -> str:
        return f"<holdall.Verification {self.path!r} {self.verdict}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        from ._html import verification

        return verification(self)


def bounds(start: int | None, stop: int | None) -> tuple[int, int] | None:
    """A range of bytes, where both ends are told."""
    return None if start is None or stop is None else (start, stop)
