"""Sound files without a finding, put together by hand: the order of the parts and how each may be spelled."""

from parts import HEAD, TAGS, Fixture, block, file, head, index, ndarray, numbers, places, streamed, tree
from values import noise

A = numbers("<i4", 6)
B = numbers(">f8", 2, 3, seed=7)
ONE = ndarray("a", 0, "<i4", [6])
TWO = ONE + ndarray("b", 1, ">f8", [2, 3])
BLOCKS = [block(A.tobytes()), block(B.tobytes())]
BOTH = {"a": A, "b": B}
SIMPLE = file(TWO, *BLOCKS)


def ok(name: str, about: str, data: bytes, **more: object) -> Fixture:
    return Fixture(name, about, data, **more)


def headers() -> list[Fixture]:
    old = ONE.replace("ndarray-1.1.0", "ndarray-1.0.0")
    late = head("1.0.0", None, "# a comment", "#ASDF_STANDARD 1.6.0", "#", "# another")
    return [
        ok("head_alone", "nothing but the header line, without a newline", b"#ASDF 1.0.0"),
        ok("head_line", "nothing but the header line", b"#ASDF 1.0.0\n"),
        ok("head_standard", "header and standard, and nothing else", HEAD),
        ok("head_cr", "nothing but the header line with CR and LF", b"#ASDF 1.0.0\r\n"),
        ok("head_blanks", "several blanks before the version", file(ONE, BLOCKS[0], front=b"#ASDF \t 1.0.0\n#ASDF_STANDARD  1.6.0\n"), arrays={"a": A}),
        ok("head_comments", "comments around the standard", file(ONE, BLOCKS[0], front=late), arrays={"a": A}),
        ok("head_comment_bytes", "a comment that is no UTF-8", file(ONE, BLOCKS[0], front=HEAD + b"# \xff\xfe \xd3 B\0\n"), arrays={"a": A}),
        ok("head_no_standard", "no line of the standard", file(tree(old, root=" !core/asdf-1.0.0"), BLOCKS[0], front=head(standard=None)), arrays={"a": A}),
        ok("head_two_standards", "two lines of the standard, of which the first counts", file(ONE, BLOCKS[0], front=head("1.0.0", "1.6.0", "#ASDF_STANDARD 1.5.0")), arrays={"a": A}),
        ok("head_long_comments", "more than 8 KiB of comments", file(ONE, BLOCKS[0], front=HEAD + b"# a comment of 64 bytes, which stands here many times, like this\n" * 140), arrays={"a": A}),
    ]  # fmt: skip


def trees() -> list[Fixture]:
    crlf = file(tree(TWO).replace(b"\n", b"\r\n"), *BLOCKS, front=HEAD.replace(b"\n", b"\r\n"), indexed=False)
    last = index(places(len(crlf) - sum(map(len, BLOCKS)), BLOCKS)).replace(b"\n", b"\r\n")
    plain = file("x: 1\ny: [a, b]\n")
    return [
        ok("simple", "a tree of two arrays, their blocks and an index", SIMPLE, arrays=BOTH),
        ok("crlf", "every newline is CR and LF", crlf + last, arrays=BOTH),
        ok("treeless", "blocks right behind the header", file(None, *BLOCKS)),
        ok("treeless_comments", "blocks right behind comments", file(None, *BLOCKS, front=HEAD + b"# a comment\n")),
        ok("blockless", "a tree and no block, which is plain YAML too", plain, nodes=True),
        ok("tree_end_of_file", "the three dots end the file, without a newline", plain[:-1], nodes=True),
        ok("tree_end_magic", "the first block right behind the newline of the dots, no other padding", file(ONE, BLOCKS[0]), arrays={"a": A}),
        ok("tree_yaml_1_2", "the directive says YAML 1.2; scalars are those of 1.1 all the same", plain.replace(b"%YAML 1.1", b"%YAML 1.2").replace(b"x: 1", b"x: 1_0"), nodes=True),
        ok("tree_no_tag_directive", "no %TAG: every tag in full", file(tree(TWO.replace("!core/", "!<tag:stsci.edu:asdf/core/").replace("1.1.0\n", "1.1.0>\n"), root=" !<tag:stsci.edu:asdf/core/asdf-1.1.0>", tags=""), *BLOCKS), arrays=BOTH),
        ok("tree_other_handle", "another handle for the same tags", file(tree(TWO.replace("!core", "!a!core"), root=" !a!core/asdf-1.1.0", tags="%TAG !a! tag:stsci.edu:asdf/\n"), *BLOCKS), arrays=BOTH),
        ok("tree_no_root_tag", "the root without a tag", file(tree(TWO, root=""), *BLOCKS), arrays=BOTH),
        ok("tree_same_line", "the root begins behind the three hyphens", file(f"%YAML 1.1\n{TAGS}--- {{a: 1, b: [2]}}\n...\n".encode()), nodes=True),
        ok("tree_comments", "comments and empty lines within the tree, and a directive in one", file(tree("# %YAML 1.1 in a comment\n\n" + TWO.replace("\n", "   # a comment\n", 3) + "# the end\n\n"), *BLOCKS), arrays=BOTH),
        ok("tree_dots_inside", "three dots that end no tree: indented, quoted and in front of others", file("a: |\n  first\n  ...\n  last\nb: '...'\nc: ....\nd: ... e\n"), nodes=True),
        ok("tree_magic_text", "the letters of the magic in the tree", file("a: BLK ÓBLK\nb: '#ASDF BLOCK INDEX'\n"), nodes=True),
        ok("tree_empty_mapping", "a root without a key", file("{}\n"), nodes=True),
    ]  # fmt: skip


