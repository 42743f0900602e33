"""Checksums, offsets, and metadata, as Bloscpack writes them."""

import tool
from parts import CHECKSUMS, Fixture, plain
from values import noise, steps, text


def fixtures() -> list[Fixture]:
    return [*checksums(), *metadata(), *offsets()]


def made(name: str, about: str, data: bytes, typesize: int = 8, **options: object) -> Fixture:
    file = tool.pack(data, typesize=typesize, **options)
    return Fixture(name, about, file, producer=tool.PRODUCER, **plain(data, typesize))


def checksums() -> list[Fixture]:
    data = steps(1500, 8)
    found = []
    for checksum in CHECKSUMS:
        for offsets in (True, False):
            kind = "offsets" if offsets else "no_offsets"
            about = f"checksum {checksum}, {'with' if offsets else 'without'} offsets"
            name = f"checksum_{checksum.lower()}_{kind}"
            found.append(made(name, about, data, checksum=checksum, offsets=offsets, chunk_size=640))
    return found


def metadata() -> list[Fixture]:
    data = text(400)
    many = {f"key {number:04}": [number, number / 7, str(number) * 5] for number in range(250)}
    values = (
        ("object_empty", "{}: two bytes", {}),
        ("list", "a list", [1, 2.5, "three", None, True, [], {}]),
        ("number", "a number", -17),
        ("string", "a string", "text"),
        ("unicode", "escaped as ASCII, with a surrogate pair", {"\u00e9t\u00e9": "\u65e5\u672c", "\U0001f600": "\x00\x1f\x7f"}),
        ("short", "longer when compressed, so it is stored, and still says level 6", {"a": 1}),
        ("nested", "objects 60 deep", nested(60)),
    )
    found = [made(f"meta_{name}", f"metadata: {about}", data, 1, metadata=value) for name, about, value in values]
    large = {"max_meta_size": 9000}
    found.append(made("meta_large", "12 kB of metadata", data, 1, metadata=many, metadata_args=large))
    noisy = {"noise": noise(1000).hex()}
    found.append(made("meta_noise", "hardly compressible", data, 1, metadata=noisy, metadata_args=large))
    for checksum in CHECKSUMS:
        options = {"metadata": {"checksum": checksum, "zeros": [0] * 50}, "metadata_args": {"meta_checksum": checksum}}
        found.append(made(f"meta_{checksum.lower()}", f"metadata with checksum {checksum}", data, 1, **options))
    plainly = {"meta_codec": "None", "max_meta_size": 100}
    found.append(
        made("meta_codec_none", "metadata as it is, in 100 bytes", data, 1, metadata=["x"] * 9, metadata_args=plainly)
    )
    tight = {"max_meta_size": 34, "meta_level": 9}
    stated = {"zeros": [0] * 100}
    found.append(
        made("meta_tight", "no room to grow", data, 1, metadata=stated, metadata_args=tight)
    )
    for offsets in (True, False):
        name = "meta_no_checksum_" + ("offsets" if offsets else "no_offsets")
        options = {"checksum": "None", "offsets": offsets, "metadata": stated, "chunk_size": 100}
        found.append(made(name, "metadata before chunks without checksums", data, 1, **options))
    return found


def nested(depth: int) -> object:
    value: object = []
    for _ in range(depth):
        value = {"in": value}
    return value


def offsets() -> list[Fixture]:
    data = steps(1600, 8)
    return [
        made("spare_0", "no room in the table of offsets", data, spare=0, chunk_size=400),
        made("spare_1000", "room for 1000 more chunks", data, spare=1000, chunk_size=400),
        made("chunks_64", "64 chunks of 8 bytes", data[:512], spare=0, chunk_size=8),
    ]
