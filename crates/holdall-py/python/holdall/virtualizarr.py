"""VirtualiZarr: `HoldallParser`, for `virtualizarr.open_virtual_dataset` and catalogues in Icechunk.

Needs VirtualiZarr 2: `pip install 'holdall[virtualizarr]'`.
"""

from __future__ import annotations

import warnings
from typing import Any
from urllib.parse import unquote, urlsplit

from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from virtualizarr.manifests.utils import create_v3_array_metadata

import holdall

from ._dims import Dims, beside, dims_of
from ._errors import HoldallLossWarning, UnsupportedError
from ._manifest import Manifest, Manifests
from .zarr import _zarr_type

__all__ = ["HoldallParser"]


class HoldallParser:
    """A parser of VirtualiZarr for files of every format.

    group : the datasets below this path; None for all
    skip_variables : names that are left out
    dims : names of dimensions, as for `xarray.open_dataset` (holdall.xarray)
    open_options : those of `holdall.open`

    Datasets that manifests cannot express are left out with a HoldallLossWarning; `holdall.refs` lists the reasons. Values that are not in the
    file as they are, which `holdall.refs` puts into its references, are among them.
    """

    def __init__(
        self,
        group: str | None = None,
        skip_variables: Any = None,
        *,
        dims: Dims = None,
        **open_options: Any,
    ) -> None:
        self.group, self.skip_variables, self.dims, self.open_options = group, skip_variables, dims, open_options

    def __call__(self, url: str, registry: Any) -> ManifestStore:
        """The manifests of the file at a URL, which is read through a store of the registry, or as a file of this machine.

        url : such as file:///data/a.asdf or s3://bucket/a.asdf
        registry : an `ObjectStoreRegistry`
        """
        source: Any = unquote(urlsplit(url).path) if url.startswith("file://") else url
        if "://" in str(source):
            source = tuple(registry.resolve(url))
        elif not url.startswith("file://"):
            url = f"file://{source}"
        top = (self.group or "").strip("/")
        start = len(top) + 1 if top else 0
        arrays: dict[str, ManifestArray] = {}
        with holdall.open(source, **self.open_options) as file:
            skipped = set(self.skip_variables or ())
            found = {path: file[path] for path in file if not top or path.startswith(top + "/")}
            names = dims_of(file, found.values(), self.dims)
            manifests = Manifests(file, source)
            places = beside(found)
            for path, dataset in found.items():
                # Groups of groups become names with points, for VirtualiZarr reads one group at a time.
                name = places[path][start:].replace("/", ".")
                if name in skipped or path in skipped:
                    continue
                try:
                    arrays[name] = _array(manifests.of(dataset), url, names[path], dataset.attrs)
                except UnsupportedError as error:
                    told = f"{url}: not expressed: {path}: {error}"
                    warnings.warn(told, HoldallLossWarning, stacklevel=2)
        return ManifestStore(ManifestGroup(arrays=arrays, groups={}, attributes={}), registry=registry)


def _array(manifest: Manifest, url: str, names: tuple[str, ...], attrs: dict[str, Any]) -> ManifestArray:
    if manifest.inline:
        raise UnsupportedError("its values are not in the file as they are")
    dtype = manifest.dtype
    stored, _, _ = _zarr_type(dtype)
    if dtype.names is not None and stored != dtype:
        raise UnsupportedError(f"Zarr has no type for {dtype}")
    codecs: list[dict[str, Any]] = []
    if manifest.order == "F":
        codecs.append({"name": "transpose", "configuration": {"order": list(range(len(manifest.shape)))[::-1]}})
    endian = "big" if dtype.byteorder == ">" else "little"
    codecs.append({"name": "bytes", "configuration": {"endian": endian}})
    if manifest.codec is not None:
        words = dict(manifest.codec)
        name = words.pop("id")
        if name == "blosc":
            name = "numcodecs.blosc"
        codecs.append({"name": name if "." in name else f"numcodecs.{name}", "configuration": words})
    metadata = create_v3_array_metadata(
        shape=manifest.shape,
        data_type=dtype,
        chunk_shape=manifest.chunks,
        fill_value=_zero(dtype),
        codecs=codecs,
        dimension_names=names,
        attributes={key: value for key, value in attrs.items() if isinstance(value, (str, bool, int, float, list))},
    )
    entries: dict[str, Any] = {
        ".".join(map(str, key)) or "0": {"path": url, "offset": start, "length": length}
        for key, (start, length) in manifest.places.items()
    }
    shape = tuple(-(-length // chunk) for length, chunk in zip(manifest.shape, manifest.chunks, strict=True))
    return ManifestArray(metadata=metadata, chunkmanifest=ChunkManifest(entries=entries, shape=shape or None))


def _zero(dtype: Any) -> Any:
    import numpy as np

    return np.zeros((), dtype)[()].item() if dtype.names is None else 0
