"""References: read by zarr through fsspec and VirtualiZarr, against `holdall.open` and another reader."""

from __future__ import annotations

import base64
import json
import pickle
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import asdf
import blosc2
import fsspec
import numpy as np
import pytest
import xarray as xr
import zarr
from conftest import TESTDATA, files, same_bits
from five import all_five, asdf_coded, b2nd, b2nd_special, bloscpack, rng, trajectory
from test_remote import served

import holdall
import holdall.blosc2
import holdall.bloscpack
from holdall import _holdall
from holdall._manifest import Manifests, equal_rows

NAMES = ["asdf", "zlib", "bzp2", "lz4", "gsd", "b2nd", "special", "bloscpack", "rawarray"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification"),
    # By fsspec, whose reader takes it.
    pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated"),
    pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3"),
]


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Files by other writers."""
    return all_five(tmp_path_factory.mktemp("five"))


def group_of(refs: Any, **words: Any) -> zarr.Group:
    """The group that references make."""
    fs = fsspec.filesystem("reference", fo=refs, asynchronous=True, remote_protocol="file", **words)
    store = zarr.storage.FsspecStore(fs, read_only=True)
    return zarr.open_group(store, mode="r", zarr_format=2)


UNEXPRESSED = {"asdf": {"table"}, "lz4": {"a", "deep/b"}}


@pytest.mark.parametrize("name", NAMES)
def test_zarr_reads_the_files_bytes_in_place(five: dict[str, Any], name: str) -> None:
    path, values, read = five[name]
    direct = holdall.open(path)
    made = holdall.refs(path, on_loss="ignore")
    lost = {loss.dataset.partition("::")[2] for loss in made.losses if loss.dataset}
    assert lost == UNEXPRESSED.get(name, set()), made.losses
    group = group_of(dict(made))
    for key, expected in values.items():
        if key not in lost:
            found = np.asarray(group[key][...])
            assert same_bits(found, direct[key][...]), key
            assert same_bits(found.astype(expected.dtype), read(path, key).astype(expected.dtype)), key


def test_every_fixture_is_as_it_is_read_or_has_a_reason() -> None:
    count = 0
    for path in files("ok"):
        try:
            made = holdall.refs(path, on_loss="ignore")
        except (holdall.UnsupportedError, holdall.UsageError):
            continue
        file = holdall.open(path)
        lost = {loss.dataset.partition("::")[2] for loss in made.losses if loss.dataset and loss.what != "its mask"}
        group = group_of(dict(made))
        from holdall._dims import beside

        for name, place in beside(file).items():
            if name in lost or file[name].nbytes > 1 << 20:
                continue
            try:
                expected = file[name][...]
            except holdall.UnsupportedError:
                continue
            assert same_bits(np.asarray(group[place][...]), expected), (path, name)
            count += 1
    assert count > 500


def test_losses_have_their_reasons(five: dict[str, Any], tmp_path: Path) -> None:
    path = five["lz4"][0]
    with pytest.warns(holdall.HoldallLossWarning, match=r"a: no codec of Zarr decodes its block \(lz4\)"):
        made = holdall.refs(path)
    assert made.losses[0].dataset == f"{path}::a" and list(made["refs"]) == [".zgroup"]
    with pytest.raises(holdall.UsageError, match="lz4"):
        holdall.refs(path, on_loss="raise")
    # Longer than what goes into the references, so that the reason is told.
    values = np.arange(4000).reshape(50, 80)
    with asdf.config_context() as config:
        config.default_array_save_base = True
        tree = {"v": values, "g": values[::2, ::2], "m": np.ma.MaskedArray(values * 2, values > 5)}
        asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    told = {
        loss.dataset.rpartition("::")[2]: loss.what
        for loss in holdall.refs(tmp_path / "a.asdf", on_loss="ignore").losses
        if loss.dataset
    }
    assert told == {"g": "its elements are not next to each other", "m": "its mask"}
    bloscpack(tmp_path / "a.blp", np.zeros((50, 4000), "<i4"), 7)
    assert holdall.refs(tmp_path / "a.blp", on_loss="raise").losses == []
    holdall.bloscpack.pack_ndarray_to_file(
        np.arange(70_000.0).reshape(-1, 7), str(tmp_path / "odd.blp"), chunk_size=100_000
    )
    (loss,) = holdall.refs(tmp_path / "odd.blp", on_loss="ignore").losses
    assert "end within rows" in loss.what
    np.save(tmp_path / "prime.npy", np.zeros(1_000_003))
    (loss,) = holdall.refs(tmp_path / "prime.npy", target=8192, on_loss="ignore").losses
    assert "divide into no chunks of equal length" in loss.what


def test_chunks_of_plain_elements_are_even(tmp_path: Path) -> None:
    assert equal_rows((100, 50), 4, 4000) == (20, 50)
    assert equal_rows((100, 50), 4, 10) == (1, 2)
    assert equal_rows((6, 5), 8, 1 << 20) == (6, 5)
    assert equal_rows((3, 4, 1000), 8, 8000) == (1, 1, 1000)
    values = rng(1).random((64, 10, 12)).astype(">f8")
    np.save(tmp_path / "a.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values))
    for name in ("a", "f"):
        made = holdall.refs(tmp_path / f"{name}.npy", target=2000)
        count = sum(isinstance(value, list) for value in made["refs"].values())
        assert 20 <= count <= 64
        assert same_bits(group_of(dict(made))["data"][...], values)


def test_several_files_are_groups_or_one(tmp_path: Path) -> None:
    runs = [trajectory(tmp_path / f"{n}.gsd", 3 + n, 6, seed=20 + n) for n in range(3)]
    paths = sorted(tmp_path.glob("*.gsd"))
    each = group_of(dict(holdall.refs(paths, on_loss="ignore")))
    for number, run in enumerate(runs):
        assert same_bits(each[f"{number}/particles/position"][...], run["particles/position"])
    # Steps, of which frame 0 has the default, are in the references of each: their lengths differ.
    one = holdall.refs(paths, concat="frame", on_loss="ignore")
    joined = group_of(dict(one))
    for key in ("particles/position", "particles/typeid", "log/energy"):
        assert same_bits(joined[key][...], np.concatenate([run[key] for run in runs])), key
    images = [asdf_coded(tmp_path / str(n), "zlib")[1]["a"] for n in range(3) if not (tmp_path / str(n)).mkdir()]
    stack = holdall.refs(sorted(tmp_path.glob("*/zlib.asdf")), concat="image")
    assert stack.losses == []
    assert same_bits(group_of(dict(stack))["a"][...], np.stack(images))
    with xr.open_dataset(
        "reference://",
        engine="zarr",
        backend_kwargs={"storage_options": {"fo": dict(stack), "remote_protocol": "file"}, "consolidated": False},
        chunks={},
    ) as data:
        assert data["a"].dims == ("image", "dim_40", "dim_50") and same_bits(data["a"].values, np.stack(images))
    with pytest.raises(ValueError, match="two files are called zlib"):
        holdall.refs(sorted(tmp_path.glob("*/zlib.asdf")))
    b2nd(tmp_path / "x.b2nd")
    b2nd(tmp_path / "y.b2nd", chunks=(30, 30))
    losses = holdall.refs([tmp_path / "x.b2nd", tmp_path / "y.b2nd"], concat="run", on_loss="ignore").losses
    assert "codec" in losses[0].what and losses[1].what == "1 of 2 files have it alike"


def test_addresses_of_the_files(five: dict[str, Any]) -> None:
    path, _, _ = five["rawarray"]

    def address(made: holdall.References) -> str:
        return next(value[0] for value in made["refs"].values() if isinstance(value, list))

    assert address(holdall.refs(path)) == str(path)
    assert address(holdall.refs(path, url="s3://bucket/run/{}")) == "s3://bucket/run/a.ra"
    assert address(holdall.refs(path, url=lambda place: f"x:{len(place)}")) == f"x:{len(str(path))}"
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/some/a.ra", path.read_bytes())
    assert address(holdall.refs((memory, "/some/a.ra"), url="memory://some/{}")) == "memory://some/a.ra"


@pytest.mark.parametrize("name", NAMES)
def test_files_at_urls_have_the_references_of_copies(five: dict[str, Any], name: str) -> None:
    path = five[name][0]
    with served(path.parent) as (address, _):
        made = holdall.refs(f"{address}/{path.name}", on_loss="ignore")
        copies = holdall.refs(path, url=f"{address}/{{}}", on_loss="ignore")
    assert dict(made) == dict(copies)
    assert [loss.what for loss in made.losses] == [loss.what for loss in copies.losses]


def test_blocks_of_their_decoded_length_are_references_by_their_headers(tmp_path: Path) -> None:
    # What zlib makes of noise is a little longer, and of as many equal bytes as that a little shorter.
    noise = rng(3).integers(0, 256, 1 << 20, dtype="u1").tobytes()
    data = next(data for n in range(2000) if len(zlib.compress(data := noise + bytes(n))) == len(data))
    coded = np.frombuffer(data, "u1")
    file = asdf.AsdfFile({"a": rng(4).random(1 << 17), "b": rng(5).random(1 << 17), "c": coded, "d": rng(6).random(9)})
    file.set_array_compression(coded, "zlib")
    file.write_to(tmp_path / "a.asdf")
    block = [one for one in holdall.open(tmp_path / "a.asdf").layout() if one.role == "data"][2]
    assert (block.codec, block.stop - block.start) == ("zlib", len(data))
    with served(tmp_path) as (address, _):
        far = holdall.open(f"{address}/a.asdf")["c"]
        made = holdall.refs(f"{address}/a.asdf", url=str(tmp_path / "{}"))
        assert same_bits(np.asarray(group_of(dict(made))["c"][...]), coded)
        assert same_bits(far[...], coded)


def test_references_are_written_and_read(five: dict[str, Any], tmp_path: Path) -> None:
    made = holdall.refs(five["gsd"][0], on_loss="raise")
    made.to_json(tmp_path / "run.json")
    with pytest.raises(FileExistsError):
        made.to_json(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == made
    made.to_parquet(tmp_path / "run.parq", record_size=5)
    with pytest.raises(FileExistsError):
        made.to_parquet(tmp_path / "run.parq")
    for place in (tmp_path / "run.json", tmp_path / "run.parq"):
        group = group_of(str(place))
        for key, values in five["gsd"][1].items():
            assert same_bits(group[key][...].astype(values.dtype), values), (place, key)
    again = pickle.loads(pickle.dumps(made))
    assert again == made and again.losses == made.losses


def test_kerchunk_combines_references(tmp_path: Path) -> None:
    from kerchunk.combine import MultiZarrToZarr

    images = rng(9).random((3, 10, 20))
    for number, image in enumerate(images):
        asdf.AsdfFile({"a": image}).write_to(tmp_path / f"{number}.asdf", all_array_compression="zlib")
    each = [dict(holdall.refs(path)) for path in sorted(tmp_path.glob("*.asdf"))]
    whole = MultiZarrToZarr(each, remote_protocol="file", concat_dims=["run"], coo_map={"run": [4, 5, 6]})
    group = group_of(whole.translate())
    assert same_bits(group["a"][...], images) and group["run"][...].tolist() == [4, 5, 6]


def test_blosc2_chunks_of_one_value(tmp_path: Path) -> None:
    values = b2nd_special(tmp_path / "s.b2nd")
    made = holdall.refs(tmp_path / "s.b2nd")
    inline = [
        value
        for key, value in made["refs"].items()
        if key.startswith("data/") and isinstance(value, str) and value.startswith("base64:")
    ]
    assert len(inline) == 11
    chunk = base64.b64decode(inline[0][7:])
    assert np.isnan(np.frombuffer(_holdall.bloscpack_decode(chunk), "<f8")).all()
    assert same_bits(group_of(dict(made))["data"][...], values)


def test_chunks_that_were_moved_are_found(tmp_path: Path) -> None:
    values = b2nd(tmp_path / "a.b2nd")
    with holdall.blosc2.open(tmp_path / "a.b2nd", "r+") as array:
        array[0:30, 80:90] = rng(3).random((30, 10))
        array[60:90, 0:40] = 1
    now = holdall.load(tmp_path / "a.b2nd")
    assert not np.array_equal(now, values, equal_nan=True)
    assert same_bits(group_of(dict(holdall.refs(tmp_path / "a.b2nd")))["data"][...], now)


def test_what_needs_no_holdall_is_read_without_it(five: dict[str, Any], tmp_path: Path) -> None:
    expected = {}
    for name in ("asdf", "zlib", "bzp2", "gsd", "rawarray"):
        holdall.refs(five[name][0], on_loss="ignore").to_json(tmp_path / f"{name}.json")
        key = next(iter(five[name][1]))
        expected[name] = (key, float(np.asarray(five[name][1][key], "f8").sum()))
    code = f"""
