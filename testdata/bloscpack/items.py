"""The variable-length proposal, as version 4: nobody ever wrote one but this script."""

from collections.abc import Sequence

import blosc1
import numpy as np
import tool
from parts import METADATA, OFFSETS, VARIABLE, Fixture, compact, digest, header, table
from values import steps, text


def file(
    items: Sequence[bytes],
    metadata: bytes | None = None,
    *,
    checksum: str = "adler32",
    typesize: int = 1,
    gap: int = 0,
    order: Sequence[int] | None = None,
    listed: Sequence[int] | None = None,
    version: int = 4,
    options: int | None = None,
    nchunks: int | None = None,
    meta_size: int | None = None,
    reserved: bytes = bytes(4),
    chunks: Sequence[bytes] | None = None,
) -> bytes:
    """A file of `items`, stored in `order`, with `gap` bytes after each."""
    chunks = [item_chunk(item, typesize) for item in items] if chunks is None else chunks
    text = metadata or b""
    at = 32 + len(text) + 8 * len(chunks)
    places, body = [0] * len(chunks), b""
    for index in range(len(chunks)) if order is None else order:
        places[index] = at + len(body)
        body += chunks[index] + digest(checksum, chunks[index]) + b"\xaa" * gap
    if options is None:
        options = OFFSETS | VARIABLE | (METADATA if metadata is not None else 0)
    size = len(text) if meta_size is None else meta_size
    head = header(
        len(chunks) if nchunks is None else nchunks,
        version=version,
        options=options,
        checksum=checksum,
        typesize=typesize,
        tail=size.to_bytes(4, "little") + reserved,
    )
    entries = table(places if listed is None else listed) if options & OFFSETS else b""
    return head + text + entries + body


def item_chunk(item: bytes, typesize: int) -> bytes:
    """By python-blosc where it compresses, else by hand."""
    return tool.chunk(item, typesize) if len(item) >= 128 else blosc1.stored(item, typesize, blosc1.UNSPLIT)


def described(kind: str, count: int, **more: object) -> bytes:
    return compact({"dtype": kind, "shape": [count], "others": [], **more})


def made(
    name: str,
    about: str,
    items: Sequence[bytes],
    metadata: bytes | None = None,
    trailing: int = 0,
    dtype: str = "|u1",
    **options: object,
) -> Fixture:
    shape = [len(item) // np.dtype(dtype).itemsize for item in items[:1]]
    first = {"dtype": dtype, "shape": shape, "values": items[0]} if items else {}
    producer = f"make.py, {tool.PRODUCER}" if any(len(item) >= 128 for item in items) else "make.py"
    return Fixture(
        name,
        about,
        file(items, metadata, **options),
        producer=producer,
        items=items,
        trailing=trailing,
        **first,
    )


def fixtures() -> list[Fixture]:
    lines = [f"line {number} is {'long ' * (number % 9)}".encode() for number in range(40)]
    rows = [steps(8 * (number * number % 37), 8, number) for number in range(12)]
    long = [text(3000), b"", text(420), b"x"]
    page = example()
    return [
        Fixture("vl_example", "the format page's example of three items; its shape says 2", page[0], "damaged",
                items=page[1], dtype="|u1", shape=[5], values=b"hello", producer=f"make.py, {tool.PRODUCER}",
                repaired_items=page[1]),
        made("vl_text", "40 lines of text", lines, described("varchar", 40)),
        made("vl_no_metadata", "items without metadata", lines[:5]),
        made("vl_no_items", "no item, with metadata", [], described("varchar", 0)),
        made("vl_nothing", "no item, no metadata: a header", []),
        made("vl_one", "a single item", [b"alone"], described("blob", 1)),
        made("vl_empty_items", "five items without a byte", [b""] * 5, described("blob", 5)),
        made("vl_ragged", "rows of 64-bit numbers, of any length", rows, described("vlen:<i8", 12), dtype="<i8", typesize=8),
        made("vl_names", "items with names", long, described("blob", 4, names=["a.txt", "b", "dir/c.txt", "\u00e9"])),
        made("vl_shape_2x2", "four items in two rows", long, compact({"dtype": "varchar", "shape": [2, 2], "others": []})),
        made("vl_unicode", "text outside ASCII, in items and metadata",
             ["\u00e9t\u00e9".encode(), "\u65e5\u672c\u8a9e".encode(), "\U0001f600".encode() * 50],
             '{"dtype":"varchar","shape":[3],"others":["\u00e9"]}'.encode()),
        made("vl_no_checksum", "no digests", lines[:7], described("varchar", 7), checksum="None"),
        made("vl_sha256", "digests of 32 bytes", lines[:7], described("varchar", 7), checksum="sha256"),
        made("vl_unsorted", "items stored in another order", long, described("blob", 4), order=[2, 0, 3, 1]),
        made("vl_metadata_blanks", "blanks after the metadata, for edits in place", lines[:3], described("varchar", 3) + b" " * 60),
        made("vl_unknown_kind", "a kind that nobody knows: bytes", lines[:3], described("pickle", 3)),
        made("vl_gaps", "bytes after each item, so that it can grow", lines[:6], described("varchar", 6), 16, gap=16),
        made("vl_reserved", "reserved bytes that are not 0", lines[:3], described("varchar", 3), reserved=b"\1\0\0\0"),
        made("vl_python_metadata", "metadata in Python's quotes, as in the proposal", lines[:3],
             b"{'dtype': 'varchar', 'shape': [3], 'others': []}"),
        made("vl_as_v3", "variable length, called version 3", [b"a", b"bc"], b'{"dtype":"blob"}', version=3),
        made("vl_count_unknown", "-1 items, in another order than that of the file", long, described("blob", 4),
             nchunks=-1, order=[2, 0, 3, 1]),
        made("vl_metadata_bit_alone", "the metadata bit without a byte of them", lines[:3], b""),
        made("vl_metadata_list", "metadata that are a list", lines[:3], b"[1, 2]"),
        made("vl_text_not_utf8", "varchar that is no UTF-8", [b"fine", b"\xff\xfe"], described("varchar", 2)),
    ]  # fmt: skip


def example() -> tuple[bytes, list[bytes]]:
    """The example of the format page, whose last item is 420 bytes of text."""
    items = [b"hello", b"", text(420)]
    return file(items, b'{"dtype": "varchar", "shape": [2], "others": []}'), items
