"""Tables of python-blosc2, and what it reads of them.

ctable.py FOLDER [SEED]    writes tables of random rows there, some of them deleted, and beside each NAME a NAME.json: a list of [path, type,
                           values] for each column, where a value that is null is null. Each table is opened again before its columns are read."""
import dataclasses
import json
import os
import random
import sys
import warnings

import blosc2
import numpy as np
from blosc2.ctable_nulls import NullChannel

warnings.simplefilter("ignore")
blosc2.set_nthreads(1)
field, folder = blosc2.field, sys.argv[1]
chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
LEAST = np.iinfo(np.int64).min


@dataclasses.dataclass
class Row:
    i8: int = field(blosc2.int8())
    i2_value: int = field(blosc2.int16(nullable=True, null_value=-32768))
    i4_flag: int = field(blosc2.int32(nullable=True, null_storage="mask"))
    u8_value: int = field(blosc2.uint64(nullable=True, null_value=2**64 - 1))
    f4_value: float = field(blosc2.float32(nullable=True, null_value=float("nan")))
    f4_number: float = field(blosc2.float32(nullable=True, null_value=-0.1))
    f8_flag: float = field(blosc2.float64(nullable=True, null_storage="mask"))
    c16_flag: complex = field(blosc2.complex128(nullable=True))
    bool_plain: bool = field(blosc2.bool())
    bool_value: bool = field(blosc2.bool(nullable=True, null_storage="sentinel"))
    bool_flag: bool = field(blosc2.bool(nullable=True, null_storage="mask"))
    string_value: str = field(blosc2.string(max_length=5, nullable=True, null_value="n/a"))
    string_flag: str = field(blosc2.string(max_length=5, nullable=True, null_storage="mask"))
    bytes_value: bytes = field(blosc2.bytes(max_length=5, nullable=True, null_value=b"\xff\0x"))
    s_value: object = field(blosc2.timestamp(unit="s", nullable=True, null_storage="sentinel"))
    ms_flag: object = field(blosc2.timestamp(unit="ms", nullable=True, null_storage="mask"))
    us_plain: object = field(blosc2.timestamp(unit="us", timezone="UTC"))
    ns_value: object = field(blosc2.timestamp(unit="ns", nullable=True, null_storage="sentinel"))
    array_plain: object = field(blosc2.ndarray((2, 3), np.float32))
    array_value: object = field(blosc2.ndarray((2,), np.int16, nullable=True, null_value=-1))
    array_flag: object = field(blosc2.ndarray((2,), np.bool_, nullable=True, null_storage="mask"))
    word_plain: str = field(blosc2.dictionary())
    word: str = field(blosc2.dictionary(nullable=True))
    text_plain: str = field(blosc2.utf8())
    text_value: str = field(blosc2.utf8(nullable=True, null_value="n/a"))
    text_flag: str = field(blosc2.utf8(nullable=True, null_storage="mask"))
    item: str = field(blosc2.vlstring(nullable=True))
    item_bytes: bytes = field(blosc2.vlbytes(nullable=True))


def text(most):
    return "".join(chance.choice("aß語𝄞 ,\"\n") for _ in range(chance.randrange(most)))


def row():
    def null(value, otherwise=None):
        return otherwise if chance.random() < 0.25 else value

    whole, real = chance.randrange(-100, 100), chance.choice([chance.uniform(-9, 9), float("nan"), float("inf"), -0.0])
    time = np.datetime64(chance.randrange(-(10**12), 10**12), "ms")
    fixed = text(5).strip("\0")
    return (
        whole, null(whole, -32768), null(whole), null(abs(whole), 2**64 - 1), null(real, float("nan")), null(real, -0.1), null(real),
        null(complex(real, whole)), whole % 2 == 0, null(whole % 2 == 0, 255), null(whole % 2 == 0), null(fixed, "n/a"), null(fixed),
        null(b"b%d" % whole, b"\xff\0x"), null(time, np.datetime64("NaT")), null(time), time, null(time, np.datetime64("NaT")),
        np.full((2, 3), real, np.float32), null(np.array([whole, -1], np.int16), np.full(2, -1, np.int16)), null(np.array([True, False])),
        text(2), null(text(3)), text(9), null(text(9), "n/a"), null(text(9)), null(text(9)), null(b"x\0%d" % whole),
    )  # fmt: skip


def shown(value):
    """As holdall writes values as JSON."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [shown(part) for part in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, np.datetime64):
        return "NaT" if np.isnat(value) else str(value)
    if isinstance(value, np.float32):
        value = float(str(value))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, complex):
        return [shown(value.real), shown(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


def told(column):
    values, nulls = column[:], NullChannel(column).null_mask()
    values = values.data if isinstance(values, np.ma.MaskedArray) else values
    assert len(values) == len(nulls) == len(column)
    shape = values.shape[1:] if isinstance(values, np.ndarray) else ()
    none = np.full(shape, None).tolist() if shape else None
    # Of no rows python-blosc2 gives the type of what is stored.
    fixed = values.dtype.str if len(values) and isinstance(values, np.ndarray) and values.dtype.kind != "T" else None
    return fixed, [none if null else shown(value) for value, null in zip(values, nulls)]


def finish(name, table_of):
    table, root = table_of()
    columns = [[f"{root}_cols/{column}", *told(table[column])] for column in table.col_names]
    with open(os.path.join(folder, name + ".json"), "w") as out:
        json.dump(columns, out)


def filled(path, rows, deleted):
    table = blosc2.CTable(Row, urlpath=path, mode="w", expected_size=max(rows, 1), create_summary_index=chance.random() < 0.5)
    if rows:
        table.extend([row() for _ in range(rows)])
    # The last row stays: with it gone, python-blosc2 4.14.1 reads texts of deleted rows.
    gone = sorted(chance.sample(range(max(rows - 1, 0)), deleted))
    if gone:
        table.delete(gone)
    return table


for name, rows, deleted in [("empty.b2d", 0, 0), ("one.b2z", 1, 0), ("some.b2z", 40, 13), ("few.b2d", 120, 100)]:
    path = os.path.join(folder, name)
    filled(path, rows, deleted).close()
    finish(name, lambda: (blosc2.open(path), ""))

path = os.path.join(folder, "compacted.b2d")
table = filled(path, 40, 11)
table.compact()
for _ in range(5):
    table.append(row())
table.close()
finish("compacted.b2d", lambda: (blosc2.open(path), ""))

frame = os.path.join(folder, "frame.b2e")
with open(frame, "wb") as out:
    out.write(blosc2.open(os.path.join(folder, "few.b2d")).to_cframe())
finish("frame.b2e", lambda: (blosc2.open(os.path.join(folder, "few.b2d")), ""))

tree = os.path.join(folder, "tree.b2z")
with blosc2.TreeStore(tree, mode="w") as store:
    store["/plain"] = blosc2.asarray(np.arange(5))
    store["/deep/table"] = blosc2.open(os.path.join(folder, "compacted.b2d"))
finish("tree.b2z", lambda: (blosc2.TreeStore(tree, mode="r")["/deep/table"], "deep/table/"))
