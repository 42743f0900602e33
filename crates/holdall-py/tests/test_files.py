"""Opening, metadata, errors, pickles, file objects."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import blosc2
import ml_dtypes
import numpy as np
import pytest
from conftest import files, same_bits

import holdall


def test_a_file_is_a_mapping_of_its_datasets(image: Path) -> None:
    file = holdall.open(image)
    assert list(file) == ["roman/data", "roman/dq", "roman/err"] and len(file) == 3
    assert "roman/dq" in file and "roman" not in file and 3 not in file
    assert file.format == "asdf" and file.path == str(image) and not file.closed
    assert file.meta["roman"]["meta"] and file.info["size"] == image.stat().st_size
    assert file.get("nothing") is None
    with pytest.raises(KeyError, match="did you mean 'roman/data'"):
        file["roman/dta"]
    with pytest.raises(KeyError, match="roman .a group of 'roman/data', 'roman/dq', 'roman/err'."):
        file["roman"]
    dataset = file["roman/data"]
    assert (dataset.dtype, dataset.ndim, dataset.size, dataset.nbytes) == (np.dtype("<f4"), 2, 3072, 12288)
    assert dataset.codec == "lz4" and 0 < dataset.stored < 12288 and dataset.file is file
    assert sum(one.stop - one.start for one in file.layout()) == file.info["size"]
    assert "roman" in file.tree(depth=1) and "data" not in file.tree(depth=1)


def test_a_digest_that_was_not_compared_is_reported(image: Path, tmp_path: Path) -> None:
    copied = tmp_path / "image.asdf"
    copied.write_bytes(image.read_bytes())
    with holdall.open(copied) as file:
        assert file.notices == []
        file["roman/data"][...]
        assert file.notices == []
        file["roman/err"][:3, :5]
        (notice,) = file.notices
        assert "digest of roman/err not compared" in notice and notice.endswith('digests="compare" reads all')
        assert "not compared" in file._repr_html_()
    for digests in ("compare", "ignore"):
        with holdall.open(copied, digests=digests) as file:
            file["roman/err"][:3, :5]
            assert file.notices == []


def test_after_close_the_file_is_closed_and_what_is_in_hand_is_not(image: Path) -> None:
    with holdall.open(image) as file:
        dataset = file["roman/data"]
        values = dataset[...]
    assert file.closed and repr(file)
    with pytest.raises(ValueError, match="closed"):
        file["roman/data"]
    with pytest.raises(ValueError, match="closed"):
        list(file)
    assert same_bits(dataset[3], values[3])


@pytest.mark.parametrize("path", files("bad"), ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_damaged_files_raise_nothing_but_our_errors(path: Path) -> None:
    try:
        file = holdall.open(path, max_memory=64 << 20)
        assert file.meta is not None and repr(file) and file._repr_html_()
        for name in list(file)[:50]:
            dataset = file[name]
            assert dataset._repr_html_()
            dataset[...]
            dataset.mask()
    except (holdall.HoldallError, OSError) as error:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
        assert getattr(again, "range", None) == getattr(error, "range", None)
    found = holdall.verify(path)
    assert found.verdict in ("damaged", "unreadable", "unchecked", "sound") and found._repr_html_()
    if not found:
        with pytest.raises(holdall.HoldallError):
            found.raise_if_damaged()


def test_errors_say_where_and_what_next(tmp_path: Path, image: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        holdall.open(tmp_path / "none.asdf")
    assert missing.value.errno == 2 and missing.value.filename == str(tmp_path / "none.asdf")
    with pytest.raises((OSError, holdall.WrongFormatError)):
        holdall.open(tmp_path)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(holdall.WrongFormatError) as wrong:
        holdall.open(tmp_path / "text")
    assert isinstance(wrong.value, ValueError)
    data = bytearray(image.read_bytes())
    block = next(one for one in holdall.open(image).layout() if one.checksum)
    data[block.stop - 3] ^= 255
    (tmp_path / "bad.asdf").write_bytes(data)
    dataset = next(iter(holdall.open(tmp_path / "bad.asdf").values()))
    with pytest.raises(holdall.DamageError) as damaged:
        dataset[...]
    assert damaged.value.range is not None and damaged.value.range[0] <= block.stop - 3 < damaged.value.range[1]
    cut = tmp_path / "cut.ra"
    holdall.save(cut, np.arange(100.0))
    os.truncate(cut, 300)
    with pytest.raises(holdall.TruncatedError) as early:
        holdall.open(cut)["data"][...]
    assert isinstance(early.value, EOFError) and early.value.need is not None and early.value.have is not None


def test_errors_survive_pickling_and_copying() -> None:
    for error in [
        holdall.TruncatedError("m", (1, 2), "p", "do", 3, 2),
        holdall.ChecksumError("m", (1, 2), None, None, "aa", "bb"),
        holdall.UsageError("m", None, None, "do"),
    ]:
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert vars(again).keys() >= vars(error).keys() and str(again) == "m"
            assert again.args == error.args and getattr(again, "__notes__", None) == getattr(error, "__notes__", None)


def test_limits_on_memory_hold(tmp_path: Path) -> None:
    holdall.save(tmp_path / "a.b2nd", np.zeros(1 << 20))
    dataset = holdall.open(tmp_path / "a.b2nd", max_memory=1 << 20)["data"]
    with pytest.raises(holdall.LimitError) as error:
        dataset[...]
    assert isinstance(error.value, MemoryError)
    assert dataset[:10].sum() == 0


def test_file_objects_give_the_same_values(image: Path) -> None:
    whole = holdall.open(image)["roman/data"][...]
    data = image.read_bytes()
    file = holdall.open(io.BytesIO(data))
    assert same_bits(file["roman/data"][...], whole) and file.path is None
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(file)

    class Dribbling(io.RawIOBase):
        """Gives at most seven bytes a read, as raw files and sockets may."""

        def __init__(self) -> None:
            self.inner = io.BytesIO(data)

        def seek(self, at: int, whence: int = 0) -> int:
            return self.inner.seek(at, whence)

        def read(self, n: int = -1) -> bytes:
            return self.inner.read(min(n, 7))

    assert same_bits(holdall.open(Dribbling())["roman/data"][...], whole)


def test_a_file_object_that_lies_is_an_error(image: Path) -> None:
    data = image.read_bytes()

    class Longer(io.BytesIO):
        """Says that it is longer than it is."""

        def seek(self, at: int, whence: int = 0) -> int:
            return super().seek(at, whence) + (1000 if whence == 2 else 0)

    class Broken(io.BytesIO):
        """Cannot be read."""

        def read(self, n: int | None = -1) -> bytes:
            raise RuntimeError("gone away")

    class Text(io.StringIO):
        """Gives text."""

    def read_all(file: Any) -> None:
        opened = holdall.open(file)
        for name in opened:
            opened[name][...]

    with pytest.raises((OSError, holdall.DamageError)):
        read_all(Longer(data[:-10]))
    with pytest.raises(OSError, match="gone away"):
        read_all(Broken(data))
    with pytest.raises((OSError, TypeError)):
        read_all(Text("x" * 1000))
    with pytest.raises(TypeError, match="path"):
        holdall.open(3)  # type: ignore[arg-type]


def test_files_of_an_fsspec_like_file_system_are_pickled(image: Path) -> None:
    file = holdall.open((Local(), str(image)))
    dataset = file["roman/data"]
    again = pickle.loads(pickle.dumps(dataset))
    assert same_bits(again[...], dataset[...]) and again.file.path == str(image)
    assert dataset.__dask_tokenize__() == again.__dask_tokenize__()


class Local:
    """What is used of a file system of fsspec."""

    def open(self, path: str, mode: str) -> Any:
        return open(path, mode)

    def info(self, path: str) -> dict[str, Any]:
        return {"size": os.stat(path).st_size, "mtime": os.stat(path).st_mtime_ns}

    def __str__(self) -> str:
        return "local"


def test_bfloat16_is_told(tmp_path: Path) -> None:
    values = np.array([1, -2, 0.5], ml_dtypes.bfloat16)
    holdall.save(tmp_path / "b.ra", values, on_loss="ignore")
    dataset = holdall.open(tmp_path / "b.ra")["data"]
    assert dataset.dtype == ml_dtypes.bfloat16 and (dataset[...] == values).all()
    code = f"""
