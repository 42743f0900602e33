"""Functions that take paths: open, load, save, append, convert, recode, verify, repair, diff, digest."""

from __future__ import annotations

import errno
import json
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _holdall
from ._arrays import descr, described, items
from ._dataset import Dataset
from ._errors import DifferenceError, HoldallLossWarning, UsageError
from ._file import File
from ._meta import for_new_file
from ._opening import DEFAULTS, as_path, from_object, open_on, open_path
from ._remote import is_option, is_url, storage
from ._threads import threads as _threads
from ._types import (
    Codec,
    Conversion,
    Difference,
    Digests,
    Finding,
    Json,
    Loss,
    OnLoss,
    Progress,
    Readable,
    Repair,
    RepairItem,
    StrPath,
    Verification,
    bounds,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray


def open(
    file: StrPath | Readable | tuple[Any, str],
    /,
    *,
    digests: Digests = "whole",
    c_order: bool = False,
    stored: bool = False,
    lenient: bool = False,
    mmap: bool | None = None,
    max_memory: int | None = None,
    assume_dtype: DTypeLike | None = None,
    assume_codec: str | None = None,
    **storage_options: Any,
) -> File:
    """Opens a file of any of the formats, told by its bytes; never changes it.

    file : a path; a URL (`https://…`, `s3://bucket/key`, `gs://…`, `az://…`); a directory where the format is one (bcolz, sparse Blosc2 frames); an
        object with `read` and `seek`, which is read from this and from other threads, one at a time, and stays open; or `(fs, path)`, a file system
        of fsspec or a store of obstore and a path in it, which can be pickled
    digests : "whole" compares a digest when all that it covers is read, "compare" with every read (all that it covers is read for that), "ignore"
        never
    c_order : shows column-major data with their axes reversed, so that the last one is fastest; no byte moves
    stored : shows only what is stored, without the values that a schema puts in the place of absent ones (GSD), and without masks (ASDF)
    lenient : reads known mistakes of known writers as they were meant
    mmap : False reads by position, for files that others may truncate or rewrite meanwhile: a mapped file that is cut while it is read ends the
        process (SIGBUS), as with `numpy.memmap`. There are no views then
    max_memory : most bytes that the file may make one call take; None for three quarters of what the machine allows
    assume_dtype : type of elements of which the file says none: numpy's, or a text such as "<f4"
    assume_codec : codec where the file leaves it open
    storage_options : for URLs. `anon=True` reads a bucket without credentials; `endpoint_url`, `region`, `profile`; `key`, `secret` and `token`, or
        any setting of the providers by the name of its environment variable (`aws_access_key_id`); `headers`, a mapping, for the URL's own host;
        `proxy`; `refuse_private_redirects=True`; `deadline` in seconds for one range of bytes. A mapping of these as `storage_options` is taken
        too. What is not given comes from the environment, as the command takes it

    Returns a `File`. Metadata are read, the elements of arrays are not.

    Raises OSError where the file cannot be read, WrongFormatError, DamageError where it does not open, UnsupportedError for legal versions that are
    not read, LimitError, UsageError for a type that is none.
    """
    _word(digests, "digests", ("whole", "compare", "ignore"))
    # Small files are opened in some 15 µs: a tenth of that would go into words that nobody gave.
    is_plain = mmap is None and max_memory is None and assume_dtype is None and assume_codec is None
    options = {}
    if storage_options or not (is_plain and c_order is False and stored is False and lenient is False):
        options = _options(
            "open",
            c_order=c_order,
            stored=stored,
            lenient=lenient,
            mmap=mmap,
            max_memory=max_memory,
            assume_dtype=assume_dtype,
            assume_codec=assume_codec,
            **storage_options,
        )
    if options.get("storage") and not (isinstance(file, (str, os.PathLike)) and is_url(os.fspath(file))):
        raise TypeError("storage options are for URLs")
    if isinstance(file, tuple):
        is_place = len(file) == 2 and isinstance(file[1], str)
        if not is_place or not (hasattr(file[0], "open") or hasattr(file[0], "get_ranges")):
            raise TypeError(
                "a tuple is (fs, path): a file system of fsspec or a store of obstore, and a path in it, as text"
            )
        return open_on(*file, options, digests)
    if isinstance(file, (str, os.PathLike)):
        return open_path(file, options, digests)
    if hasattr(file, "read") and hasattr(file, "seek"):
        return File(from_object(file, options), None, options, digests)
    raise TypeError(f"open() takes a path, a file object or (fs, path), not {type(file).__name__}")


def _options(call: str, **words: Any) -> dict[str, Any]:
    """Options of `open` that are not the default; `call` is the function that was given them."""
    missing = object()
    given = {key: value for key, value in words.items() if is_option(key)}
    words = {key: value for key, value in words.items() if key not in given}
    changed = {key: value for key, value in words.items() if value is not DEFAULTS.get(key, missing)}
    for key, value in changed.items():
        if key not in DEFAULTS or key == "storage":
            compared = ": it always compares digests" if key == "digests" else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {key!r}{compared}")
        if key in ("lenient", "c_order", "stored"):
            _flag(key, value)
    if changed.get("mmap") not in (None, True, False):
        raise TypeError("mmap is True, False or None")
    most = changed.get("max_memory")
    if most is not None and not 0 <= (most := operator.index(most)) < 1 << 64:
        raise ValueError(f"max_memory is a number of bytes, not {most}")
    if changed.get("assume_dtype") is not None:
        changed["assume_dtype"] = descr(changed["assume_dtype"])
    if pairs := storage(given):
        changed["storage"] = pairs
    return changed


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {value!r}")


def _must_exist(address: str) -> None:
    """Raises FileNotFoundError with the file's name where an address leads to none."""
    if not is_url(address) and not os.path.exists(address):
        os.stat(_holdall.split_address(address)[0])


def _must_not_exist(target: str, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)


def _word(word: object, name: str, words: tuple[str, ...]) -> None:
    if word not in words:
        listed = ", ".join(repr(known) for known in words[:-1])
        raise ValueError(f"{name} is {listed} or {words[-1]!r}, not {word!r}")


def load(address: StrPath, /, **open_options: Any) -> NDArray[Any]:
    """Reads the array at an address, in one call: `load("run.gsd::particles/position[-1]")`.

    address : `FILE`, `FILE::PATH` or `FILE::PATH[SEL]` with numpy's basic slicing between the brackets, as the command takes them. A file
        alone has to hold one dataset
    open_options : those of `open`

    Returns a new, writable array of the file's type, shape and order; a scalar where every axis is given an integer.

    Raises what `open` and `Dataset.read` raise, KeyError for a path that the file does not have, UsageError for a selection that does not fit and
    for a file of several datasets.
    """
    text = as_path(address)
    path, name, selection = _holdall.split_address(text)
    with open(path, **open_options) as file:
        if name is None:
            names = list(file)
            if len(names) != 1:
                listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
                raise UsageError(f"{path} holds {len(names)} datasets: {listed}", None, None, f"{path}::NAME")
            name = names[0]
        dataset = file[name]
        if selection is None:
            return cast("NDArray[Any]", dataset[...])
        index: list[Any] = []
        for start, step, count, kept in _holdall.parse_selection(selection, dataset.shape):
            stop: int | None = start + step * count
            index.append(slice(start, None if stop is not None and stop < 0 else stop, step) if kept else start)
        return cast("NDArray[Any]", dataset[tuple(index)])


def _codec(codec: Codec | None) -> tuple[str, int | None] | None:
    if codec is None:
        return None
    if isinstance(codec, tuple) and len(codec) == 2 and isinstance(codec[0], str):
        return codec[0], None if codec[1] is None else operator.index(codec[1])
    if not isinstance(codec, str):
        raise TypeError(f"a codec is a name, 'NAME:LEVEL' or (name, level), not {codec!r}")
    name, colon, level = codec.partition(":")
    if colon and not level.lstrip("-").isdecimal():
        raise ValueError(f"a codec is a name, or a name and a level as in 'zstd:5', not {codec!r}")
    return name, int(level) if colon else None


def _write_words(
    words: Mapping[str, object],
    *,
    format: str | None = None,
    overwrite: bool = False,
    durable: bool = True,
    verify: bool = False,
    fill: object = None,
    c_order: bool = False,
    codec: Codec | None = None,
    on_loss: OnLoss = "warn",
) -> dict[str, Any]:
    for name, value in (("overwrite", overwrite), ("durable", durable), ("verify", verify), ("c_order", c_order)):
        _flag(name, value)
    if format is not None and not isinstance(format, str):
        raise TypeError(f"format is the name of a format, not {format!r}")
    return {
        "format": format,
        "overwrite": overwrite,
        "durable": durable,
        "verify": verify,
        "refuse_losses": on_loss == "raise",
        "fill": None if fill is None else str(fill),
        "c_order": c_order,
        "codec": _codec(codec),
        "words": [(key.replace("_", "-"), _text(value)) for key, value in words.items() if value is not None],
    }


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "tolist"):
        # Arrays and scalars of numpy.
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return ",".join(str(part) for part in value)
    return str(value)


