"""Reads every fixture with holdall and with the released Python implementations, and writes the table of docs/conformance.md.

    python conformance.py HOLDALL DOCS/conformance.md

HOLDALL is the command. The other implementations are those of the Python that runs this, and of the older ones in folders
beside it (`mid-asdf`, `old-asdf`, `old-blosc2`, `old-gsd`). Each reads in a process of its own, a file at a time, with limits on memory and time.
Values are compared with those that the manifests of the fixtures have from independent scripts.
"""

import collections
import collections.abc
import concurrent.futures
import hashlib
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "testdata"
# The environment of the interpreter, not what it links to.
VENV = Path(sys.executable).parents[1]
SECONDS = 30
MEMORY = 4 << 30

EQUAL, OTHER, TAKEN, NOT = "equal", "other values", "read", "not read"


def digest(data):
    return hashlib.sha256(data).hexdigest()


# The side that reads. It is started as `conformance.py --read FORMAT`, with a path on each line.


def little(array):
    import numpy as np

    def swapped(dtype):
        return dtype.newbyteorder("<")

    return np.asarray(array).astype(swapped(array.dtype), copy=False)


def read_bloscpack(path):
    import bloscpack

    try:
        array = bloscpack.unpack_ndarray_from_file(path)
    except bloscpack.exceptions.NotANumpyArray:
        data, _ = bloscpack.unpack_bytes_from_file(path)
        return {"data": digest(data)}
    return {"data": digest(little(array).tobytes(order="A"))}


def read_gsd(path):
    import gsd.fl
    import numpy as np

    found = {}
    with gsd.fl.open(name=path, mode="r") as file:
        frames = file.nframes
        names = file.find_matching_chunk_names("")

        def chunk(frame, name):
            data = file.read_chunk(frame=frame, name=name)
            if isinstance(data, str):
                data = np.frombuffer(data.encode(), "S1")
            return data

        for name in names:
            chunks = [chunk(n, name) if file.chunk_exists(frame=n, name=name) else None for n in range(frames)]
            for number, data in enumerate(chunks):
                if data is not None:
                    found[f"frames/{number}/{name}"] = digest(data.tobytes())
            if frames and all(data is not None for data in chunks):
                found[name] = digest(b"".join(data.tobytes() for data in chunks))
    return found


def read_blosc2(path):
    import blosc2
    import numpy as np

    thing = blosc2.open(path, mode="r")
    if isinstance(thing, blosc2.NDArray):
        array = np.asarray(thing[...]) if thing.shape else np.asarray(thing[()])
        return {"data": digest(little(array).tobytes())}
    if isinstance(thing, blosc2.SChunk):
        chunks = [bytes(thing.decompress_chunk(n)) for n in range(thing.nchunks)]
        return {"data": digest(b"".join(chunks))} | {f"chunks/{n}": digest(it) for n, it in enumerate(chunks)}
    found = {}
    for key in thing.keys():
        leaf = thing[key]
        if isinstance(leaf, blosc2.NDArray):
            found[key.lstrip("/")] = digest(little(np.asarray(leaf[...])).tobytes())
    return found


def read_asdf(path):
    import peer

    answer = peer.do_read({"path": path, "checksums": True})
    return {array["path"]: array["values"] for array in answer["arrays"]}


READERS = {"asdf": read_asdf, "blosc2": read_blosc2, "bloscpack": read_bloscpack, "gsd": read_gsd}


