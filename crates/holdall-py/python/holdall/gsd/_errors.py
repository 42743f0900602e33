"""Exceptions of GSD files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._errors import HoldallError


class GSDError(HoldallError, RuntimeError):
    """What is wrong with a GSD file or its use: a HoldallError that is also a RuntimeError, as gsd raises it."""

    __module__ = "holdall.gsd"


@contextmanager
def as_gsd(name: str) -> Iterator[None]:
    """Raises errors about the file as gsd does: OSError as they are, all others as RuntimeError."""
    try:
        yield
    except GSDError:
        raise
    except HoldallError as error:
        if "exists" in str(error):
            raise FileExistsError(17, "File exists", name) from error
        raise GSDError(f"{error}: {name}", error.range, error.part, error.hint) from error
