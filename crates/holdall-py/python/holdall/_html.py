"""How files, datasets and answers are shown: lines of text, and HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import File
    from ._types import Verification

# Depth, path, name, kind, text, type, tag.
Line = tuple[int, str, str, str, str, "str | None", "str | None"]

_MAX_LINES = 300
_MAX_TEXT = 100
_STYLE = "font-family:monospace;font-size:0.9em;line-height:1.4"


def _safe(text: str) -> str:
    """Text without what could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


def _value(line: Line) -> str:
    text, tag = line[4], line[6]
    return _safe(_short(f"{tag} {text}" if tag else text))


def tree_text(heading: str, lines: Sequence[Line]) -> str:
    """A tree drawn with lines."""
    last = _last_of_siblings(lines)
    out, on = [_safe(heading)], list[bool]()
    for line, is_last in zip(lines, last, strict=True):
        del on[line[0] - 1 :]
        rails = "".join("│   " if more else "    " for more in on)
        on.append(not is_last)
        out.append(f"{rails}{'└── ' if is_last else '├── '}{_safe(line[2])}  {_value(line)}".rstrip())
    return "\n".join(out)


def _last_of_siblings(lines: Sequence[Line]) -> list[bool]:
    met: set[int] = set()
    last = []
    for line in reversed(lines):
        met = {depth for depth in met if depth <= line[0]}
        last.append(line[0] not in met)
        met.add(line[0])
    return last[::-1]


def _rows(pairs: Iterable[tuple[str, Any]]) -> str:
    cells = (
        f"<tr><th style='text-align:left'>{escape(key)}</th><td style='text-align:left'>{escape(_safe(str(value)))}</td></tr>"
        for key, value in pairs
    )
    return f"<table style='{_STYLE}'>{''.join(cells)}</table>"


def file(file: File) -> str:
    """A file: what it is, its notices, and its tree, folded."""
    if file.closed:
        return f"<div style='{_STYLE}'>{escape(repr(file))}</div>"
    info = file.info
    head = f"<b>{escape(_safe(file._name()))}</b> {escape(str(info['format']))}"
    if info.get("version"):
        head += f" {escape(str(info['version']))}"
    size = info["size"]
    head += f", {size:,} bytes" if isinstance(size, int) else ""
    notes = []
    if not info["complete"]:
        notes.append("The file ends early: it is damaged.")
    notes += file.notices
    told = "".join(f"<div style='color:#b00'>{escape(_safe(note))}</div>" for note in notes)
    try:
        lines = file._live().tree(None)
    except Exception as error:  # noqa: BLE001 - a file whose metadata are damaged is shown all the same
        return f"<div style='{_STYLE}'>{head}{told}<div style='color:#b00'>{escape(_safe(str(error)))}</div></div>"
    return f"<div style='{_STYLE}'>{head}{told}{_folded(lines)}</div>"


def _folded(lines: Sequence[Line]) -> str:
    """Nested `<details>`: the first level is open."""
    shown = lines[:_MAX_LINES]
    out: list[str] = []
    depth = 0
    for at, line in enumerate(shown):
        while depth >= line[0]:
            out.append("</div></details>")
            depth -= 1
        name, text = escape(_safe(line[2])), escape(_value(line))
        has_parts = at + 1 < len(shown) and shown[at + 1][0] > line[0]
        if has_parts:
            is_open = " open" if line[0] == 1 and len(shown) < 50 else ""
            out.append(f"<details{is_open} style='margin-left:1em'><summary><b>{name}</b> {text}</summary><div>")
            depth += 1
        else:
            out.append(f"<div style='margin-left:2em'><b>{name}</b> {text}</div>")
    out += ["</div></details>"] * depth
    if len(lines) > len(shown):
        out.append(f"<div style='margin-left:2em'>… and {len(lines) - len(shown):,} more</div>")
    return "".join(out)


def dataset(dataset: Dataset) -> str:
    """A dataset: a table, and a small picture where `holdall.options.preview` asks for one."""
    from ._options import options

    pairs: list[tuple[str, Any]] = [("path", dataset.path)]
    try:
        pairs.append(("dtype", dataset.dtype))
    except Exception as error:  # noqa: BLE001 - what numpy cannot hold is shown all the same
        pairs.append(("dtype", error))
    pairs += [("shape", dataset.shape), ("chunks", dataset.chunks or "—"), ("codec", dataset.codec)]
    pairs += [("bytes", f"{dataset.nbytes:,}"), ("stored", f"{dataset.stored:,}")]
    if dataset.has_mask:
        pairs.append(("mask", "elements are missing"))
    pairs += [(key, _short(str(value))) for key, value in list(dataset.attrs.items())[:20]]
    picture = ""
    if options.preview and dataset.size:
        from ._plot import plot

        try:
            picture = plot(dataset, width=400, height=300).svg()
        except Exception as error:  # noqa: BLE001 - a damaged dataset is shown, with what is wrong
            picture = f"<div style='color:#b00'>{escape(_safe(str(error)))}</div>"
    return f"<div>{_rows(pairs)}{picture}</div>"


def verification(found: Verification) -> str:
    """The verdict, and a table of the findings."""
    color = {"sound": "#080", "unchecked": "#a60"}.get(found.verdict, "#b00")
    head = f"<b style='color:{color}'>{found.verdict}</b> {escape(_safe(found.path))}"
    cells = (
        f"<tr><td>{escape(one.severity)}</td><td>{escape(one.code)}</td>"
        f"<td>{'' if one.range is None else f'{one.range[0]}..{one.range[1]}'}</td>"
        f"<td style='text-align:left'>{escape(_safe(one.message))}</td></tr>"
        for one in found.findings[:_MAX_LINES]
    )
    return f"<div style='{_STYLE}'>{head}<table>{''.join(cells)}</table></div>"
