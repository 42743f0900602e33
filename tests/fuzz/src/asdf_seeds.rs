//! Seeds of the targets of ASDF.

use std::fs;
use std::path::Path;

use crate::seeds::gather;

/// Small files of the fixtures, and smaller ones made here.
pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = fixtures().into_iter().filter(|file| file.len() < 1 << 12).collect();
    files.extend(small_files());
    files
}

/// The files of the fixtures.
pub(crate) fn fixtures() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf"), "asdf", &mut paths);
    paths.sort();
    let files: Vec<Vec<u8>> =
        paths.iter().map(|path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).collect();
    assert!(files.len() > 100, "the fixtures are not where they should be");
    files
}

/// Files in which changes meet something that counts.
pub(crate) fn small_files() -> Vec<Vec<u8>> {
    const TREE: &str = concat!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n",
        "a: &a !core/ndarray-1.1.0 {source: 0, datatype: uint16, byteorder: big, shape: [3, 2], strides: [4, 2]}\n",
        "b: [*a, {$ref: '#/c'}]\nc: !core/ndarray-1.1.0\n  data: [[1, null], [2, 3]]\n  mask: 2\n",
        "d: !core/ndarray-1.1.0 {source: -1, datatype: int8, byteorder: little, shape: ['*', 2]}\n...\n",
    );
    let block = |flags: u8, data: &[u8]| {
        let size = if flags == 0 { data.len() as u64 } else { 0 };
        let size = size.to_be_bytes();
        [&b"\xd3BLK\0\x30\0\0\0"[..], &[flags], &[0; 4], &size, &size, &size, &[0; 16], data].concat()
    };
    let at = TREE.len();
    let first = block(0, b"abcdefghijkl");
    let index = format!("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- {at}\n- {}\n...\n", at + first.len());
    vec![
        [TREE.as_bytes(), &first, &block(0, b"012345"), index.as_bytes()].concat(),
        [TREE.as_bytes(), &first, &block(1, b"01234")].concat(),
        [TREE.as_bytes(), &[0; 20], &first, &first].concat(),
    ]
}

/// The trees of those files, and spellings of what YAML 1.1 knows.
pub(crate) fn trees() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = files().iter().filter_map(|file| tree(file)).collect();
    for text in [
        "%YAML 1.1\n---\n? a\n: - b\n  - |2-\n      c\n    d\n  - >\n    e\n\n    f\n...\n",
        "{a: &x [1, 2], b: *x, <<: {c: 1}, ? [d] : e, 'f': \"g\\x41\\u00e9\\\n  h\"}",
        "- 1_000\n- 0b11\n- 190:20:30\n- 1.5e+3\n- .inf\n- 2001-12-14t21:59:43.10-05:00\n- !!binary aGk=\n- ~\n",
        "a: # comment\n  b : \"c\" # d\n# e\n  f: &g\n    - *g\n- ",
        "--- !!set {a, b}\n...\n",
        "a: !<tag:x,2000:y> b\nc: !e!f g\n",
    ] {
        all.push(text.as_bytes().to_vec());
    }
    all
}

fn tree(file: &[u8]) -> Option<Vec<u8>> {
    let start = file.windows(5).position(|five| five == b"%YAML")?;
    let end = file.windows(4).position(|four| four == b"\n...").map_or(file.len(), |at| at + 5);
    file.get(start..end.min(file.len())).filter(|tree| tree.len() < 2000).map(<[u8]>::to_vec)
}

/// Trees with a value and choices of places.
pub(crate) fn edits() -> Vec<Vec<u8>> {
    let values = ["5", "[a, {b: c}]", "text: with colon", "'#'", "{}", "!core/x-1.0.0 [1]"];
    let cases = trees().into_iter().enumerate().map(|(at, tree)| {
        let choices: Vec<u8> = (0..16).map(|byte| (byte * 37 + at * 11) as u8).collect();
        [&tree, &b"\0"[..], values[at % values.len()].as_bytes(), b"\0", &choices].concat()
    });
    cases.collect()
}

/// Schemas with a tree each.
pub(crate) fn schemas() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = asdf::schema::standard_resources()
        .filter_map(asdf::schema::standard_resource)
        .filter(|text| text.len() < 3000)
        .map(|text| {
            [text.as_bytes(), b"\0{source: 0, shape: [1], name: x, version: 1, datatype: int8}"].concat()
        })
        .collect();
    for (schema, tree) in [
        (
            "{type: object, properties: {a: {$ref: '#'}}, additionalProperties: false, required: [a]}",
            "a: {a: {}}",
        ),
        (
            "{items: {anyOf: [{type: integer, minimum: 0}, {pattern: '^a+$'}]}, uniqueItems: true, maxItems: 3}",
            "[1, aa, b]",
        ),
        (
            "{tag: 'tag:x/*', ndim: 2, datatype: float32, enum: [1, [2]], not: {type: string}}",
            "!<tag:x/y> [[1, 2], [3]]",
        ),
        (
            "{patternProperties: {'^x': {multipleOf: 0.1}}, dependencies: {x: [y]}, format: date-time}",
            "{x: 1.3, y: 2}",
        ),
    ] {
        all.push([schema.as_bytes(), b"\0", tree.as_bytes()].concat());
    }
    all
}
