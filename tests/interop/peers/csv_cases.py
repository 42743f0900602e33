"""Tables of text as numpy and the csv module write them, beside the arrays that they are, and tables read by them.

    csv_cases.py write FOLDER    writes NAME.csv, NAME.npy and, where the type has to be said, NAME.dtype
    csv_cases.py read FOLDER     reads each NAME.csv, which holdall wrote of NAME.npy, and compares
"""

import csv
import pathlib
import sys

import numpy as np


def by_writer(path, rows, **how):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, **how).writerows(rows)


def records():
    dtype = [("id", "<i8"), ("x", "<f8"), ("name", "<U5"), ("ok", "?")]
    rows = [(1, 0.1, "a,b", True), (-2, np.inf, 'say "', False), (2**62, 1e-300, "two\nl", True)]
    return np.array(rows, dtype)


def write(folder):
    random = np.random.default_rng(1)

    def case(name, array, rows=None, dtype=None, header=(), **how):
        np.save(folder / f"{name}.npy", array)
        rows = [[cell] for cell in array.tolist()] if rows is None else rows
        by_writer(folder / f"{name}.csv", [*header, *rows], **how)
        if dtype:
            (folder / f"{name}.dtype").write_text(dtype)

    numbers = random.standard_normal((50, 3)) * 10.0 ** random.integers(-300, 300, (50, 3))
    case("doubles", numbers, numbers.tolist())
    case("unix", numbers, numbers.tolist(), lineterminator="\n")
    case("quoted", numbers, numbers.tolist(), quoting=csv.QUOTE_ALL)
    case("one_axis", numbers[:, 0])
    case("integers", random.integers(-(2**63), 2**63, 40))
    unsigned = random.integers(2**62, 2**64, (9, 4), "<u8")
    case("unsigned", unsigned, unsigned.tolist())
    case("bools", np.array([True, False, True]))
    case("complex", np.array([1 + 2j, -1e-9j, complex(np.inf, -0.5)]))
    case("text", np.array(["", "é€", "a\nb", " x "]))
    case("numbers_with_gaps", np.array([[1.0, np.nan], [np.nan, 3.0]]), [[1, ""], ["", 3]])
    table = records()
    case("records", table, table.tolist(), header=[table.dtype.names])
    for dtype in ["<f4", ">f4", "<f2", "<i2", "|u1", ">u8"]:
        array = (random.random((20, 3)) * 100).astype(dtype)
        case("as_" + "lb"[dtype[0] == ">"] + dtype[1:], array, array.tolist(), dtype)
    dates = np.array(["1600-02-29", "NaT", "1969-12-31", "2038-01-19"], "<M8[D]")
    case("dates", dates, [[str(day)] for day in dates], "<M8[D]")
    times = np.array(["1969-12-31T23:59:59.999999999", "NaT", "2262-04-11T23:47:16.854775807"], ">M8[ns]")
    case("times", times, [[str(time)] for time in times], ">M8[ns]")
    # numpy's own writer.
    np.savetxt(folder / "savetxt.csv", numbers, delimiter=",")
    np.save(folder / "savetxt.npy", np.loadtxt(folder / "savetxt.csv", delimiter=","))


def read(folder):
    count = 0
    for path in sorted(folder.glob("*.csv")):
        expected = np.load(path.with_suffix(".npy"))
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if expected.dtype.names:
            assert rows.pop(0) == list(expected.dtype.names), path
            columns = [expected[name] for name in expected.dtype.names]
        else:
            columns = list(expected.reshape(len(expected), -1).T)
        assert len(rows) == len(expected), path
        for column, cells in zip(columns, zip(*rows)):
            if column.dtype.kind == "b":
                back = np.array([cell == "True" for cell in cells])
            elif column.dtype.kind == "c":
                back = np.array([complex(cell) for cell in cells], column.dtype)
            elif column.dtype.kind in "iu":
                back = np.array([int(cell) for cell in cells], column.dtype)
            else:
                back = np.array(cells).astype(column.dtype)
            np.testing.assert_array_equal(back, column, str(path))
        count += 1
    print(count)


folder = pathlib.Path(sys.argv[2])
{"write": write, "read": read}[sys.argv[1]](folder)