def _told(line: dict[str, Any], target: object, on_loss: OnLoss, stacklevel: int = 3) -> list[Loss]:
    """Losses of a line of JSON, told as asked."""
    if "differences" in line:
        found = line["differences"]
        first = f"{found[0]['dataset'] or 'file'}: {found[0]['what']}" if found else "no difference is known"
        raise DifferenceError(f"{target}: read back, it is not what it was made from: {first}")
    if line.get("warning"):
        warnings.warn(line["warning"], HoldallLossWarning, stacklevel=stacklevel)
    losses = [Loss(loss["dataset"], loss["what"]) for loss in line["losses"]]
    if losses and on_loss == "warn":
        listed = "; ".join(f"{loss.dataset}: {loss.what}" if loss.dataset else loss.what for loss in losses[:3])
        more = f"; and {len(losses) - 3} more" if len(losses) > 3 else ""
        warnings.warn(f"{target}: not carried over: {listed}{more}", HoldallLossWarning, stacklevel=stacklevel)
    return losses


def save(
    path: StrPath,
    data: ArrayLike | Dataset | Mapping[str, Any],
    /,
    *,
    meta: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    format: str | None = None,
    codec: Codec | None = None,
    chunks: Sequence[int] | int | None = None,
    filter: str | None = None,
    checksum: str | None = None,
    c_order: bool = False,
    durable: bool = True,
    verify: bool = False,
    fill: object = None,
    on_loss: OnLoss = "warn",
    progress: Progress | None = None,
    **words: object,
) -> list[Loss]:
    """Writes an array, or a mapping of arrays by their paths, to a new file in the format that the extension names.

    The file appears complete or not at all. Arrays keep their type, byte order and shape where the format can hold them. ASDF, npy and Bloscpack
    keep Fortran order, too; RawArray is always in it, Blosc2 and GSD always in C order. Masked arrays keep their mask in ASDF; elsewhere missing
    floats are NaN, missing dates NaT, and others what lies below the mask, or `fill`: which is a loss.

    path : the new file
    data : an array, or what numpy makes an array of; a `Dataset`; a mapping of such by path, also an open `File`. One array by itself is called
        "data"
    meta : metadata of text, numbers, bytes, lists and mappings; `File.meta` of another file goes without its arrays
    overwrite : True replaces an existing file, which stays until the new one is complete
    format : the format's name where the extension does not tell: "asdf", "blosc2", "bloscpack", "gsd", "rawarray", "npy", "zarr", "fits"
    codec : "zstd", "zstd:5" or ("zstd", 5); each format has its own
    chunks : elements per chunk along each axis; a number alone is of the first axis, and the others are whole
    filter, checksum : words of the format, as for `holdall convert --help`
    c_order : for formats that are column-major: axes are stored in reverse, so that no byte moves
    durable : waits until the file is on the disk
    verify : reads the file back and compares before it appears
    fill : the value of missing elements in formats without masks
    on_loss : "warn" warns with HoldallLossWarning of what the format does not hold, "raise" raises UsageError with all of it and writes nothing,
        "ignore" does neither
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    words : other words of the format: split="always", frames="", as_bytes=True

    Returns what the format does not hold, a list of `Loss`.

    Raises FileExistsError, other OSErrors, UsageError for what the format does not have, UnsupportedError for types that it or the package does not
    store, DifferenceError where `verify` found one, TypeError for metadata that are none.
    """
    _word(on_loss, "on_loss", ("warn", "raise", "ignore"))
    words = {"chunks": chunks, "filter": filter, "checksum": checksum} | words
    make = _write_words(
        words,
        format=format,
        overwrite=overwrite,
        durable=durable,
        verify=verify,
        fill=fill,
        c_order=c_order,
        codec=codec,
        on_loss=on_loss,
    )
    if meta is not None and not isinstance(meta, Mapping):
        raise TypeError(f"meta is a mapping, not {type(meta).__name__}")
    target = as_path(path)
    _must_not_exist(target, overwrite)
    arrays = [described(key, value) for key, value in items(data)]
    meta = None if meta is None else for_new_file(meta)
    line = json.loads(_holdall.save(target, arrays, meta, make, progress))
    return _told(line, target, on_loss)