import sys
sys.modules["ml_dtypes"] = None
import holdall
d = holdall.open({str(tmp_path / "b.ra")!r})["data"]
print(d.dtype, d[0], d.attrs["dtype"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "uint16 16256 bfloat16\n", done.stderr


def test_types_of_numpy_pass_unchanged(tmp_path: Path) -> None:
    records = np.zeros(3, np.dtype({"names": ["a", "b"], "formats": ["<i2", ">f8"], "offsets": [4, 8], "itemsize": 24}))
    records["a"], records["b"] = [1, 2, 3], [0.5, 1.5, 2.5]
    arrays = {
        "big": np.arange(5, dtype=">i4"),
        "half": np.array([1, 2.5, np.inf], "<f2"),
        "complex": np.array([1 + 2j, 3 - 4j], ">c16"),
        "bool": np.array([True, False]),
        "bytes": np.array([b"ab", b"c"]),
        "text": np.array(["ab", "ç"]),
        "dates": np.array(["2026-11-28", "NaT"], "M8[D]"),
        "times": np.array([1, 2], "m8[ns]"),
        "records": records,
        "big_text": np.array(["x"], ">U3"),
    }
    for extension in ("b2nd", "blp", "npy"):
        for name, values in arrays.items():
            path = tmp_path / f"{name}.{extension}"
            assert holdall.save(path, values) == []
            dataset = holdall.open(path)["data"]
            got = dataset[...]
            assert got.dtype.newbyteorder("=") == values.dtype.newbyteorder("="), (extension, name)
            equal = got.astype(values.dtype) == values
            assert (equal | (np.isnat(values) if values.dtype.kind in "Mm" else False)).all(), (extension, name)
    with pytest.raises(holdall.UnsupportedError):
        holdall.save(tmp_path / "o.npy", np.array([object()]))


def test_an_array_that_is_none_is_shown_as_it_is(tmp_path: Path) -> None:
    import asdf

    path = tmp_path / "a.asdf"
    text = (
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
        "arr: !core/ndarray-1.1.0\n  data:\n    nested: error\n...\n"
    )
    path.write_text(text)
    meta = holdall.open(path).meta
    assert meta == asdf.util.load_yaml(path) == {"arr": {"data": {"nested": "error"}}}


def test_the_shape_of_blocks_is_an_attribute_and_no_metadata(tmp_path: Path) -> None:
    values = np.arange(60 * 40, dtype="<i4").reshape(60, 40)
    for name, blocks in {"a": (10, 8), "b": (30, 4)}.items():
        peer = blosc2.asarray(values, chunks=(30, 40), blocks=blocks, urlpath=str(tmp_path / f"{name}.b2nd"))
        dataset = holdall.open(tmp_path / f"{name}.b2nd")["data"]
        assert tuple(dataset.attrs["block shape"]) == peer.blocks == blocks  # type: ignore[arg-type]
    assert holdall.diff(tmp_path / "a.b2nd", tmp_path / "b.b2nd") == []
    for target in ("a.asdf", "a.zarr", "a.npy", "a.fits"):
        made = holdall.convert(tmp_path / "a.b2nd", tmp_path / target, on_loss="raise")
        assert made.losses == []
    assert "block shape" not in (tmp_path / "a.zarr/zarr.json").read_text()
