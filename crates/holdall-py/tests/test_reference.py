"""The reference in docs/python-api/ is what the docstrings say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools/reference.py"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The script that writes the reference."""
    spec = importlib.util.spec_from_file_location("reference", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_up_to_date(reference: ModuleType) -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in reference.PAGES.glob("*.md")}
    made = reference.pages()
    assert made.keys() == there.keys(), f"run {TOOL}, and list the pages in docs/SUMMARY.md"
    for name, text in made.items():
        assert there[name] == text, f"docs/python-api/{name} is out of date: run {TOOL}"


def test_docstrings_become_markdown(reference: ModuleType) -> None:
    doc = """Reads a thing <of> 2 * 3.

    a, b : numbers, with `x * y` and
        more
    c : text

    Raises ValueError.

        import holdall

    >>> holdall
    1
    """
    assert reference.text_of(doc) == [
        "Reads a thing \\<of> 2 \\* 3.",
        "",
        "* `a`, `b`: numbers, with `x * y` and",
        "  more",
        "* `c`: text",
        "",
        "Raises ValueError.",
        "",
        "```python",
        "import holdall",
        "```",
        "",
        "```python",
        ">>> holdall",
        "1",
        "```",
        "",
    ]

    def call(a: int, /, b: str = "x", *, c: object = ..., **words: object) -> None: ...

    assert (
        reference.signature("m.call", call)
        == 'm.call(a: int, /, b: str = "x", *, c: object = ..., **words: object) -> None'
    )
