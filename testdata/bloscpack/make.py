#!/usr/bin/env python3
"""Writes the Bloscpack fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python, numpy, and the released tools of the format. What `tool.py` says of its
versions is written into MANIFEST.toml; with other ones the files that the tools write are not made anew.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures

import appended
import arrays
import bad_chunk
import bad_header
import items
import matrix
import odd
import old
import sections
import tool
from parts import HANDMADE, Fixture

HERE = Path(__file__).resolve().parent
FOLDERS = ("ok", "odd", "bad")
MODULES = (matrix, sections, arrays, appended, old, items, odd, bad_header, bad_chunk)
HEAD = f"# Written by make.py; the fields are explained in README.md.\n\nmade_with = {json.dumps(tool.MADE_WITH)}\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def toml(value: object) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the halves of a surrogate pair.
        assert value.isprintable(), value
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    assert isinstance(value, int)
    return str(value)


def entry(fixture: Fixture) -> str:
    fields: dict[str, object] = {
        "path": fixture.path,
        "sha256": sha256(fixture.data),
        "producer": fixture.producer,
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": list(fixture.codes),
    }
    if fixture.dtype:
        fields |= {"dtype": fixture.dtype, "shape": list(fixture.shape), "order": fixture.order}
    if fixture.values is not None:
        fields["values"] = sha256(fixture.values)
    if fixture.items is not None:
        fields["items"] = [sha256(item) for item in fixture.items]
    if fixture.trailing:
        fields["trailing"] = fixture.trailing
    if fixture.repaired is not None and fixture.repaired_shape is not None:
        fields["repaired_shape"] = list(fixture.repaired_shape)
        fields["repaired_values"] = sha256(fixture.repaired)
    if fixture.repaired_items is not None:
        fields["repaired_items"] = [sha256(item) for item in fixture.repaired_items]
    return "\n[[file]]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in fields.items())


def outputs() -> dict[str, bytes]:
    """Every file to be written, by its path below this folder."""
    fixtures = [fixture for module in MODULES for fixture in module.fixtures()]
    fixtures.sort(key=lambda fixture: fixture.path)
    files = {fixture.path: fixture.data for fixture in fixtures}
    assert len(files) == len(fixtures), "two fixtures have one path"
    files["MANIFEST.toml"] = (HEAD + "".join(entry(fixture) for fixture in fixtures)).encode()
    return files


def write(root: Path) -> None:
    """Writes all, and takes away fixtures that are no longer made."""
    files = outputs()
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    for path in present(root) - files.keys():
        (root / path).unlink()


def present(root: Path) -> set[str]:
    found = (path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix() for path in found} | (
        {"MANIFEST.toml"} if (root / "MANIFEST.toml").exists() else set()
    )


def by_hand() -> set[str]:
    """The fixtures that need nothing but this script."""
    fixtures = (fixture for module in MODULES for fixture in module.fixtures())
    return {fixture.path for fixture in fixtures if fixture.producer == HANDMADE}


def differences(fresh: Path, only: set[str] | None) -> list[str]:
    made, committed = present(fresh), present(HERE)
    missing = [f"missing: {path}" for path in sorted(made - committed)]
    unlisted = [f"not made by make.py: {path}" for path in sorted(committed - made)]
    common = sorted(made & committed if only is None else made & committed & only)
    changed = [
        f"differs: {path}" for path in common if (fresh / path).read_bytes() != (HERE / path).read_bytes()
    ]
    return missing + unlisted + changed


def listed() -> tuple[str, list[str]]:
    """With what the committed files were made, and which of them are not what the manifest says."""
    manifest = (HERE / "MANIFEST.toml").read_text(encoding="utf-8")
    files = re.findall(r'^path = "(.*)"\nsha256 = "(.*)"$', manifest, re.MULTILINE)
    wrong = [
        f"not the sha256 of the manifest: {path}"
        for path, expected in files
        if sha256((HERE / path).read_bytes()) != expected
    ]
    return json.loads(re.search("^made_with = (.*)$", manifest, re.MULTILINE)[1]), wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with what is here, exit 1 on a difference"
    )
    if not parser.parse_args().check:
        write(HERE)
        return 0
    made_with, found = listed()
    only = None
    if made_with != tool.MADE_WITH:
        print(f"made with {made_with}, here is {tool.MADE_WITH}: only what is made by hand is made anew")
        only = by_hand()
    with tempfile.TemporaryDirectory() as fresh:
        write(Path(fresh))
        found += differences(Path(fresh), only)
    print("\n".join(found) if found else "all fixtures are as make.py makes them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
