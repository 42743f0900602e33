"""Every fixture through the released implementations: what `docs/conformance.md` is made of.

    python conformance.py ANSWERS RAWARRAY_PEER [FORMAT…]

ANSWERS is written: a line for each fixture, `format TAB path` and then a word for each implementation, below a line `format TAB
fixture` with their names. RAWARRAY_PEER is the program of that name of the package interop. The Python packages are those of the
Python that runs this, and the older ones in folders beside it (`mid-asdf`, `old-asdf`, `old-blosc2`, `old-gsd`).

Each implementation is loaded once, in a process that reads a file first, so that whatever it loads late is there. From then on every
file is read by a fork of it, with limits on time and memory, so that no file answers for another.

The words: `equal` (all values of the manifest), `read` (there are none to compare), `other` (other values, or not all of the
datasets), `refused` (an exception, or a panic of Rust), `none` (no answer, or none within the limits), `–` (not asked).
"""

import collections
import collections.abc
import concurrent.futures
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "testdata"
# The environment of the interpreter, not what it links to.
VENV = Path(sys.executable).parents[1]
# Of processor time for a file; what waits instead ends after the other number.
SECONDS, WAITED = 10, 60
MEMORY = 4 << 30
# Of what is said to hold more than so many bytes, manifests have no values: it is opened, and not read.
LONG = 1 << 30


def digest(data):
    return hashlib.sha256(data).hexdigest()


# The side that reads. Each of the readers answers with digests by the path of the dataset, as manifests have them. What it does not
# show in its own interface is not there.


def little(array):
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def digest_of(array):
    """Of the values in C order."""
    import numpy as np

    return digest(little(np.asarray(array)).tobytes())


def read_bloscpack(path, fixture):
    import bloscpack

    data, metadata = bloscpack.unpack_bytes_from_file(path)
    if not isinstance(metadata, dict) or metadata.get("container") != "numpy":
        return {"data": digest(data)}
    # In the order in which they are stored.
    return {"data": digest(little(bloscpack.unpack_ndarray_from_file(path)).tobytes(order="A"))}


def gsd_chunks(file, frames, fixture):
    """By name, the chunk of each frame that has one."""
    import numpy as np

    chunks = {}
    for name in file.find_matching_chunk_names(""):
        chunks[name] = stored = {}
        for frame in range(frames):
            if file.chunk_exists(frame=frame, name=name):
                data = file.read_chunk(frame=frame, name=name)
                stored[frame] = np.frombuffer(data.encode(), "S1") if isinstance(data, str) else data
    found = {}
    for name, stored in chunks.items():
        for frame, data in stored.items():
            found[f"frames/{frame}/{name}"] = digest_of(data)
        if frames and len(stored) == frames:
            found[name] = digest(b"".join(little(data).tobytes() for data in stored.values()))
    return found


def read_gsd(path, fixture):
    import gsd.fl

    with gsd.fl.open(name=path, mode="r") as file:
        return gsd_chunks(file, file.nframes, fixture)


def read_hoomd(path, fixture):
    """Each frame as the schema has it, whether it is stored there or not."""
    import gsd.hoomd
    import numpy as np

    found = {}
    with gsd.hoomd.open(name=path, mode="r") as trajectory:
        frames = [trajectory[n] for n in range(len(trajectory))]
    for it in fixture.get("datasets", []):
        group, _, field = it["path"].partition("/")
        if group == "log":
            rows = [frame.log.get(field) for frame in frames]
        else:
            rows = [getattr(getattr(frame, group, None), field, None) for frame in frames]
        if field == "types" and all(row is not None for row in rows):
            width = it["shape"][-1]
            rows = [np.frombuffer(b"".join(text.encode().ljust(width, b"\0") for text in row), "u1") for row in rows]
        if rows and all(isinstance(row, (np.ndarray, np.generic, int, float)) for row in rows):
            dtype = np.dtype(it["dtype"]).newbyteorder("<")
            found[it["path"]] = digest(b"".join(np.asarray(row).astype(dtype).tobytes() for row in rows))
    return found


def read_pygsd(path, fixture):
    import gsd.pygsd

    with open(path, "rb") as raw:
        file = gsd.pygsd.GSDFile(raw)
        return gsd_chunks(file, file.nframes, fixture)


def read_blosc2(path, fixture):
    import blosc2

    if path.endswith(".b2e"):
        thing = blosc2.EmbedStore(path, mode="r")
    elif "offset" in fixture:
        thing = blosc2.open(path, mode="r", offset=fixture["offset"])
    else:
        thing = blosc2.open(path, mode="r")
    if isinstance(thing, blosc2.NDArray):
        return {"data": digest_of(thing[...] if thing.shape else thing[()])}
    found = {}
    if hasattr(thing, "keys"):
        for key in thing.keys():
            leaf = thing["/" + key.lstrip("/")]
            if isinstance(leaf, blosc2.NDArray):
                found[key.strip("/")] = digest_of(leaf[...] if leaf.shape else leaf[()])
        return found
    if "rows" in fixture:
        assert len(thing) == fixture["rows"]
        return {}
    # What has a class of its own has its values in the chunks below.
    schunk = getattr(thing, "schunk", thing)
    if not hasattr(schunk, "decompress_chunk"):
        return {"data": digest_of(thing[...])}  # an expression, or a proxy
    if schunk.nbytes > LONG:
        return {}
    chunks = [bytes(schunk.decompress_chunk(n)) for n in range(schunk.nchunks)]
    return {"data": digest(b"".join(chunks))} | {f"chunks/{n}": digest(it) for n, it in enumerate(chunks)}


