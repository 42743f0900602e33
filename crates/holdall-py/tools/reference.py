"""Writes docs/python-api/, the reference of the package, from its signatures and docstrings.

    python crates/holdall-py/tools/reference.py            # writes
    python crates/holdall-py/tools/reference.py --check    # compares, and names the pages that differ

It describes the package that the interpreter imports.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PAGES = Path(__file__).resolve().parents[3] / "docs/python-api"

FIRST = ["holdall", "holdall.gsd", "holdall.gsd.fl", "holdall.rawarray"]
"""Modules in the order of readers; others come after these, by name."""

ORDER = {
    "holdall": """
        open load save append convert recode verify repair diff digest plot formats set_threads options
        File Dataset Picture Conversion Difference Finding Histogram Loss Repair RepairItem Segment Stat Verification
        HoldallError WrongFormatError DamageError TruncatedError MalformedError ChecksumError UnsupportedError LimitError UsageError
        DifferenceError HoldallLossWarning __version__
    """,
    "holdall.gsd": """
        open read_log HOOMDTrajectory Trajectory Frame ConfigurationData ParticleData BondData ConstraintData GSDError
    """,
    "holdall.gsd.fl": "open GSDFile",
    "holdall.rawarray": "read write query trailer",
}
"""Names in the order of readers. Names of other modules are in the order of `__all__`, functions before classes."""

TYPES = {
    "StrPath": "`str` or `os.PathLike[str]`",
    "Readable": "a file object: `read(n)` gives at most n bytes, `seek(place, whence)` the new place",
    "Json": "None, `bool`, `int`, `float`, `str`, `bytes`, and lists and dicts of them",
    "Index": "an integer, a slice, `...`, None, a list or array of integers or booleans, or a tuple of these",
    "Codec": '`"zstd"`, `"zstd:5"` or `("zstd", 5)`',
    "Digests": '`"whole"`, `"compare"` or `"ignore"`',
    "Order": '`"K"`, `"C"` or `"F"`',
    "OnLoss": '`"warn"`, `"raise"` or `"ignore"`',
    "Progress": "a function of two integers, done and total; its result is ignored",
    "Dims": "a mapping from paths to names, or names for every dataset of as many axes; None",
    "Records": '`"fields"` or `"structured"`',
    "Precision": '`"single"` or `"double"`',
    "Scheme": '`"atomic"` or `"reference"`',
    "ArrayLike, DTypeLike, NDArray": "those of `numpy.typing`",
}
"""Names of types in signatures."""

WIDTH = 100


def modules() -> list[str]:
    """Names of the public modules that have a page."""
    package = importlib.import_module("holdall")
    found = ["holdall", "holdall.gsd.fl"]
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_"):
            found.append(f"holdall.{module.name}")
    return sorted(found, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def page_name(module: str) -> str:
    """Name of a module's page: "gsd-fl.md"."""
    return (module.removeprefix("holdall.").replace(".", "-")) + ".md"


def pages() -> dict[str, str]:
    """Text of each page by its name."""
    made = {page_name(name): page(importlib.import_module(name)) for name in modules()}
    return {"README.md": front()} | made


def front() -> str:
    """The table of contents."""
    lines = ["# Reference of the Python package", ""]
    lines += [
        "Written by `crates/holdall-py/tools/reference.py` from docstrings; `help(holdall.open)` shows the same text.",
        "",
    ]
    for name in modules():
        first = (importlib.import_module(name).__doc__ or "").strip().partition("\n\n")[0]
        lines.append(f"* [`{name}`]({page_name(name)}): {escaped(' '.join(first.split()))}")
    lines += ["", "## Types in signatures", "", "| name | stands for |", "|---|---|"]
    lines += [f"| {', '.join(f'`{one}`' for one in name.split(', '))} | {text} |" for name, text in TYPES.items()]
    return "\n".join(lines) + "\n"


