"""`holdall.bloscpack` in the place of bloscpack: bloscpack's own tests, and files of each read by the other."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path

import blosc
import numpy as np
import pytest
from conftest import PEERS, SUITES, TESTDATA

import holdall
import holdall.bloscpack as bp
from holdall.bloscpack import append, file_io, headers, numpy_io

HERE = Path(__file__).parent

NOT_PASSED = {
    # Replaces the version that bloscpack reads by another, and expects its own files to be refused. holdall reads every version.
    "test_file_io.py::test_invalid_format",
    # About functions inside bloscpack that write the option bits of headers as text, and that compress metadata.
    "test_headers.py::test_create_options",
    "test_headers.py::test_decode_options",
    "test_headers.py::test_decode_options_exceptions",
    "test_headers.py::test_check_options_exceptions",
    "test_headers.py::test_create_metadata_options",
    "test_headers.py::test_decode_metadata_options",
    "test_headers.py::test_decode_metadata_options_exceptions",
    "test_metacodecs.py::test_codecs",
}
"""Tests of bloscpack's that fail with our modules, each with the reason."""


def suite(python: str | Path, which: str) -> dict[str, int | str]:
    """Outcomes of bloscpack's own tests: the number of cases, or an error."""
    source = SUITES / "bloscpack-0.16.0"
    done = subprocess.run(
        [str(python), str(HERE / "bloscpack_suite.py"), str(source), which],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # Before it are the messages of the tests.
    return json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])


def test_bloscpacks_own_tests_pass_with_the_modules_swapped() -> None:
    found = suite(sys.executable, "ours")
    failed = {name: error for name, error in found.items() if isinstance(error, str)}
    assert set(failed) == NOT_PASSED, failed
    assert len(found) - len(failed) == 58
    assert sum(cases for cases in found.values() if isinstance(cases, int)) >= 480


def test_the_same_text_of_the_tests_passes_with_bloscpack_itself() -> None:
    found = suite(PEERS, "theirs")
    assert [error for error in found.values() if isinstance(error, str)] == []
    assert len(found) == 67


