"""RawArray files by the functions of the format's own Python module, `ra`: `read`, `write`, `query`; and `trailer`.

Source of the names: https://github.com/davidssmith/ra, python/ra.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import WrongFormatError
from ._file import File
from ._functions import open as open_file
from ._functions import save
from ._types import StrPath

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["query", "read", "trailer", "write"]


def read(filename: StrPath) -> NDArray[Any]:
    """Reads the array of a file, in Fortran order as it is stored.

    filename : a RawArray file of any dialect

    Returns a new, writable array of little-endian or big-endian elements, as stored. Elements of the user's own type are opaque (`V`).

    Raises OSError, WrongFormatError for files of other formats, DamageError, UnsupportedError.
    """
    with _open(filename) as file:
        array: NDArray[Any] = file["data"][...]
        return array


def write(data: ArrayLike, filename: StrPath) -> None:
    """Writes an array, in place of any file of this name. The file appears complete or not at all.

    data : an array, or what numpy makes an array of; its first axis becomes the fastest
    filename : the file

    Raises OSError, UnsupportedError for types that RawArray does not have.
    """
    save(filename, data, format="rawarray", overwrite=True, on_loss="ignore")


def query(filename: StrPath) -> str:
    """A YAML document that describes the file: name, byte order, type, size of the data in bytes, dimensions, shape.

    filename : a RawArray file; its elements are not read

    Raises what `read` raises, for the header alone.
    """
    with _open(filename) as file:
        dataset = file["data"]
        kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
        dtype = dataset.dtype
        lines = [
            "---",
            f"name: {filename}",
            f"endian: {'big' if dtype.byteorder == '>' else 'little'}",
            f"type: {kinds.get(dtype.kind, 'user')}{dtype.itemsize * 8}",
            f"size: {dataset.nbytes}",
            f"dimension: {dataset.ndim}",
            "shape:",
            *(f"  - {length}" for length in dataset.shape),
            "...",
        ]
        return "\n".join(lines)


def trailer(filename: StrPath) -> bytes:
    """The bytes after the data, which the format leaves to its users; `b""` where there are none.

    filename : a RawArray file; its elements are not read

    Raises what `read` raises, for the header alone.
    """
    with _open(filename) as file:
        try:
            bytes_after: NDArray[Any] = file["trailer"][...]
        except KeyError:
            return b""
        return bytes_after.tobytes()


def _open(filename: StrPath) -> File:
    file = open_file(filename)
    if file.format != "rawarray":
        raise WrongFormatError(f"{file.path}: not RawArray ({file.format})", None, None, "holdall.load, for any format")
    return file
