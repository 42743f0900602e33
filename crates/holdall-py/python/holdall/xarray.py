"""xarray: `xarray.open_dataset(path, engine="holdall")` and `open_datatree`, for files of every format.

Arrays are lazy and are pickled by path, so that tasks of Dask read them wherever the path or URL is reached. Needs xarray: `pip install
'holdall[xarray]'`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

import holdall

from ._dataset import Dataset
from ._dims import Dims, beside, dims_of, meta_of
from ._errors import UnsupportedError, WrongFormatError
from ._file import File
from ._grids import merged
from ._names import unknown
from ._outer import read_outer
from ._reference import DatasetReference

__all__ = ["HoldallArray", "HoldallBackendEntrypoint"]

Records = Literal["fields", "structured"]


class HoldallArray(BackendArray):
    """A dataset, or a field of its records, as xarray reads it. Made by `HoldallBackendEntrypoint`.

    dataset : the `holdall.Dataset`
    shape, dtype : of the array; those of a field that holds arrays have their axes at the end
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(
        self,
        dataset: Dataset | DatasetReference,
        field: str | None = None,
        is_masked: bool = False,
        threads: int | None = None,
    ) -> None:
        self._dataset, self._field, self._is_masked, self._threads = dataset, field, is_masked, threads
        dtype = dataset.dtype if field is None else dataset.dtype[field]
        self.dtype, self.shape = dtype.base, dataset.shape + dtype.shape

    @property
    def dataset(self) -> Dataset:
        """The dataset, whose file another process opens at the first read."""
        return self._dataset.dataset if isinstance(self._dataset, DatasetReference) else self._dataset

    def __reduce__(self) -> tuple[Callable[..., HoldallArray], tuple[Any, ...]]:
        reference = self._dataset if isinstance(self._dataset, DatasetReference) else DatasetReference(self._dataset)
        # Another process reads it in a task, of which there is one on each core.
        return HoldallArray, (reference, self._field, self._is_masked, self._threads or 1)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return ("holdall.xarray", self.dataset.__dask_tokenize__(), self._field, self._is_masked)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        ndim = self.dataset.ndim
        got = read_outer(self.dataset.shape, key[:ndim], self._box, self.dataset.chunks)
        within = (Ellipsis, *key[ndim:]) if len(key) > ndim else ()
        # Terms of a field's own axes, of which more than one may be a list.
        for axis, term in reversed(list(enumerate(within[1:], got.ndim - len(within[1:])))):
            got = got[(slice(None),) * axis + (term,)]
        return got

    def _box(self, box: tuple[slice, ...]) -> Any:
        got = self.dataset.read(box, threads=self._threads)
        if self._field is not None:
            got = got[self._field]
        if self._is_masked:
            mask = self.dataset.mask(box)
            if mask is not None:
                mask = mask[self._field] if mask.dtype.names is not None else mask
                mask = mask.reshape(mask.shape + (1,) * (got.ndim - mask.ndim))
                got = np.array(got)
                np.copyto(got, np.array("NaT" if got.dtype.kind in "mM" else "nan").astype(got.dtype), where=mask)
        return got


