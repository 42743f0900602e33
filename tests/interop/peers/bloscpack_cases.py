"""Bloscpack's side of the tests in tests/bloscpack.rs.

    bloscpack_cases.py write DIR        packs bytes with every codec, filter, checksum, with and without offsets and
                                        metadata: NAME.blp, NAME.bin, and NAME.json where there are metadata
    bloscpack_cases.py expect DIR       reads each NAME.blp of DIR: it holds NAME.bin, and NAME.json if that is there
    bloscpack_cases.py append DIR       appends NAME.more to each NAME.blp
    bloscpack_cases.py pack NPYS DIR    packs each NAME.npy as an array: NAME.blp
    bloscpack_cases.py unpack NPYS DIR  each NAME.npy was converted to NAME.blp: reads it and compares

All but `append` print how many files there were.
"""

import collections
import collections.abc
import itertools
import json
import sys
from pathlib import Path

# Bloscpack 0.16, the last release, looks for it where Python had it up to 3.9.
collections.MutableMapping = collections.abc.MutableMapping

import bloscpack
import numpy as np
from bloscpack import BloscArgs, BloscpackArgs
from bloscpack.append import append

CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
CHECKSUMS = ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")
LENGTHS = (0, 1, 127, 128, 5000, 40_000)
METADATA = (None, {}, [1, 2.5, "three", None], {"\u00e9": "\u65e5\u672c", "long": ["x" * 50] * 40})


def files(folder: str, ending: str) -> list[Path]:
    return sorted(path for path in Path(folder).iterdir() if path.suffix == ending)


def write(folder: str) -> list[str]:
    for number, (codec, shuffle, length, level) in enumerate(
        itertools.product(CODECS, range(3), LENGTHS, (1, 7))
    ):
        random = np.random.RandomState(number)
        data = np.cumsum(random.randint(0, 9, length // 4 + 1)).astype("<i4").tobytes()[:length]
        metadata = METADATA[number % len(METADATA)]
        packed = bloscpack.pack_bytes_to_bytes(
            data,
            chunk_size=(1 << 20, 16_384, 1000)[number % 3],
            metadata=metadata,
            blosc_args=BloscArgs(typesize=(4, 8, 1, 14)[number // 3 % 4], clevel=level, shuffle=shuffle, cname=codec),
            bloscpack_args=BloscpackArgs(offsets=number % 2 == 0, checksum=CHECKSUMS[number % 9]),
        )
        path = Path(folder) / f"{number:03}_{codec}_{shuffle}_{length}_{level}.blp"
        path.write_bytes(packed)
        path.with_suffix(".bin").write_bytes(data)
        if metadata is not None:
            path.with_suffix(".json").write_text(json.dumps(metadata))
    return []


def expect(folder: str) -> list[str]:
    problems = []
    for path in files(folder, ".blp"):
        data, metadata = bloscpack.unpack_bytes_from_bytes(path.read_bytes())
        expected = path.with_suffix(".json")
        expected = json.loads(expected.read_text(encoding="utf-8")) if expected.exists() else None
        if data != path.with_suffix(".bin").read_bytes():
            problems.append(f"{path.name}: other bytes")
        if metadata != expected:
            problems.append(f"{path.name}: metadata {str(metadata)[:80]}, not {str(expected)[:80]}")
    return problems


def append_all(folder: str) -> list[str]:
    for path in files(folder, ".blp"):
        append(str(path), str(path.with_suffix(".more")))
    return []


def pack(npys: str, folder: str) -> list[str]:
    for path in files(npys, ".npy"):
        array = np.load(path)
        # A chunk holds whole elements, as Bloscpack demands.
        bloscpack.pack_ndarray_to_file(array, str(Path(folder) / f"{path.stem}.blp"), chunk_size=array.itemsize * 64)
    return []


def unpack(npys: str, folder: str) -> list[str]:
    problems = []
    for path in files(npys, ".npy"):
        array = np.load(path)
        back = bloscpack.unpack_ndarray_from_file(str(Path(folder) / f"{path.stem}.blp"))
        # Padding is a field of its own to Bloscpack, so types are compared as they are written down.
        same_type = back.dtype.itemsize == array.dtype.itemsize and (
            back.dtype == array.dtype or array.dtype.names is not None
        )
        same_order = np.isfortran(back) == np.isfortran(array)
        if not same_type or not same_order or back.shape != array.shape or not same(back, array):
            problems.append(f"{path.name}: {array.dtype} {array.shape} came back as {back.dtype} {back.shape}")
    return problems


def same(back: np.ndarray, array: np.ndarray) -> bool:
    """Byte by byte, but for what lies between the fields of a record, which numpy itself does not copy."""
    if array.dtype.names is None:
        return back.tobytes() == array.tobytes()
    return all(same(back[name], array[name]) for name in array.dtype.names)


def main() -> None:
    command, *folders = sys.argv[1:]
    commands = {"write": write, "expect": expect, "append": append_all, "pack": pack, "unpack": unpack}
    problems = commands[command](*folders)
    count = len(files(folders[-1], ".blp"))
    print("\n".join(problems[:20]), file=sys.stderr)
    if problems or not count:
        sys.exit(f"{len(problems)} problems in {count} files")
    print(count)


if __name__ == "__main__":
    main()