def blocks() -> list[Fixture]:
    inner = SIMPLE
    fake = noise(40) + BLOCKS[0] + b"#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- 40\n...\n"
    many = [block(numbers("u1", 3, seed=it).tobytes()) for it in range(200)]
    body = "".join(ndarray(f"a{it:03}", it, "|u1", [3]) for it in range(0, 200, 40))
    listed = {f"a{it:03}": numbers("u1", 3, seed=it) for it in range(0, 200, 40)}
    listed = "list:\n" + "".join(f"- !core/ndarray-1.1.0 {{source: {it}, datatype: uint8, byteorder: big, shape: [3]}}\n" for it in range(200))
    return [
        ok("header_size_64", "blocks with headers of 64 bytes", file(TWO, *[block(it.tobytes(), header_size=64) for it in (A, B)]), arrays=BOTH),
        ok("header_size_4096", "the first block's data on a page of their own", file(TWO, block(A.tobytes(), header_size=4096), BLOCKS[1]), arrays=BOTH),
        ok("header_size_odd", "a header of 49 bytes", file(TWO, block(A.tobytes(), header_size=49), BLOCKS[1]), arrays=BOTH),
        ok("no_checksum", "blocks without a checksum", file(TWO, *[block(it.tobytes(), md5=bytes(16)) for it in (A, B)]), arrays=BOTH),
        ok("nested", "an ASDF file within a block, with a tree, blocks and an index", file(ndarray("a", 0, "|u1", [len(inner)]) + ndarray("b", 1, ">f8", [2, 3]), block(inner), BLOCKS[1]), arrays={"b": B}),
        ok("nested_last", "an ASDF file within the last block", file(ndarray("a", 0, "|u1", [len(inner)]), block(inner))),
        ok("fake_index", "a magic and an index in the data of a block", file(ndarray("a", 0, "|u1", [len(fake)]), block(fake))),
        ok("empty_block", "a block of no byte, and an array of no element", file(ndarray("a", 0, "<f4", [0]) + ndarray("b", 1, ">f8", [2, 3]), block(b""), BLOCKS[1]), arrays={"b": B}),
        ok("many_blocks", "200 blocks", file(listed, *many)),
    ]  # fmt: skip


def indices() -> list[Fixture]:
    flow = file(TWO, *BLOCKS, flow=True)
    return [
        ok("index_flow", "the index as a flow list, as asdf-cxx writes it", flow, arrays=BOTH),
        ok("index_comma", "the index as a flow list with a comma behind the last, as ASDF.jl writes it", flow[: flow.rindex(b"]")] + b",]\n...\n", arrays=BOTH),
        ok("index_no_newline", "the three dots of the index end the file", SIMPLE[:-1], arrays=BOTH),
        ok("index_no_directive", "an index without a directive", file(TWO, *BLOCKS).replace(b"INDEX\n%YAML 1.1\n", b"INDEX\n"), arrays=BOTH),
    ]  # fmt: skip


def streams() -> list[Fixture]:
    rows = numbers("<f4", 5, 3)
    body = ndarray("s", -1, "<f4", ["'*'", 3])
    both = ndarray("a", 0, "<i4", [6]) + ndarray("s", 1, "<f4", ["'*'", 3])
    return [
        ok("stream", "a streamed block alone", file(body, streamed(rows.tobytes()), indexed=False), arrays={"s": rows}),
        ok("stream_last", "a streamed block behind a plain one", file(both, BLOCKS[0], streamed(rows.tobytes()), indexed=False), arrays={"a": A, "s": rows}),
        ok("stream_empty", "a streamed block without a row yet", file(body, streamed(b""), indexed=False), arrays={"s": rows[:0]}),
        ok("stream_header_size", "a streamed block with a header of 64 bytes", file(body, streamed(rows.tobytes(), header_size=64), indexed=False), arrays={"s": rows}),
        ok("stream_sizes", "a streamed block that has sizes, which mean nothing", file(body, block(rows.tobytes(), flags=1, allocated=3, used=2, size=1, md5=noise(16)), indexed=False), arrays={"s": rows}),
        ok("stream_fixed", "a streamed block with an array of a fixed shape", file(ndarray("s", -1, "<f4", [4, 3]), streamed(rows.tobytes()), indexed=False), arrays={"s": rows[:4]}),
        ok("stream_one_axis", "a stream of numbers", file(ndarray("s", 0, ">u2", ["'*'"]), streamed(numbers(">u2", 7).tobytes()), indexed=False), arrays={"s": numbers(">u2", 7)}),
        ok("stream_magic", "a magic and an index within the stream", file(ndarray("s", 0, "|u1", ["'*'"]), streamed(SIMPLE), indexed=False)),
        ok("star_plain", "a first axis as long as the block allows, of a block that is not streamed", file(ndarray("s", 0, "<f4", ["'*'", 3]), block(rows.tobytes())), arrays={"s": rows}),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*headers(), *trees(), *blocks(), *indices(), *streams()]