def append(
    path: StrPath,
    data: ArrayLike | Dataset | Mapping[str, Any] | StrPath,
    /,
    *,
    durable: bool = True,
    fill: object = None,
    on_loss: OnLoss = "warn",
    threads: int | None = None,
    progress: Progress | None = None,
    **words: object,
) -> list[Loss]:
    """Adds rows to the array of a file, or frames to a GSD file. Whatever fails, the file is what it was.

    Blosc2, Bloscpack and streamed ASDF arrays in C order grow along the first axis, RawArray files along the last, which is the slowest there.
    Elements of another byte order are swapped.

    path : an existing file
    data : an array that has the shape of the one in the file along all other axes; a mapping of arrays by path; a `Dataset`; or a path or address of
        another file, as text
    durable : waits until the file is on the disk
    fill : the value of missing elements
    on_loss : "warn" warns with HoldallLossWarning of what the file does not hold, "ignore" does not
    threads : most threads that are used; None for `set_threads`
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    words : other words of the format, as for `holdall append --help`

    Returns what the file does not hold of the data, a list of `Loss`.

    Raises OSError, UsageError where the shape or the type does not fit or the format does not grow, DamageError.
    """
    _word(on_loss, "on_loss", ("warn", "ignore"))
    make = _write_words(words, durable=durable, fill=fill)
    target = as_path(path)
    if isinstance(data, (str, os.PathLike)):
        source = as_path(data)
        _must_exist(source)
        line = _holdall.append_files(target, source, DEFAULTS, make, _threads(threads), progress)
    else:
        arrays = [described(key, value) for key, value in items(data)]
        line = _holdall.append_arrays(target, arrays, make, progress)
    return _told(json.loads(line), target, on_loss)


