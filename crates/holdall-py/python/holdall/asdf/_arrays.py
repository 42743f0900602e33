"""Arrays in a tree that is going to be written: which there are, and what blocks they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._arrays import descr, described
from .._dataset import Dataset
from .._errors import UnsupportedError
from .._names import unknown
from ._tree import escape

Codec = tuple[str, "int | None"]


class Found:
    """What the extension is told of a tree.

    items : the arrays, as it takes them: blocks, views of the blocks of others, arrays in the tree
    nodes : of each object that is an array, by its identity, the index of its item
    shared : identities of what the tree has more than once
    """

    __slots__ = (
        "_arrays",
        "_codec",
        "_codecs",
        "_inline",
        "_keep",
        "_paths",
        "_seen",
        "_used",
        "items",
        "nodes",
        "shared",
    )

    def __init__(
        self, tree: Any, codec: Codec | None = None, codecs: Mapping[str, Codec | None] | None = None, inline: int = 0
    ) -> None:
        self.items: list[dict[str, Any]] = []
        self.nodes: dict[int, int] = {}
        self.shared: set[int] = set()
        self._codec, self._inline = codec, inline
        self._codecs = {path.strip("/"): codec for path, codec in (codecs or {}).items()}
        self._used: set[str] = set()
        self._seen: set[int] = set()
        self._arrays: list[tuple[str, Any, Any]] = []
        self._paths: dict[int, list[str]] = {}
        # What arrays were made of on the way has to live as long as their identities count.
        self._keep: list[Any] = []
        self._walk(tree)
        self._declare()
        left = [path for path in self._codecs if path not in self._used]
        if left:
            raise KeyError(unknown(left[0], [path for paths in self._paths.values() for path in paths]))

    def _walk(self, tree: Any) -> None:
        rest: list[tuple[str, Any]] = [("", tree)]
        while rest:
            pointer, value = rest.pop()
            if value is None or isinstance(value, (str, int, float, bytes)):
                continue
            array = _array(value)
            children: list[tuple[str, Any]] = []
            if array is None:
                if isinstance(value, Mapping):
                    children = [(f"{pointer}/{escape(key)}", child) for key, child in value.items()]
                elif isinstance(value, Sequence) and not isinstance(value, (bytearray, memoryview)):
                    children = [(f"{pointer}/{at}", child) for at, child in enumerate(value)]
                else:
                    continue
            # Of tuples without items there is one in all of Python.
            if id(value) in self._seen:
                if array is not None or children or not isinstance(value, tuple):
                    self.shared.add(id(value))
                if array is not None:
                    self._paths[id(value)].append(pointer.strip("/"))
                continue
            self._seen.add(id(value))
            if array is not None:
                self._arrays.append((pointer, value, array))
                self._paths[id(value)] = [pointer.strip("/")]
            rest += reversed(children)

    def _codec_of(self, value: Any) -> Codec | None:
        named = [path for path in self._paths[id(value)] if path in self._codecs]
        self._used.update(named)
        return self._codecs[named[0]] if named else self._codec

    def _declare(self) -> None:
        groups: dict[int, list[Any]] = {}
        for _, _, array in self._arrays:
            if not isinstance(array, Dataset) and array.size > self._inline:
                groups.setdefault(id(_owner(array)), []).append(array)
        bases: dict[int, int] = {}
        datasets: dict[tuple[int, int], int] = {}
        for pointer, value, array in self._arrays:
            codec = self._codec_of(value)
            if isinstance(array, Dataset):
                key = (id(array._core), array._index)
                if key not in datasets:
                    datasets[key] = self._dataset(array, value, codec)
                self.nodes[id(value)] = datasets[key]
                continue
            owner = _owner(array)
            if _is_shared(owner, groups.get(id(owner), [])) and _is_view(array, owner):
                if id(owner) not in bases:
                    bases[id(owner)] = self._base(owner, codec)
                self.nodes[id(value)] = self._view(pointer, array, value, owner, bases[id(owner)], codec)
            else:
                self.nodes[id(value)] = self._own(pointer, array, value, codec)

    def _add(self, **item: Any) -> int:
        self.items.append(_ITEM | item)
        return len(self.items) - 1

    def _dataset(self, dataset: Dataset, value: Any, codec: Codec | None) -> int:
        common = {
            "shape": list(dataset.shape),
            "is_fortran": dataset.order == "F" and dataset.ndim > 1,
            "source": (dataset._core, dataset._index),
            "codec": codec,
        }
        mask = None
        if dataset.has_mask:
            probe = dataset.mask(tuple(slice(0, 0) for _ in dataset.shape) or ...)
            if probe is not None and probe.dtype.names is not None:
                raise UnsupportedError(f"{dataset.path}: masks of single fields are not stored; mask whole records")
            mask = self._add(**common, form="block", dtype="|b1", is_mask=True)
        return self._add(**common, form="block", dtype=descr(dataset.dtype), mask=mask, object=value)

    def _mask(self, pointer: str, array: Any, codec: Codec | None, form: str) -> int | None:
        import numpy as np

        if not isinstance(array, np.ma.MaskedArray) or array.mask is np.ma.nomask:
            return None
        full = np.ma.getmaskarray(array)
        if full.dtype.names is not None:
            raise UnsupportedError(f"{pointer}: masks of single fields are not stored; mask whole records")
        _, kind, shape, is_fortran, flat, _ = described(pointer, full)
        return self._add(form=form, dtype=kind, shape=shape, is_fortran=is_fortran, buffer=flat, codec=codec)

    def _own(self, pointer: str, array: Any, value: Any, codec: Codec | None) -> int:
        import numpy as np

        form = "inline" if array.size <= self._inline else "block"
        mask = self._mask(pointer, array, codec, form)
        _, kind, shape, is_fortran, flat, _ = described(pointer, np.ma.getdata(array))
        self._keep.append(flat)
        return self._add(
            form=form,
            dtype=kind,
            shape=shape,
            is_fortran=is_fortran,
            buffer=flat,
            codec=codec,
            mask=mask,
            object=value,
        )

    def _base(self, owner: Any, codec: Codec | None) -> int:
        flat = (owner if owner.flags.c_contiguous else owner.T).reshape(-1)
        kind = "|u1"
        if flat.dtype.kind in "iuf" and flat.dtype.itemsize in (1, 2, 4, 8):
            kind = flat.dtype.str
        shape = [flat.size] if kind != "|u1" else [flat.nbytes]
        return self._add(form="block", dtype=kind, shape=shape, buffer=flat.view("u1"), codec=codec)

    def _view(self, pointer: str, array: Any, value: Any, owner: Any, base: int, codec: Codec | None) -> int:
        import numpy as np

        mask = self._mask(pointer, array, codec, "block")
        data = np.ma.getdata(array)
        return self._add(
            form="view",
            dtype=descr(data.dtype),
            shape=list(data.shape),
            mask=mask,
            base=base,
            offset=_address(data) - _address(owner),
            strides=None if data.flags.c_contiguous else list(data.strides),
            object=value,
        )


_ITEM: dict[str, Any] = {
    "form": "block",
    "dtype": "|u1",
    "shape": [],
    "is_fortran": False,
    "buffer": None,
    "source": None,
    "is_mask": False,
    "codec": None,
    "mask": None,
    "base": 0,
    "offset": 0,
    "strides": None,
    "object": None,
}


def _array(value: Any) -> Any:
    """The array or dataset that a value is; None for others."""
    if isinstance(value, Dataset):
        return value if value._field is None else value[...]
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    # Arrays of other packages, lazy ones of asdf's among them; scalars of numpy stay scalars.
    is_like = hasattr(value, "__array__") and hasattr(value, "shape") and hasattr(value, "dtype")
    if is_like and not isinstance(value, (np.generic, Mapping)):
        if hasattr(value, "unit"):
            # A quantity without its unit is another value.
            return None
        made = value._make_array() if hasattr(value, "_make_array") else np.asanyarray(value)
        return made if isinstance(made, np.ndarray) else np.asanyarray(made)
    return None


def _owner(array: Any) -> Any:
    import numpy as np

    owner = np.ma.getdata(array)
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return owner


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _is_shared(owner: Any, arrays: list[Any]) -> bool:
    """Whether arrays are stored as views of one block: where that takes no more bytes than one for each."""
    if len(arrays) < 2 or owner.nbytes == 0 or owner.dtype.hasobject:
        return False
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        return False
    return bool(owner.nbytes <= sum(array.nbytes for array in arrays))


def _is_view(array: Any, owner: Any) -> bool:
    import numpy as np

    data = np.ma.getdata(array)
    if data.size == 0 or data.itemsize == 0 or (not data.flags.c_contiguous and 0 in data.strides):
        return False
    reaches = [(length - 1) * stride for length, stride in zip(data.shape, data.strides, strict=True)]
    start = _address(data) + sum(reach for reach in reaches if reach < 0)
    end = _address(data) + sum(reach for reach in reaches if reach > 0) + data.itemsize
    first = _address(owner)
    return first <= start and end <= first + owner.nbytes and _is_packed(data.dtype)


def _is_packed(dtype: Any) -> bool:
    """Whether records have no gaps, which ASDF has no words for."""
    if dtype.subdtype is not None:
        return _is_packed(dtype.subdtype[0])
    if dtype.names is None:
        return True
    at = 0
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        if offset != at or not _is_packed(kind):
            return False
        at += kind.itemsize
    return bool(at == dtype.itemsize)
