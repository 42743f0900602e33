"""What Python asdf leaves behind when it changes a file, and the padding that it writes."""

import tempfile
from pathlib import Path

import numpy as np

import tool
from parts import Fixture, numbers
from written import PEERS, asked, one

A, B = numbers("<i4", 40), numbers("<f8", 30)


def fixtures() -> list[Fixture]:
    made = []
    tree = {"a": asked(A), "b": asked(B), "x": 1}
    for release in PEERS:
        padded = {"pad_blocks": True}
        made += [
            one(release, "padded", "padding behind the tree and in the blocks", tree, options=padded),
            one(release, "updated", "changed in place", tree, ("update", {"set": [[["x"], 2], [["new"], {"k": "v"}]]})),
            one(release, "updated_array", "an array added and another taken away in place", tree, ("update", {"set": [[["c"], asked(numbers("<i2", 5))]], "unset": [["a"]]})),
            one(release, "no_index", "blocks without an index", tree, options={"include_block_index": False}),
            one(release, "updated_padded", "changed in place within its padding", tree, ("update", {"set": [[["x"], "longer than it was"]]}), options=padded),
        ]  # fmt: skip
    made.append(one("new", "no_checksum_written", "without checksums", tree, options={"write_checksums": False}))
    return made
