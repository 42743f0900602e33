"""Open ASDF files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, cast

from .. import _holdall
from .._dataset import Dataset
from .._errors import UsageError
from .._file import File
from .._functions import open as _open
from .._threads import threads as _threads
from .._types import Codec, Finding, Readable, StrPath
from ._arrays import Found
from ._search import NOT_GIVEN, SearchResult, search
from ._tagged import TaggedDict
from ._tree import Tree, find, same

_SOFTWARE = "tag:stsci.edu:asdf/core/software-1.0.0"
_ENTRY = "tag:stsci.edu:asdf/core/history_entry-1.0.0"


def open(
    file: StrPath | Readable | tuple[Any, str],
    mode: Literal["r", "rw"] = "r",
    /,
    *,
    durable: bool = True,
    **options: Any,
) -> AsdfFile:
    """Opens an ASDF file: its tree with tags, and its arrays as datasets. Nothing but the tree is read.

    file : a path; for mode "r" all that `holdall.open` takes
    mode : "r" reads; "rw" reads and changes the file by `set`, `unset` and `commit`, and locks it for other programs that do so with holdall
    durable : whether `commit` waits until the change is on the disk
    options : those of `holdall.open`

    Raises OSError where the file cannot be read; WrongFormatError for a file of another format; DamageError where it does not open; UsageError
    where another program is changing it.
    """
    if mode not in ("r", "rw"):
        raise ValueError(f"mode is 'r' or 'rw', not {mode!r}")
    if mode == "rw" and not isinstance(file, (str, os.PathLike)):
        raise UsageError("a file is changed at a path of its own", None, None, "a copy on the disk")
    editor = None
    if mode == "rw":
        path = os.path.abspath(os.fspath(cast("StrPath", file)))
        editor = _holdall.AsdfEditor(path, durable, _threads(None), options.get("max_memory"))
    try:
        return AsdfFile(_open(file, **options), editor, options)
    except BaseException:
        if editor is not None:
            editor.close()
        raise


class AsdfFile(Mapping[str, Any]):
    """An open ASDF file, a mapping of the root of its tree: `file["roman"]["meta"]`. Made by `open`.

    `set` and `unset` change the tree that is shown; the file changes at `commit`. Leaving a `with` block, or `close`, commits nothing.
    """

    __slots__ = ("__weakref__", "_editor", "_file", "_options", "_root")

    def __init__(self, file: File, editor: _holdall.AsdfEditor | None, options: dict[str, Any]) -> None:
        self._file, self._editor, self._options = file, editor, options
        self._root: Any = None
        if file.format != "asdf":
            # Says so.
            _holdall.asdf_tree(file._core, _refuse)

    @property
    def path(self) -> str | None:
        """The absolute path; None for a file object."""
        return self._file.path

    @property
    def mode(self) -> str:
        """ "r" or "rw"."""
        return "r" if self._editor is None else "rw"

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._file.closed

    @property
    def file(self) -> File:
        """The file as `holdall.open` gives it, as it was last committed: datasets by their paths, `layout`, `verify`, `info`."""
        return self._file

    @property
    def root(self) -> Any:
        """The root of the tree, whatever it is: a mapping in all files of the standard."""
        core = self._file._live()
        if self._root is None:
            made: dict[int, Dataset] = {}

            def dataset(index: int) -> Dataset:
                if index not in made:
                    made[index] = Dataset(self._file, index)
                return made[index]

            if self._editor is None:
                self._root = (_holdall.asdf_tree(core, dataset),)
            else:
                self._root = (self._editor.tree(core, dataset),)
        return self._root[0]

    @property
    def tree(self) -> Tree:
        """The tree, with what was set and not yet committed. It is read once and belongs to this object: change it by `set` and `unset`.

        Arrays that were set and not committed are the numpy arrays themselves. Raises UsageError for a root that is not a mapping.
        """
        root = self.root
        if not isinstance(root, dict):
            raise UsageError(f"the root of the tree is a {type(root).__name__}, not a mapping", None, None, "file.root")
        return Tree(root)

    def __getitem__(self, key: Any, /) -> Any:
        return self.tree[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tree)

    def __len__(self) -> int:
        return len(self.tree)

    def find(self, pointer: str, /) -> Any:
        """The value at a JSON pointer: `find("/roman/meta/0")`. Raises KeyError, with the nearest name, where there is none."""
        return find(self.root, pointer)

    def search(
        self,
        key: Any = NOT_GIVEN,
        type_: Any = NOT_GIVEN,
        value: Any = NOT_GIVEN,
        filter_: Callable[..., object] | None = None,
    ) -> SearchResult:
        """Finds values in the tree, as `asdf.AsdfFile.search` does: those that fit all that is given, nearest to the root first.

        key : text is a regular expression to be found in the key or index; anything else is equal to it
        type_ : a type, of which the value is an instance (`numpy.ndarray` means datasets too); or a regular expression to be found in the name
            of the type or in the tag
        value : text is a regular expression to be found in the value's text, never in collections and arrays; anything else is equal to it
        filter_ : a function of the value, or of value and key, that is true for what is wanted

        Returns matches with `path`, a JSON pointer as `set` takes it, and `node`, the value. Values of arrays are not read.
        """
        return search(self.root, key, type_, value, filter_)

    def info(self, depth: int | None = None) -> None:
        """Prints the tree as it was last committed: tags, values, type and shape of arrays, down to `depth` levels."""
        print(self._file.tree(depth=depth))

    @property
    def history(self) -> list[Any]:
        """The entries of the file's history, oldest first."""
        found = self.tree.get("history")
        if isinstance(found, dict):
            found = found.get("entries")
        return list(found) if isinstance(found, list) else []

    def add_history(self, description: str, software: Mapping[str, str] | None = None) -> None:
        """Sets one more entry of the history, with the time.

        software : `{"name": …, "version": …}` of the program that did what is described
        """
        now = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
        entry = TaggedDict({"description": description, "time": now}, _ENTRY)
        if software is not None:
            entry["software"] = TaggedDict(dict(software), _SOFTWARE)
        history = self.tree.get("history")
        # The first versions of the standard have a list.
        is_list = self._file.info.get("standard", "1.0.0") in ("1.0.0", "1.1.0")
        if history is None or (is_list and not history):
            self.set("/history", [entry] if is_list else {"entries": [entry]})
        elif isinstance(history, list):
            self.set("/history/-", entry)
        elif history.get("entries"):
            self.set("/history/entries/-", entry)
        else:
            self.set("/history/entries", [entry])

    def set(self, pointer: str, value: Any, /, *, codec: Codec | None = None, keep_tag: bool = True) -> None:
        """Puts a value at a JSON pointer of the tree: `set("/roman/meta/exposure/time", 30.5)`. The file changes at `commit`.

        What holds the place has to be there: `/key` is added to a mapping, `/list/-` behind the last item of a list, and an item that is there is
        replaced. An alias gives way itself; what it names stays.

        value : as for `write`. Arrays go into new blocks behind the others, and datasets are copied from their file, both at the commit: until
            then an array is not to be changed. The block of an array that was replaced stays in the file; `holdall.recode` leaves it out
        codec : of the arrays in the value, as for `write`
        keep_tag : the tag of what is there stays on a value of its kind (text, list, mapping) without a tag of its own

        Raises UsageError for a place that cannot be, and for a file that was opened to be read; TypeError and UnsupportedError as `write`.
        """
        from .._functions import _codec

        editor = self._writable()
        editor.set(pointer, value, Found(value, _codec(codec)), keep_tag)
        self._root = None

    def unset(self, pointer: str, /) -> None:
        """Takes what is at a JSON pointer out of the tree. The file changes at `commit`.

        Items of a list that follow move up. Raises KeyError, with the nearest name, where there is nothing; UsageError for a file that was opened
        to be read.
        """
        editor = self._writable()
        try:
            editor.unset(pointer)
        except UsageError:
            # Raises KeyError where that is why.
            if pointer.startswith("/"):
                find(self.root, pointer)
            raise
        self._root = None

    def validate(self, schema: StrPath | None = None, /) -> list[Finding]:
        """Holds the tree, with what was set, against the schemas of its tags, and against a schema of your own.

        schema : path of a file with a JSON schema (draft 4, as YAML or JSON) for the whole tree

        Returns what does not fit, as findings with the code "schema" and the severity "error", and notes such as "unknown_tag" for tags without
        a schema here; an empty list where all of it fits. Raises OSError, and MalformedError for a schema that is none.
        """
        read = None
        if schema is not None:
            with _read(schema) as file:
                read = (file.read(), os.fspath(schema))
        core = self._file._live()
        found = _holdall.asdf_validate(core, read) if self._editor is None else self._editor.validate(read)
        return [Finding(*one) for one in found]

    def commit(self) -> Literal["unchanged", "in place", "new file"]:
        """Writes all that was set and unset. Whatever happens meanwhile, the file has the old tree or the new one.

        Every byte of the tree that is not changed stays: comments, order and spelling of the rest. So do all blocks. A tree that no longer fits
        its place is written to a new file, which takes the name of the old one; links to the old one keep the old tree.

        Returns how. Raises UsageError where the collections of `tree` were changed by hand, which nothing is written of; OSError. After an error
        of writing the file is closed here: open it again to see which tree it has.
        """
        editor = self._writable()
        if self._root is not None:
            kept, self._root = self._root, None
            if not same(kept[0], self.root):
                hint = "set(pointer, value) and unset(pointer)"
                raise UsageError("the tree was changed by hand, which commit does not write", None, None, hint)
        path = cast("str", self._file.path)
        try:
            how = editor.commit()
            file = _open(path, **self._options)
        except BaseException:
            self.close()
            raise
        self._file.close()
        self._file, self._root = file, None
        return cast("Literal['unchanged', 'in place', 'new file']", how)

    def _writable(self) -> _holdall.AsdfEditor:
        self._file._live()
        if self._editor is None:
            raise UsageError("the file was opened to be read", None, None, "holdall.asdf.open(path, 'rw')")
        return self._editor

    def close(self) -> None:
        """Lets the file go; what was not committed is dropped. Arrays and datasets in hand stay valid."""
        self._file.close()
        if self._editor is not None:
            self._editor.close()

    def __enter__(self) -> AsdfFile:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        state = "closed" if self.closed else self.mode
        return f"<holdall.asdf.AsdfFile {self._file._name()!r} {state}>"


def _refuse(index: int) -> Any:
    raise AssertionError(index)


def _read(path: StrPath) -> Any:
    import builtins

    return builtins.open(path, "rb")
