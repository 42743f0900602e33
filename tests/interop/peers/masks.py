"""Masked arrays as Python asdf and numpy have them.

masks.py FOLDER    for each NAME.asdf, which has an array a: that Python asdf reads NAME.copy.asdf as the same masked array, and that
                   NAME.npy is its values with NaN in the place of missing floating-point numbers, and FILL.npy with -7"""
import glob
import os
import sys
import warnings

import asdf
import numpy

warnings.simplefilter("ignore")


def read(path):
    with asdf.open(path, lazy_load=False, memmap=False) as file:
        return numpy.ma.masked_array(file["a"][:])


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f")


names = [path[: -len(".asdf")] for path in glob.glob(os.path.join(sys.argv[1], "*.asdf")) if ".copy." not in path]
for name in names:
    source, copy = read(name + ".asdf"), read(name + ".copy.asdf")
    # No element has the number of that one.
    assert numpy.ma.getmaskarray(source).any() == (os.path.basename(name) != "mask_integer"), name
    assert numpy.array_equal(numpy.ma.getmaskarray(source), numpy.ma.getmaskarray(copy)), name
    assert same(source.filled(0), copy.filled(0)), name
    filled = source.filled(numpy.nan) if source.dtype.kind == "f" else source.data
    assert same(filled, numpy.load(name + ".npy")), name
    assert same(source.filled(-7), numpy.load(name + ".fill.npy")), name
print(len(names))
