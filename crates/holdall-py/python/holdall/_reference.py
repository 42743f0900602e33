"""Datasets of graphs of Dask, whose files are opened where they are first read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dataset import Dataset
from ._opening import reopen

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


class DatasetReference:
    """A dataset by the path of its file, with shape and type.

    Another process opens the file at the first read: Dask's scheduler, which unpickles a graph to take it apart, opens none.
    """

    __slots__ = ("_dataset", "_where", "chunks", "dtype", "ndim", "shape")

    def __init__(self, dataset: Dataset) -> None:
        self._dataset: Dataset | None = dataset
        self._where: tuple[Any, ...] = dataset.__reduce__()[1]
        self.shape, self.dtype, self.chunks = dataset.shape, dataset.dtype, dataset.chunks
        self.ndim = len(self.shape)

    @classmethod
    def _unpickled(
        cls, where: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype[Any], chunks: tuple[int, ...] | None
    ) -> DatasetReference:
        made = cls.__new__(cls)
        made._dataset, made._where = None, where
        made.shape, made.dtype, made.chunks, made.ndim = shape, dtype, chunks, len(shape)
        return made

    @property
    def dataset(self) -> Dataset:
        """The dataset, for which this process opens the file once. Raises what `holdall.open` raises, KeyError."""
        if self._dataset is None:
            found = reopen(*self._where)
            assert isinstance(found, Dataset)
            self._dataset = found
        return self._dataset

    def __getitem__(self, index: Any, /) -> Any:
        return self.dataset[index]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return DatasetReference._unpickled, (self._where, self.shape, self.dtype, self.chunks)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return self.dataset.__dask_tokenize__()
