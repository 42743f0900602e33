"""Names of dimensions, for packages whose arrays have them: from the file where it has them, else by length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import File

Dims = Mapping[str, Sequence[str]] | Sequence[str] | None
"""Names by the path of a dataset, or names for every dataset of as many axes."""

_KEYS = ("_ARRAY_DIMENSIONS", "dimension_names", "dims")
"""Attributes that name dimensions: those of Zarr 2 and 3 in xarray's use, and the plain word."""

FRAME = "frame"
"""The first axis of a trajectory."""


def dims_of(file: File, datasets: Iterable[Dataset], given: Dims = None) -> dict[str, tuple[str, ...]]:
    """Names of the dimensions of each dataset by its path.

    In this order: those that are given; those of the attributes of the dataset or of the mapping that it is in; `frame` for the first axis of a
    trajectory; `dim_N` for an axis of length N, with an underscore more for each other axis of this length in the same dataset. A name from the
    file whose length differs from that in an earlier dataset gets its length behind it.

    Raises ValueError for given names that do not fit.
    """
    known: dict[str, int] = {}
    found: dict[str, tuple[str, ...]] = {}
    meta: list[Any] = []
    for dataset in datasets:
        names = _given(dataset, given)
        if names is None:
            of_file = _from_file(dataset, meta, file) or [None] * dataset.ndim
            if of_file and of_file[0] is None and dataset.has_frames:
                of_file[0] = FRAME
            made: list[str] = []
            for name, length in zip(of_file, dataset.shape, strict=True):
                if name is None:
                    name = f"dim_{length}"
                elif known.setdefault(name, length) != length:
                    name = f"{name}_{length}"
                while name in made:
                    name += "_"
                made.append(name)
            names = tuple(made)
        else:
            known |= dict(zip(names, dataset.shape, strict=True))
        found[dataset.path] = names
    return found


def _given(dataset: Dataset, given: Dims) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        if dataset.path not in given:
            return None
        names = tuple(given[dataset.path])
        if isinstance(given[dataset.path], str) or len(names) != dataset.ndim or len(set(names)) != len(names):
            raise ValueError(f"dims of {dataset.path}: {dataset.ndim} different names are needed, not {names!r}")
        return names
    if isinstance(given, str) or len(set(given)) != len(given):
        raise ValueError(f"dims is a sequence of different names, or a mapping of such by path, not {given!r}")
    return tuple(given) if len(given) == dataset.ndim else None


def _from_file(dataset: Dataset, meta: list[Any], file: File) -> list[str | None] | None:
    """Names that the file has for a dataset; `meta` keeps its metadata from the first use on."""
    names = _names_in(dataset.attrs, dataset.ndim)
    if names is None and dataset.ndim:
        if not meta:
            meta.append(meta_of(file))
        node = meta[0]
        for step in dataset.path.split("/")[:-1]:
            node = node.get(step) if isinstance(node, Mapping) else None
        names = _names_in(node, dataset.ndim)
    return names


def meta_of(file: File) -> Any:
    """Metadata of a file; None where they cannot be read."""
    from ._errors import HoldallError

    try:
        return file.meta
    except HoldallError:
        # Damaged metadata do not keep arrays from being read.
        return None


def _names_in(node: Any, ndim: int) -> list[str | None] | None:
    if not isinstance(node, Mapping):
        return None
    for key in _KEYS:
        names = node.get(key)
        if not isinstance(names, list) or len(names) != ndim or not all(isinstance(name, str) for name in names):
            continue
        if "" not in names and len(set(names)) == ndim:
            return list(names)
    return None


def beside(paths: Iterable[str]) -> dict[str, str]:
    """Names of datasets in trees of groups, by their paths.

    No name there is both a group and an array: a dataset below another is next to it, as `x.mask` for `x/mask` where there is `x`. Steps that such
    trees do not have are percent-encoded: `%` for an empty one, `%2E` for a point, `%5C` for a backslash.
    """
    known = dict.fromkeys(paths)
    placed: dict[str, str] = {}
    for path in known:
        name, at = path, path.rfind("/")
        while at > 0:
            if path[:at] in known:
                name = path[:at] + "." + name[at + 1 :].replace("/", ".")
            at = path.rfind("/", 0, at)
        placed[path] = "/".join(_STEPS.get(step, step) for step in name.replace("\\", "%5C").split("/"))
    return placed


_STEPS = {"": "%", ".": "%2E", "..": "%2E%2E"}
