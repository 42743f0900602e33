"""What every format's `make.py` does: writes the fixtures and their MANIFEST.toml beside it, or only compares.

Each `make.py` says what its fixtures are; this says how they come into the folder.
"""

import argparse
import hashlib
import importlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

FOLDERS = ("ok", "odd", "bad")


class Made(Protocol):
    """A fixture: what it is called, where it goes and what it holds."""

    name: str
    path: str
    data: bytes | dict[str, bytes]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def toml(value: object) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the halves of a surrogate pair.
        assert not any(0xD800 <= ord(letter) < 0xE000 for letter in value), value
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"  {toml(item)},\n" for item in value) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    assert isinstance(value, int)
    return str(value)


def entry(fields: dict[str, object]) -> str:
    """One `[[file]]` of the manifest."""
    return "\n[[file]]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in fields.items())


def outputs(
    head: str, fixtures: Iterable[Made], fields: Callable[[Made], dict[str, object]]
) -> dict[str, bytes]:
    """Every file to be written, by its path below the folder; `head` begins the manifest."""
    fixtures = sorted(fixtures, key=lambda fixture: fixture.path)
    assert len({fixture.name for fixture in fixtures}) == len(fixtures), "two fixtures have one name"
    files = {path: data for fixture in fixtures for path, data in stored(fixture).items()}
    files["MANIFEST.toml"] = (head + "".join(entry(fields(fixture)) for fixture in fixtures)).encode()
    return files


def present(here: Path) -> dict[str, bytes]:
    """What is in the folder, by path."""
    found = [path for folder in FOLDERS for path in (here / folder).rglob("*") if path.is_file()]
    found += [path for path in [here / "MANIFEST.toml"] if path.exists()]
    return {path.relative_to(here).as_posix(): path.read_bytes() for path in found}


def write(here: Path, files: dict[str, bytes]) -> None:
    """Writes all, and takes away fixtures that are no longer made."""
    for path, data in files.items():
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        (here / path).write_bytes(data)
    for path in present(here).keys() - files.keys():
        (here / path).unlink()


def differences(here: Path, files: dict[str, bytes]) -> list[str]:
    """Between what was made and what is there."""
    there = present(here)
    return [
        *(f"missing: {path}" for path in sorted(files.keys() - there.keys())),
        *(f"not made by make.py: {path}" for path in sorted(there.keys() - files.keys())),
        *(f"differs: {path}" for path in sorted(there.keys() & files.keys()) if there[path] != files[path]),
    ]


def by_hand_only(here: Path, files: dict[str, bytes]) -> list[str]:
    """As `differences`, of `files` alone, and of the others whether they are what the manifest says."""
    there = present(here)
    wrong = [f"differs: {path}" for path, data in sorted(files.items()) if there.get(path) != data]
    listed = re.findall(r'^path = "(.*)"\nsha256 = "(.*)"$', there["MANIFEST.toml"].decode(), re.MULTILINE)
    wrong += [
        f"not the sha256 of the manifest: {path}"
        for path, expected in listed
        if sha256(there.get(path, b"")) != expected
    ]
    return wrong


def made_with(here: Path) -> str:
    """What the manifest says of the tools."""
    manifest = (here / "MANIFEST.toml").read_text(encoding="utf-8")
    return json.loads(re.search("^made_with = (.*)$", manifest, re.MULTILINE)[1])


def wants_check(about: str) -> bool:
    """Whether the command line asks for a comparison alone."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--check", action="store_true", help="compare with what is here, exit 1 on a difference"
    )
    return parser.parse_args().check


def made(modules: Iterable[str]) -> list[Made]:
    """The fixtures of these modules."""
    return [it for name in modules for it in importlib.import_module(name).fixtures()]


def stored(fixture: Made) -> dict[str, bytes]:
    """Its files by their paths: one, or those of a folder."""
    if isinstance(fixture.data, bytes):
        return {fixture.path: fixture.data}
    return {f"{fixture.path}/{name}": data for name, data in fixture.data.items()}


def run(
    about: str,
    here: Path,
    tools: str,
    modules: tuple[Iterable[str], Iterable[str]],
    fields: Callable[[Made], dict[str, object]],
    disagreements: Callable[[list[Made]], list[str]],
) -> int:
    """The whole of a `make.py`: fixtures of the modules that make them by hand, and of those that need `tools`, which are made anew
    only by the versions that the manifest names. `disagreements` asks the reference what it makes of them."""
    by_hand, by_tools = modules
    head = f"# Written by make.py; the fields are explained in README.md.\n\nmade_with = {json.dumps(tools)}\n"

    def files() -> tuple[list[Made], dict[str, bytes]]:
        fixtures = made([*by_hand, *by_tools])
        return fixtures, outputs(head, fixtures, fields)

    if not wants_check(about):
        fixtures, new = files()
        problems = disagreements(fixtures)
        write(here, new)
        return report(problems) if problems else 0
    if made_with(here) != tools:
        print(f"made with {made_with(here)}, here is {tools}: only what is made by hand is made anew")
        new = {path: data for it in made(by_hand) for path, data in stored(it).items()}
        return report(by_hand_only(here, new))
    fixtures, new = files()
    return report(differences(here, new) + disagreements(fixtures))


def report(wrong: list[str]) -> int:
    print("\n".join(wrong) if wrong else "all fixtures are as make.py makes them")
    return 1 if wrong else 0
