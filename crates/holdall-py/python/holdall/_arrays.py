"""Arrays in memory as the extension takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._dataset import Dataset
from ._errors import UnsupportedError


def descr(dtype: Any) -> str:
    """A type in the words that files use."""
    import numpy as np

    if isinstance(dtype, str):
        return dtype
    dtype = np.dtype(dtype)
    if dtype.kind == "T":
        raise UnsupportedError("numpy's strings of any length are not stored: use astype('U') or astype('S')")
    if dtype.hasobject:
        raise UnsupportedError("arrays of Python objects are not stored: convert them to a type of fixed size")
    if dtype.name == "bfloat16":
        return "bfloat16"
    if dtype.isbuiltin == 2:
        raise UnsupportedError(f"elements of {dtype.name} are not stored: view them as integers of their size")
    if dtype.names is None:
        return str(dtype.str)
    return repr(_record(dtype))


def _record(dtype: Any) -> Any:
    names = list(dtype.names)
    fields = [dtype.fields[name] for name in names]
    formats = [_field_descr(field[0]) for field in fields]
    return {"names": names, "formats": formats, "offsets": [field[1] for field in fields], "itemsize": dtype.itemsize}


def _field_descr(dtype: Any) -> Any:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return (_field_descr(base), shape)
    if dtype.names is not None:
        return _record(dtype)
    return descr(dtype)


def described(path: str, values: Any) -> tuple[Any, ...]:
    """An array as the extension takes it: path, type, shape, is Fortran order, bytes, mask."""
    import numpy as np

    if isinstance(values, Dataset):
        mask = values.mask() if values.has_mask else None
        array = values[...]
        values = array if mask is None else np.ma.MaskedArray(array, mask=mask)
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        if values.mask is not np.ma.nomask:
            full = np.ma.getmaskarray(values)
            if full.dtype.names is not None:
                raise UnsupportedError(f"{path}: masks of single fields are not stored; mask whole records")
            mask = np.ascontiguousarray(full).view("u1").reshape(-1) if full.size else None
        values = values.data
    array = np.asanyarray(values)
    kind = descr(array.dtype)
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    if not is_fortran:
        array = np.ascontiguousarray(array).reshape(array.shape)
    flat = None
    if array.size and array.itemsize:
        flat = (array.T if is_fortran else array).reshape(-1).view("u1")
    return path, kind, list(array.shape), bool(is_fortran), flat, mask


def items(data: Any) -> list[tuple[str, Any]]:
    """Arrays by their paths."""
    if isinstance(data, Mapping):
        return [(str(key), value) for key, value in data.items()]
    return [("data", data)]