import sys
sys.modules["holdall"] = None
import fsspec, zarr, numpy
for name, (key, total) in {expected!r}.items():
    fs = fsspec.filesystem("reference", fo={str(tmp_path)!r} + f"/{{name}}.json", asynchronous=True, remote_protocol="file")
    group = zarr.open_group(zarr.storage.FsspecStore(fs, read_only=True), mode="r", zarr_format=2)
    assert float(numpy.asarray(group[key][...], "f8").sum()) == total, name
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_virtualizarr_reads_manifests(five: dict[str, Any], name: str) -> None:
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    from holdall.virtualizarr import HoldallParser

    path, values, read = five[name]
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", holdall.HoldallLossWarning)
        store = HoldallParser()(f"file://{path}", registry)
    group = zarr.open_group(store, mode="r", zarr_format=3)
    count, there = 0, set(group.array_keys())
    for key, expected in values.items():
        if (place := key.replace("/", ".")) in there:
            found = np.asarray(group[place][...])
            assert same_bits(found.astype(expected.dtype), expected), key
            assert same_bits(found.astype(expected.dtype), read(path, key).astype(expected.dtype)), key
            count += 1
    assert count >= (0 if name in ("lz4", "special") else 1)


def test_virtualizarr_reads_through_a_store(five: dict[str, Any]) -> None:
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import MemoryStore

    from holdall.virtualizarr import HoldallParser

    memory = MemoryStore()
    for name in ("asdf", "b2nd"):
        memory.put(f"some/{name}", five[name][0].read_bytes())
    registry = ObjectStoreRegistry({"memory://bucket": memory})
    store = HoldallParser(group="image")("memory://bucket/some/asdf", registry)
    array = zarr.open_array(store, path="data", mode="r", zarr_format=3)
    assert same_bits(array[...], five["asdf"][1]["image/data"])
    store = HoldallParser()("memory://bucket/some/b2nd", registry)
    array = zarr.open_array(store, path="data", mode="r", zarr_format=3)
    assert same_bits(array[...], five["b2nd"][1]["data"])
    made = holdall.refs((memory, "some/b2nd"), url="memory://{}")
    assert len(made["refs"]) > 10 and made.losses == []


