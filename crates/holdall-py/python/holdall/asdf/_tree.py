"""Trees, and values at places in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._dataset import Dataset
from .._names import unknown
from ._tagged import TaggedDict, TaggedList, tag_of


class Tree(Mapping[str, Any]):
    """The tree of a file: a mapping of nested `dict`, `list` and scalars, arrays as `Dataset`s, tags kept.

    Mappings, lists and text under a tag are `Tagged`: a `dict`, `list` or `str` with the attribute `tag`. Numbers, dates (`datetime`), bytes,
    `complex` and whole numbers of any size are Python's own. What an alias names is one object.
    """

    __slots__ = ("_root",)

    def __init__(self, root: dict[Any, Any]) -> None:
        self._root = root

    @property
    def tag(self) -> str | None:
        """The tag of the root: "tag:stsci.edu:asdf/core/asdf-1.1.0"."""
        return tag_of(self._root)

    def find(self, pointer: str) -> Any:
        """The value at a JSON pointer, such as "/roman/meta/0"; the empty pointer is the whole.

        Raises KeyError, with the nearest name, where there is none.
        """
        return find(self._root, pointer)

    def __getitem__(self, key: Any, /) -> Any:
        try:
            return self._root[key]
        except KeyError:
            raise KeyError(unknown(key, [str(name) for name in self._root])) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._root)

    def __len__(self) -> int:
        return len(self._root)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(f"the tree of a file is changed by file.set({'/' + escape(key)!r}, …) and file.commit()")

    def __repr__(self) -> str:
        return f"<holdall.asdf.Tree {self.tag or 'without a tag'}: {', '.join(map(str, self._root))}>"


def plain(value: Any, *, tags: bool = False) -> Any:
    """Copies a tree, or a part of one, with its arrays read: plain `dict`s and `list`s, and numpy arrays where datasets were.

    Made for other packages: `asdf.AsdfFile(plain(file.tree))`. Elements that are missing make a masked array. An object that the tree has more
    than once is one object in the copy.

    value : a tree, or a value of one
    tags : True keeps `Tagged` values as they are
    """
    return _plain(value, tags, {})


def _plain(value: Any, tags: bool, done: dict[int, Any]) -> Any:
    if id(value) in done:
        return done[id(value)]
    made: Any
    if isinstance(value, Dataset):
        made = value.masked() if value.has_mask else value[...]
        done[id(value)] = made
    elif isinstance(value, Mapping):
        tag = tag_of(value) if tags else None
        made = {} if tag is None else TaggedDict((), tag)
        done[id(value)] = made
        for key, child in value.items():
            made[_text(key, tags)] = _plain(child, tags, done)
    elif isinstance(value, list):
        tag = tag_of(value) if tags else None
        made = [] if tag is None else TaggedList((), tag)
        done[id(value)] = made
        made.extend(_plain(child, tags, done) for child in value)
    else:
        made = _text(value, tags)
    return made


def _text(value: Any, tags: bool) -> Any:
    return str.__str__(value) if not tags and isinstance(value, str) and tag_of(value) else value


def escape(key: Any) -> str:
    """A key as a step of a JSON pointer."""
    return key_text(key).replace("~", "~0").replace("/", "~1")


def key_text(key: Any) -> str:
    """The text by which pointers name a key."""
    return {None: "null", True: "true", False: "false"}.get(key, str(key)) if _is_word(key) else str(key)


def _is_word(key: Any) -> bool:
    return key is None or isinstance(key, bool)


def find(root: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON pointer, such as '/roman/meta'")
    at = root
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, Mapping):
            if step in at:
                at = at[step]
                continue
            named = {key_text(key): key for key in at}
            if step not in named:
                raise KeyError(f"{pointer}: {unknown(step, list(named))}")
            at = at[named[step]]
        elif isinstance(at, list):
            if not step.isdecimal() or int(step) >= len(at):
                raise KeyError(f"{pointer}: {step} in a list of {len(at)}")
            at = at[int(step)]
        else:
            raise KeyError(f"{pointer}: {step} in a {type(at).__name__}")
    return at


def same(a: Any, b: Any) -> bool:
    """Whether two trees have the same values, kinds and tags; of arrays whether they are the same ones."""
    seen: set[tuple[int, int]] = set()
    rest = [(a, b)]
    while rest:
        a, b = rest.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if tag_of(a) != tag_of(b) or type(a) is not type(b):
            return False
        if isinstance(a, Dataset):
            if a._index != b._index:
                return False
        elif isinstance(a, dict):
            seen.add((id(a), id(b)))
            if len(a) != len(b) or [repr(key) for key in a] != [repr(key) for key in b]:
                return False
            rest += zip(a.values(), b.values(), strict=True)
        elif isinstance(a, list):
            seen.add((id(a), id(b)))
            if len(a) != len(b):
                return False
            rest += zip(a, b, strict=True)
        elif isinstance(a, (set, tuple)):
            if repr(a) != repr(b):
                return False
        # NaN is what it was as well.
        elif hasattr(a, "__array__") or (a != b and not (a != a and b != b)):
            return False
    return True
