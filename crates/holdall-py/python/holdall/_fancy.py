"""Indices that are not basic: None, lists of integers, masks. A box around them is read, and numpy does the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ._names import unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MESSAGE = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"


def fancy(shape: tuple[int, ...], index: Any, read: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """The elements of an index as numpy gives them for the whole array; `read` takes basic indices."""
    import numpy as np

    box, then = box_of(shape, index)
    return cast("NDArray[Any]", np.asanyarray(read(box)[then]))


def basic_shape(shape: tuple[int, ...], index: Any) -> tuple[int, ...] | None:
    """Shape of what an index of integers, slices and ... selects; None for others."""
    import numpy as np

    terms = index if isinstance(index, tuple) else (index,)
    if any(isinstance(term, (bool, np.bool_)) for term in terms):
        return None
    if not all(isinstance(term, (int, np.integer, slice)) or term is Ellipsis for term in terms):
        return None
    probe = np.lib.stride_tricks.as_strided(np.zeros((), "u1"), shape, (0,) * len(shape))
    return cast("tuple[int, ...]", np.asanyarray(probe[index]).shape)


def field_names(fields: Sequence[str], index: Any) -> Any:
    """The index, where it is a field's name or a list of names; None for others.

    Raises KeyError for a name that is not among `fields`.
    """
    if isinstance(index, str):
        if index not in fields:
            raise KeyError(unknown(index, list(fields)))
        return index
    if isinstance(index, list) and index and all(isinstance(name, str) for name in index):
        return index
    return None


def box_of(shape: tuple[int, ...], index: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A basic index of the smallest box that holds what an index selects, and the index of that in the box."""
    import numpy as np

    terms = index if isinstance(index, tuple) else (index,)
    arrays = [_as_array(np, term) for term in terms]
    used = sum(_axes_of(term, array) for term, array in zip(terms, arrays, strict=True))
    if used > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed")
    if sum(term is Ellipsis for term in terms) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = len(shape) - used
    # What is read of each axis, and what numpy takes of that.
    box: list[Any] = []
    then: list[Any] = []
    for term, array in zip(terms, arrays, strict=True):
        if term is Ellipsis:
            box += [slice(None)] * rest
            then.append(Ellipsis)
        elif term is None:
            then.append(None)
        elif isinstance(term, slice):
            box.append(term)
            then.append(slice(None))
        elif array.dtype == bool:
            axes = shape[len(box) : len(box) + array.ndim]
            if array.shape != tuple(axes):
                raise IndexError(f"boolean index did not match indexed array: {array.shape} for axes of {tuple(axes)}")
            if array.ndim == 0:
                then.append(bool(array))
                continue
            # The smallest box that holds all that is true.
            part = []
            for axis in range(array.ndim):
                others = tuple(other for other in range(array.ndim) if other != axis)
                hits = np.flatnonzero(array.any(axis=others))
                part.append(slice(int(hits[0]), int(hits[-1]) + 1) if hits.size else slice(0, 0))
            box += part
            then.append(array[tuple(part)])
        else:
            axis, length = len(box), shape[len(box)]
            if array.size and (int(array.min()) < -length or int(array.max()) >= length):
                wrong = int(array.min()) if int(array.min()) < -length else int(array.max())
                raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {length}")
            places = np.where(array < 0, array + length, array)
            low, high = (int(places.min()), int(places.max()) + 1) if places.size else (0, 0)
            box.append(slice(low, high))
            then.append(places - low if places.ndim else int(places) - low)
    return tuple(box), tuple(then)


def _as_array(np: Any, term: Any) -> Any:
    if term is None or term is Ellipsis or isinstance(term, slice):
        return None
    if isinstance(term, (str, bytes, float)):
        raise IndexError(_MESSAGE)
    array = np.asarray(term)
    if array.size == 0 and not isinstance(term, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype != bool and array.dtype.kind not in "iu":
        raise IndexError(_MESSAGE)
    return array if array.dtype == bool else array.astype(np.intp)


def _axes_of(term: Any, array: Any) -> int:
    if term is None or term is Ellipsis:
        return 0
    return array.ndim if array is not None and array.dtype == bool else 1
