"""Values with YAML tags."""

from __future__ import annotations

from typing import Any


class Tagged:
    """A `dict`, `list` or `str` that carries a YAML tag: `Tagged({"x": 1}, "asdf://example.org/point-1.0.0")`.

    Subclasses of Python's own types: whatever takes those takes them, and they are equal to them. `isinstance(value, Tagged)` asks for any.

    value : a mapping, a list or tuple, or text
    tag : the whole tag, such as "tag:stsci.edu:asdf/unit/unit-1.0.0", without handles that a file may have for its beginning

    Raises TypeError for other values: YAML's own types have no tag but their own.
    """

    __slots__ = ()

    tag: str

    def __new__(cls, value: Any = (), tag: str = "") -> Any:
        if cls is not Tagged:
            return super().__new__(cls)
        if isinstance(value, str):
            return TaggedStr(value, tag)
        if isinstance(value, dict) or hasattr(value, "keys"):
            return TaggedDict.__new__(TaggedDict, value, tag)
        if isinstance(value, (list, tuple)):
            return TaggedList.__new__(TaggedList, value, tag)
        raise TypeError(f"a tag is on a dict, a list or a str, not on {type(value).__name__}")


class TaggedDict(Tagged, dict[Any, Any]):
    """A mapping with a tag."""

    __slots__ = ("tag",)

    def __init__(self, value: Any = (), tag: str = "") -> None:
        dict.__init__(self, value)
        self.tag = tag

    def copy(self) -> TaggedDict:
        """A shallow copy, with the tag."""
        return TaggedDict(self, self.tag)

    def __repr__(self) -> str:
        return f"Tagged({dict.__repr__(self)}, {self.tag!r})"


class TaggedList(Tagged, list[Any]):
    """A list with a tag."""

    __slots__ = ("tag",)

    def __init__(self, value: Any = (), tag: str = "") -> None:
        list.__init__(self, value)
        self.tag = tag

    def copy(self) -> TaggedList:
        """A shallow copy, with the tag."""
        return TaggedList(self, self.tag)

    def __repr__(self) -> str:
        return f"Tagged({list.__repr__(self)}, {self.tag!r})"


class TaggedStr(Tagged, str):
    """Text with a tag."""

    # A str has room for no slots.

    def __new__(cls, value: str = "", tag: str = "") -> TaggedStr:
        made = str.__new__(cls, value)
        made.tag = tag
        return made

    def __repr__(self) -> str:
        return f"Tagged({str.__repr__(self)}, {self.tag!r})"

    def __reduce__(self) -> tuple[type[TaggedStr], tuple[str, str]]:
        return TaggedStr, (str.__str__(self), self.tag)


def tag_of(value: Any) -> str | None:
    """The tag of a value; None without one."""
    return value.tag if isinstance(value, Tagged) else None
