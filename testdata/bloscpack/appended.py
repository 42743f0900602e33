"""What Bloscpack's append makes of a file."""

import tool
from parts import Fixture, plain
from values import steps


def fixtures() -> list[Fixture]:
    data = steps(4000, 8)
    base = tool.pack(data[:2000], chunk_size=800)
    fits = tool.append(base, data[2000:2300])
    spills = tool.append(base, data[2000:])
    twice = tool.append(tool.append(base, data[2000:2700]), data[2700:])
    other = tool.append(base, data[2000:], cname="zstd", clevel=9, shuffle=2)
    typesize = tool.append(base, data[2000:], typesize=4)
    tight = tool.pack(data[:2000], chunk_size=800, spare=3)
    tight = tool.append(tight, data[2000:])
    described = tool.pack(data[:2000], chunk_size=800, metadata={"kept": True})
    described = tool.append(described, data[2000:3100])
    found = [
        made("append_fits", "400 bytes, 300 appended to the last chunk", fits, data[:2300]),
        made("append_spills", "the last chunk filled up, then new ones", spills, data),
        made("append_twice", "appended to twice", twice, data),
        made("append_other_codec", "the new chunks are zstd and bit-shuffled", other, data),
        made("append_other_typesize", "the new chunks have typesize 4, the header says 8", typesize, data),
        made("append_fills_table", "no spare offset is left but one", tight, data),
        made("append_metadata", "a file with metadata", described, data[:3100]),
    ]
    shorter = tool.pack(data[:2500], chunk_size=900, level=0)
    shrunk = tool.append(shorter, data[2500:2600], clevel=9, cname="zlib")
    trailing = len(shrunk) - logical_end(shrunk)
    assert trailing > 0
    found.append(
        Fixture(
            "append_shrinks",
            "the last chunk became shorter; the end of the old one is still there",
            shrunk,
            producer=tool.PRODUCER,
            trailing=trailing,
            **plain(data[:2600], 8),
        )
    )
    return found


def made(name: str, about: str, file: bytes, data: bytes) -> Fixture:
    assert tool.content(file)[0] == data, name
    assert logical_end(file) == len(file), name
    return Fixture(name, about, file, producer=tool.PRODUCER, **plain(data, 8))


def logical_end(file: bytes) -> int:
    """Where the last digest ends, by walking as the reader of Bloscpack does."""
    source = tool.bloscpack.file_io.CompressedFPSource(tool.io.BytesIO(file))
    for _ in source:
        pass
    return source.input_fp.tell()