def convert(
    source: StrPath,
    target: StrPath,
    /,
    *,
    format: str | None = None,
    overwrite: bool = False,
    verify: bool = False,
    codec: Codec | None = None,
    c_order: bool = False,
    durable: bool = True,
    fill: object = None,
    on_loss: OnLoss = "warn",
    threads: int | None = None,
    progress: Progress | None = None,
    open: Mapping[str, Any] | None = None,
    **words: object,
) -> Conversion:
    """Writes the values of a file, or of an address in it, in another format: `convert("a.asdf::roman/data", "b.b2nd", codec="zstd:3")`.

    Memory is bounded by pieces, not by the data. Digests of the source are always compared. The target appears complete or not at all.

    source : a path, or an address `FILE::PATH[SEL]`
    target : the new file
    threads : most threads that are used; None for `set_threads`
    open : options of `open` for the source, a mapping
    format, overwrite, verify, codec, c_order, durable, fill, on_loss, progress, words : as for `save`

    Returns a `Conversion`.

    Raises what `save` raises, and of the source FileNotFoundError, WrongFormatError, DamageError, UnsupportedError and LimitError.
    """
    _word(on_loss, "on_loss", ("warn", "raise", "ignore"))
    make = _write_words(
        words,
        format=format,
        overwrite=overwrite,
        verify=verify,
        codec=codec,
        c_order=c_order,
        durable=durable,
        fill=fill,
        on_loss=on_loss,
    )
    options = DEFAULTS | _options("convert", **(open or {}))
    address, to = as_path(source), as_path(target)
    _must_exist(address)
    _must_not_exist(to, overwrite)
    text = _holdall.convert(address, to, options, make, _threads(threads), progress)
    return _made(text, to, on_loss)


def recode(
    source: StrPath,
    target: StrPath,
    /,
    *,
    codec: Codec | None = None,
    overwrite: bool = False,
    verify: bool = False,
    durable: bool = True,
    on_loss: OnLoss = "warn",
    threads: int | None = None,
    progress: Progress | None = None,
    **words: object,
) -> Conversion:
    """Writes a file again in its own format: with another codec, other chunks, filters or digests. Space that nothing uses is left out.

    source : a path
    target : the new file, another than the source
    threads : most threads that are used; None for `set_threads`
    codec, overwrite, verify, durable, on_loss, progress, words : as for `save`; what is not given stays as it is in the source

    Returns a `Conversion`.

    Raises what `convert` raises.
    """
    _word(on_loss, "on_loss", ("warn", "raise", "ignore"))
    make = _write_words(words, overwrite=overwrite, verify=verify, codec=codec, durable=durable, on_loss=on_loss)
    to = as_path(target)
    _must_not_exist(to, overwrite)
    text = _holdall.recode(as_path(source), to, DEFAULTS, make, _threads(threads), progress)
    return _made(text, to, on_loss)


def _made(text: str, target: str, on_loss: OnLoss) -> Conversion:
    line = json.loads(text)
    losses = _told(line, target, on_loss, stacklevel=4)
    return Conversion(line["format"], line["datasets"], losses)


