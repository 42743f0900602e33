"""Names that are not found."""

from __future__ import annotations

_LISTED = 4
"""Members of a group that a message names."""


def unknown(path: object, names: list[str]) -> str:
    """The name, with the members of the group that it is, or with the nearest of the names that there are."""
    import difflib

    below = [name for name in names if name.startswith(f"{path}/")]
    if below:
        more = ", …" if len(below) > _LISTED else ""
        return f"{path} (a group of {', '.join(map(repr, below[:_LISTED]))}{more})"
    nearest = difflib.get_close_matches(str(path), names, 1, 0.6)
    return f"{path} (did you mean {nearest[0]!r}?)" if nearest else str(path)
