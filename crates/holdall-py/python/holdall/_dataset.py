"""Datasets of open files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from ._dtypes import dtype_of, numpy_cannot
from ._errors import UsageError
from ._fancy import basic_shape, fancy, field_names
from ._names import unknown
from ._threads import threads as _threads
from ._types import Digests, Histogram, Index, Json, Order, Progress, Stat

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from ._file import File


class Dataset:
    """A named n-dimensional array in a file. Indexing reads it, as numpy's own arrays are indexed.

    Made by `file[path]`. `dataset[...]` gives all of it in a new array, `dataset.view()` the mapped file itself. `numpy.asarray(dataset)`, `len` and
    iteration along the first axis work; arithmetic is that of the arrays which are read. It stays usable after its file is closed, can be pickled
    where the file can, and is read from any number of threads.
    """

    __slots__ = ("__weakref__", "_core", "_dtype", "_field", "_file", "_index", "_info")

    def __init__(self, file: File, index: int, field: str | None = None) -> None:
        self._file, self._core, self._index, self._field = file, file._live(), index, field
        self._info = self._core.info(index)
        self._dtype: np.dtype[Any] | None = None

    @property
    def path(self) -> str:
        """Its path in the file, as in `file[path]`."""
        return self._info[0]

    @property
    def file(self) -> File:
        """The `File` that it is in."""
        return self._file

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements, a `numpy.dtype` in the byte order of the file.

        bfloat16 is `ml_dtypes.bfloat16` where that package is installed, else uint16; `attrs["dtype"]` says so.
        Raises UnsupportedError for types that numpy does not have.
        """
        whole = self._whole_dtype()
        return whole if self._field is None else whole[self._field]

    def _whole_dtype(self) -> np.dtype[Any]:
        if self._dtype is None:
            self._dtype = dtype_of(self.path, self._info[1], has_bfloat=self._info[10])
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis, a tuple of integers; `()` for a single value."""
        return self._info[2]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._info[2])

    @property
    def size(self) -> int:
        """Number of elements."""
        n = 1
        for length in self._info[2]:
            n *= length
        return n

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, decoded; of a field, those of the field alone."""
        return self._info[7] if self._field is None else self.size * self.dtype.itemsize

    @property
    def stored(self) -> int:
        """Bytes of the blocks that hold the elements in the file; of a field, those of the whole records."""
        return self._info[6]

    @property
    def order(self) -> str:
        """ "C" where the last axis varies fastest in the file, "F" where the first does."""
        return self._info[3]

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Elements per chunk along each axis; None where it is not chunked, or in flat runs."""
        return self._info[4]

    @property
    def codec(self) -> str:
        """The codec by the command's word, such as "zstd"; "none" where the elements are stored plainly."""
        return self._info[5]

    @property
    def attrs(self) -> dict[str, Json]:
        """Attributes that the file gives the dataset beside type and shape, such as a unit; by name. A copy."""
        attrs = dict(self._info[8])
        if self._info[10] and self.dtype.kind in "uV" and "dtype" not in attrs:
            attrs["dtype"] = "bfloat16"
        return attrs

    @property
    def has_frames(self) -> bool:
        """True where the first axis counts frames of a trajectory."""
        return self._info[9]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields of records; none for other elements."""
        return self.dtype.names or ()

    def field(self, name: str, /) -> Dataset:
        """One field of the records, as a dataset of its own: the same shape, the field's type.

        name : one of `fields`

        Raises KeyError with the nearest name, UsageError for a field of a field and for fields that hold arrays: `dataset[name]` reads those.
        """
        if name not in self.fields:
            raise KeyError(unknown(name, list(self.fields)))
        if self._field is not None:
            raise UsageError("a field of a field is read by indexing twice")
        if self.dtype[name].subdtype is not None:
            raise UsageError(f"field {name!r} holds arrays: read it as dataset[{name!r}]")
        return Dataset(self._file, self._index, name)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any, /) -> Any:
        """Reads the elements of an index: a new, writable array in the order of the file; a scalar for all integers.

        index : integers, slices with any step, `...` and None, lists of integers and boolean masks, with numpy's results; a field's name, or a list
            of names, of records

        Only the blocks that hold the selection are read and decoded; for lists and masks, those of the smallest box around them.
        Raises what `read` raises.
        """
        got = self._read(index, "K", None, self._file._digests)
        # As numpy: a scalar where every axis was given an integer.
        return got if got.ndim or _has_ellipsis(index) else got[()]

    def read(
        self,
        index: Index = ...,
        /,
        *,
        out: NDArray[Any] | None = None,
        threads: int | None = None,
        order: Order = "K",
        digests: Digests | None = None,
    ) -> NDArray[Any]:
        """Reads the elements of an index into a new array, or into `out`.

        index : as in `dataset[index]`
        out : an array of the result's shape, to which values are cast as `numpy.copyto` does by default; it is returned. Where it has the dataset's
            type and no gaps, elements are decoded into it without a copy between
        threads : most threads that are used, 1 or more; None for `holdall.set_threads`
        order : of the new array in memory: "K" as stored, "C" with the last axis fastest, "F" with the first
        digests : "whole" compares a digest where all that it covers is read, "compare" always, "ignore" never; None as the file was opened

        Returns a writable array of the file's type and byte order that shares memory with nothing else. A part of a block may have gaps (strides).

        Raises IndexError, KeyError for a field that there is not, ValueError for an `out` of another shape, OSError, DamageError (ChecksumError
        where a digest does not fit), UnsupportedError for codecs and types that are not read, LimitError.
        """
        digests = digests or self._file._digests
        if out is not None and not hasattr(out, "flags"):
            raise TypeError(f"out is an array of numpy, not {type(out).__name__}")
        if out is None:
            return self._read(index, order, threads, digests)
        if self._field is None and out.flags.writeable and out.dtype == self._whole_dtype() and out.nbytes:
            # In place, where the memory has no gaps and the index is basic.
            n = _threads(threads)
            expected = basic_shape(self.shape, index)
            if expected == out.shape:
                for letter, flat in (("C", out), ("F", out.T)):
                    if flat.flags.c_contiguous:
                        memory = flat.reshape(-1).view("u1")
                        if self._core.read_into(self._index, index, memory, letter, n, digests):
                            return out
        got = self._read(index, "K", threads, digests)
        if got.shape != out.shape:
            raise ValueError(f"out= has the shape {out.shape}, the values have {got.shape}")
        _np().copyto(out, got)
        return out

    def _read(self, index: Any, order: str, threads: int | None, digests: Digests) -> NDArray[Any]:
        # Other indices spare themselves the look for names of fields.
        names = field_names(self.fields, index) if isinstance(index, (str, list)) else None
        if names is not None:
            return cast("NDArray[Any]", self._read(Ellipsis, order, threads, digests)[names])
        dtype = self._dtype or self._whole_dtype()
        n = _threads(threads)
        try:
            got = self._core.read(self._index, index, dtype, order, n, digests)
        except ValueError as error:
            raise numpy_cannot(self.path, error) from None
        if got is None:
            got = fancy(self.shape, index, lambda basic: self._basic(basic, order, n, digests))
            return got if self._field is None else got[self._field]
        return got if self._field is None else got[self._field]

    def _basic(self, index: Any, order: str, threads: int, digests: Digests) -> NDArray[Any]:
        got = self._core.read(self._index, index, self._whole_dtype(), order, threads, digests)
        assert got is not None
        return got

    def view(self, index: Index = ..., /) -> NDArray[Any] | None:
        """The elements of a basic index in the mapped file itself, without a copy and read-only; None where the file has them encoded.

        index : integers, slices and `...`

        None as well for files that are opened from an object or with `mmap=False`. Digests are compared as the file was opened: by default those of a
        block whose elements are all asked for.
        The array keeps the file mapped until it is let go. What other programs change in the file changes in the array; a file that is cut
        while it is mapped ends the process (SIGBUS), as with `numpy.memmap`.

        Raises IndexError for other indices, TruncatedError where the file ends before the elements, ChecksumError.
        """
        got = self._core.view(self._index, index, self._whole_dtype(), self._file._digests)
        if got is None:
            raise IndexError("a view takes integers, slices and ... as an index")
        if got is False:
            return None
        return got if self._field is None else got[self._field]

    @property
    def has_mask(self) -> bool:
        """Whether the file says that elements are missing, or may be."""
        return self._core.has_mask(self._index)

    def mask(self, index: Index = ..., /) -> NDArray[Any] | None:
        """Which elements of an index are missing, as the file says: an array of bool of the result's shape, True where one is; None where none is.

        index : as in `dataset[index]`

        A copy. Of records whose fields can be missing one by one it has their fields.
        """
        np = _np()
        got = self._core.mask(self._index, index, 1, np.dtype)
        if got is False:
            whole = self._core.mask(self._index, Ellipsis, 1, np.dtype)
            return None if whole is None or whole is False else np.asarray(whole)[index]
        if got is None:
            return None
        return got if self._field is None or got.dtype.names is None else got[self._field]

    def masked(self, index: Index = ..., /) -> np.ma.MaskedArray[Any, Any]:
        """The elements of an index as a masked array, a copy; its values below the mask are those that are stored.

        index : as in `dataset[index]`
        """
        numpy = _np()
        values = numpy.asanyarray(self[index])
        mask = self.mask(index)
        masked: Any = numpy.ma.MaskedArray(values, mask=numpy.ma.nomask if mask is None else mask)
        return cast("np.ma.MaskedArray[Any, Any]", masked)

    def stat(
        self, index: Index = ..., /, *, threads: int | None = None, progress: Progress | None = None
    ) -> list[Stat]:
        """Counts, extremes, moments, exact percentiles and a histogram, in bounded memory: one, or one for each field of records.

        index : integers, slices and `...`
        threads : most threads that are used; None for `holdall.set_threads`
        progress : called with (done, total) in bytes, on this thread; an exception in it ends the work

        Returns a list of `Stat`. Raises IndexError for other indices, and what `read` raises.
        """
        import json

        lines = self._core.stat(self._index, index, _threads(threads), progress)
        if lines is None:
            raise IndexError("stat takes integers, slices and ... as an index")
        found = [json.loads(line) for line in lines]
        stats = []
        for one in found:
            if self._field is None or one["field"] == self._field:
                histogram = one.pop("histogram")
                one["histogram"] = None if histogram is None else Histogram(**histogram)
                stats.append(Stat(**{key: one[key] for key in Stat.__dataclass_fields__}))
        return stats

    def digest(self, index: Index = ..., /, *, threads: int | None = None, progress: Progress | None = None) -> str:
        """The digest of type, shape and values that `holdall digest` prints: SHA-256, 64 hexadecimal digits. The same in every format.

        index : integers, slices and `...`
        threads : most threads that are used; None for `holdall.set_threads`
        progress : called with (done, total) in bytes, on this thread; an exception in it ends the work

        Raises IndexError for other indices, UsageError for a field, and what `read` raises.
        """
        if self._field is not None:
            raise UsageError("digests are of whole elements")
        made = self._core.digest(self._index, index, _threads(threads), progress)
        if made is None:
            raise IndexError("digest takes integers, slices and ... as an index")
        return made

    def to_dask(self, chunks: Any = "auto") -> Any:
        """A Dask array whose tasks read parts of the file, which workers open by its path.

        chunks : as for `dask.array.from_array`; "auto" makes chunks of whole chunks of the file

        Raises ImportError without Dask, TypeError for files that were opened from an object.
        """
        try:
            import dask.array as da
            from dask.base import tokenize
        except ImportError as error:
            raise ImportError("to_dask needs Dask: pip install 'holdall[dask]'") from error
        if chunks == "auto" and self.chunks:
            chunks = da.core.normalize_chunks("auto", self.shape, dtype=self.dtype, previous_chunks=self.chunks)
        from ._reference import DatasetReference

        meta = _np().empty((0,) * self.ndim, self.dtype)
        name = f"holdall-{tokenize(self, chunks)}"
        return da.from_array(DatasetReference(self), chunks=chunks, name=name, asarray=False, meta=meta)

    def __iter__(self) -> Iterator[Any]:
        """Elements along the first axis; the file is read chunk by chunk."""
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        step = max(1, self.chunks[0] if self.chunks else _rows(self.nbytes // max(1, self.shape[0])))
        for start in range(0, self.shape[0], step):
            yield from self[start : start + step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All elements, for `numpy.asarray` and its like: a new, writable array.

        dtype : a type to which values are cast
        copy : False gives the read-only view of the mapped file, or raises ValueError where there is none
        """
        if copy is False:
            view = self.view()
            if view is None:
                raise ValueError(f"{self.path} is encoded ({self.codec}): without a copy it cannot be seen")
            if dtype is not None and _np().dtype(dtype) != view.dtype:
                raise ValueError(f"{view.dtype} as {dtype} needs a copy")
            return view
        array = self._read(Ellipsis, "K", None, self._file._digests)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        from ._opening import reopen

        return reopen, (*self._file._pickled(), self.path, self._field)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return ("holdall.Dataset", self.path, self._field, *self._file.__dask_tokenize__()[1:])

    def __repr__(self) -> str:
        dtype = str(self.dtype) if self.dtype.names is None else f"{len(self.fields)} fields"
        return f"<holdall.Dataset {self.path!r} {dtype} {self.shape} {self.codec}>"

    def _repr_html_(self) -> str:
        from ._html import dataset

        return dataset(self)


def _has_ellipsis(index: Any) -> bool:
    return index is Ellipsis or (isinstance(index, tuple) and any(term is Ellipsis for term in index))


def _rows(row: int) -> int:
    return max(1, (4 << 20) // max(1, row))


def _np() -> Any:
    import numpy

    return numpy