class HoldallBackendEntrypoint(BackendEntrypoint):
    """The engine `holdall` of xarray, which finds it by itself."""

    description = "ASDF, GSD, Blosc2, Bloscpack and RawArray files, by holdall"
    open_dataset_parameters = ("drop_variables", "group", "dims", "mask_and_scale", "records", "threads")
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """True where the bytes are of one of the formats, damaged or not. Of a URL, where its name ends as one of them; no request is made."""
        if isinstance(filename_or_obj, (str, os.PathLike)):
            name = os.fspath(filename_or_obj)
            if "://" in name:
                return os.path.splitext(name.split("?")[0])[1].lower() in _EXTENSIONS
        elif not (isinstance(filename_or_obj, tuple) or hasattr(filename_or_obj, "seek")):
            return False
        try:
            place = filename_or_obj.tell() if hasattr(filename_or_obj, "tell") else None
            try:
                holdall.open(filename_or_obj).close()
            finally:
                if place is not None:
                    filename_or_obj.seek(place)
        except (WrongFormatError, OSError, TypeError):
            return False
        except holdall.HoldallError:
            return True
        return True

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool | None = None,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        dims: Dims = None,
        records: Records = "fields",
        threads: int | None = None,
        **open_options: Any,
    ) -> xr.Dataset:
        """Opens a file; called by `xarray.open_dataset(…, engine="holdall")`, which takes these words.

        filename_or_obj : what `holdall.open` takes
        mask_and_scale : True puts NaN in the place of floats and complex numbers that the file marks as missing, and NaT of dates; other types keep
            the values below their mask, with a warning. By default all values are those that are stored
        drop_variables : a name, or names, of variables that are left out
        group : the variables below this path, whose names count from there; by default all, named by their paths as in `holdall.open(file)[path]`
        dims : names of dimensions, by path in the file, or for every variable with as many axes; else they come from the file's attributes
            (`_ARRAY_DIMENSIONS`, `dimension_names`, `dims`), `frame` for trajectories, and `dim_N` for others of length N
        records : "fields" makes a variable of each field, `path/field`; "structured" one of whole records
        threads : most threads of a read; None for `holdall.set_threads`, and 1 in tasks
        open_options : those of `holdall.open`

        Attributes are those of the dataset, with its unit as `units`; those of the whole are scalars of the file's metadata. `encoding` has "codec",
        "chunks" of the file, and "preferred_chunks", which are several of them where they are smaller than 1 MiB.

        Raises KeyError for a group that there is not, and what `holdall.open` raises.
        """
        file = holdall.open(filename_or_obj, **open_options)
        opened = _Opened(file, mask_and_scale, dims, records, threads)
        names = opened.below(group)
        return opened.dataset({name: names[name] for name in names if name not in _dropped(drop_variables)}, group)

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool | None = None,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        dims: Dims = None,
        records: Records = "fields",
        threads: int | None = None,
        **open_options: Any,
    ) -> xr.DataTree:
        """Opens a file as a tree whose nodes are the steps of paths; called by `xarray.open_datatree`.

        filename_or_obj, mask_and_scale, group, dims, records, threads, open_options : as for `open_dataset`
        drop_variables : names, or paths from the root

        A variable whose path goes on in that of another is next to it, as `x.mask` next to `x`: no node is both.
        """
        groups = self.open_groups_as_dict(
            filename_or_obj,
            mask_and_scale=mask_and_scale,
            drop_variables=drop_variables,
            group=group,
            dims=dims,
            records=records,
            threads=threads,
            **open_options,
        )
        tree = xr.DataTree.from_dict(groups)
        tree.set_close(groups["/"]._close)
        return tree

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool | None = None,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        dims: Dims = None,
        records: Records = "fields",
        threads: int | None = None,
        **open_options: Any,
    ) -> dict[str, xr.Dataset]:
        """Opens a file as a dataset for each group; called by `xarray.open_groups`. Parameters are those of `open_datatree`."""
        file = holdall.open(filename_or_obj, **open_options)
        opened = _Opened(file, mask_and_scale, dims, records, threads)
        dropped = _dropped(drop_variables)
        parts: dict[str, dict[str, Dataset]] = {"": {}}
        below = opened.below(group)
        places = beside(below)
        for path, dataset in below.items():
            name = places[path]
            above, _, last = name.rpartition("/")
            if name not in dropped and last not in dropped:
                parts.setdefault(above, {})[last] = dataset
        top = (group or "").strip("/")
        made: dict[str, xr.Dataset] = {}
        for above, variables in parts.items():
            path = "/".join(part for part in (top, above) if part)
            fields = self._split(variables, records)
            for inner, some in fields.items():
                made["/" + "/".join(part for part in (above, inner) if part)] = opened.dataset(
                    some, path, inner, dropped
                )
        return made

    @staticmethod
    def _split(variables: dict[str, Dataset], records: str) -> dict[str, dict[str, Dataset]]:
        """Variables by the group that they are in: a table is one of its fields."""
        split: dict[str, dict[str, Dataset]] = {"": {}}
        for name, dataset in variables.items():
            if dataset.fields and records == "fields":
                split[name] = {"": dataset}
            else:
                split[""][name] = dataset
        return split


_EXTENSIONS = {".asdf", ".gsd", ".b2nd", ".b2frame", ".blp", ".ra"}


def _dropped(names: str | Iterable[str] | None) -> set[str]:
    return {names} if isinstance(names, str) else set(names or ())