def read_asdf(path, fixture):
    import asdf
    import numpy as np

    def array_of(node):
        """Its values, whatever is masked; `None` of what is no array."""
        # asdf 2 has two classes of this name, and the one that can be imported is not that of the nodes.
        is_own = type(node).__name__ == "NDArrayType"
        return np.ma.getdata(node[...] if is_own else node) if is_own or isinstance(node, np.ndarray) else None

    def is_list(node):
        return isinstance(node, collections.abc.Sequence) and not isinstance(node, (str, bytes))

    def at(node, parts):
        for part in parts:
            if isinstance(node, collections.abc.Mapping):
                keys = {{None: "null", True: "true"}.get(key, str(key)): key for key in node}
                if part not in keys:
                    return None
                node = node[keys[part]]
            elif is_list(node) and part.isdecimal() and int(part) < len(node):
                node = node[int(part)]
            else:
                return None
        return node

    def visit(node, seen):
        """Loads every array once."""
        todo = [node]
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen[id(node)] = node
            if (array := array_of(node)) is not None:
                array.tobytes()
            elif isinstance(node, collections.abc.Mapping):
                todo += node.values()
            elif is_list(node):
                todo += node

    found = {}
    with asdf.open(path) as file:
        for it in fixture.get("datasets", []):
            parts = [] if it["path"] == "." else it["path"].split("/")
            array = array_of(at(file.tree, [part.replace("~1", "/").replace("~0", "~") for part in parts]))
            if array is not None:
                found[it["path"]] = digest_of(array) if not array.dtype.hasobject else "objects"
        visit(file.tree, {})
    return found


READERS = {
    "asdf": ("asdf", read_asdf),
    "blosc2": ("blosc2", read_blosc2),
    "bloscpack": ("bloscpack", read_bloscpack),
    "gsd": ("gsd.fl", read_gsd),
    "hoomd": ("gsd.hoomd", read_hoomd),
    "pygsd": ("gsd.pygsd", read_pygsd),
}


def is_hoomd(path):
    """By the schema in its header."""
    with open(path, "rb") as file:
        return file.read(176)[112:].split(b"\0")[0] == b"hoomd"


def expected(fixture):
    """What the manifest has of values, by the path of the dataset."""
    if "datasets" in fixture:
        return {it["path"]: it["values"] for it in fixture["datasets"]}
    if "chunk_values" in fixture:
        return {f"chunks/{n}": it for n, it in enumerate(fixture["chunk_values"])}
    if "items" in fixture:
        return {f"items/{n}": it for n, it in enumerate(fixture["items"])}
    return {"data": fixture["values"]} if "values" in fixture else {}


def is_shown(format, path, found):
    """Whether the interface of this reader has it: masks, the words of big integers and what a schema fills in are datasets of holdall alone."""
    if format == "asdf":
        return path.split("/")[-1] not in ("mask", "words")
    return format not in ("gsd", "hoomd", "pygsd") or path in found


def judged(format, fixture, found):
    want = expected(fixture)
    want = {path: it for path, it in want.items() if path in found or is_shown(format, path, found)}
    if not want:
        return "read", ""
    wrong = [f"{path} is {'other' if path in found else 'not there'}" for path, it in want.items() if found.get(path) != it]
    return ("other", ", ".join(wrong)) if wrong else ("equal", "")


def reader(name):
    """Answers each request, a fixture as JSON, with a word and what there is to say."""
    module, read = READERS[name]
    # Where Python had it up to 3.9, bloscpack looks for it.
    collections.MutableMapping = collections.abc.MutableMapping
    warnings.simplefilter("ignore")
    # asdf 6 tells so, and leaves what it read of the node, where earlier releases raise.
    warnings.filterwarnings("error", message="A node failed to convert")
    importlib.import_module(module)
    if name == "blosc2":
        sys.modules[module].set_nthreads(1)  # threads do not come along into a fork
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    is_warm = False
    for line in sys.stdin:
        fixture = json.loads(line)
        if not is_warm:
            read(fixture["at"], fixture)
            is_warm = True
        if name == "hoomd" and not is_hoomd(fixture["at"]):
            print(json.dumps(("–", "")), file=answers, flush=True)
            continue
        answer = forked(lambda: judged(name, fixture, read(fixture["at"], fixture)))
        print(json.dumps(answer), file=answers, flush=True)


