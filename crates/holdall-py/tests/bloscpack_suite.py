"""Runs the tests of bloscpack's source package, with `holdall.bloscpack` in the place of bloscpack, or with bloscpack itself.

    python bloscpack_suite.py FOLDER ours|theirs

FOLDER is the unpacked source package. Prints a JSON object: of each test its number of cases, or the error.

The tests are of 2021, for nose and numpy 1: nose is replaced by unittest's assertions, and what numpy and Python have renamed since is written
anew in the text of the tests. Nothing else is changed; with "theirs" the same text runs against bloscpack 0.16, which has to pass all of it.
"""

from __future__ import annotations

import collections
import collections.abc
import io
import json
import os
import re
import sys
import types
import unittest
import unittest.mock
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = ["file_io", "append", "numpy_io", "memory_io", "headers", "args", "checksums", "metacodecs", "serializers"]
"""Those about files. `cli`, `log` and `pretty` are about the command and its messages."""

RENAMED = [
    (r"\.tostring\(\)", ".tobytes()"),
    (r"(np\.linspace\([^()]*, )(\de\d)\)", r"\1int(\2))"),
    (r"'a3'", "'S3'"),
    (r"np\.sctypes\['int'\]", "[np.int8, np.int16, np.int32, np.int64]"),
    (r"np\.sctypes\['uint'\]", "[np.uint8, np.uint16, np.uint32, np.uint64]"),
    (r"np\.sctypes\['float'\]", "[np.float16, np.float32, np.float64, np.longdouble]"),
    (r"assert_equals\(", "assert_equal("),
]

ABSENT = {
    "headers": [
        "create_options",
        "decode_options",
        "check_options",
        "create_metadata_options",
        "decode_metadata_options",
    ],
    "metacodecs": ["CODECS"],
}
"""Names that `holdall.bloscpack` does not have. Tests that use them fail."""


def module(name: str, **names: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__dict__.update(names)
    sys.modules[name] = made
    return made


def nose() -> None:
    """nose and mock, as far as the tests use them."""
    case = unittest.TestCase()
    tools = module(
        "nose.tools",
        assert_equal=case.assertEqual,
        assert_true=case.assertTrue,
        assert_raises=case.assertRaises,
        assert_raises_regexp=case.assertRaisesRegex,
    )
    skip = module("nose.plugins.skip", SkipTest=unittest.SkipTest)
    plugins = module("nose.plugins", skip=skip)
    module("nose", tools=tools, plugins=plugins)
    sys.modules["mock"] = unittest.mock


def ours() -> None:
    """`holdall.bloscpack` under bloscpack's names."""
    import holdall.bloscpack
    from holdall.bloscpack import (
        _metadata,
        _names,
        abstract_io,
        append,
        args,
        exceptions,
        file_io,
        headers,
        memory_io,
        numpy_io,
    )

    sys.modules["bloscpack"] = holdall.bloscpack
    for real in (abstract_io, append, args, exceptions, file_io, headers, memory_io, numpy_io):
        sys.modules[f"bloscpack.{real.__name__.rpartition('.')[2]}"] = real
    for name in ("checksums", "constants", "defaults", "metacodecs", "pretty"):
        sys.modules[f"bloscpack.{name}"] = _names
        setattr(holdall.bloscpack, name, _names)
    serializer = types.SimpleNamespace(name=b"JSON", dumps=_metadata.dumps, loads=json.loads)
    module("bloscpack.serializers", SERIALIZERS=[serializer], SERIALIZERS_AVAIL=_names.SERIALIZERS_AVAIL)
    module("bloscpack.compat_util", StringIO=io.BytesIO, OrderedDict=collections.OrderedDict)
    for name, names in ABSENT.items():
        for absent in names:
            setattr(sys.modules[f"bloscpack.{name}"], absent, None)


def theirs() -> None:
    """bloscpack 0.16, which looks for a class where Python had it up to 3.9."""
    collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]
    import bloscpack  # noqa: F401


def text_of(path: Path) -> str:
    text = path.read_text()
    for old, new in RENAMED:
        text = re.sub(old, new, text)
    return text


def load(name: str, path: Path, package: str) -> types.ModuleType:
    made = module(name, __package__=package, __file__=str(path))
    exec(compile(text_of(path), str(path), "exec"), made.__dict__)
    return made


def cases(tests: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Tests by name, those of classes among them."""
    for name, test in list(vars(tests).items()):
        if name.startswith("test_") and callable(test):
            yield name, test
        elif isinstance(test, type) and issubclass(test, unittest.TestCase) and test is not unittest.TestCase:
            for method in unittest.defaultTestLoader.getTestCaseNames(test):
                yield f"{name}.{method}", getattr(test(method), method)


def run(test: Any) -> int | str:
    """The number of cases, or the error. As in nose, a test that yields gives calls that are its cases."""
    try:
        made = test()
        if not isinstance(made, types.GeneratorType):
            return 1
        count = 0
        for case in made:
            call = case[0]
            # Those that give calls themselves give them as what they return.
            call(*case[1:])
            count += 1
        return count
    except Exception as error:  # noqa: BLE001 - whatever a test raises
        return f"{type(error).__name__}: {error}"[:300]


def watched() -> Any:
    """The plugin of the shadow run, where this is part of it."""
    if "HOLDALL_SHADOW" not in os.environ:
        return None
    from plugin import shadow

    shadow.watch()
    return shadow


def main() -> None:
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    nose()
    {"ours": ours, "theirs": theirs}[sys.argv[2]]()
    shadow = watched()
    load("bloscpack.testutil", folder / "bloscpack" / "testutil.py", "bloscpack")
    sys.modules["bloscpack"].testutil = sys.modules["bloscpack.testutil"]  # type: ignore[attr-defined]
    found: dict[str, int | str] = {}
    for name in MODULES:
        tests = load(f"test_{name}", folder / "test" / f"test_{name}.py", "")
        for test, call in cases(tests):
            name_of_test = f"test_{name}.py::{test}"
            if shadow is not None:
                shadow.test = name_of_test
            found[name_of_test] = run(call)
    if shadow is not None:
        shadow.save(os.environ["HOLDALL_SHADOW"])
    print(json.dumps(found, indent=1))


main()
