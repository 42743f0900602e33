"""Types of elements: from the words of files to numpy's types, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ._errors import HoldallError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np


def dtype_of(path: str, descr: Any, *, has_bfloat: bool) -> np.dtype[Any]:
    """numpy's type for a description of it."""
    import numpy

    if has_bfloat:
        try:
            import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
        except ImportError:
            descr = _without_bfloat(descr)
    try:
        return cast("np.dtype[Any]", numpy.dtype(_without_padding(numpy, descr)))
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedError(f"{path}: numpy has no type for {descr}: {error}") from None


def _without_padding(np: Any, descr: Any) -> Any:
    """A description whose gaps are gaps: in numpy's lists they are fields without a name."""
    if isinstance(descr, tuple):
        return (_without_padding(np, descr[0]), *descr[1:])
    if not isinstance(descr, list):
        return descr
    names: list[str] = []
    titles: list[str | None] = []
    formats: list[Any] = []
    offsets: list[int] = []
    at = 0
    for name, kind, *shape in descr:
        kind = np.dtype(_without_padding(np, kind))
        if shape:
            kind = np.dtype((kind, shape[0]))
        if name != "":
            title, name = name if isinstance(name, tuple) else (None, name)
            names.append(name)
            titles.append(title)
            formats.append(kind)
            offsets.append(at)
        at += kind.itemsize
    made = {"names": names, "formats": formats, "offsets": offsets, "itemsize": at}
    return made | {"titles": titles} if any(title is not None for title in titles) else made


def _without_bfloat(descr: Any) -> Any:
    if isinstance(descr, str):
        return "<u2" if descr == "bfloat16" else descr
    if isinstance(descr, (list, tuple)):
        return type(descr)(_without_bfloat(part) for part in descr)
    if isinstance(descr, dict):
        return {key: _without_bfloat(part) for key, part in descr.items()}
    return descr


def numpy_cannot(path: str, error: ValueError) -> Exception:
    """numpy's own refusal of a shape, which a file may have."""
    if isinstance(error, HoldallError) or "dimension" not in str(error):
        return error
    return UnsupportedError(f"{path}: numpy cannot hold it: {error}")
