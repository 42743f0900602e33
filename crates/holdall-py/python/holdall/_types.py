"""What functions take and give: aliases of types, and records of answers."""

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
    range : the bytes, `(start, stop)`
    part : the file, in containers of several files
    """

    severity: str
    code: str
    message: str
    range: tuple[int, int] | None = None
    dataset: str | None = None
    part: str | None = None


class Segment(NamedTuple):
    """One range of the physical map of a file, in bytes.

    role : what it is, in the format's own words: "magic", "data"
    codec, stored, decoded, checksum : of an encoded block
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
    """What a target does not hold. `dataset` is None for the file as a whole."""

    dataset: str | None
    what: str


class Difference(NamedTuple):
    """One thing in which two files differ. `dataset` is None for the file as a whole."""

    dataset: str | None
    what: str


class Conversion(NamedTuple):
    """What `convert` and `recode` did: the target's format, paths of datasets in the source, and what the target does not hold."""

    format: str
    datasets: list[str]
    losses: list[Loss]


class RepairItem(NamedTuple):
    """A part of a file that a repair kept, guessed or lost."""

    range: tuple[int, int] | None
    what: str


class Repair(NamedTuple):
    """What `repair` did, or without a target would do. Nothing is lost where `lost` is empty."""

    format: str
    kept: list[RepairItem]
    guessed: list[RepairItem]
    lost: list[RepairItem]


class Histogram(NamedTuple):
    """Numbers of values in equal intervals between two ends."""

    low: float
    high: float
    counts: list[int]


@dataclass(frozen=True)
class Stat:
    """Numbers about a dataset, or about one field of its records (docs/json.md, holdall.stat/1).

    All but the counts are of the finite values that no mask hides; None without any.
    of : "values", "modulus" (of complex numbers), "dates", "length" (of strings) or "nothing"
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
    """What `verify` found. True where the file is sound.

    path, format : the file, and its format or None
    verdict : "sound", "unchecked" (nothing wrong in what could be checked), "damaged" or "unreadable"
    findings : errors first
    blocks : {"total": …, "checked": …, "bad": …}
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
        """Raises `DamageError` for the first error, or `UnsupportedError` where something could not be checked."""
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