def test_the_codec_of_both_libraries(tmp_path: Path) -> None:
    import numcodecs
    from zarr.registry import get_codec_class

    values = b2nd(tmp_path / "a.b2nd")
    chunk = holdall.blosc2.open(tmp_path / "a.b2nd")
    from holdall.zarr import Blosc2Codec

    assert get_codec_class("holdall.blosc2") is Blosc2Codec
    words = {"chunk_shape": [30, 40], "block_shape": [7, 16]}
    codec = numcodecs.get_codec({"id": "holdall.blosc2", **words})
    assert codec == numcodecs.get_codec(codec.get_config())
    with pytest.raises(NotImplementedError):
        codec.encode(b"x")
    file = holdall.open(tmp_path / "a.b2nd")
    manifest = Manifests(file, tmp_path / "a.b2nd").of(file["data"])
    start, length = manifest.places[2, 1]
    encoded = (tmp_path / "a.b2nd").read_bytes()[start : start + length]
    assert same_bits(np.frombuffer(codec.decode(encoded), "<f4").reshape(30, 40), values[60:90, 40:80])
    out = np.empty((30, 40), "<f4")
    codec.decode(encoded, out)
    assert same_bits(out, values[60:90, 40:80])
    made = Blosc2Codec.from_dict({"name": "holdall.blosc2", "configuration": words})
    assert Blosc2Codec.from_dict(made.to_dict()) == made and pickle.loads(pickle.dumps(made)) == made
    chunk.close()
    for broken in (b"", encoded[:10], encoded[:200], bytes(64), encoded[:40] + bytes(len(encoded) - 40)):
        with pytest.raises((holdall.HoldallError, ValueError)):
            codec.decode(broken)
    wrong = numcodecs.get_codec({"id": "holdall.blosc2", "chunk_shape": [30, 40], "block_shape": [11, 13]})
    with pytest.raises(holdall.MalformedError, match="is not one of"):
        wrong.decode(encoded)