def peer(task: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [str(PEERS), str(HERE / "bloscpack_peer.py"), task, str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_files_that_bloscpack_wrote_are_read(tmp_path: Path) -> None:
    peer("write", tmp_path)
    paths = sorted(tmp_path.glob("*.blp"))
    assert len(paths) == 30
    for path in paths:
        packed = path.read_bytes()
        if path.with_suffix(".npy").exists():
            expected = np.load(path.with_suffix(".npy"))
            for found in (bp.unpack_ndarray_from_file(path), bp.unpack_ndarray_from_bytes(packed)):
                assert found.dtype == expected.dtype and found.shape == expected.shape, path
                assert found.tobytes() == expected.tobytes() and found.flags.writeable, path
                assert np.isfortran(found) == np.isfortran(expected), path
            continue
        data, text = path.with_suffix(".bin").read_bytes(), path.with_suffix(".json")
        metadata = json.loads(text.read_text()) if text.exists() else None
        assert bp.unpack_bytes_from_file(path) == bp.unpack_bytes_from_bytes(packed) == (data, metadata), path
        assert bp.unpack_file_from_file(path, tmp_path / "out") == metadata
        assert (tmp_path / "out").read_bytes() == data
        if metadata is not None:
            assert bp.read_metadata(path) == bp.read_metadata(packed) == metadata
        with open(path, "rb") as fp, open(tmp_path / "out", "wb") as out:
            source = file_io.CompressedFPSource(fp)
            file_io_unpack(source, file_io.PlainFPSink(out))
        assert (tmp_path / "out").read_bytes() == data and source.metadata == metadata


def file_io_unpack(source: file_io.CompressedFPSource, sink: file_io.PlainFPSink) -> None:
    from holdall.bloscpack.abstract_io import unpack

    unpack(source, sink)


def test_bloscpack_reads_what_was_written(tmp_path: Path) -> None:
    peer("write", tmp_path)
    for path in sorted(tmp_path.glob("*.blp")):
        path.unlink()
        if path.with_suffix(".npy").exists():
            array = np.load(path.with_suffix(".npy"))
            bp.pack_ndarray_to_file(array, path, chunk_size=max(array.itemsize, 1) * 100)
            assert bp.pack_ndarray_to_bytes(array, max(array.itemsize, 1) * 100) == path.read_bytes()
            continue
        number = int(path.stem.removeprefix("bytes"))
        text = path.with_suffix(".json")
        arguments = {
            "chunk_size": ("64K", 1001)[number % 2],
            "metadata": json.loads(text.read_text()) if text.exists() else None,
            "blosc_args": bp.BloscArgs(
                clevel=number % 10, shuffle=number % 3, cname=("blosclz", "lz4", "lz4hc", "zlib", "zstd")[number % 5]
            ),
            "bloscpack_args": bp.BloscpackArgs(
                offsets=number % 4 != 0, checksum=(None, "crc32", "sha512")[number % 3], max_app_chunks=number
            ),
        }
        bp.pack_file_to_file(path.with_suffix(".bin"), path, **arguments)
        packed = path.read_bytes()
        assert bp.pack_bytes_to_bytes(path.with_suffix(".bin").read_bytes(), **arguments) == packed
        bp.pack_bytes_to_file(memoryview(path.with_suffix(".bin").read_bytes()), path, **arguments)
        assert path.read_bytes() == packed
    assert len(peer("expect", tmp_path)) == 30
    assert holdall.verify(tmp_path / "bytes1.blp") and holdall.verify(tmp_path / "record.blp")


def test_stored_files_are_those_of_bloscpack_byte_for_byte() -> None:
    data = bytes((at * 7 + at // 251) % 256 for at in range(3000))
    metadata = {"a": [1.0, float("nan")], "\u00e9": None}
    packed = bp.pack_bytes_to_bytes(data, 1001, metadata, bp.BloscArgs(clevel=0))
    # The MD5 of what bloscpack 0.16 makes of the same.
    assert hashlib.md5(packed).hexdigest() == "19f492d36ff3a40c937d93ab415d54bb"


def test_chunks_are_read_by_blosc() -> None:
    from holdall.bloscpack.abstract_io import compress, decompress

    data = np.arange(50_000, dtype="<i4").tobytes()
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        args = bp.BloscArgs(typesize=4, cname=cname)
        assert blosc.decompress(compress(data, args)) == data
        assert decompress(blosc.compress(data, **args)) == data


def test_arrays_grow_with_their_shape(tmp_path: Path) -> None:
    path, more = tmp_path / "a.blp", tmp_path / "more"
    array = np.arange(24.0).reshape(8, 3)
    bp.pack_ndarray_to_file(array, path, bloscpack_args=bp.BloscpackArgs(max_app_chunks=0))
    more.write_bytes(array[:2].tobytes())
    append.append(path, more)
    append.append(path, more, bp.BloscArgs(typesize=None, clevel=9, cname="zstd", shuffle=None))
    found = bp.unpack_ndarray_from_file(path)
    np.testing.assert_array_equal(found, np.concatenate([array, array[:2], array[:2]]))
    before = path.read_bytes()
    more.write_bytes(b"12345")
    with pytest.raises(holdall.UsageError, match="rows"):
        append.append(path, more)
    assert path.read_bytes() == before
    with open(path, "r+b") as fp, open(more, "rb") as new, pytest.raises(holdall.UsageError, match="shape"):
        append.append_fp(fp, new, 5)
    with pytest.raises(FileNotFoundError) as absent:
        append.append(path, tmp_path / "none")
    assert absent.value.filename


def test_metadata_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "a.blp"
    bp.pack_ndarray_to_file(np.arange(5), path)
    told = bp.read_metadata(path)
    assert told == {"dtype": "'<i8'", "shape": [5], "order": "C", "container": "numpy"}
    bp.write_metadata(path, told | {"units": "m", "long": ["x" * 90] * 100})
    assert bp.read_metadata(path)["units"] == "m"
    assert bp.unpack_ndarray_from_file(path).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(holdall.UsageError, match="shape"):
        bp.write_metadata(path, told | {"shape": [6]})
    bp.pack_bytes_to_file(b"12345", path)
    with pytest.raises(bp.NoMetadataFound):
        bp.read_metadata(path)
    with pytest.raises(bp.NotANumpyArray):
        bp.unpack_ndarray_from_file(path)
    bp.write_metadata(path, {"a": 1})
    assert bp.unpack_bytes_from_file(path) == (b"12345", {"a": 1})
    with pytest.raises(bp.MetadataSectionTooSmall):
        bp.pack_bytes_to_bytes(b"", metadata={"a": 1}, metadata_args=bp.MetadataArgs(max_meta_size=2))


def test_damage_is_told_by_bloscpacks_exceptions_and_leaves_nothing(tmp_path: Path) -> None:
    path, target = tmp_path / "a.blp", tmp_path / "out"
    bp.pack_bytes_to_file(bytes(range(256)) * 1000, path, metadata={"a": 1})
    packed = bytearray(path.read_bytes())
    packed[-3] ^= 1
    path.write_bytes(packed)
    with pytest.raises(bp.ChecksumMismatch) as wrong:
        bp.unpack_file_from_file(path, target)
    error = wrong.value
    assert isinstance(error, (RuntimeError, holdall.ChecksumError)) and error.range and error.stored != error.computed
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is bp.ChecksumMismatch and str(again) == str(error) and again.range == error.range
    assert not target.exists()
    packed[4] = 9
    with pytest.raises(bp.FormatVersionMismatch):
        bp.unpack_bytes_from_bytes(bytes(packed))
    with pytest.raises(holdall.WrongFormatError):
        bp.unpack_bytes_from_bytes(b"hello")
    with pytest.raises(FileNotFoundError):
        bp.unpack_file_from_file(tmp_path / "none", target)
    with pytest.raises(FileNotFoundError):
        bp.pack_file_to_file(tmp_path / "none", target)
    with pytest.raises(bp.NoSuchChecksum):
        bp.pack_bytes_to_file(b"", target, bloscpack_args=bp.BloscpackArgs(checksum="md6"))
    with pytest.raises(holdall.UsageError, match="codec"):
        bp.pack_bytes_to_file(b"", target, blosc_args=bp.BloscArgs(cname="snappy"))
    assert os.listdir(tmp_path) == ["a.blp"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_ends_packing_and_appending(tmp_path: Path) -> None:
    from test_process import interrupted

    plain, packed, target = tmp_path / "plain", tmp_path / "a.blp", tmp_path / "new"
    plain.touch()
    os.truncate(plain, 8 << 30)
    args = bp.BloscArgs(clevel=9, cname="zlib")
    bp.pack_bytes_to_file(bytes(1 << 20), packed)
    works = {
        "pack": lambda: bp.pack_file_to_file(plain, target, blosc_args=args),
        "append": lambda: append.append(packed, plain, args),
    }
    before = packed.read_bytes()
    for name, work in works.items():
        # A tenth of a second is the promise on a quiet machine.
        assert interrupted(work) < 1.0, name
    assert packed.read_bytes() == before
    deadline = time.monotonic() + 5
    while len(os.listdir(tmp_path)) > 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sorted(os.listdir(tmp_path)) == ["a.blp", "plain"]


def test_no_pickle_is_written_or_read() -> None:
    for array in (np.array([1, "a"], object), np.zeros(2, [("a", "i4"), ("b", object)])):
        with pytest.raises(bp.ObjectNumpyArrayRejection) as refused:
            bp.pack_ndarray_to_bytes(array)
        assert isinstance(refused.value, holdall.UnsupportedError)
    packed = bp.pack_bytes_to_bytes(
        pickle.dumps([1]), metadata={"dtype": "'|O'", "shape": [1], "order": "C", "container": "numpy"}
    )
    with pytest.raises(holdall.HoldallError):
        bp.unpack_ndarray_from_bytes(packed)
    import io

    with pytest.raises(holdall.HoldallError):
        numpy_io.unpack_ndarray(file_io.CompressedFPSource(io.BytesIO(packed)))


@pytest.mark.parametrize("path", sorted(TESTDATA.glob("bloscpack/bad/*")), ids=lambda path: path.name)
def test_bad_files_raise_only_our_errors(path: Path) -> None:
    import io

    from holdall.bloscpack.abstract_io import unpack

    packed = path.read_bytes()

    def by_file_objects() -> None:
        unpack(file_io.CompressedFPSource(io.BytesIO(packed)), file_io.PlainFPSink(io.BytesIO()))

    def by_array() -> None:
        numpy_io.unpack_ndarray(file_io.CompressedFPSource(io.BytesIO(packed)))

    def by_append() -> None:
        append.append_fp(io.BytesIO(packed), io.BytesIO(b"1234"), 4)

    reads = [
        lambda: bp.unpack_bytes_from_file(path),
        lambda: bp.unpack_ndarray_from_file(path),
        lambda: bp.unpack_ndarray_from_bytes(packed),
        lambda: bp.read_metadata(path),
        by_file_objects,
        by_array,
        by_append,
    ]
    for number, read in enumerate(reads):
        try:
            read()
        except (holdall.HoldallError, OSError):
            pass
        except RuntimeError as error:
            # append_fp's own, as in bloscpack.
            assert "without offsets" in str(error), number


def test_other_versions_are_read() -> None:
    read = 0
    for path in sorted(TESTDATA.glob("bloscpack/ok/*.blp")):
        version = path.read_bytes()[4]
        data, _ = bp.unpack_bytes_from_file(path)
        assert len(data) == sum(1 for _ in data)
        read += version != 3
    assert read >= 3


def test_headers_and_old_names() -> None:
    header = headers.BloscpackHeader(nchunks=3, max_app_chunks=30, offsets=True, chunk_size=10, last_chunk=2)
    assert headers.BloscpackHeader.decode(header.encode()) == header
    assert "chunk_size=10" in repr(header) and header.copy() is not header
    with pytest.raises(holdall.TruncatedError):
        headers.BloscpackHeader.decode(b"blpk")
    with pytest.warns(DeprecationWarning, match="pack_ndarray_to_bytes"):
        packed = bp.pack_ndarray_str(np.arange(3))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert bp.unpack_ndarray_str(packed).tolist() == [0, 1, 2]
    assert len(seen) == 1
