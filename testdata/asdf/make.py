#!/usr/bin/env python3
"""Writes the ASDF fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python, numpy, PyYAML, codecs, and three releases of Python asdf. What `tool.py` says of their
versions is written into MANIFEST.toml; with other ones the files that they write are not made anew.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import making
import numpy as np
import peer
import reference
import tool
import view
from parts import HANDMADE, Fixture
from values import little

BY_HAND = ("layout", "trees", "nodes", "arrays", "labels", "odd", "bad_layout", "bad_tree", "bad_array", "bad_block", "torn")
BY_TOOLS = ("written", "views", "sets", "changed")


def fields(fixture: Fixture) -> dict[str, object]:
    made: dict[str, object] = {"path": fixture.path}
    if isinstance(fixture.data, bytes):
        made["sha256"] = making.sha256(fixture.data)
    else:
        made["main"] = fixture.main
        made["files"] = [{"name": name, "sha256": making.sha256(data)} for name, data in sorted(fixture.data.items())]
    made |= {
        "producer": fixture.producer,
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": fixture.codes,
    }
    main = fixture.data if isinstance(fixture.data, bytes) else fixture.data[fixture.main]
    if fixture.verdict == "sound":
        if not fixture.unread:
            made["datasets"] = listed(of(fixture))
        made |= view.facts(main)
    elif fixture.arrays is not None:
        made["datasets"] = listed(fixture.arrays)
    if fixture.repaired is not None:
        made["repaired_datasets"] = listed(fixture.repaired)
    if fixture.nodes:
        made["nodes"] = [{"path": path, "is": text} for path, text in peer.nodes_of(view.parse(main).text)]
    return made | fixture.facts


def of(fixture: Fixture) -> dict[str, np.ndarray]:
    """The arrays in a sound fixture; what was put in is among them."""
    found = view.arrays(fixture.data, fixture.main)
    for path, array in (fixture.arrays or {}).items():
        there = found[path]
        same = there.shape == array.shape and there.dtype == array.dtype and there.tobytes() == array.tobytes()
        assert same, f"{fixture.path}: {path} is {there.dtype} {there.shape}, not {array.dtype} {array.shape}"
    return found


def listed(arrays: dict[str, np.ndarray]) -> list[dict[str, object]]:
    def dtype(array: np.ndarray) -> str:
        text = peer.descr(array.dtype)
        return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)

    return [
        {"path": path, "dtype": dtype(it), "shape": list(it.shape), "values": making.sha256(little(it))}
        for path, it in sorted(arrays.items())
    ]


if __name__ == "__main__":
    sys.exit(making.run(__doc__, HERE, tool.made_with(), (BY_HAND, BY_TOOLS), fields, reference.disagreements))
