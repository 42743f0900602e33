"""References as kerchunk has them: the chunks of a Zarr as ranges of bytes of other files."""

from __future__ import annotations

import base64
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ._dims import Dims, beside, dims_of
from ._errors import HoldallLossWarning, UnsupportedError, UsageError
from ._grids import TARGET
from ._manifest import Manifest, Manifests
from ._types import Loss, OnLoss, StrPath

if TYPE_CHECKING:
    from ._dataset import Dataset


class References(dict[str, Any]):
    """References of version 1: a dict with "version" and "refs", as fsspec and kerchunk take it. Made by `refs`.

    losses : what they do not hold, with the reason: a list of `Loss` whose datasets are `FILE::PATH`
    """

    losses: list[Loss]

    def __init__(self, refs: Mapping[str, Any], losses: Iterable[Loss] = ()) -> None:
        super().__init__(version=1, refs=dict(refs))
        self.losses = list(losses)

    def __reduce__(self) -> tuple[Callable[..., References], tuple[Any, ...]]:
        return References, (self["refs"], self.losses)

    def to_json(self, path: StrPath, /) -> None:
        """Writes them to a new file as JSON.

        path : the new file

        Raises FileExistsError.
        """
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            json.dump(self, file, separators=(",", ":"))

    def to_parquet(self, path: StrPath, /, *, record_size: int = 100_000) -> None:
        """Writes them to a new directory in fsspec's Parquet layout, of which a reader loads the parts that it needs.

        path : the new directory
        record_size : references in one file

        Raises FileExistsError, ImportError without fsspec, pandas and a Parquet library for pandas (pyarrow or fastparquet).
        """
        from fsspec.implementations.local import LocalFileSystem
        from fsspec.implementations.reference import LazyReferenceMapper

        target = os.fspath(path)
        os.mkdir(target)
        mapper = LazyReferenceMapper.create(target, fs=LocalFileSystem(), record_size=record_size, **_engine())
        for key, value in self["refs"].items():
            # Metadata before chunks: the layout of the files is that of the arrays.
            if key.rpartition("/")[2] in _META:
                mapper[key] = value
        for key, value in self["refs"].items():
            if key.rpartition("/")[2] not in _META:
                mapper[key] = _bytes_of(value)
        mapper.flush()


_META = (".zgroup", ".zarray", ".zattrs")


def _engine() -> dict[str, Any]:
    """The Parquet library that is there, in the words of fsspec."""
    import importlib.util

    is_there = importlib.util.find_spec("pyarrow") is not None
    return {"engine": "pyarrow" if is_there else "fastparquet"}


def _bytes_of(value: Any) -> Any:
    if isinstance(value, str):
        return base64.b64decode(value[7:]) if value.startswith("base64:") else value.encode()
    return value


def refs(
    files: Any,
    /,
    *,
    url: str | Callable[[str], str] | None = None,
    concat: str | None = None,
    dims: Dims = None,
    target: int = TARGET,
    on_loss: OnLoss = "warn",
    **open_options: Any,
) -> References:
    """Makes references to the chunks of files, by which Zarr's readers read them in place: without holdall, but for Blosc2 files.

    files : what `open` takes, or a list of such; files of a server by their URLs, as (fs, path) or (store, path). Of several each is a
        group of its own by its name without extension, or with `concat` all are one
    url : address of a file for the readers, a text in which `{}` stands for its name ("s3://bucket/run/{}"), or a function of the path; None for the
        absolute path
    concat : joins the datasets of one path of all files along this dimension: their first one where it has this name and they are equally
        chunked, else a new one
    dims : names of dimensions, as for `xarray.open_dataset` (holdall.xarray)
    target : about how many bytes a chunk of plain elements has
    on_loss : "warn" warns with HoldallLossWarning of datasets that references cannot express, "raise" raises UsageError, "ignore" does neither
    open_options : those of `open`

    Chunks of Blosc2 frames, and a short last chunk of Bloscpack, need the codec `holdall.blosc2`, which installing holdall adds to zarr and to
    numcodecs. Not expressed are: blocks of ASDF by codecs that Zarr lacks (lz4, blosc); arrays with gaps, or in other files; frames of different
    lengths; Bloscpack chunks that end within rows; types that Zarr lacks; and masks. `holdall.xarray` and `holdall.zarr` read all of them. Arrays
    of at most 4096 bytes whose values are not together in the file are put into the references.

    Returns `References`: a dict, with `losses`.

    Raises what `open` raises, ValueError for two files of one name.
    """
    several = list(files) if isinstance(files, (list, set, frozenset)) or _is_iterator(files) else None
    made = _Maker(url, dims, target, open_options)
    if several is None:
        made.add(files, "")
    elif concat is None:
        for file in several:
            made.add(file, _stem(file))
    else:
        made.join(several, concat)
    losses = made.losses
    if losses and on_loss == "raise":
        raise UsageError("not expressed: " + "; ".join(f"{loss.dataset}: {loss.what}" for loss in losses))
    if losses and on_loss == "warn":
        listed = "; ".join(f"{loss.dataset}: {loss.what}" for loss in losses[:3])
        more = f"; and {len(losses) - 3} more" if len(losses) > 3 else ""
        warnings.warn(f"references: not expressed: {listed}{more}", HoldallLossWarning, stacklevel=2)
    return References(made.refs, losses)


