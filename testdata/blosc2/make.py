#!/usr/bin/env python3
"""Writes the Blosc2 fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python, numpy, and two releases of python-blosc2. What `tool.py` says of their versions
is written into MANIFEST.toml; with other ones the files that they write are not made anew.
"""

import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))
os.umask(0o022)  # a zip keeps the modes of files

import making
import reference
import tool
import view
from parts import HANDMADE, Fixture
from values import little, spelling

BY_HAND = ("hand", "odd", "bad_header", "bad_index", "bad_chunk", "bad_array", "torn")
BY_TOOLS = ("arrays", "pipelines", "frames", "stores")


def fields(fixture: Fixture) -> dict[str, object]:
    made: dict[str, object] = {"path": fixture.path}
    if isinstance(fixture.data, bytes):
        made["sha256"] = making.sha256(fixture.data)
    else:
        made["files"] = [{"name": name, "sha256": making.sha256(data)} for name, data in fixture.data.items()]
    made |= {
        "producer": fixture.producer,
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": fixture.codes,
    }
    if fixture.array is not None:
        made |= of_array(fixture.array)
    if fixture.tensor is not None:
        made |= of_array(fixture.tensor)
    if fixture.plain is not None:
        data, typesize = fixture.plain
        opaque = typesize > 1 and len(data) % typesize == 0
        made["dtype"] = f"|V{typesize}" if opaque else "|u1"
        made["shape"] = [len(data) // typesize if opaque else len(data)]
        made |= {"order": "C", "values": making.sha256(data)}
    if fixture.chunks is not None:
        made["chunk_values"] = [making.sha256(chunk) for chunk in fixture.chunks]
    if fixture.blocks is not None:
        made["block_sizes"] = [list(sizes) for sizes in fixture.blocks]
    if fixture.datasets is not None:
        listed = [{"path": path} | of_array(array) for path, array in sorted(fixture.datasets.items())]
        for it in listed:
            del it["order"]
        made["datasets"] = listed
    if fixture.repaired is not None:
        made["repaired_shape"] = list(fixture.repaired.shape)
        made["repaired_values"] = making.sha256(little(fixture.repaired))
    if fixture.trailing:
        made["trailing"] = fixture.trailing
    if fixture.verdict == "sound" and (isinstance(fixture.data, dict) or fixture.data.startswith(b"\x9e\xa8b2frame")):
        if isinstance(fixture.data, bytes) or "chunks.b2frame" in fixture.data:
            made |= view.facts(fixture.data)
    return made | fixture.facts


def of_array(array: object) -> dict[str, object]:
    return {
        "dtype": spelling(array.dtype),
        "shape": list(array.shape),
        "order": "C",
        "values": making.sha256(little(array)),
    }


if __name__ == "__main__":
    sys.exit(making.run(__doc__, HERE, tool.made_with(), (BY_HAND, BY_TOOLS), fields, reference.disagreements))
