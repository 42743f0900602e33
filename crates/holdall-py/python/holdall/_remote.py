"""Files at URLs and in stores of other packages: their options, and how ranges of them are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _holdall

Storage = tuple[tuple[str, str], ...]
"""Options of a URL as the extension takes them."""

_WORDS = frozenset(
    [
        "anon",
        "endpoint_url",
        "region",
        "profile",
        "refuse_private_redirects",
        "proxy",
        "deadline",
        "key",
        "secret",
        "token",
        "account_name",
        "account_key",
        "sas_token",
    ]
)
_PROVIDERS = ("aws_", "google_", "azure_")
AT_ONCE = 16
"""Most ranges that are read at a time."""


def is_url(path: str) -> bool:
    """True for a URL rather than a path."""
    return "://" in path and _holdall.is_url_text(path)


def is_option(name: str) -> bool:
    """True for an option of URLs."""
    return name in _WORDS or name in ("headers", "storage_options") or name.lower().startswith((*_PROVIDERS, "header:"))


def storage(options: Mapping[str, Any]) -> Storage:
    """The options of a URL, as the extension takes them. TypeError for a value that is none."""
    found: dict[str, str] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in ("headers", "storage_options"):
            if not isinstance(value, Mapping):
                raise TypeError(f"{name} is a mapping, not {type(value).__name__}")
            for inner, text in value.items():
                if name == "headers":
                    found[f"header:{inner}"] = _text(inner, text)
                elif not is_option(inner) or inner == "storage_options":
                    raise TypeError(f"unknown storage option {inner!r}")
            if name == "storage_options":
                found.update(storage(value))
        elif name in ("anon", "refuse_private_redirects"):
            if not isinstance(value, bool):
                raise TypeError(f"{name} is True or False, not {value!r}")
            found[name] = str(value)
        elif name == "deadline":
            found[name] = repr(float(value))
        else:
            found[name] = _text(name, value)
    return tuple(sorted(found.items()))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        # Its value may be secret.
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    return value


def shown(path: str) -> str:
    """A path or URL without what may be secret."""
    return _holdall.shown_address(path) if is_url(path) else path


def from_store(store: Any, path: str, options: dict[str, Any]) -> _holdall.Core:
    """A core over an object of a store of obstore's, of the version that it has now."""
    meta = store.head(path)
    tag = meta.get("e_tag")

    def read_range(start: int, stop: int) -> bytes:
        words: dict[str, Any] = {"range": (start, stop)}
        if tag is not None and not tag.startswith("W/"):
            words["if_match"] = tag
        return bytes(store.get(path, options=words).bytes())

    return _holdall.Core.from_ranges(read_range, meta["size"], AT_ONCE, options)


def from_fsspec(fs: Any, path: str, options: dict[str, Any]) -> _holdall.Core | None:
    """A core over a file of a file system of fsspec's, several ranges of which are read at a time; None where its length is not known before."""
    size = fs.info(path).get("size")
    if not isinstance(size, int) or size < 0:
        return None

    def read_range(start: int, stop: int) -> bytes:
        return bytes(fs.cat_file(path, start=start, end=stop))

    return _holdall.Core.from_ranges(read_range, size, AT_ONCE, options)
