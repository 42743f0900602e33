"""Runs the test suites of gsd, asdf, python-blosc2 and bloscpack with the plugin beside it, and says what differs.

    python run.py --peers PYTHON --suites FOLDER [--short] [SUITE …]

PYTHON has the peers and pytest; FOLDER the unpacked source packages of bloscpack and blosc2. This Python has holdall, whose package the other one is
given as well. Exits with 1 where something differs, or fewer files than expected were compared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import holdall

HERE = Path(__file__).resolve().parent


@dataclass
class Suite:
    """Tests of a peer."""

    name: str
    # Module whose folder the tests are in, or a folder among the source packages.
    module: str | None
    folder: str
    # Parts that the short run takes.
    short: list[str]
    # Files that have to be compared, in the short run and in the whole one.
    least: tuple[int, int]
    options: tuple[str, ...] = ()


SUITES = [
    Suite("gsd", "gsd", "test", ["test_fl.py", "test_hoomd.py"], (150, 150)),
    Suite("bloscpack", None, "bloscpack-0.16.0", [], (200, 200)),
    Suite(
        "asdf",
        "asdf",
        "_tests",
        ["tags/core/tests/test_ndarray.py", "test_compression.py", "test_stream.py"],
        (120, 900),
    ),
    Suite(
        "blosc2",
        None,
        "blosc2-4.14.1/tests",
        ["ndarray/test_full.py", "test_vlmeta.py", "test_schunk.py"],
        (70, 5000),
        ("-m", "not network and not heavy and not tui"),
    ),
]

ALLOWED = [
    (
        r"_regtests/test_1541|test_block_checksum|test_skip_block_validation|test_block_data_callback_converter",
        r"ChecksumError: md5",
        "the test damages the digest, or the data; the values were compared all the same",
    ),
    (
        r"test_ndarray\.py::test_memmap_write|test_generic_io\.py::test_io_open",
        r"ChecksumError: md5",
        "asdf changes mapped blocks and leaves their digests as they were; the values were compared all the same",
    ),
    (
        r"test_compression_with_extension",
        r"unknown codec",
        "the codec is one that the test itself registers",
    ),
    (
        r"test_lazyexpr\.py|test_proxy|test_zarr_source\.py::test_direct_proxy",
        r"UnsupportedError: this array is a proxy",
        "a cache of another array, of which chunks were not fetched",
    ),
    (
        r"test_ucodecs\.py|test_ufilters\.py",
        r"UnsupportedError: blosc2 chunk \d+: (codec|filter)",
        "the codec or filter is one that the test itself registers",
    ),
    (
        r"",
        r"UnsupportedError: the values of this array are (computed from a stored|on a server)",
        "python-blosc2 evaluates the expression or function, which is code of the file, or asks the server; holdall refuses",
    ),
]
"""Differences that are none: a pattern for the test, one for the difference, and the reason."""


def link(folder: Path) -> Path:
    """A folder that has the package holdall and nothing else, for the path of another Python."""
    package = Path(holdall.__file__).parent
    target = folder / "path" / "holdall"
    target.parent.mkdir()
    target.symlink_to(package, target_is_directory=True)
    return target.parent


def run(suite: Suite, words: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Runs a suite; gives what was compared, and the last line of pytest."""
    peers, suites = words.peers, words.suites
    with tempfile.TemporaryDirectory(prefix="shadow-") as name:
        folder = Path(name)
        out, work = folder / "out.json", folder / "work"
        work.mkdir()
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(link(folder)), str(HERE)]),
            "HOLDALL_SHADOW": str(out),
            "HOLDALL_SHADOW_PEERS": suite.name,
            "TMPDIR": str(work),
        }
        if suite.name == "bloscpack":
            program = str(HERE.parent / "bloscpack_suite.py")
            command = [peers, program, str(suites / suite.folder), "theirs"]
        else:
            place = suites / suite.folder
            if suite.module:
                asked = [peers, "-c", f"import {suite.module}; print({suite.module}.__path__[0])"]
                place = (
                    Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
                    / suite.folder
                )
            parts = words.tests.split() if words.tests else suite.short if words.short else [""]
            tests = [str(place / part) for part in parts]
            # The configuration of the suite is not ours: warnings are not errors here.
            fixed = ["-q", "-p", "no:cacheprovider", "-p", "plugin", "-c", os.devnull, f"--rootdir={place}", "--tb=no"]
            fixed += [f"--basetemp={folder / 'base'}", "-p", "no:unraisableexception", f"--confcutdir={place}"]
            command = [peers, "-m", "pytest", *fixed, *suite.options, *tests]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=work)
        if not out.exists():
            raise SystemExit(f"{suite.name}: nothing was compared\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        lines = [line for line in done.stdout.splitlines() if re.search(r"passed|failed|^ \"test_", line)]
        if suite.name == "bloscpack":
            lines = [f"{sum(bool(re.search(r': [0-9]+,?$', line)) for line in lines)} of {len(lines)} passed"]
        return json.loads(out.read_text()), lines[-1] if lines else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True)
    parser.add_argument("--suites", required=True, type=Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--tests", help="part of the suite that is named, as pytest takes it")
    parser.add_argument("names", nargs="*", metavar="SUITE")
    words = parser.parse_args()
    # The suites run in a folder of their own. A link to an interpreter is kept: it is what makes an environment.
    words.peers, words.suites = os.path.abspath(words.peers), words.suites.absolute()
    is_good = True
    for suite in SUITES:
        if words.names and suite.name not in words.names:
            continue
        started = time.monotonic()
        found, line = run(suite, words)
        differences, allowed = [], 0
        for one in found["differences"]:
            if any(re.search(test, one["test"]) and re.search(what, one["difference"]) for test, what, _ in ALLOWED):
                allowed += 1
            else:
                differences.append(one)
        files, arrays = (sum(found[key].values()) for key in ("files", "arrays"))
        print(
            f"{suite.name}: {files} files, {arrays} arrays, {len(differences)} differences, {allowed} allowed"
            f" ({time.monotonic() - started:.0f} s; {line.strip('= ')})"
        )
        for reason, count in sorted(found["skipped"].items(), key=lambda it: -it[1])[:12]:
            print(f"    {count} × {reason}")
        # Kinds of differences, each with the first test that shows it.
        kinds: dict[str, list[dict[str, str]]] = {}
        for one in differences:
            kinds.setdefault(re.sub(r"[0-9a-f]{6,}|\d+", "#", one["difference"])[:60], []).append(one)
        for same in list(kinds.values())[:40]:
            one = same[0]
            print(f"  DIFFERS {len(same)} × {one['test']}: {one['file']}: {one['difference']}")
        least = 1 if words.tests else suite.least[0 if words.short else 1]
        if files < least:
            print(f"  FEWER than {least} files were compared")
        is_good &= not differences and files >= least
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