def forked(ask):
    """What a child makes of it."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        limit()
        try:
            answer = ask()
        except MemoryError:
            answer = "none", "memory"
        except BaseException as error:
            answer = "refused", f"{type(error).__name__}: {error}"[:300]
        os.write(start, json.dumps(answer).encode())
        os._exit(0)
    os.close(start)
    with os.fdopen(end, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if answer else ended(os.waitstatus_to_exitcode(status))


def limit():
    signal.alarm(WAITED)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def ended(code):
    """Of a process that said nothing."""
    if -code in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL):
        return "none", "time"
    return "none", f"ended with {code}"


# The side that asks.


def fixtures(format, folder):
    manifest = tomllib.loads((folder / format / "MANIFEST.toml").read_text())
    for fixture in manifest["file"]:
        at = folder / format / fixture["path"]
        yield fixture | {"at": str(at / fixture["main"] if "main" in fixture else at)}


# Each with the folder of its packages, and its reader.
PEERS = {
    "asdf": [("asdf", VENV, "asdf"), ("asdf", VENV / "mid-asdf", "asdf"), ("asdf", VENV / "old-asdf", "asdf")],
    "blosc2": [("blosc2", VENV, "blosc2"), ("blosc2", VENV / "old-blosc2", "blosc2")],
    "bloscpack": [("bloscpack", VENV, "bloscpack")],
    "gsd": [("gsd", VENV, "gsd"), ("gsd", VENV, "pygsd"), ("gsd", VENV, "hoomd"), ("gsd", VENV / "old-gsd", "gsd")],
}
# Files without anything odd.
USUAL = {
    "asdf": "ok/codec_zlib.asdf", "blosc2": "ok/meta_json.b2nd", "bloscpack": "ok/hello.blp",
    "gsd": "ok/hoomd_full.gsd", "pygsd": "ok/hoomd_full.gsd", "hoomd": "ok/hoomd_full.gsd",
}  # fmt: skip
SPELLED = {"blosc2": "python-blosc2", "pygsd": "gsd.pygsd", "hoomd": "gsd.hoomd", "gsd": "gsd.fl"}


def python(venv):
    """The program and its environment. Some older releases are packages alone, for the newest Python."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    if (venv / "bin/python").exists():
        return venv / "bin/python", environment
    return VENV / "bin/python", environment | {"PYTHONPATH": str(venv)}


def version(package, venv):
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    program, environment = python(venv)
    return subprocess.run([program, "-c", code, package], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout.strip()


def ask(venv, reader, files):
    program, environment = python(venv)
    # What is asked first warms up, before the process forks.
    usual = next(n for n, it in enumerate(files) if it["path"] == USUAL[reader])
    order = [usual, *(n for n in range(len(files)) if n != usual)]
    run = subprocess.run(
        [program, "-B", __file__, "--read", reader],
        input="".join(json.dumps(files[n]) + "\n" for n in order),
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode or len(answers) != len(files) or answers[0][0] != "equal":
        sys.exit(f"{venv}, {reader}: {len(answers)} answers to {len(files)} files, of {run.returncode}; the first {answers[:1]}")
    return [answer for _, answer in sorted(zip(order, answers))]


def ask_rawarray(program, files):
    """The crate of the author of the format, a process for each file."""
    return [forked_program(program, it) for it in files]


def forked_program(program, fixture):
    run = subprocess.run([program, fixture["at"]], capture_output=True, preexec_fn=limit)
    if run.returncode in (2, 101):
        return "refused", run.stderr.decode(errors="replace").strip()
    if run.returncode:
        return ended(run.returncode)
    return judged("rawarray", fixture, {"data": digest(run.stdout)})


def main():
    if sys.argv[1] == "--read":
        return reader(sys.argv[2])
    target, rawarray, *formats = sys.argv[1:]
    memory = Path("/dev/shm")
    lines, details = [], []
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        # Some write where they were only to read.
        data = Path(folder) / "testdata"
        shutil.copytree(DATA, data)

        def timed(name, job, *args):
            start = time.monotonic()
            answers = job(*args)
            print(f"{name}: {len(answers)} files in {time.monotonic() - start:.1f} s", flush=True)
            return answers

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = []
            for format in formats or [*PEERS, "rawarray"]:
                files = list(fixtures(format, data))
                for package, venv, reader_ in PEERS.get(format, []):
                    name = f"{SPELLED.get(reader_, package)} {version(package, venv)}"
                    jobs.append((format, files, name, pool.submit(timed, name, ask, venv, reader_, files)))
                if format == "rawarray":
                    job = pool.submit(timed, "rawarray", ask_rawarray, rawarray, files)
                    jobs.append((format, files, "rawarray 0.1.4", job))
            for format in dict.fromkeys(job[0] for job in jobs):
                columns = [(name, job.result()) for own, _, name, job in jobs if own == format]
                files = next(files for own, files, *_ in jobs if own == format)
                lines.append("\t".join([format, "fixture", *(name for name, _ in columns)]))
                for n, fixture in enumerate(files):
                    lines.append("\t".join([format, fixture["path"], *(answers[n][0] for _, answers in columns)]))
                    details += [f"{format}\t{fixture['path']}\t{name}\t{' '.join(a[n][0:2])}" for name, a in columns if a[n][1]]
    Path(target).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    # What they said, to look at; it is on no page.
    Path(target + ".said").write_text("".join(line + "\n" for line in details), encoding="utf-8")


main()
