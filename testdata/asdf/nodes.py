"""The types of the standard and of its neighbours, by hand, as nodes of a tree; what has other tags is kept as it is."""

from parts import TAGS, Fixture, block, file, head, ndarray, numbers, tree

WORDS = numbers("<u4", 4)


def one(name: str, about: str, body: str, *blocks: bytes, standard: str = "1.6.0", root: str = "core/asdf-1.1.0", **more: object) -> Fixture:
    data = file(tree(body, root=f" !{root}"), *blocks, front=head("1.0.0", standard))
    return Fixture(f"node_{name}", about, data, nodes=True, **more)


def core() -> list[Fixture]:
    texts = "0j 1+2j (1+2j) 1-2i -1.5e+3-2.5E-3j (3+4I) 5J -j nan+nanj inf-infj (nan+1j) 1e5+1e-5j 3 3.5 .5-.5j +1+1j infi".split()
    complexes = "".join(f"- !core/complex-1.0.0 {text}\n" for text in texts)
    integer = "a: !core/integer-1.1.0\n  sign: '-'\n  words: !core/ndarray-1.1.0 {source: 0, datatype: uint32, byteorder: little, shape: [4]}\n"
    inline = "b: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 {data: [1, 2, 3], datatype: uint32}, sign: +}\n"
    zero = "c: !core/integer-1.1.0 {words: !core/ndarray-1.1.0 {data: [0], datatype: uint32}, sign: +, string: '0'}\n"
    history = (
        "asdf_library: !core/software-1.0.0 {name: holder, version: 1.2.3, author: A. Author, homepage: 'http://example.org', extra: kept}\n"
        "history:\n  extensions:\n  - !core/extension_metadata-1.0.0\n    extension_class: example.Extension\n    extension_uri: asdf://example.org/extensions/e-1.0.0\n"
        "    software: !core/software-1.0.0 {name: example, version: 0.1}\n    supported_compression: [zstd, lz4f]\n"
        "  - !core/extension_metadata-1.0.0 {extension_class: example.Old, package: !core/software-1.0.0 {name: old, version: '1'}}\n"
        "  entries:\n  - !core/history_entry-1.0.0\n    description: first\n    time: 2020-01-02T03:04:05Z\n    software: !core/software-1.0.0 {name: x, version: '1'}\n"
        "  - !core/history_entry-1.0.0\n    description: second\n    time: 2021-01-02 03:04:05.678+01:00\n    software: [!core/software-1.0.0 {name: y, version: '2'}, !core/software-1.0.0 {name: z, version: '3'}]\n"
    )
    old = "history:\n- !core/history_entry-1.0.0 {description: in a list, time: !<tag:yaml.org,2002:timestamp> '2015-03-04 05:06:07'}\n- !core/history_entry-1.0.0 {description: another}\n"
    constants = "a: !core/constant-1.0.0 5\nb: !core/constant-1.0.0 [1, 2]\nc: !core/constant-1.0.0 {d: e}\n"
    external = "a: !core/externalarray-1.0.0 {fileuri: image.fits, target: 1, datatype: float64, shape: [100, 100]}\nb: !core/externalarray-1.0.0 {fileuri: ./x.h5, target: group/data, datatype: '>i2', shape: []}\n"
    column = "a: !core/table-1.0.0\n  columns:\n  - !core/column-1.0.0\n    name: x\n    data: !core/ndarray-1.0.0 {source: 0, datatype: uint32, byteorder: little, shape: [4]}\n    unit: !unit/unit-1.0.0 m\n    description: first\n  - !core/column-1.0.0 {name: y, data: !core/ndarray-1.0.0 [1.5, 2.5, 3.5, 4.5]}\n  meta: {k: v}\n"
    subclass = "a: !core/unknown-1.0.0 {x: 1}\nb: !core/subclass_metadata-1.0.0 {name: example.Sub}\n"
    return [
        one("complex", "every spelling of a complex number", "a:\n" + complexes),
        one("integer", "integers of any size, their words in a block and in the tree", integer + inline + zero, block(WORDS.tobytes()), arrays={"a/words": WORDS}),
        one("history", "who wrote the file, and its history", history),
        one("history_list", "a history as before standard 1.2.0", old, standard="1.1.0", root="core/asdf-1.0.0"),
        one("constant", "constants", constants),
        one("externalarray", "arrays in files of other formats, which nobody opens", external),
        one("table", "a table of the standard up to 1.5.0", column, block(WORDS.tobytes()), standard="1.5.0", arrays={"a/columns/0/data": WORDS}),
        one("subclass", "metadata of a subclass", subclass, standard="1.4.0"),
    ]  # fmt: skip


