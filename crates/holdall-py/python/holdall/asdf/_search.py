"""Searching trees, as `asdf.AsdfFile.search` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from .._dataset import Dataset
from .._errors import UsageError
from ._tagged import tag_of
from ._tree import escape

NOT_GIVEN: Any = type("NotGiven", (), {"__repr__": lambda self: "NOT_GIVEN"})()
"""The default of `search`: every value is one that may be looked for, None too."""


class Match(NamedTuple):
    """A value that was found: its JSON pointer, as `set` and `unset` take it, its key or index in what holds it, and itself."""

    path: str
    key: Any
    node: Any


class SearchResult(Sequence[Match]):
    """What a search found, those nearest to the root first."""

    __slots__ = ("_matches",)

    def __init__(self, matches: list[Match]) -> None:
        self._matches = matches

    @property
    def paths(self) -> list[str]:
        """JSON pointers to what was found."""
        return [match.path for match in self._matches]

    @property
    def nodes(self) -> list[Any]:
        """The values that were found."""
        return [match.node for match in self._matches]

    @property
    def path(self) -> str | None:
        """The one pointer; None where nothing was found. Raises UsageError for several."""
        found = self._one()
        return None if found is None else found.path

    @property
    def node(self) -> Any:
        """The one value; None where nothing was found. Raises UsageError for several."""
        found = self._one()
        return None if found is None else found.node

    def _one(self) -> Match | None:
        if len(self._matches) > 1:
            listed = ", ".join(self.paths[:3])
            raise UsageError(f"{len(self)} values were found, not one: {listed}, …")
        return self._matches[0] if self._matches else None

    def search(
        self,
        key: Any = NOT_GIVEN,
        type_: Any = NOT_GIVEN,
        value: Any = NOT_GIVEN,
        filter_: Callable[..., object] | None = None,
    ) -> SearchResult:
        """Narrows the search: of what was found, what fits these as well. Parameters as for `AsdfFile.search`."""
        fits = _filter(key, type_, value, filter_)
        return SearchResult([match for match in self._matches if fits(match.node, match.key)])

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> SearchResult: ...
    def __getitem__(self, index: int | slice) -> Match | SearchResult:
        if isinstance(index, slice):
            return SearchResult(self._matches[index])
        return self._matches[index]

    def __iter__(self) -> Iterator[Match]:
        return iter(self._matches)

    def __len__(self) -> int:
        return len(self._matches)

    def __repr__(self) -> str:
        shown = [f"{match.path or '/'}: {_line(match.node)}" for match in self._matches[:20]]
        more = [f"… and {len(self) - 20} more"] if len(self) > 20 else []
        return "\n".join([*shown, *more]) or "No results found."


def search(root: Any, key: Any, type_: Any, value: Any, filter_: Callable[..., object] | None) -> SearchResult:
    """Looks through a tree, breadth first. Each collection is looked into once, however many aliases name it."""
    fits = _filter(key, type_, value, filter_)
    matches: list[Match] = []
    seen: set[int] = set()
    level = [("", "root", root)]
    while level:
        below: list[tuple[str, Any, Any]] = []
        for pointer, name, node in level:
            if isinstance(node, (dict, list, tuple)):
                if id(node) in seen:
                    continue
                seen.add(id(node))
            if fits(node, name):
                matches.append(Match(pointer, name, node))
            if isinstance(node, dict):
                below += [(f"{pointer}/{escape(one)}", one, child) for one, child in node.items()]
            elif isinstance(node, (list, tuple)):
                below += [(f"{pointer}/{at}", at, child) for at, child in enumerate(node)]
        level = below
    return SearchResult(matches)


def _pattern(query: Any) -> Any:
    return re.compile(query) if isinstance(query, str) else query


def _filter(key: Any, type_: Any, value: Any, filter_: Callable[..., object] | None) -> Callable[[Any, Any], bool]:
    if not (type_ is NOT_GIVEN or isinstance(type_, (str, re.Pattern, type))):
        raise TypeError(f"type_ is a type, or text to find in the names of types and tags, not {type_!r}")
    key, value, call = _pattern(key), _pattern(value), _call(filter_)
    kind = _pattern(type_)

    def fits(node: Any, name: Any) -> bool:
        if isinstance(key, re.Pattern):
            if key.search(str(name)) is None:
                return False
        elif key is not NOT_GIVEN and not _equal(name, key):
            return False
        if isinstance(kind, re.Pattern):
            if not any(kind.search(text) for text in _kinds(node)):
                return False
        elif kind is not NOT_GIVEN and not _is_a(node, kind):
            return False
        if isinstance(value, re.Pattern):
            if isinstance(node, (dict, list, tuple, Dataset)) or value.search(str(node)) is None:
                return False
        elif value is not NOT_GIVEN and not _equal(node, value):
            return False
        return call is None or bool(call(node, name))

    return fits


def _kinds(node: Any) -> list[str]:
    """Names of the type of a value: of its class, and its tag."""
    kind = type(node)
    if isinstance(node, Dataset):
        return ["holdall.Dataset", "numpy.ndarray", "tag:stsci.edu:asdf/core/ndarray"]
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    tag = tag_of(node)
    if tag is not None:
        base = next(base.__name__ for base in (dict, list, str) if isinstance(node, base))
        return [base, tag]
    return [name]


def _is_a(node: Any, kind: type) -> bool:
    if isinstance(node, kind):
        return True
    is_array = kind.__module__ == "numpy" and kind.__name__ == "ndarray"
    return is_array and isinstance(node, Dataset)


def _equal(a: Any, b: Any) -> bool:
    try:
        found = a == b
    except Exception:  # noqa: BLE001 - values of any class
        return False
    return found if isinstance(found, bool) else False


def _call(filter_: Callable[..., object] | None) -> Callable[[Any, Any], object] | None:
    if filter_ is None:
        return None
    import inspect

    count = len(inspect.signature(filter_).parameters)
    if count not in (1, 2):
        raise ValueError(f"filter_ takes the value, or the value and its key, not {count} arguments")
    call = filter_
    return (lambda node, name: call(node)) if count == 1 else call


def _line(node: Any) -> str:
    if isinstance(node, Mapping):
        return f"{len(node)} entries"
    if isinstance(node, list):
        return f"{len(node)} items"
    text = repr(node)
    return text if len(text) <= 80 else text[:79] + "…"
