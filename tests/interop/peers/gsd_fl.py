"""Stands in for gsd.fl: the same module, with the Rust file layer behind it, so that gsd's own tests can be run against that.

A plugin of pytest: `pytest -p gsd_fl`. Each file is a process of the program that HOLDALL_GSD_SERVER names, see
src/bin/gsd_fl_server.rs; HOLDALL_GSD_SCHEME says how it writes.
"""

import logging
import os
import subprocess
import sys
from pickle import PickleError

import numpy

logger = logging.getLogger("gsd.fl")

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")


class GSDFile:
    """An open file."""

    def __init__(self, name, mode, application, schema, schema_version, debug=True):
        if mode not in ("r", "r+", "w", "x", "a"):
            raise ValueError("Invalid mode: " + mode)
        self.name, self.mode, self.server = name, mode, None
        if mode in ("w", "x") or (mode == "a" and not os.path.exists(name)):
            for what, value in (("application", application), ("schema", schema), ("schema_version", schema_version)):
                if value is None:
                    raise ValueError(f"Provide {what} when creating a file")
        version = schema_version or (0, 0)
        arguments = [name, mode, application or "", schema or "", str(version[0] << 16 | version[1])]
        arguments.append(os.environ.get("HOLDALL_GSD_SCHEME", "atomic"))
        self.server = subprocess.Popen(
            [os.environ["HOLDALL_GSD_SERVER"], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.size = 1 << 20
        try:
            self.answer()
            self.gsd_version, self.schema_version, self.application, self.schema = self.about()
            if schema is not None and self.schema != (schema[:63] if len(schema) > 64 else schema):
                raise RuntimeError(f"file {name} has incorrect schema: {self.schema}")
        except BaseException:
            self.end()
            raise

    def ask(self, *fields, payload=b""):
        if self.server is None:
            raise ValueError("File is not open")
        self.server.stdin.write("\t".join(map(str, fields)).encode() + b"\n" + payload)
        self.server.stdin.flush()
        return self.answer()

    def answer(self):
        kind, *fields = self.server.stdout.readline().decode().rstrip("\n").split("\t")
        if kind == "ok":
            return fields
        why, text = fields
        if why.startswith("io "):
            number = int(why[3:])
            raise OSError(number, os.strerror(number), self.name)
        raise RuntimeError(f"{text}: {self.name}")

    def about(self):
        gsd, schema, application, name = self.ask("about")
        return divmod(int(gsd), 1 << 16), divmod(int(schema), 1 << 16), application, name

    def end(self):
        server, self.server = self.server, None
        server.stdin.close()
        server.stdout.close()
        server.wait()

    def close(self):
        if self.server is not None:
            try:
                self.ask("close")
            finally:
                self.end()

    def truncate(self):
        self.ask("truncate")
        self.gsd_version = self.about()[0]

    def end_frame(self):
        self.ask("end_frame")

    def flush(self):
        self.ask("flush")

    def upgrade(self):
        self.ask("upgrade")
        self.gsd_version = self.about()[0]

    def write_chunk(self, name, data):
        if self.server is None:
            raise ValueError("File is not open")
        if type(data) is str:
            encoded = data.encode("ascii")
            self.ask("write", name, "text", len(encoded), 1, len(encoded), payload=encoded)
            return
        array = numpy.ascontiguousarray(data)
        if array is not data:
            logger.warning("implicit data copy when writing chunk: " + name)
        if array.ndim > 2:
            raise ValueError("GSD can only write 1 or 2 dimensional arrays: " + name)
        if array.dtype.str[1:] not in TYPES:
            raise ValueError("invalid type for chunk: " + name)
        array = array.reshape(len(array), 1) if array.ndim == 1 else array
        self.ask("write", name, array.dtype.str, *array.shape, array.nbytes, payload=array.tobytes())

    def chunk_exists(self, frame, name):
        return self.ask("exists", frame, name) == ["1"]

    def read_chunk(self, frame, name):
        found = self.ask("read", frame, name)
        if found == [""]:
            raise KeyError(f"frame {frame} / chunk {name} not found in: {self.name}")
        dtype, n, m, length = found
        data = self.server.stdout.read(int(length))
        if dtype == "text":
            return data.rstrip(b"\0").decode()
        array = numpy.frombuffer(bytearray(data), dtype)
        return array if m == "1" else array.reshape(int(n), int(m))

    def find_matching_chunk_names(self, match):
        (length,) = self.ask("names")
        names = self.server.stdout.read(int(length)).decode().split("\0")
        return [name for name in names if name and name.startswith(match)]

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __reduce__(self):
        if self.mode != "r":
            raise PickleError("Only read only GSDFiles can be pickled.")
        return (GSDFile, (self.name, self.mode, self.application, self.schema, self.schema_version))

    def __del__(self):
        if getattr(self, "server", None) is not None:
            self.close()

    @property
    def nframes(self):
        return int(self.ask("nframes")[0])

    @property
    def maximum_write_buffer_size(self):
        return self.size

    @maximum_write_buffer_size.setter
    def maximum_write_buffer_size(self, size):
        self.ask("buffer", size)
        self.size = size


def open(name, mode, application=None, schema=None, schema_version=None):
    return GSDFile(str(name), mode, application, schema, schema_version)


GSDFile.__module__ = "gsd.fl"
sys.modules["gsd.fl"] = sys.modules[__name__]

import gsd

gsd.fl = sys.modules["gsd.fl"]