def _is_iterator(files: Any) -> bool:
    return hasattr(files, "__next__") or type(files).__name__ in ("dict_keys", "dict_values", "map", "generator")


def _name(source: Any) -> str:
    """The path of a source as it was given."""
    place = source[1] if isinstance(source, tuple) else source
    if not isinstance(place, (str, os.PathLike)):
        raise UsageError("references are to files that have a path or a URL")
    return os.fspath(place)


def _stem(source: Any) -> str:
    return os.path.splitext(os.path.basename(_name(source)))[0]


class _Maker:
    """References that grow file by file."""

    def __init__(
        self, url: str | Callable[[str], str] | None, dims: Dims, target: int, open_options: dict[str, Any]
    ) -> None:
        self.url, self.dims, self.target, self.options = url, dims, target, open_options
        self.refs: dict[str, Any] = {".zgroup": json.dumps({"zarr_format": 2})}
        self.losses: list[Loss] = []

    def address(self, source: Any) -> str:
        """What references call a file."""
        name = _name(source)
        if callable(self.url):
            return self.url(name)
        if self.url is not None:
            return self.url.replace("{}", os.path.basename(name))
        is_here = isinstance(source, (str, os.PathLike)) and "://" not in name
        return os.path.abspath(name) if is_here else name

    def manifests(self, source: Any) -> Iterator[tuple[str, Dataset, tuple[str, ...], Manifest]]:
        """Datasets of a file with names of dimensions and manifests; what has none becomes a loss."""
        from . import open as open_file

        with open_file(source, **self.options) as file:
            found = {path: file[path] for path in file}
            names = dims_of(file, found.values(), self.dims)
            manifests = Manifests(file, source, self.target)
            for path, dataset in found.items():
                try:
                    manifest = manifests.of(dataset)
                except UnsupportedError as error:
                    self.lose(source, path, str(error))
                    continue
                if dataset.has_mask:
                    self.lose(source, path, "its mask")
                yield path, dataset, names[path], manifest

    def lose(self, source: Any, path: str, why: str) -> None:
        """Notes what is not expressed."""
        self.losses.append(Loss(f"{_name(source)}::{path}", why.removeprefix(f"{path}: ")))

    def add(self, source: Any, top: str) -> None:
        """A file as a group."""
        if top and f"{top}/.zgroup" in self.refs:
            raise ValueError(f"two files are called {top}: references to each are in a group of this name")
        self.group(top)
        found = list(self.manifests(source))
        places = beside([path for path, *_ in found])
        for path, dataset, names, manifest in found:
            key = f"{top}/{places[path]}" if top else places[path]
            self.array(key, manifest, names, dataset.attrs)
            self.chunks(key, manifest, self.address(source))

    def join(self, sources: list[Any], concat: str) -> None:
        """The datasets of one path of all files as one array."""
        joined: dict[str, _Joined] = {}
        for number, source in enumerate(sources):
            for path, dataset, names, manifest in self.manifests(source):
                whole = joined.setdefault(path, _Joined(names, dataset.attrs, concat))
                why = whole.refuses(manifest, names, number)
                if why is None:
                    whole.add(manifest, self.address(source))
                else:
                    self.lose(source, path, why)
        places = beside(list(joined))
        for path, whole in joined.items():
            if whole.count != len(sources):
                self.losses.append(Loss(path, f"{whole.count} of {len(sources)} files have it alike"))
                continue
            self.array(places[path], whole.manifest(), whole.names, whole.attrs)
            for manifest, address in whole.parts():
                self.chunks(places[path], manifest, address)

    def group(self, path: str) -> None:
        """A group and those above it."""
        steps = path.split("/") if path else []
        for count in range(1, len(steps) + 1):
            self.refs.setdefault("/".join(steps[:count]) + "/.zgroup", json.dumps({"zarr_format": 2}))

    def array(self, key: str, manifest: Manifest, names: tuple[str, ...], attrs: dict[str, Any]) -> None:
        """Metadata of an array, as Zarr 2 has them."""
        self.group(key.rpartition("/")[0])
        dtype = manifest.dtype
        described = {
            "zarr_format": 2,
            "shape": list(manifest.shape),
            "chunks": list(manifest.chunks),
            "dtype": dtype.str if dtype.names is None else [[name, dtype[name].str] for name in dtype.names],
            "compressor": manifest.codec,
            "filters": None,
            # xarray takes a fill value for one that is missing, and zeros are not.
            "fill_value": None,
            "order": manifest.order,
        }
        self.refs[f"{key}/.zarray"] = json.dumps(described)
        own = {name: value for name, value in attrs.items() if isinstance(value, (str, bool, int, float, list))}
        self.refs[f"{key}/.zattrs"] = json.dumps({**own, "_ARRAY_DIMENSIONS": list(names)}, default=str)

    def chunks(self, key: str, manifest: Manifest, address: str) -> None:
        """The chunks of an array."""
        for at, (start, length) in manifest.places.items():
            self.refs[f"{key}/{'.'.join(map(str, at)) or '0'}"] = [address, start, length]
        for at, values in manifest.inline.items():
            self.refs[f"{key}/{'.'.join(map(str, at)) or '0'}"] = "base64:" + base64.b64encode(values).decode()