def reader(format):
    """Answers for each path with the digests of its datasets; a child of its own reads each, since some end there."""
    # Loaded once, before there are children.
    sys.path.insert(0, str(DATA / "asdf"))
    collections.MutableMapping = collections.abc.MutableMapping
    importlib.import_module({"asdf": "peer", "gsd": "gsd.fl"}.get(format, format))
    for line in sys.stdin:
        path = line.rstrip("\n")
        end, start = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(end)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(null, stream)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            try:
                answer = READERS[format](path)
                os.write(start, json.dumps(answer).encode())
            except BaseException:
                pass
            os._exit(0)
        os.close(start)
        with os.fdopen(end, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        print(answer.decode() or "null", flush=True)


# The side that compares.


def fixtures(format):
    manifest = tomllib.loads((DATA / format / "MANIFEST.toml").read_text())
    for fixture in manifest["file"]:
        path = DATA / format / fixture["path"]
        if "main" in fixture:
            path /= fixture["main"]
        yield fixture["path"], path, fixture


def expected(fixture):
    """What the manifest has of values, by the path of the dataset."""
    if "datasets" in fixture:
        return {it["path"]: it["values"] for it in fixture["datasets"]}
    if "chunk_values" in fixture:
        return {f"chunks/{n}": it for n, it in enumerate(fixture["chunk_values"])}
    if "items" in fixture:
        return {f"items/{n}": it for n, it in enumerate(fixture["items"])}
    return {"data": fixture["values"]} if "values" in fixture else {}


def command(holdall, *args):
    return subprocess.run([holdall, *args], capture_output=True, timeout=SECONDS * 4)


def ours(holdall, path, fixture):
    """As the readers answer; None where the file is not sound."""
    if command(holdall, "verify", path).returncode:
        return None
    found = {}
    listing = command(holdall, "ls", "-R", "--json", path).stdout.splitlines()
    listed = {it["path"]: it for it in map(json.loads, listing)}
    for name in expected(fixture):
        cat = command(holdall, "cat", f"{path}::{name}", "--format", "raw")
        if cat.returncode:
            return None
        found[name] = digest(column_major(cat.stdout, listed[name]))
    return found


def column_major(data, dataset):
    """The elements as they are stored."""
    import numpy as np

    if dataset["order"] == "C" or not data or "datasets" in dataset:
        return data
    count = int(np.prod([int(n) for n in dataset["shape"]], dtype=object))
    array = np.frombuffer(data, f"V{len(data) // count}").reshape(dataset["shape"])
    return array.tobytes(order="F")


def outcome(found, fixture):
    if found is None:
        return NOT
    want = expected(fixture)
    if fixture["verdict"] != "sound" or not want:
        return TAKEN
    # Masks are not datasets elsewhere, and nor are the values that a schema puts where none are stored.
    said = {name: it for name, it in want.items() if name in found}
    return EQUAL if said and all(found[name] == it for name, it in said.items()) else OTHER if said else TAKEN


PEERS = {
    "asdf": [("asdf 6.0.0", VENV), ("asdf 5.2.0", VENV / "mid-asdf"), ("asdf 2.15.2", VENV / "old-asdf")],
    "blosc2": [("blosc2 4.14.1", VENV), ("blosc2 3.1.1", VENV / "old-blosc2")],
    "bloscpack": [("bloscpack 0.16.0", VENV)],
    "gsd": [("gsd 5.0.1", VENV), ("gsd 3.4.1", VENV / "old-gsd")],
    "rawarray": [],
}
TITLES = {"asdf": "ASDF", "blosc2": "Blosc2", "bloscpack": "Bloscpack", "gsd": "GSD", "rawarray": "RawArray"}


def python(venv):
    """The program and its environment. Some older releases are packages alone, for the newest Python."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if (venv / "bin/python").exists():
        return venv / "bin/python", environment
    return VENV / "bin/python", environment | {"PYTHONPATH": str(venv)}


def peer(format, venv, paths):
    program, environment = python(venv)
    process = subprocess.run(
        [program, "-B", __file__, "--read", format],
        input="".join(f"{path}\n" for path in paths),
        capture_output=True,
        text=True,
        env=environment,
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    if len(answers) != len(paths):
        sys.exit(f"{venv}: {len(answers)} answers to {len(paths)} files: {process.stderr[-1000:]}")
    if not any(answers):
        sys.exit(f"{venv} read nothing at all: {process.stderr[-1000:]}")
    return answers


def version_of(name, venv):
    package = name.split()[0]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    program, environment = python(venv)
    found = subprocess.run([program, "-c", code], capture_output=True, text=True, env=environment).stdout.strip()
    return f"{package} {found}"


def table(format, holdall):
    files = list(fixtures(format))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = {"holdall": list(pool.map(lambda it: ours(holdall, it[1], it[2]), files))}
    for name, venv in PEERS[format]:
        found[version_of(name, venv)] = peer(format, venv, [path for _, path, _ in files])
    outcomes = {
        name: [outcome(answer, fixture) for answer, (_, _, fixture) in zip(answers, files)]
        for name, answers in found.items()
    }
    lines = [f"## {TITLES[format]}", ""]
    columns = list(outcomes)
    lines += ["| fixtures | | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    kinds = [("sound", "values equal", EQUAL), ("sound", "values differ", OTHER), ("sound", "read, nothing to compare", TAKEN)]
    kinds += [("sound", "not read", NOT), ("damaged", "taken for sound", TAKEN), ("damaged", "not taken", NOT)]
    groups = {
        "sound": [n for n, it in enumerate(files) if it[2]["verdict"] == "sound"],
        "damaged": [n for n, it in enumerate(files) if it[2]["verdict"] != "sound"],
    }
    for group, title, kind in kinds:
        counts = [sum(outcomes[name][n] == kind for n in groups[group]) for name in columns]
        if any(counts):
            lines.append(f"| {len(groups[group])} {group} | {title} | " + " | ".join(map(str, counts)) + " |")
    lines.append("")
    said = False
    for name in columns:
        for group, title, kind in kinds:
            if (group, kind) in [("sound", EQUAL), ("damaged", NOT)]:
                continue
            # What holdall makes of them too is no difference.
            odd = [n for n in groups[group] if outcomes[name][n] == kind and (name == "holdall" or outcomes["holdall"][n] != kind)]
            if name == "holdall" and kind == TAKEN and group == "sound":
                continue
            if odd:
                names = ", ".join(f"`{files[n][0]}`" for n in odd)
                lines += [f"<details><summary>{name}: {group}, {title}: {len(odd)}</summary>", "", names, "", "</details>"]
                said = True
    if not said:
        lines.append("No implementation differs from what the fixtures are said to be.")
    lines.append("")
    wrong = [files[n][0] for n in groups["sound"] if outcomes["holdall"][n] in (OTHER, NOT)]
    wrong += [files[n][0] for n in groups["damaged"] if outcomes["holdall"][n] != NOT]
    return lines, wrong


INTRODUCTION = """# Conformance

<!-- Written by `cargo xtask conformance`; do not edit. -->

Every fixture of `testdata`, read by `holdall` and by the released implementations in Python. What a fixture holds is said by its
manifest, which independent scripts wrote. Values are compared bit by bit, as little-endian numbers.

* **values equal**, **values differ**: all values that both have, against the manifest.
* **read, nothing to compare**: it opens, and the manifest has no values of it, or none under the same names: empty files, bare
  trees, kinds of content that this reader shows in another way.
* **not read**: an error, or no answer within 30 s and 4 GiB.
* **taken for sound**: a file with an error that `holdall verify` finds is read without a complaint. Readers are not made to find
  all damage, and for some of these files the damage is beside what they read; the number says what a check adds to a read.

RawArray has no released implementation in Python to compare with; the Rust crate of its author is in the cross tests of `tests/bench`.
"""


def main():
    if sys.argv[1] == "--read":
        return reader(sys.argv[2])
    holdall, target = sys.argv[1], Path(sys.argv[2])
    lines, wrong = INTRODUCTION.splitlines() + [""], []
    for format in PEERS:
        more, bad = table(format, holdall)
        lines += more
        wrong += [f"{format}/{name}" for name in bad]
        print(f"{format}: done", flush=True)
    text = "\n".join(lines).rstrip() + "\n"
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, target)
    if wrong:
        sys.exit(f"holdall does not do what the manifests say: {', '.join(wrong)}")


main()