def verify(
    path: StrPath,
    /,
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    **open_options: Any,
) -> Verification:
    """Looks for damage: decodes every block and compares every digest. Damage is a finding, not an exception.

    path : the file
    quick : checks the structure alone, without decoding
    threads : most threads that are used; None for `set_threads`
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    open_options : those of `open`, without `digests`

    Returns a `Verification`, which is true where the file is sound.

    Raises OSError where the file cannot be read.
    """
    options = DEFAULTS | _options("verify", **open_options)
    target = as_path(path)
    if not is_url(target):
        os.stat(target)
    line = json.loads(_holdall.verify(target, options, quick, _threads(threads), progress))
    findings = [
        Finding(
            one["severity"], one["code"], one["message"], bounds(one["start"], one["end"]), one["dataset"], one["part"]
        )
        for one in line["findings"]
    ]
    return Verification(line["path"], line["format"], line["verdict"], findings, line["blocks"])


def repair(
    path: StrPath,
    target: StrPath | None = None,
    /,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Repair:
    """Writes what can be proved of a damaged file to a new one; without a target says what it would do. The file itself is only read.

    path : the damaged file
    target : the new file, of the same format, or None
    overwrite : True replaces an existing target
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work

    Returns a `Repair`.

    Raises OSError, FileExistsError, WrongFormatError where no format is recognised, UsageError where the target is the file itself or of another
    format.
    """
    _flag("overwrite", overwrite)
    to = None if target is None else as_path(target)
    source = as_path(path)
    if to is not None and not (os.path.exists(to) and os.path.samefile(source, to)):
        _must_not_exist(to, overwrite)
    line = json.loads(_holdall.repair(source, to, overwrite, progress))

    def parts(key: str) -> list[RepairItem]:
        return [RepairItem(bounds(one["start"], one["end"]), one["what"], one.get("evidence")) for one in line[key]]

    return Repair(line["format"], parts("kept"), parts("guessed"), parts("lost"))


def diff(
    a: StrPath,
    b: StrPath,
    /,
    *,
    rtol: float = 0,
    atol: float = 0,
    ignore: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    **open_options: Any,
) -> list[Difference]:
    """Compares two files, or two addresses in files, of any formats: types, shapes, values, and in one format metadata. Empty where they agree.

    a, b : paths, or addresses `FILE::PATH[SEL]`
    rtol, atol : |a - b| <= atol + rtol * |b| counts as equal, and NaN as NaN; with both 0 values are compared bit by bit
    ignore : names of datasets, keys and pointers of metadata that are passed over, with * and ?; one, or a list
    threads : most threads that are used; None for `set_threads`
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    open_options : those of `open` for both, without `digests`

    Returns a list of `Difference`.

    Raises OSError, WrongFormatError, DamageError, UnsupportedError, LimitError, UsageError for a path that a file does not have.
    """
    options = DEFAULTS | _options("diff", **open_options)
    if not (rtol >= 0 and atol >= 0):
        raise ValueError("rtol and atol are 0 or more")
    if isinstance(ignore, str):
        ignore = [ignore]
    first, second = as_path(a), as_path(b)
    _must_exist(first)
    _must_exist(second)
    line = json.loads(
        _holdall.diff(
            first,
            second,
            options,
            (float(rtol), float(atol)),
            list(ignore),
            _threads(threads),
            progress,
        )
    )
    return [Difference(one["dataset"], one["what"]) for one in line["differences"]]


def digest(
    address: StrPath, /, *, threads: int | None = None, progress: Progress | None = None, **open_options: Any
) -> dict[str, str]:
    """Digests of the datasets of a file or an address, by their paths: the same for the same type, shape and values in any format.

    address : `FILE`, `FILE::PATH` or `FILE::PATH[SEL]`
    threads : most threads that are used; None for `set_threads`
    progress : called with (done, total) in bytes, on this thread; an exception in it ends the work
    open_options : those of `open`, without `digests`

    Returns a dict from path to SHA-256 in 64 hexadecimal digits; what it is of is described in docs/digest.md.

    Raises OSError, WrongFormatError, DamageError, UnsupportedError, LimitError, UsageError for a path that the file does not have.
    """
    options = DEFAULTS | _options("digest", **open_options)
    text = as_path(address)
    _must_exist(text)
    return dict(_holdall.digest(text, options, _threads(threads), progress))


def formats() -> list[dict[str, Json]]:
    """What is done with each version of each format, as `holdall formats --json` has it: a list of a dict for each format."""
    return [json.loads(line) for line in _holdall.formats()]
