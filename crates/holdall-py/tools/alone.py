"""What the package does beside numpy alone, in an environment that has nothing else: `python -I alone.py TESTDATA VERSION`.

`cargo xtask wheel` and the workflow of a release run it on a wheel that `pip install` has put there.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import holdall

testdata, version = Path(sys.argv[1]), sys.argv[2]

package = Path(holdall.__file__).parent
assert package.is_relative_to(sysconfig.get_path("platlib")), f"not the installed package: {package}"
assert holdall.__version__ == importlib.metadata.version("holdall") == version, holdall.__version__

# The command that came with it.
command = Path(sysconfig.get_path("scripts")) / "holdall"
said = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
assert said.strip() == f"holdall {version}", said
subprocess.run([command, "verify", testdata / "asdf/ok/image.asdf"], check=True, stdout=subprocess.DEVNULL)

# A file of each format, by the values that its own library wrote.
for name in [
    "asdf/ok/codec_mixed.asdf",
    "blosc2/ok/array_patched.b2nd",
    "bloscpack/ok/append_twice.blp",
    "gsd/ok/hoomd_full.gsd",
]:
    with holdall.open(testdata / name) as file:
        for dataset in file.values():
            assert isinstance(dataset[...], (np.ndarray, np.generic)), name
    assert holdall.verify(testdata / name).verdict == "sound", name

with tempfile.TemporaryDirectory() as folder:
    array = np.arange(24, dtype="<f4").reshape(4, 6)
    for ending in ["ra", "b2nd", "blp", "asdf"]:
        made = Path(folder) / f"array.{ending}"
        holdall.save(made, array)
        assert np.array_equal(holdall.load(made), array), ending

# What needs more is there when it is asked for, and not before.
absent = [name for name in ("asdf", "blosc2", "dask", "gsd", "xarray", "zarr") if name in sys.modules]
assert not absent, f"imported without need: {absent}"

print(f"holdall {version} with Python {sys.version.split()[0]} and numpy {np.__version__}, alone")
