"""bloscpack 0.16 at the other end of the tests in test_bloscpack.py; run by the Python that it is installed for.

bloscpack_peer.py write FOLDER      packs arrays and bytes: NAME.blp, with what they hold in NAME.npy or NAME.bin
bloscpack_peer.py expect FOLDER     reads each NAME.blp, and compares it with NAME.npy or NAME.bin, and NAME.json
"""

import collections
import collections.abc
import itertools
import json
import sys
from pathlib import Path

# bloscpack 0.16, the last release, looks for it where Python had it up to 3.9.
collections.MutableMapping = collections.abc.MutableMapping

import bloscpack  # noqa: E402
import numpy as np  # noqa: E402
from bloscpack import BloscArgs, BloscpackArgs, MetadataArgs  # noqa: E402

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")


def arrays():
    chance = np.random.default_rng(5)
    for kind in ("|b1", "<i2", ">i4", "<u8", "<f2", ">f8", "<c16", "<M8[ms]", "|S5", "<U3"):
        yield (
            np.dtype(kind).name + kind[0].replace("|", "n").replace("<", "l").replace(">", "b"),
            ((chance.random((7, 5, 3)) * 100).astype("<i8").astype(kind)),
        )
    yield "record", np.array([(1, b"ab", 2.5), (3, b"c", -1)], [("a", "<i4"), ("b", "S2"), ("c", ">f8", ())])
    yield "fortran", np.asfortranarray(chance.random((40, 30)))
    yield "scalar", np.array(3.5)
    yield "empty", np.zeros((0, 4), "<i4")
    yield "large", chance.integers(0, 9, 700_000)


def write(folder):
    for name, array in arrays():
        bloscpack.pack_ndarray_to_file(array, str(folder / f"{name}.blp"))
        np.save(folder / f"{name}.npy", array)
    for number, (codec, shuffle) in enumerate(itertools.product(CODECS, (0, 1, 2))):
        data = np.cumsum(np.random.default_rng(number).integers(0, 9, 30_000)).astype("<i4").tobytes()[: -(number % 3)]
        metadata = (None, {"\u00e9": [1, None, 2.5]}, {"long": ["x" * 50] * 40})[number % 3]
        bloscpack.pack_bytes_to_file(
            data,
            str(folder / f"bytes{number}.blp"),
            chunk_size=(1 << 20, 1001)[number % 2],
            metadata=metadata,
            blosc_args=BloscArgs(typesize=(4, 8, 1)[number % 3], clevel=number % 10, shuffle=shuffle, cname=codec),
            bloscpack_args=BloscpackArgs(
                offsets=number % 4 != 0, checksum=CHECKSUMS[number % 9], max_app_chunks=number
            ),
            metadata_args=MetadataArgs(meta_checksum="sha1", meta_codec=("zlib", "None")[number % 2]),
        )
        (folder / f"bytes{number}.bin").write_bytes(data)
        if metadata is not None:
            (folder / f"bytes{number}.json").write_text(json.dumps(metadata))


def expect(folder):
    for path in sorted(folder.glob("*.blp")):
        numbers, data, metadata = (path.with_suffix(ending) for ending in (".npy", ".bin", ".json"))
        if numbers.exists():
            expected, found = np.load(numbers), bloscpack.unpack_ndarray_from_file(str(path))
            assert found.dtype == expected.dtype and found.shape == expected.shape, (path, found.dtype, found.shape)
            assert found.tobytes() == expected.tobytes(), path
            assert np.isfortran(found) == np.isfortran(expected), path
        else:
            found, told = bloscpack.unpack_bytes_from_file(str(path))
            assert found == data.read_bytes(), path
            assert told == (json.loads(metadata.read_text()) if metadata.exists() else None), (path, told)
        print(path.name)


{"write": write, "expect": expect}[sys.argv[1]](Path(sys.argv[2]))
