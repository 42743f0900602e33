#!/usr/bin/env python3
"""Writes the Bloscpack fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python, numpy, and the released tools of the format. What `tool.py` says of its
versions is written into MANIFEST.toml; with other ones the files that the tools write are not made anew.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import appended
import arrays
import bad_chunk
import bad_header
import items
import making
import matrix
import odd
import old
import sections
import tool
from parts import HANDMADE, Fixture

MODULES = (matrix, sections, arrays, appended, old, items, odd, bad_header, bad_chunk)
HEAD = f"# Written by make.py; the fields are explained in README.md.\n\nmade_with = {json.dumps(tool.MADE_WITH)}\n"


def fields(fixture: Fixture) -> dict[str, object]:
    made: dict[str, object] = {
        "path": fixture.path,
        "sha256": making.sha256(fixture.data),
        "producer": fixture.producer,
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": list(fixture.codes),
    }
    if fixture.dtype:
        made |= {"dtype": fixture.dtype, "shape": list(fixture.shape), "order": fixture.order}
    if fixture.values is not None:
        made["values"] = making.sha256(fixture.values)
    if fixture.items is not None:
        made["items"] = [making.sha256(item) for item in fixture.items]
    if fixture.trailing:
        made["trailing"] = fixture.trailing
    if fixture.repaired is not None and fixture.repaired_shape is not None:
        made["repaired_shape"] = list(fixture.repaired_shape)
        made["repaired_values"] = making.sha256(fixture.repaired)
    if fixture.repaired_items is not None:
        made["repaired_items"] = [making.sha256(item) for item in fixture.repaired_items]
    return made


def main() -> int:
    fixtures = [it for module in MODULES for it in module.fixtures()]
    files = making.outputs(HEAD, fixtures, fields)
    if not making.wants_check(__doc__):
        making.write(HERE, files)
        return 0
    made_with = making.made_with(HERE)
    if made_with == tool.MADE_WITH:
        return making.report(making.differences(HERE, files))
    print(f"made with {made_with}, here is {tool.MADE_WITH}: only what is made by hand is made anew")
    by_hand = {it.path: it.data for it in fixtures if it.producer == HANDMADE}
    return making.report(making.by_hand_only(HERE, by_hand))


if __name__ == "__main__":
    sys.exit(main())
