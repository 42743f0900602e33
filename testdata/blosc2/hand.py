"""Frames that neither release writes, built byte by byte: all of them legal."""

import blosc2
import msgpack
import numpy as np

from parts import NANS, UNINIT, ZEROS, Fixture, Frame, b2nd, copied, numbers, repeated, special, vl_chunk
from values import noise, steps

FOUR = [steps(400, 4, seed) for seed in range(4)]
WHOLE = b"".join(FOUR)
CHUNKS = [copied(data, 4) for data in FOUR]
ARRAY = numbers("i4", 5, 7)
GEOMETRY = ((5, 7), (4, 5), (2, 3))


def four(**changes: object) -> Frame:
    """Four chunks as they are."""
    return Frame(CHUNKS, typesize=4, **changes)


def tiles(array: np.ndarray, chunks: tuple[int, ...], blocks: tuple[int, ...]) -> list[bytes]:
    """The bytes of each chunk of an array, with its padding."""
    grid = [-(-size // chunk) for size, chunk in zip(array.shape, chunks)]
    inner = [-(-chunk // block) for chunk, block in zip(chunks, blocks)]
    found = []
    for at in np.ndindex(*grid):
        box = np.zeros([count * block for count, block in zip(inner, blocks)], array.dtype)
        part = array[tuple(slice(k * size, (k + 1) * size) for k, size in zip(at, chunks))]
        box[tuple(slice(size) for size in part.shape)] = part
        cut = [
            box[tuple(slice(k * size, (k + 1) * size) for k, size in zip(tile, blocks))]
            for tile in np.ndindex(*inner)
        ]
        found.append(b"".join(it.tobytes() for it in cut))
    return found


def of_array(meta: bytes | None = None, name: bytes = b"b2nd", **changes: object) -> Frame:
    """An array of four chunks as they are."""
    chunks = [copied(data, 4, blocksize=24) for data in tiles(ARRAY, *GEOMETRY[1:])]
    meta = b2nd(*GEOMETRY, "<i4") if meta is None else meta
    return Frame(chunks, **({"typesize": 4, "blocksize": 24, "metas": [(name, meta)]} | changes))


def packed(value: object) -> bytes:
    """A piece of user metadata as python-blosc2 stores it."""
    return blosc2.compress2(msgpack.packb(value), typesize=1, nthreads=1)


def plain(name: str, about: str, frame: Frame, data: bytes = WHOLE, typesize: int = 4, **more: object) -> Fixture:
    return Fixture(name, about, frame.done(), plain=(data, typesize), **more)


def array(name: str, about: str, frame: Frame, **more: object) -> Fixture:
    return Fixture(name, about, frame.done(), ".b2nd", **({"array": ARRAY} | more))


def of_frames() -> list[Fixture]:
    floats = [b"\0" * 80, np.full(10, np.nan).tobytes(), noise(80), b"\0" * 80, np.arange(5.0).tobytes()]
    kinds = [(128 + kind) << 56 for kind in (ZEROS, NANS, UNINIT)]
    mixed = Frame([copied(floats[2], 8), copied(floats[4], 8)], typesize=8, chunksize=80, nbytes=360)
    mixed.offsets = [kinds[0], kinds[1], 0, kinds[2], 112]
    variable = [noise(40), bytes(100), b"ab" * 30, noise(4)]
    sizes = Frame([copied(variable[0], 4), special(ZEROS, 100, 4), repeated(b"ab", 60), copied(variable[3], 4)], typesize=4, chunksize=0, general=0x53)
    blocks = [[b"one", b"two and more", b"x" * 40], [b"alone"], [noise(50), b"y"]]
    vl = Frame([vl_chunk(it) for it in blocks], typesize=1, chunksize=0, general=0xD3)
    same = [b"".join(it) for it in ([b"abcd", b"efgh"], [b"ijkl", b"mnop"])]
    vl_same = Frame([vl_chunk([it[:4], it[4:]]) for it in same], typesize=1, chunksize=8, general=0x93)
    return [
        plain("hand_copied", "chunks that are copies, an index that is a copy", four()),
        plain("hand_version_1", "version 1 of the frame, of beta releases", four(general=0x11)),
        plain("hand_version_3", "version 3 of the frame, though all chunks are of one size", four(general=0x13)),
        plain("hand_special_kinds", "chunks that are not stored: zeros, NaN, uninitialised", mixed, b"".join(floats), 8, reference=False),
        plain("hand_repeated", "a value of 4 bytes, repeated", Frame([repeated(b"\1\2\3\4", 400)] * 2, typesize=4), b"\1\2\3\4" * 200),
        plain("hand_value_wider", "a value that is wider than an element, repeated", Frame([repeated(b"abcdefgh", 400)], typesize=4), b"abcdefgh" * 50),
        plain("hand_no_chunks", "no chunk, and a size of chunks all the same", Frame(typesize=4, chunksize=400), b""),
        plain("hand_short_last", "a short last chunk", Frame([*CHUNKS, copied(b"abcd", 4)], typesize=4, chunksize=400), WHOLE + b"abcd"),
        Fixture("hand_variable", "chunks of four sizes, one of them zeros that are stored", sizes.done(), chunks=variable, reference=False),
        Fixture("hand_vl_blocks", "blocks of any length, stored as they are", vl.done(), chunks=[b"".join(it) for it in blocks], blocks=[[len(part) for part in it] for it in blocks]),
        Fixture("hand_vl_one_size", "blocks of any length in chunks of one size", vl_same.done(), chunks=same, blocks=[[4, 4], [4, 4]], reference=False),
    ]  # fmt: skip


def of_metadata() -> list[Fixture]:
    many = [(b"key %02d" % it, packed({"number": it})) for it in range(17)]
    long = [(b"n" * 40, packed("forty letters"))]
    return [
        plain("hand_17_vlmetas", "17 pieces of user metadata, one more than C-Blosc2 writes", four(vlmetas=many), reference=False),
        plain("hand_vlmeta_long_name", "a name of 40 letters", four(vlmetas=long), reference=False),
        plain("hand_vlmeta_copied", "user metadata in a chunk that is a copy", four(vlmetas=[(b"a", copied(msgpack.packb([1, 2])))])),
        plain("hand_vlmeta_not_msgpack", "user metadata that is no msgpack", four(vlmetas=[(b"a", copied(b"\xc1 anything"))]), reference=False),
        plain("hand_meta_empty", "a metalayer of no byte", four(metas=[(b"a", b"")]), reference=False),
    ]  # fmt: skip


def of_arrays() -> list[Fixture]:
    shape, chunks, blocks = GEOMETRY
    found = [
        array("hand_array", "an array whose chunks are copies", of_array()),
        array("hand_caterva", "an array of Caterva: its metalayer has another name and no type", of_array(b2nd(*GEOMETRY, None), b"caterva"), array=ARRAY.view("V4"), reference=False),
        array("hand_b2nd_version_1", "version 1 of the metalayer: readers do not look at it", of_array(b2nd(*GEOMETRY, "<i4", version=1))),
        array("hand_dtype_name", "the type by its name", of_array(b2nd(*GEOMETRY, "int32"))),
        array("hand_two_metalayers", "another metalayer before that of the array", of_array(metas=[(b"first", b"\x01"), (b"b2nd", b2nd(*GEOMETRY, "<i4")), (b"last", b"\xc0")])),
        array("hand_empty_axis", "a chunk and a block of no item along an empty axis", Frame(typesize=4, chunksize=0, metas=[(b"b2nd", b2nd((0, 3), (0, 3), (0, 2), "<i4"))]), array=np.zeros((0, 3), "i4"), reference=False),
        array("hand_block_over_chunk", "a block that is larger than its chunk", Frame([copied(data, 4) for data in tiles(ARRAY, (5, 4), (8, 8))], typesize=4, metas=[(b"b2nd", b2nd(shape, (5, 4), (8, 8), "<i4"))]), reference=False),
    ]  # fmt: skip
    assert (chunks, blocks) == ((4, 5), (2, 3))
    return found


def fixtures() -> list[Fixture]:
    return [*of_frames(), *of_metadata(), *of_arrays()]