def page(module: ModuleType) -> str:
    """The page of a module."""
    lines = [f"# {module.__name__}", "", *text_of(documented(module, module.__name__))]
    lines += ["[Types in signatures](README.md#types-in-signatures) are explained on the first page.", ""]
    for name in names(module):
        lines += entry(module, name)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def names(module: ModuleType) -> list[str]:
    """Public names, ordered."""
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", None) == module.__name__]
    public = getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]
    order = ORDER.get(module.__name__, "").split()
    if order:
        missing = [name for name in public if name not in order and not isinstance(getattr(module, name), ModuleType)]
        public = [name for name in order if name in public or hasattr(module, name)] + missing
        return public
    kinds = {name: getattr(module, name) for name in public if not isinstance(getattr(module, name), ModuleType)}
    return sorted(kinds, key=lambda name: (isinstance(kinds[name], type), is_error(kinds[name])))


def is_error(one: Any) -> bool:
    """True for classes of exceptions."""
    return isinstance(one, type) and issubclass(one, BaseException)


def entry(module: ModuleType, name: str) -> list[str]:
    """The section of a name."""
    one, full = getattr(module, name), f"{module.__name__}.{name}"
    lines = ["", f"## {heading(name)}", ""]
    if isinstance(one, str):
        return [*lines, "Text: the version of the package." if name == "__version__" else f"`{one!r}`"]
    if getattr(one, "__name__", name) != name:
        return [*lines, f"Another name of `{one.__name__}`."]
    if isinstance(one, type):
        return [*lines, *class_of(one, full)]
    if not callable(one):
        return [*lines, *text_of(documented(type(one), full), types=type(one))]
    return [*lines, *fenced(signature(full, one)), *text_of(documented(one, full))]


def heading(name: str) -> str:
    """A name whose underscores are no Markdown."""
    return f"`{name}`" if "__" in name else name


def class_of(one: type, full: str) -> list[str]:
    """A class: its text, properties and methods."""
    bases = ", ".join(base.__name__ for base in one.__bases__ if base is not object)
    is_made_by_users = "__init__" in vars(one) and not is_error(one) and "Made by" not in documented(one, full)
    if is_made_by_users:
        head = signature(full, one).removesuffix(" -> None")
        lines = fenced(f"class {head}")
    else:
        lines = fenced(f"class {full}" + (f"({bases})" if is_error(one) else ""))
    lines += text_of(documented(one, full), types=one)
    values, methods = [], []
    for name, member in members(one):
        if isinstance(member, property):
            kind = plain(inspect.signature(member.fget).return_annotation) if member.fget else ""
            set_too = " Can be set." if member.fset else ""
            first, *more = text_of(documented(member, f"{full}.{name}") + set_too)
            values += [f"* `{name}` (`{kind}`): {first}", *(f"  {line}" if line else "" for line in more[:-1])]
        else:
            called = f"{full.rpartition('.')[2]}.{name}"
            methods += ["", f"### {heading(called)}", "", *fenced(signature(called, member, is_method=True))]
            methods += text_of(documented(member, called))
    if values:
        lines += ["", "Properties:", "", *values]
    return lines + methods


def members(one: type) -> Iterator[tuple[str, Any]]:
    """Public properties and methods, also those of private bases of the package, and special methods with a text."""
    seen: set[str] = set()
    for base in (one, *one.__mro__[1:]):
        if not base.__module__.startswith("holdall") or (base is not one and is_error(base)):
            continue
        for name, member in vars(base).items():
            member = getattr(member, "__func__", member)
            is_special = name.startswith("__") and name not in ("__init__", "__new__") and not issubclass(one, tuple)
            is_shown = not name.startswith("_") or (is_special and member.__doc__ and in_source(member))
            if name in seen or not is_shown or not (isinstance(member, property) or inspect.isfunction(member)):
                continue
            seen.add(name)
            yield name, member


def in_source(member: Any) -> bool:
    """False for what dataclasses add."""
    code = getattr(member, "__code__", None)
    return code is not None and Path(code.co_filename).exists()


def documented(one: Any, full: str) -> str:
    """The docstring. SystemExit where there is none."""
    text = inspect.cleandoc(getattr(one, "__doc__", None) or "")
    if not text:
        raise SystemExit(f"{full} has no docstring")
    return text


