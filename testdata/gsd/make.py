#!/usr/bin/env python3
"""Writes the GSD fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python, numpy, and two releases of gsd. What `tool.py` says of their versions is
written into MANIFEST.toml; with other ones the files that they write are not made anew.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import making
import tool
import view
from parts import Fixture
from reference import answers

HEAD = f"# Written by make.py; the fields are explained in README.md.\n\nmade_with = {json.dumps(tool.MADE_WITH)}\n"


def fields(fixture: Fixture, reference: dict[str, str]) -> dict[str, object]:
    made: dict[str, object] = {
        "path": fixture.path,
        "sha256": making.sha256(fixture.data),
        "producer": fixture.producer,
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": list(fixture.codes),
    }
    if fixture.name in reference:
        made["reference"] = reference[fixture.name]
    if fixture.verdict == "sound" and view.trailing(fixture.data):
        made["trailing"] = view.trailing(fixture.data)
    if fixture.listed_of is not None:
        made["frames"] = view.parse(fixture.listed_of).frames
        made["datasets"] = datasets(fixture.listed_of)
    if fixture.repaired_of is not None:
        made["repaired_frames"] = view.parse(fixture.repaired_of).frames
        made["repaired_datasets"] = datasets(fixture.repaired_of)
    return made


def datasets(data: bytes) -> list[dict[str, object]]:
    return [dict(zip(("path", "dtype", "shape", "values"), row)) for row in view.listed(data)]


def by_hand() -> list[Fixture]:
    """What needs no tool but this script."""
    import bad_header, bad_index, hoomd_odd, odd, versions  # noqa: E401

    return [it for module in (versions, odd, hoomd_odd, bad_header, bad_index) for it in module.fixtures()]


def by_tools() -> list[Fixture]:
    import appended, fl, hoomd  # noqa: E401

    return [it for module in (fl, hoomd, appended) for it in module.fixtures()]


def outputs(fixtures: list[Fixture]) -> dict[str, bytes]:
    reference = answers({fixture.name: fixture.data for fixture in fixtures})
    return making.outputs(HEAD, fixtures, lambda fixture: fields(fixture, reference))


def main() -> int:
    if not making.wants_check(__doc__):
        fixtures = [*by_hand(), *by_tools()]
        problems = disagreements(fixtures)
        making.write(HERE, outputs(fixtures))
        return making.report(problems) if problems else 0
    made_with = making.made_with(HERE)
    if made_with != tool.MADE_WITH:
        print(f"made with {made_with}, here is {tool.MADE_WITH}: only what is made by hand is made anew")
        return making.report(making.by_hand_only(HERE, {it.path: it.data for it in by_hand()}))
    fixtures = [*by_hand(), *by_tools()]
    wrong = making.differences(HERE, outputs(fixtures))
    return making.report(wrong + disagreements(fixtures))


def disagreements(fixtures: list[Fixture]) -> list[str]:
    import peers

    return [f"gsd reads it otherwise: {problem}" for problem in peers.compare(fixtures)]


if __name__ == "__main__":
    sys.exit(main())