class _Joined:
    """Arrays of several files along one dimension."""

    def __init__(self, names: tuple[str, ...], attrs: dict[str, Any], concat: str) -> None:
        self.is_new = names[:1] != (concat,)
        self.names = (concat, *names) if self.is_new else names
        self._own = names
        self.attrs = attrs
        self.count = 0
        self._parts: list[tuple[Manifest, str]] = []
        self._first: Manifest | None = None
        self._rows = 0

    def refuses(self, manifest: Manifest, names: tuple[str, ...], number: int) -> str | None:
        """Why an array does not go behind the others; None where it does."""
        first = self._first
        if self.count != number:
            return "an earlier file does not have it alike"
        if first is None:
            return None
        if names != self._own and len(names) != len(self._own):
            return f"{len(names)} axes, {len(self._own)} before"
        at = 0 if self.is_new else 1
        for word, one, other in (
            ("type", manifest.dtype, first.dtype),
            ("order", manifest.order, first.order),
            ("codec", manifest.codec, first.codec),
            ("shape", manifest.shape[at:], first.shape[at:]),
            ("chunks", manifest.chunks, first.chunks),
        ):
            if one != other:
                return f"{word} {one}, {other} before"
        if not self.is_new and self._rows % first.chunks[0]:
            return "a file before it ends within a chunk"
        return None

    def add(self, manifest: Manifest, address: str) -> None:
        """Appends an array."""
        self._first = self._first or manifest
        row = self.count if self.is_new else self._rows // max(1, manifest.chunks[0])

        def moved(key: tuple[int, ...]) -> tuple[int, ...]:
            return (row, *key) if self.is_new else (key[0] + row, *key[1:])

        places = {moved(key): place for key, place in manifest.places.items()}
        inline = {moved(key): values for key, values in manifest.inline.items()}
        self._parts.append((replace(manifest, places=places, inline=inline), address))
        self._rows += 1 if self.is_new else manifest.shape[0]
        self.count += 1

    def manifest(self) -> Manifest:
        """The whole array, without its chunks."""
        assert self._first is not None
        first = self._first
        shape = (self.count, *first.shape) if self.is_new else (self._rows, *first.shape[1:])
        chunks = (1, *first.chunks) if self.is_new else first.chunks
        return replace(first, shape=shape, chunks=chunks, places={}, inline={})

    def parts(self) -> list[tuple[Manifest, str]]:
        """Chunks with the files that they are in."""
        return self._parts