def signature(full: str, one: Any, *, is_method: bool = False) -> str:
    """A call as it is written, on one line, or a line for each parameter."""
    told = inspect.signature(one)
    parts: list[str] = []
    given = list(told.parameters.values())[1 if is_method else 0 :]
    for at, each in enumerate(given):
        before = given[at - 1].kind if at else None
        if before is each.POSITIONAL_ONLY and each.kind is not each.POSITIONAL_ONLY:
            parts.append("/")
        if each.kind is each.KEYWORD_ONLY and before not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            parts.append("*")
        stars = "*" * (each.kind is each.VAR_POSITIONAL) + "**" * (each.kind is each.VAR_KEYWORD)
        text = stars + each.name
        if each.annotation is not each.empty:
            text += f": {plain(each.annotation)}"
        if each.default is not each.empty:
            default = written(each.default)
            text += f" = {default}" if each.annotation is not each.empty else f"={default}"
        parts.append(text)
    if given and given[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    end = "" if told.return_annotation is told.empty else f" -> {plain(told.return_annotation)}"
    line = f"{full}({', '.join(parts)}){end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{full}(", *(f"    {part}," for part in parts), f"){end}"])


def written(value: Any) -> str:
    """A default value as it is written."""
    if isinstance(value, str):
        return f'"{value}"'
    text = repr(value)
    if " at 0x" in text:
        # An object by which a function finds out that nothing was given.
        return "..."
    return {"Ellipsis": "...", "slice(None, None, None)": "slice(None)"}.get(text, text)


def plain(annotation: Any) -> str:
    """An annotation as it is written."""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.strip("'").replace("typing.", "")


def fenced(text: str) -> list[str]:
    """A block of code."""
    return ["```python", *text.splitlines(), "```", ""]


PARAMETER = re.compile(r"^(\w+(?:, \w+)*) : ")


def text_of(doc: str, types: type | None = None) -> list[str]:
    """A docstring as Markdown: parameters become a list, indented lines code. `types` has the types of attributes."""
    lines: list[str] = []
    is_list = is_code = False
    for line in inspect.cleandoc(doc).strip().splitlines():
        is_example = line.startswith((">>>", "...")) or (not is_list and line.startswith("    "))
        if is_code and not line.strip():
            lines.append("```")
            is_code = False
        elif is_example and not is_code:
            lines.append("```python")
            is_code = True
        if is_code:
            lines.append(line.removeprefix("    "))
            continue
        found = PARAMETER.match(line)
        if found:
            if not is_list and lines and lines[-1]:
                lines.append("")
            is_list = True
            lines.append(f"* {listed(found[1], types)}: {escaped(line[found.end() :])}")
        elif not line.strip():
            is_list = False
            lines.append("")
        elif is_list and line.startswith("    "):
            lines.append(f"  {escaped(line.strip())}")
        else:
            if is_list:
                lines.append("")
                is_list = False
            lines.append(escaped(line.strip()))
    if is_code:
        lines.append("```")
    return [*lines, ""]


def listed(parameters: str, types: type | None) -> str:
    """Names of parameters; of attributes with their types."""
    hints: dict[str, Any] = {}
    for base in reversed(types.__mro__ if types is not None else ()):
        hints |= inspect.get_annotations(base)
    texts = []
    for name in parameters.split(", "):
        kind = plain(hints[name]) if name in hints else ""
        texts.append(f"`{name}` (`{kind}`)" if kind and kind != "Any" else f"`{name}`")
    return ", ".join(texts)


def escaped(text: str) -> str:
    """Text in which Markdown finds nothing but code between backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def main() -> int:
    """Writes or compares the pages."""
    made = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")} if PAGES.is_dir() else {}
    differing = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    if sys.argv[1:] == ["--check"]:
        for name in differing:
            print(f"docs/python-api/{name} is not what the docstrings say: run crates/holdall-py/tools/reference.py")
        return 1 if differing else 0
    PAGES.mkdir(exist_ok=True)
    for name in differing:
        if name in made:
            (PAGES / name).write_text(made[name], encoding="utf-8", newline="\n")
        else:
            (PAGES / name).unlink()
        print(f"docs/python-api/{name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
