"""`holdall.rawarray`: the functions of the format's own module."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from conftest import TESTDATA

import holdall.rawarray as ra


def test_what_is_written_is_the_format_byte_by_byte(tmp_path: Path) -> None:
    values = np.arange(6, dtype="<i2").reshape(2, 3)
    ra.write(values, tmp_path / "a.ra")
    # Magic, flags, eltype 1 (int), elbyte, size, ndims, dims; then the data with the first axis fastest.
    header = b"rawarray" + struct.pack("<7Q", 0, 1, 2, 12, 2, 2, 3)
    assert (tmp_path / "a.ra").read_bytes() == header + values.T.tobytes()
    back = ra.read(tmp_path / "a.ra")
    assert (back == values).all() and back.flags.f_contiguous and back.flags.writeable
    ra.write(values + 1, tmp_path / "a.ra")
    assert (ra.read(tmp_path / "a.ra") == values + 1).all()


def test_files_of_the_format_are_described(tmp_path: Path) -> None:
    path = TESTDATA / "rawarray/ok/test.ra"
    assert ra.query(path).splitlines() == [
        "---",
        f"name: {path}",
        "endian: little",
        "type: complex64",
        "size: 96",
        "dimension: 2",
        "shape:",
        "  - 3",
        "  - 4",
        "...",
    ]
    assert ra.read(path).dtype == "<c8"


def test_a_trailer_is_given_as_it_is(tmp_path: Path) -> None:
    ra.write(np.zeros(3), tmp_path / "a.ra")
    assert ra.trailer(tmp_path / "a.ra") == b""
    with open(tmp_path / "a.ra", "ab") as file:
        file.write(b"notes: none\n")
    assert ra.trailer(tmp_path / "a.ra") == b"notes: none\n"
