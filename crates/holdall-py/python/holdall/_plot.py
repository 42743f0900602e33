"""Pictures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _holdall
from ._dataset import Dataset
from ._file import File
from ._opening import as_path
from ._threads import threads as _threads
from ._types import Progress, StrPath

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Picture:
    """A drawn picture: shown by notebooks, and saved by `save`. Made by `plot`.

    notes : what a reader of the picture should know, such as values that are left out; a list of lines
    command : the command that draws the same picture
    """

    __slots__ = ("_drawn", "command", "notes")

    def __init__(self, drawn: _holdall.Drawn) -> None:
        self._drawn = drawn
        self.notes: list[str] = drawn.notes
        self.command: str = drawn.recipe

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._drawn.size

    def png(self) -> bytes:
        """The picture as PNG, in bytes."""
        return self._drawn.png()

    def svg(self) -> str:
        """The picture as text of SVG."""
        return self._drawn.svg()

    def pdf(self) -> bytes:
        """The picture as a page of PDF, in bytes."""
        return self._drawn.pdf()

    def save(self, path: StrPath, /, *, overwrite: bool = False) -> None:
        """Writes the picture to a file.

        path : ends with .png, .svg or .pdf
        overwrite : True replaces an existing file

        Raises ValueError for another ending, FileExistsError, other OSErrors.
        """
        name = as_path(path)
        end = os.path.splitext(name)[1].lower()
        if end not in (".png", ".svg", ".pdf"):
            raise ValueError(f"unknown extension {end!r} of a picture (expected .png, .svg or .pdf)")
        data = self.svg().encode() if end == ".svg" else self.png() if end == ".png" else self.pdf()
        with open(name, "wb" if overwrite else "xb") as file:
            file.write(data)

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_svg_(self) -> str | None:
        # One of the two is enough, and the smaller.
        return None

    def __repr__(self) -> str:
        width, height = self.size
        return f"<holdall.Picture {width}x{height}>"


def plot(
    data: StrPath | File | Dataset | ArrayLike,
    /,
    to: StrPath | None = None,
    *,
    width: int | None = None,
    height: int | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    **style: Any,
) -> Picture:
    """Draws a dataset, an address, a trajectory or an array: a heat map, lines, a histogram, colours, particles in their box.

    An array of the shape (H, W, 3) or (H, W, 4), of bytes, 16-bit integers or numbers from 0 to 1, is a picture in colours; as_="heatmap" draws
    a plane of it instead.

    data : "FILE::PATH[SEL]", an open file or dataset, or an array
    to : a .png, .svg or .pdf file to write as well
    width, height : pixels, from 16 to 20,000; with one of them, the picture is 4 by 3
    overwrite : True replaces an existing file `to`
    threads : most threads that are used; None for `set_threads`
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    style : options of `holdall plot` with underscores: hist=True, range="zscale", stretch="asinh", cmap="gray", origin="lower", title="…",
        slice="0=3", field="x", color_by="velocity", view="xy", as_="heatmap"

    Raises UsageError for options and values that cannot be drawn, and what `open` and `Dataset.read` raise.
    """
    words: list[str] = []
    if width is not None or height is not None:
        w = width if width is not None else max(16, (height or 0) * 4 // 3)
        words.append(f"--size={w}x{height if height is not None else max(16, w * 3 // 4)}")
    for key, value in style.items():
        # Python has `as` as a word of its own.
        option = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            text = ",".join(str(part) for part in value) if isinstance(value, (list, tuple)) else str(value)
            words.append(f"{option}={text}")
    n = _threads(threads)
    if isinstance(data, (str, os.PathLike)):
        from ._functions import open as open_file

        path, name, selection = _holdall.split_address(as_path(data))
        core = open_file(path)._live()
        drawn = _holdall.draw(core, _address(path, name, selection), words, n, progress)
    elif isinstance(data, Dataset):
        if data._field is not None:
            words.append(f"--field={data._field}")
        drawn = _holdall.draw(data._core, _address(data.file._name(), data.path, None), words, n, progress)
    elif isinstance(data, File):
        drawn = _holdall.draw(data._live(), data._name(), words, n, progress)
    else:
        from ._arrays import described

        drawn = _holdall.draw_arrays([described("array", data)], words, progress)
    picture = Picture(drawn)
    if to is not None:
        picture.save(to, overwrite=overwrite)
    return picture


def _address(path: str, name: str | None, selection: str | None) -> str:
    text = os.path.basename(path)
    if name is not None:
        text += f"::{name}"
    return text if selection is None else f"{text}[{selection}]"