def test_damaged_offsets_are_no_references(tmp_path: Path) -> None:
    b2nd(tmp_path / "a.b2nd")
    data = bytearray((tmp_path / "a.b2nd").read_bytes())
    header = holdall.open(tmp_path / "a.b2nd").info["header"]
    at = header["header_len"] + header["cbytes"]
    struct.pack_into("<I", data, at + 12, 1 << 30)
    (tmp_path / "b.b2nd").write_bytes(data)
    made = holdall.refs(tmp_path / "b.b2nd", on_loss="ignore")
    assert list(made["refs"]) == [".zgroup"], made.losses


def test_files_that_claim_any_number_of_chunks_are_refused(tmp_path: Path) -> None:
    blosc2.zeros((2 * 10**10,), "u1", urlpath=str(tmp_path / "zeros.b2nd"), mode="w", chunks=(1000,), blocks=(100,))
    assert (tmp_path / "zeros.b2nd").stat().st_size < 1000
    (loss,) = holdall.refs(tmp_path / "zeros.b2nd", on_loss="ignore").losses
    assert loss.what == "20000000 chunks, more than 10000000"


def test_files_without_a_path_have_no_references(tmp_path: Path) -> None:
    with open(TESTDATA / "asdf/ok/image.asdf", "rb") as file, pytest.raises(holdall.UsageError, match="path or a URL"):
        holdall.refs(file)