class _Opened:
    """A file, and how its datasets become variables."""

    def __init__(self, file: File, mask_and_scale: bool | None, dims: Dims, records: str, threads: int | None) -> None:
        if records not in ("fields", "structured"):
            raise ValueError(f"records is 'fields' or 'structured', not {records!r}")
        self.file, self.is_masking, self.dims, self.threads = file, mask_and_scale is True, dims, threads
        self.records = records
        self.names: dict[str, tuple[str, ...]] = {}
        self._meta: list[Any] = []

    def below(self, group: str | None) -> dict[str, Dataset]:
        """Datasets by their names in a group."""
        top = (group or "").strip("/")
        start = len(top) + 1 if top else 0
        found = {path[start:]: self.file[path] for path in self.file if not top or path.startswith(top + "/")}
        if top and not found:
            groups = {path[:at] for path in self.file for at, letter in enumerate(path) if letter == "/"}
            raise KeyError(unknown(top, sorted(groups)))
        self.names = dims_of(self.file, found.values(), self.dims)
        if self.names and isinstance(self.dims, Sequence) and tuple(self.dims) not in self.names.values():
            raise ValueError(f"dims: no array has {len(self.dims)} axes, for the names {tuple(self.dims)!r}")
        return found

    def dataset(
        self, datasets: Mapping[str, Dataset], path: str | None, inner: str = "", dropped: Iterable[str] = ()
    ) -> xr.Dataset:
        """The variables of datasets by their names, with attributes of a group."""
        variables: dict[str, xr.Variable] = {}
        for name, dataset in datasets.items():
            if dataset.fields and self.records == "fields":
                for field in dataset.fields:
                    # Names in a tree have no slash.
                    full = f"{name}/{field}" if name else field.replace("/", "%2F")
                    if full not in dropped:
                        variables[full] = self._variable(dataset, field)
            else:
                variables[name] = self._variable(dataset, None)
        attrs = {} if inner else self._attrs(path)
        made = xr.Dataset(variables, attrs=attrs)
        if self.file.path is not None:
            made.encoding["source"] = self.file.path
        made.encoding["format"] = self.file.format
        made.set_close(self.file.close)
        return made

    def _variable(self, dataset: Dataset, field: str | None) -> xr.Variable:
        if self.is_masking and dataset.has_mask:
            dtype = dataset.dtype if field is None else dataset.dtype[field]
            is_masked = dtype.base.kind in "fcmM"
            if not is_masked:
                told = f"{dataset.path}: {dtype} has no NaN, and keeps the values below its mask"
                warnings.warn(told, UserWarning, stacklevel=6)
        else:
            is_masked = False
        if max(dataset.shape, default=0) > np.iinfo(np.intp).max:
            told = f"{dataset.path}: numpy has no axis of {max(dataset.shape)}"
            raise UnsupportedError(told, None, None, "drop_variables leaves it out")
        array = HoldallArray(dataset, field, is_masked, self.threads)
        dims = self.names[dataset.path]
        for length in array.shape[dataset.ndim :]:
            name = f"dim_{length}"
            while name in dims:
                name += "_"
            dims = (*dims, name)
        attrs = dataset.attrs
        if isinstance(attrs.get("unit"), str) and "units" not in attrs:
            attrs["units"] = attrs.pop("unit")
        encoding: dict[str, Any] = {"codec": dataset.codec}
        if dataset.chunks is not None:
            own = array.shape[dataset.ndim :]
            chunks = tuple(max(1, min(pair)) for pair in zip(dataset.chunks, dataset.shape, strict=True))
            preferred = (*merged(chunks, dataset.shape, dataset.dtype.itemsize), *own)
            encoding["chunks"] = (*chunks, *own)
            encoding["preferred_chunks"] = {
                dim: min(chunk, max(1, length)) for dim, chunk, length in zip(dims, preferred, array.shape, strict=True)
            }
        return xr.Variable(dims, indexing.LazilyIndexedArray(array), attrs, encoding)

    def _attrs(self, path: str | None) -> dict[str, Any]:
        """Scalars of the file's metadata next to the datasets of a group."""
        if not self._meta:
            self._meta.append(meta_of(self.file))
        node = self._meta[0]
        for step in [step for step in (path or "").split("/") if step]:
            node = node.get(step) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping):
            return {}
        return {key: value for key, value in node.items() if isinstance(value, (str, bool, int, float))}
