"""Names that are not found."""

from __future__ import annotations


def unknown(path: object, names: list[str]) -> str:
    """The name, with the nearest of those that there are."""
    import difflib

    nearest = difflib.get_close_matches(str(path), names, 1, 0.6)
    return f"{path} (did you mean {nearest[0]!r}?)" if nearest else str(path)
