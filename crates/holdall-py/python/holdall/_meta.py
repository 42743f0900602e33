"""Metadata of a file as metadata for another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ARRAY_KEYS = frozenset({"source", "datatype", "shape"})
"""Keys of an array's node in an ASDF tree, whose blocks are those of its own file."""


def for_new_file(meta: Mapping[str, Any]) -> dict[str, Any]:
    """A copy without what belongs to the file that the metadata are of: nodes of arrays, and in a tree of ASDF the library and the extensions that
    wrote it. Arrays of the new file have the places of the old ones again.
    """
    made = {key: _without_arrays(value) for key, value in meta.items() if not _is_array(value)}
    library = made.get("asdf_library")
    if isinstance(library, Mapping) and {"name", "version"} <= set(library):
        del made["asdf_library"]
        history = made.get("history")
        if isinstance(history, Mapping):
            kept = {key: value for key, value in history.items() if key != "extensions"}
            made = {key: value for key, value in made.items() if key != "history"} | ({"history": kept} if kept else {})
    return made


def _without_arrays(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _without_arrays(value) for key, value in node.items() if not _is_array(value)}
    return node


def _is_array(node: Any) -> bool:
    return isinstance(node, Mapping) and set(node) >= _ARRAY_KEYS and isinstance(node["source"], int | str)
