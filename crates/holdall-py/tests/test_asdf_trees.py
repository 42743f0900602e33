"""Trees of `holdall.asdf` against those of the package asdf's YAML loader."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import asdf
import asdf.tagged
import asdf.util
import pytest
import yaml
from asdf._core._converters.complex import ComplexConverter
from conftest import files

import holdall
import holdall.asdf
from holdall.asdf import Tagged

ARRAY = "tag:stsci.edu:asdf/core/ndarray-"
COMPLEX = "tag:stsci.edu:asdf/core/complex-"
INTEGER = "tag:stsci.edu:asdf/core/integer-1."


def asdf_files(kind: str) -> list[Path]:
    return [path for path in files(kind) if path.suffix == ".asdf"]


def reference(path: Path) -> Any:
    """The tree as asdf's loader has it, with tags; None for a file that it does not read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return asdf.util.load_yaml(path, tagged=True)
        except (ValueError, OSError, yaml.YAMLError, TypeError, OverflowError):
            return None


def base(value: Any) -> Any:
    """What a tagged value of asdf's is without its tag."""
    if isinstance(value, (asdf.tagged.TaggedDict, asdf.tagged.TaggedList)):
        return value.data
    return value


def tag_of(value: Any) -> str | None:
    tag = getattr(value, "_tag", None)
    # Ours has no object for YAML's own words without a meaning.
    return None if tag in ("!", "tag:yaml.org,2002:value") else tag


def as_complex(text: str, tag: str) -> complex:
    """The number that asdf makes of a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return complex(ComplexConverter().from_yaml_tree(text, tag, None))


def compare(ours: Any, theirs: Any) -> None:
    """Compares two trees: values, types, tags, order of keys, and what is shared among them."""
    same: dict[int, int] = {}
    seen: set[int] = set()
    rest = [("", ours, theirs)]
    while rest:
        where, own, other = rest.pop()
        tag = tag_of(other)
        if isinstance(own, complex):
            assert tag is not None and tag.startswith(COMPLEX), where
            assert repr(own) == repr(as_complex(str(other), tag)), where
            continue
        if isinstance(own, int) and tag is not None:
            assert tag.startswith(INTEGER), where
            words = base(other["words"])
            if isinstance(words, list) or "data" in words:
                words = words if isinstance(words, list) else words["data"]
                value = sum(word << 32 * at for at, word in enumerate(words))
                assert own == (-value if other["sign"] == "-" else value), where
            continue
        if isinstance(other, (dict, list)):
            assert same.setdefault(id(other), id(own)) == id(own), f"{where}: shared otherwise"
        if isinstance(own, holdall.Dataset):
            assert tag is not None and tag.startswith(ARRAY), where
            continue
        assert (own.tag if isinstance(own, Tagged) else None) == tag, where
        if isinstance(other, (dict, list)) and id(other) in seen:
            continue
        seen.add(id(other))
        other = base(other)
        if isinstance(other, dict):
            assert isinstance(own, dict), where
            keys = {str(key) if isinstance(key, str) else repr(key): key for key in other}
            names = {str(key) if isinstance(key, str) else repr(key): key for key in own}
            assert sorted(names) == sorted(keys), where
            rest += [(f"{where}/{name}", own[names[name]], other[key]) for name, key in keys.items()]
        elif isinstance(other, list):
            assert isinstance(own, list) and len(own) == len(other), where
            rest += [(f"{where}/{at}", a, b) for at, (a, b) in enumerate(zip(own, other, strict=True))]
        elif isinstance(other, str):
            assert isinstance(own, str) and str(own) == str(other), where
        else:
            assert type(own) is type(other) and repr(own) == repr(other), where


NOT_READ = {
    # No tree.
    *("head_alone", "head_comment_bytes", "head_cr", "head_line", "head_standard", "treeless", "treeless_comments"),
    *("other", "padding_treeless"),
    # A whole number of more digits than Python reads, of which ours is the text.
    "tree_number_too_long",
    # asdf looks for the tree in the first bytes behind the header, and for its end without blanks.
    *("blanks_before_tree", "tree_end_blanks"),
}
"""Files without a tree for asdf, by the reason."""


@pytest.mark.parametrize(
    "path", asdf_files("ok") + asdf_files("odd"), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_trees_are_those_of_asdf(path: Path) -> None:
    if path.stem == "tree_merge_bomb":
        # PyYAML copies what is merged again and again, 8^9 times here. Each mapping has its own key and those that it merges.
        with holdall.asdf.open(path) as file:
            assert file.root == {f"a{n}": {f"k{at}": 1 for at in range(n + 1)} for n in range(10)}
        return
    theirs = reference(path)
    with holdall.asdf.open(path) as file:
        if theirs is None:
            assert path.stem in NOT_READ
            assert file.root is not None
        else:
            compare(file.root, theirs)
