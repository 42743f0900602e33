#!/usr/bin/env python3
"""Writes the RawArray fixtures and their MANIFEST.toml beside this file; `--check` only compares.

Independent of the crates it tests: Python's standard library and numpy, nothing else. The same bytes on every
run, Python, numpy and machine.
"""

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the fixtures

import bad_data
import bad_encoded
import bad_header
import encoded
import odd
import plain
from parts import Fixture

HERE = Path(__file__).resolve().parent
FOLDERS = ("ok", "odd", "bad")
HEAD = "# Written by make.py; the fields are explained in README.md.\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def toml(value: object) -> str:
    if isinstance(value, str):
        assert value.isascii() and value.isprintable() and '"' not in value and "\\" not in value, value
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    assert isinstance(value, int)
    return str(value)


def entry(fixture: Fixture) -> str:
    fields: dict[str, object] = {
        "path": fixture.path,
        "sha256": sha256(fixture.data),
        "producer": "make.py, numpy",
        "licence": "MIT OR Apache-2.0",
        "about": fixture.about,
        "verdict": fixture.verdict,
        "codes": list(fixture.codes),
    }
    if fixture.kind:
        fields |= {
            "dtype": fixture.kind.spelling(fixture.big),
            "eltype": fixture.kind.eltype,
            "elbyte": fixture.kind.elbyte,
            "shape": list(fixture.shape),
        }
        if fixture.values is not None:
            fields["values"] = sha256(fixture.values)
        fields["encoding"] = fixture.encoding
    if fixture.trailer:
        fields["trailer"] = fixture.trailer
    if fixture.repaired:
        fields["repaired_shape"] = list(fixture.repaired[0])
        fields["repaired_values"] = sha256(fixture.repaired[1])
    return "\n[[file]]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in fields.items())


def outputs() -> dict[str, bytes]:
    """Every file to be written, by its path below this folder."""
    modules = (plain, encoded, odd, bad_header, bad_data, bad_encoded)
    fixtures = sorted(
        (fixture for module in modules for fixture in module.fixtures()), key=lambda fixture: fixture.path
    )
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


def differences(fresh: Path) -> list[str]:
    made, committed = present(fresh), present(HERE)
    missing = [f"missing: {path}" for path in sorted(made - committed)]
    unlisted = [f"not made by make.py: {path}" for path in sorted(committed - made)]
    common = sorted(made & committed)
    changed = [
        f"differs: {path}" for path in common if (fresh / path).read_bytes() != (HERE / path).read_bytes()
    ]
    return missing + unlisted + changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with what is here, exit 1 on a difference"
    )
    if not parser.parse_args().check:
        write(HERE)
        return 0
    with tempfile.TemporaryDirectory() as fresh:
        write(Path(fresh))
        found = differences(Path(fresh))
    print("\n".join(found) if found else "all fixtures are as make.py makes them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
