"""Arrays (b2nd)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from .._dtypes import dtype_of
from .._errors import UsageError
from .._fancy import basic_shape, box_of, fancy, field_names
from .._types import Index
from ._base import Base
from ._frame import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .._dataset import Dataset
    from .._file import File


class Array(Base):
    """An n-dimensional array in a file: indexing reads it as numpy's arrays are indexed, assignment changes it.

    Changes are seen by this object at once, and by others after `commit`. A `with` block commits when it is left without an exception, and
    discards after one.
    """

    _file: File | None = None
    _dtype: np.dtype[Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self._info()[1]

    @property
    def chunks(self) -> tuple[int, ...]:
        """Elements per chunk along each axis."""
        return self._info()[2]

    @property
    def blocks(self) -> tuple[int, ...]:
        """Elements per block along each axis."""
        return self._info()[3]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements, in the byte order of the file."""
        if self._dtype is None:
            info = self._info()
            self._dtype = dtype_of(self._path, info[0], has_bfloat=info[4])
        return self._dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, decoded, without the padding of chunks."""
        return self.size * self.typesize

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one at the last commit; 0 where nothing is stored."""
        return self.nbytes / self.cbytes if self.cbytes else 0.0

    @property
    def info(self) -> dict[str, Any]:
        """Type, shapes, sizes and parameters, by python-blosc2's words."""
        return {
            "type": "Array",
            "shape": self.shape,
            "chunks": self.chunks,
            "blocks": self.blocks,
            "dtype": self.dtype,
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "cratio": self.cratio,
            "cparams": self.cparams,
        }

    @property
    def dataset(self) -> Dataset:
        """The array of the last commit as a `holdall.Dataset`: threads, digests, statistics, Dask.

        Raises UsageError for a new file that was never committed.
        """
        self._require_open()
        if not self._core.has_name():
            raise UsageError(f"{self._path} is not there before the first commit")
        if self._file is None:
            from .._functions import open

            self._file = open(self._path)
        return self._file[next(iter(self._file))]

    @property
    def schunk(self) -> Frame:
        """The chunks of the array, for reading: their bytes are in the order of blocks, with padding."""
        return Frame(self._core, self._path, self._mode)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        """Along the first axis, chunk by chunk."""
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        step = max(1, self.chunks[0])
        for start in range(0, self.shape[0], step):
            yield from self[start : start + step]

    def __getitem__(self, index: Any, /) -> Any:
        """Reads the elements of an index into a new array, uncommitted changes included; a scalar for all integers.

        Takes integers, slices with any step, `...` and None, lists of integers and boolean masks as numpy does; a field's name, or a list of
        names, of records.
        """
        self._require_open()
        if not self._core.is_changed():
            return self.dataset[index]
        names = field_names(self.dtype.names or (), index)
        if names is not None:
            return self._basic(Ellipsis)[names]
        got = self._core.read(index, self.dtype)
        if got is None:
            got = fancy(self.shape, index, self._basic)
        terms = index if isinstance(index, tuple) else (index,)
        return got if got.ndim or any(term is Ellipsis for term in terms) else got[()]

    def __setitem__(self, index: Any, value: ArrayLike | Dataset | Array, /) -> None:
        """Changes the elements of an index to values that are broadcast and cast as numpy does it.

        Slices may have any step. Chunks that are covered whole are not read. For lists of integers, masks and None the box around them is read,
        changed and written; for a field of records all of them.

        Raises UsageError for a file that was opened for reading, IndexError and ValueError as numpy does.
        """
        import numpy as np

        self._require_editing()
        names = field_names(self.dtype.names or (), index)
        if names is not None:
            whole = self._basic(Ellipsis)
            whole[names] = value
            self._put(Ellipsis, whole, whole.shape)
            return
        shape = basic_shape(self.shape, index)
        if shape is not None:
            values = np.asarray(value, dtype=self.dtype)
            self._put(index, values, shape)
            return
        box, then = box_of(self.shape, index)
        part = self._basic(box)
        part[then] = np.asarray(value, dtype=self.dtype)
        self._put(box, part, part.shape)

    def append(self, rows: ArrayLike | Dataset | Array, axis: int = 0) -> int:
        """Adds values behind the end of an axis; returns its new length.

        rows : an array whose other axes are as long as this one's; for arrays of one axis also a single value
        axis : counted from the end where it is negative

        Raises ValueError for another shape.
        """
        import numpy as np

        self._require_editing()
        shape = self.shape
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} of an array of {len(shape)} axes")
        axis %= len(shape)
        values = np.asarray(rows, dtype=self.dtype)
        if values.ndim == 0 and len(shape) == 1:
            values = values.reshape(1)
        expected = (*shape[:axis], values.shape[axis] if values.ndim > axis else 0, *shape[axis + 1 :])
        if values.shape != expected:
            raise ValueError(f"an array of shape {shape} does not take {values.shape} along axis {axis}")
        self._core.append(axis, values.shape, _bytes(values))
        return self.shape[axis]

    def resize(self, shape: Sequence[int] | int) -> None:
        """Gives each axis another length. Elements keep their indices; new ones are zeros, and of an axis that gets shorter the last ones go.

        shape : as many lengths as there are axes
        """
        self._require_editing()
        lengths = [int(shape)] if isinstance(shape, int) else [int(length) for length in shape]
        if any(length < 0 for length in lengths):
            raise ValueError("a length is 0 or more")
        self._core.resize(lengths)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The whole of it, in a new array."""
        if copy is False:
            raise ValueError("an array of Blosc2 cannot be seen without a copy")
        array = cast("NDArray[Any]", self[...])
        return array if dtype is None else array.astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._mode != "r":
            raise TypeError("an array that is open for changes is not pickled")
        from ._open import open

        return open, (self._path,)

    def __repr__(self) -> str:
        if self._closed:
            return f"<holdall.blosc2.Array {self._path!r} closed>"
        return f"<holdall.blosc2.Array {self._path!r} {self.dtype} {self.shape} mode={self._mode!r}>"

    def _info(self) -> tuple[Any, tuple[int, ...], tuple[int, ...], tuple[int, ...], bool, bool]:
        self._require_open()
        info = self._core.array()
        assert info is not None
        return info

    def _require_open(self) -> None:
        if self._closed:
            raise ValueError(f"{self._path} is closed")

    def _basic(self, index: Index) -> NDArray[Any]:
        got = self._core.read(index, self.dtype)
        assert got is not None
        return got

    def _put(self, index: Index, values: NDArray[Any], shape: tuple[int, ...]) -> None:
        import numpy as np

        if values.size == 1:
            self._core.set(index, _bytes(values), True)
            return
        given = values.shape
        while values.ndim > len(shape) and values.shape[0] == 1:
            values = values[0]
        try:
            values = np.broadcast_to(values, shape)
        except ValueError:
            raise ValueError(f"could not broadcast input array from shape {given} into shape {shape}") from None
        self._core.set(index, _bytes(values), False)

    def _committed(self) -> None:
        self._file = None


def _bytes(values: NDArray[Any]) -> NDArray[Any] | None:
    """The elements in C order as bytes; None where there are none."""
    import numpy as np

    if values.size == 0:
        return None
    return np.ascontiguousarray(values).reshape(-1).view("u1")
