#!/usr/bin/env python3
"""Writes the RawArray fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python's standard library and numpy, nothing else. The same bytes on every
run, Python, numpy and machine.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import bad_data
import bad_encoded
import bad_header
import encoded
import making
import odd
import plain
from parts import Fixture

MODULES = (plain, encoded, odd, bad_header, bad_data, bad_encoded)
HEAD = "# Written by make.py; the fields are explained in README.md.\n"


def fields(fixture: Fixture) -> dict[str, object]:
    made: dict[str, object] = {
        "path": fixture.path,
        "sha256": making.sha256(fixture.data),
        "producer": "make.py, numpy",
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": list(fixture.codes),
    }
    if fixture.kind:
        made |= {
            "dtype": fixture.kind.spelling(fixture.big),
            "eltype": fixture.kind.eltype,
            "elbyte": fixture.kind.elbyte,
            "shape": list(fixture.shape),
        }
        if fixture.values is not None:
            made["values"] = making.sha256(fixture.values)
        made["encoding"] = fixture.encoding
    if fixture.trailer:
        made["trailer"] = fixture.trailer
    if fixture.repaired:
        made["repaired_shape"] = list(fixture.repaired[0])
        made["repaired_values"] = making.sha256(fixture.repaired[1])
    return made


def main() -> int:
    files = making.outputs(HEAD, (it for module in MODULES for it in module.fixtures()), fields)
    if making.wants_check(__doc__):
        return making.report(making.differences(HERE, files))
    making.write(HERE, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
