"""Exceptions. Each keeps all it says in `args`, so that it survives pickling: a Dask worker's error arrives whole."""

from __future__ import annotations

import re
from typing import Self

__all__ = [
    "ChecksumError",
    "DamageError",
    "DifferenceError",
    "HoldallError",
    "HoldallLossWarning",
    "LimitError",
    "MalformedError",
    "TruncatedError",
    "UnsupportedError",
    "UsageError",
    "WrongFormatError",
]


_WORDS = {"to": "format=", "limit-memory": "max_memory=", "as-bytes": "as_bytes=True", "stored": "stored=True"}
"""Options of the command that have another name here, or are True."""


def in_python(hint: str) -> str:
    """A hint with the keywords of functions in the place of the command's options; commands stay as they are."""
    if "holdall " in hint:
        return hint
    hint = hint.replace("use -f to replace it", "overwrite=True replaces it")
    hint = re.sub(r"--(codec|digests) (\w+)", r'\1="\2"', hint)
    return re.sub(r"--([a-z][a-z-]*)", lambda option: _WORDS.get(option[1], f"{option[1].replace('-', '_')}="), hint)


def as_note(hint: str) -> str:
    """A hint as the note below a traceback: the next step, or the question whether another name is meant."""
    hint = in_python(hint).removeprefix("try: ")
    return hint if hint.startswith("did you mean") else f"try: {hint}"


class HoldallError(Exception):
    """Base of all exceptions about files. All can be pickled.

    message : what is wrong, and of what
    range : the bytes that are wrong, `(start, stop)` from the start of the file, without `stop`, or None
    part : the file, in containers of several files, or None
    hint : what to do next, or None; shown below the traceback
    """

    message: str
    range: tuple[int, int] | None
    part: str | None
    hint: str | None

    def __new__(cls, *args: object, **more: object) -> Self:
        # MemoryError, a base of one class below, has a constructor of its own, which refuses subclasses with another first base. tblib,
        # by which Dask passes exceptions on, calls it by name.
        return Exception.__new__(cls, *args)

    def __init__(
        self,
        message: str,
        range: tuple[int, int] | None = None,
        part: str | None = None,
        hint: str | None = None,
        *more: object,
    ) -> None:
        hint = None if hint is None else in_python(hint)
        super().__init__(message, range, part, hint, *more)
        self.message, self.range, self.part, self.hint = message, range, part, hint
        if hint:
            self.add_note(as_note(hint))

    def __str__(self) -> str:
        return self.message


class WrongFormatError(HoldallError, ValueError):
    """The bytes are of none of the formats, or not of the one that was asked for. A ValueError."""


class DamageError(HoldallError, ValueError):
    """Base of exceptions about files that are at fault. A ValueError."""


class TruncatedError(DamageError, EOFError):
    """The file ends before something that it announces. An EOFError.

    need, have : bytes of it, and those that are there; or None
    """

    need: int | None
    have: int | None

    def __init__(
        self,
        message: str,
        range: tuple[int, int] | None = None,
        part: str | None = None,
        hint: str | None = None,
        need: int | None = None,
        have: int | None = None,
    ) -> None:
        super().__init__(message, range, part, hint, need, have)
        self.need, self.have = need, have


class MalformedError(DamageError):
    """The bytes contradict the specification, or each other."""


class ChecksumError(DamageError):
    """Bytes do not fit their digest.

    stored, computed : the digest in the file, and that of the bytes, in hexadecimal; or None
    """

    stored: str | None
    computed: str | None

    def __init__(
        self,
        message: str,
        range: tuple[int, int] | None = None,
        part: str | None = None,
        hint: str | None = None,
        stored: str | None = None,
        computed: str | None = None,
    ) -> None:
        super().__init__(message, range, part, hint, stored, computed)
        self.stored, self.computed = stored, computed


class UnsupportedError(HoldallError, NotImplementedError):
    """Legal, but nothing that holdall decodes, or that numpy holds. A NotImplementedError."""


class LimitError(HoldallError, MemoryError):
    """The file asks for more memory than `max_memory` allows. A MemoryError."""


class UsageError(HoldallError, ValueError):
    """The call asks for something that this file or format does not have. A ValueError."""


class DifferenceError(HoldallError, ValueError):
    """A target that was read back was not what it was made from; it was not kept. A ValueError."""


class HoldallLossWarning(UserWarning):
    """A target does not hold all that its source does."""


# Tracebacks show the names by which users catch them.
for _name in __all__:
    globals()[_name].__module__ = "holdall"
