"""User metadata as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from .. import _holdall
from .._names import unknown


class VlMeta(MutableMapping[str, Any]):
    """User metadata of a frame by their names: a mapping, whose changes are seen after `commit`.

    Values are None, bool, int, float, str, bytes, lists and mappings with text for keys; numpy scalars and small arrays are stored as
    numbers and lists. `vlmeta[:]` is a dict of all. A frame has 16 pieces at most, with names of up to 31 bytes.
    """

    def __init__(self, core: _holdall.Blosc2File) -> None:
        self._core = core

    def __getitem__(self, name: str | slice) -> Any:
        if isinstance(name, slice):
            _require_all(name)
            return self.getall()
        found = self._core.vlmeta(name)
        if found is None:
            raise KeyError(unknown(name, list(self)))
        return _objects(found[0])

    def __setitem__(self, name: str | slice, value: Any) -> None:
        if isinstance(name, slice):
            _require_all(name)
            self.update(value)
            return
        self._core.set_vlmeta(name, value)

    def __delitem__(self, name: str) -> None:
        if not self._core.remove_vlmeta(name):
            raise KeyError(unknown(name, list(self)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.vlmeta_names())

    def __len__(self) -> int:
        return len(self._core.vlmeta_names())

    def getall(self) -> dict[str, Any]:
        """All pieces, as a dict."""
        return {name: self[name] for name in self}

    def __repr__(self) -> str:
        return repr(self.getall())


def _require_all(index: slice) -> None:
    if (index.start, index.stop, index.step) != (None, None, None):
        raise IndexError("vlmeta takes a name, or [:] for all")


def _objects(value: Any) -> Any:
    """A value with python-blosc2's extensions of msgpack as objects: complex numbers, sets, arrays of plain types."""
    if isinstance(value, list):
        return [_objects(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    value = {key: _objects(item) for key, item in value.items()}
    if set(value) != {"ext", "kind", "value"}:
        return value
    kind, held = value["kind"], value["value"]
    try:
        if kind == "complex":
            return complex(*held)
        if kind == "set":
            return set(held)
        if kind == "ndarray":
            return _array(held)
    except (TypeError, ValueError, KeyError):
        pass
    return value


def _array(held: Any) -> Any:
    import numpy as np

    described = held["dtype"]
    dtype = np.dtype(described["str"] if "str" in described else _fields(described["descr"]))
    if dtype.hasobject:
        raise ValueError("no array of objects is made")
    return np.frombuffer(held["data"], dtype).reshape(held["shape"]).copy()


def _fields(described: Any) -> list[Any]:
    """Fields of records, whose tuples are lists in msgpack."""
    fields: list[Any] = []
    for name, kind, *shape in described:
        kind = kind if isinstance(kind, str) else _fields(kind)
        fields.append((name, kind, tuple(shape[0])) if shape else (name, kind))
    return fields
