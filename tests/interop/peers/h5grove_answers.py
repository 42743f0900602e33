"""Answers of h5grove 4 for arrays in an HDF5 file, and the same arrays as .npy files.

h5grove_answers.py FOLDER writes FOLDER/NAME.npy for each array and prints one JSON object a line:
{"name", "meta", "answers": [{"format", "dtype", "flatten", "selection", then "json", "hex" or "error"}]}.
The answers are those of h5grove's own handlers: `create_content`, `data` and `encode`.
"""
import json
import pathlib
import sys

import h5py
import numpy as np
from h5grove.content import create_content
from h5grove.encoders import encode

FOLDER = pathlib.Path(sys.argv[1])


def records():
    """Records with a field of every kind that h5py stores."""
    inner = [("x", "|u1"), ("y", ">f8")]
    dtype = [("a", "<i4"), ("b", "?"), ("s", "S3"), ("v", "<f4", (2, 2)), ("c", "<c16"), ("n", inner), ("o", "V2"), ("h", ">f2")]
    array = np.zeros(4, dtype)
    array["a"] = [1, -2, 3, 2**31 - 1]
    array["b"] = [True, False, True, False]
    array["s"] = [b"abc", b"d", b"", b"x"]
    array["v"] = np.arange(16).reshape(4, 2, 2) / 4
    array["c"] = [1 + 2j, complex(np.nan, 1), 0, -1j]
    array["n"]["x"] = [0, 1, 255, 7]
    array["n"]["y"] = [0.1, np.inf, -0.0, 1e300]
    array["o"] = np.array([b"ab", b"cd", b"e", b""], "V2")
    array["h"] = [0.1, np.nan, 65504, 1]
    return array


def arrays():
    """Arrays by name."""
    found = {}
    for order in "<>":
        for size in (1, 2, 4, 8):
            for kind in "iu":
                info = np.iinfo(f"{kind}{size}")
                values = [info.min, info.max, 0, 1, 100, 7]
                found[f"{kind}{size}{'le' if order == '<' else 'be'}"] = np.array(values, f"{order}{kind}{size}").reshape(2, 3)
        for size in (2, 4, 8):
            values = [0.1, -0.0, np.nan, np.inf, -np.inf, 65504, 1e-7, 3]
            found[f"f{size}{'le' if order == '<' else 'be'}"] = np.array(values, f"{order}f{size}").reshape(4, 2)
        for size in (8, 16):
            values = [1 + 2j, complex(np.nan, 0.1), complex(0, np.inf), -1]
            found[f"c{size}{'le' if order == '<' else 'be'}"] = np.array(values, f"{order}c{size}")
        found[f"cube{'le' if order == '<' else 'be'}"] = np.arange(4 * 5 * 6, dtype=f"{order}i2").reshape(4, 5, 6)
    found["bool"] = np.array([[True, False, True], [False, False, True]])
    found["fixed"] = np.array([[b"ab", b"c"], [b"", b"long"]], "S5")
    found["text"] = np.array([["ab", "é"], ["", "日本"]], "U3")
    found["records"] = records()
    found["void"] = np.array([b"abcd", b"\0\0\0\1"], "V4")
    found["scalar_f8"] = np.array(3.5)
    found["scalar_be"] = np.array(-3, ">i4")
    found["scalar_bool"] = np.array(True)
    found["scalar_text"] = np.array("text")
    found["scalar_record"] = records()[0:1].reshape(())
    found["empty"] = np.zeros((0, 3), "<i4")
    found["empty_inner"] = np.zeros((2, 0, 3), "<f8")
    found["plane_f4"] = (np.arange(35, dtype="<f4") / 8).reshape(5, 7)
    return found


def selections(array):
    """Selections that h5py takes too: no negative steps, no dots."""
    if array.ndim == 3:
        return ["0,:,2:4", "::2", "1,::2,3", "-1", ":,1", "3,4,5", "1:0", "2:9,:,1::3", ":,:,:", "0,:,-3:"]
    if array.ndim == 2 and array.size:
        return ["0", ":,1", "0,0", "1:2,:", "::2,1", "0:0"]
    if array.ndim == 1 and array.size:
        return ["0", "1:", "::2", "-1"]
    return []


def answer(content, wanted):
    """One answer. JSON of big-endian arrays, which orjson refuses, is that of the same values in native order."""
    try:
        data = content.data(wanted["selection"], wanted["flatten"], wanted["dtype"])
        if wanted["format"] == "json":
            data = np.asarray(data) if isinstance(data, np.ndarray) else data
            if isinstance(data, np.ndarray) and data.dtype.fields is None and data.dtype.kind in "iufc":
                data = data.astype(data.dtype.newbyteorder("="))
            return {**wanted, "json": json.loads(encode(data, "json").content)}
        return {**wanted, "hex": encode(data, wanted["format"]).content.hex()}
    except Exception as error:
        return {**wanted, "error": str(error)}


def main():
    """Writes the arrays and prints the answers."""
    with h5py.File(FOLDER / "arrays.h5", "w") as file:
        for name, array in arrays().items():
            np.save(FOLDER / f"{name}.npy", array)
            text = array.dtype.kind == "U"
            file.create_dataset(name, data=array.astype(object) if text else array, dtype=h5py.string_dtype() if text else None)
        for name, array in arrays().items():
            content = create_content(file, f"/{name}")
            answers = []
            for selection in [None, *selections(array)]:
                for wanted_format, dtype in (("json", "origin"), ("bin", "safe"), ("bin", "origin"), ("npy", "origin")):
                    for flatten in (False, True) if wanted_format == "json" else (False,):
                        wanted = {"format": wanted_format, "dtype": dtype, "flatten": flatten, "selection": selection}
                        answers.append(answer(content, wanted))
            print(json.dumps({"name": name, "meta": json.loads(encode(content.metadata()).content), "answers": answers}))


main()