def others() -> list[Fixture]:
    times = "a: !time/time-1.1.0 2000-12-31T13:05:27.737\nb: !time/time-1.1.0 {value: 2001:003:04:05:06.789, format: yday, scale: tai}\nc: !time/time-1.1.0 J2000.0\nd: !time/time-1.1.0 ['2000-01-01', '2001-01-01']\n"
    times += "e: !time/time-1.1.0 {value: 953964000.0, base_format: unix, scale: utc, location: {x: 1.0, y: 2.0, z: 3.0}}\nf: !time/time-1.1.0 B1950.0\n"
    units = "a: !unit/unit-1.0.0 m.s-1\nb: !unit/quantity-1.1.0 {value: 3.14159, unit: km}\nc: !unit/quantity-1.1.0 {value: !core/ndarray-1.0.0 {source: 0, datatype: uint32, byteorder: little, shape: [4]}, unit: !unit/unit-1.0.0 deg}\nd: !unit/defunit-1.0.0 {name: furlong, unit: !unit/unit-1.0.0 2.0116800E2 m}\n"
    new = "a: !<tag:astropy.org:astropy/time/time-1.0.0> {value: 5.0}\nb: !unit/quantity-1.2.0 {value: 1.5, unit: !unit/unit-1.0.0 m}\nc: !time/time-1.2.0 2000-12-31T13:05:27.737\n"
    fits = "a: !fits/fits-1.0.0\n- header:\n  - [SIMPLE, true, conforms to FITS standard]\n  - [BITPIX, 8]\n  - []\n  - [COMMENT, a comment]\n- header: [[XTENSION, IMAGE]]\n  data: !core/ndarray-1.0.0 {source: 0, datatype: uint32, byteorder: little, shape: [2, 2]}\n"
    wcs = "wcs: !<tag:stsci.edu:gwcs/wcs-1.2.0>\n  name: ''\n  steps:\n  - !<tag:stsci.edu:gwcs/step-1.1.0>\n    frame: !<tag:stsci.edu:gwcs/frame2d-1.0.0> {axes_names: [x, y], unit: [!unit/unit-1.0.0 pixel, !unit/unit-1.0.0 pixel]}\n    transform: !transform/compose-1.2.0 {forward: [!transform/shift-1.2.0 {offset: 1.0}, !transform/affine-1.3.0 {matrix: !core/ndarray-1.1.0 [[1.0, 0.0], [0.0, 1.0]], translation: !core/ndarray-1.1.0 {source: 0, datatype: uint32, byteorder: little, shape: [2]}}]}\n"
    future = "a: !core/ndarray-9.9.9 {source: 0, some: thing}\nb: !core/complex-2.0.0 1+2j\nc: !<asdf://asdf-format.org/zarr/tags/zarr-1.0.0> {store: x, chunk_block_map: 0}\nd: !core/chunked-ndarray-1.0.0 {shape: [4], datatype: uint32, chunks: [{start: [0], ndarray: !core/ndarray-1.1.0 {source: 0, datatype: uint32, byteorder: little, shape: [4]}}]}\n"
    refs = "a: {$ref: '#/b/c'}\nb: {c: [1, {$ref: '#/d'}]}\nd: 5\n'x/y': {'~': 1}\ne: {$ref: '#/x~1y/~0'}\n"
    words = block(WORDS.tobytes())
    older = "a: !core/ndarray-1.0.0 {source: 0, datatype: uint32, byteorder: little, shape: [4]}\n"
    return [
        one("time", "times in every form", times, standard="1.5.0"),
        one("unit", "units and quantities", units, words, standard="1.5.0", arrays={"c/value": WORDS}),
        one("astropy", "tags of other versions and of astropy", new),
        one("fits", "headers and data of FITS", fits, words, standard="1.5.0"),
        one("wcs", "a coordinate system, of which arrays alone are known", wcs, words),
        one("future", "newer versions of known tags, and tags of extensions, which stay as they are", future, words),
        one("older_ndarray", "an array of standard 1.5.0 in a file of 1.6.0", older, words, arrays={"a": WORDS}, reference="it takes the tag for an unknown one"),
        one("references", "references within the tree", refs),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*core(), *others()]
