//! The quick way against the library: the same arena, or none.
use proptest::prelude::*;

use super::compose;
use crate::parse::compose::{check_text, compose as through_library};
use crate::{Document, Origin, YamlLimits};

/// Trees as PyYAML and people write them.
const SEEDS: [&str; 16] = [
    "%YAML 1.1\n%TAG ! tag:example.org:ab/\n--- !core/root-1.1.0\nsome_library: !core/software-1.0.0 {author: The SOME Developers, homepage: 'http://github.com/some-format/some',\n  name: some, version: 6.0.0}\nhistory:\n  extensions:\n  - !core/extension_metadata-1.0.0\n    extension_class: some.extension._manifest.ManifestExtension\n    software: !core/software-1.0.0 {name: some, version: 6.0.0}\ndata: !core/mdarray-1.1.0\n  source: 0\n  datatype: float64\n  byteorder: little\n  shape: [8, 4]\n...\n",
    "a: 1\nb: [1, 2, {c: d}]\nc:\n- x\n- y: z\n  q: r\n-\n- ~\nd:\n",
    "- - a\n  - b: 'it''s'\n-   c: \"x\\ty\\u00e9\\\\\"\n    d: # why\n      - e # f\n# g\n\n- {}\n- []\n",
    "k: !!str\nj: !<tag:foo,1> 5\nm: !x\n- 1\nn: !y\n  - 2\no: !z\n  p: é\nq: !w {r: [a b, c:d, http://x/y#z]}\n",
    "--- !root\n- [1,\n  2, !t 3,\n  {a: b, c: [d]}, ]\n...\n",
    "one: 'two' # three\nfour: \"five\"\n\"six\" : seven\n'eight': -9\n- : x\n",
    "a:\n  b:\n    c:\n      - - - d\n    e: f\n  g: -h\n---: x\n",
    "%TAG !e! tag:e,2000:\n---\nx: !e!y {z: 1}\n",
    "plain text\n  goes on\n",
    // Aliases and merge keys, in both styles of collections.
    "a: &a 5\nb: &b !t [*a, &c x, {k: *c, <<: *a, l: [*a ]}]\nc: !t &d\n  <<: *b\n  e: *a\nd: &e1\n- &f\n- !!str &g\n- *f # why\ne: &h-1_\nf: *h-1_\n",
    "--- &r !root\n- &x\n  k: *r\n- *x\n- - &y [a]\n  - *y\n- &z !t\n  - b\n- !t\n  &w\n  c: d\n",
    // Text over several lines, as PyYAML wraps it.
    "a: some text that\n  goes on\n\n\n   and on - with it's \n  # a comment\nb: 'in ''quotes''\n\n  too '\nc: \"and \\\n  \\ \\\"these\\\" \\t\n  \\xe9\"\nd:\n- x\n  y\n- 'x\n  y'\ne: !t &a p\n     q # c\nf: [a\n  b, c , 'd\n   e',\n   {k: l\n    m, n: \"o\n\n   p\"\n   }\n  ]\n",
    "a: |\n  x\n   y\n\n  z\n\n\nb: >-\n\n  x\n  y\n\n    z\n  w\n# c\nc: |+ # c\n    x\n\n\nd: |2\n    x\n   y\ne:\n- !!binary |\n  AAAA\n  BBBB\n- >+2\n    x\n  y\n\nf: &a !t >\n x\n  y\n x\n",
    "f: [ # one\n  1, # two\n  {a: b, # three\n   # four\n   c: -, -: d}, -, --, -x,\n  [-]]\n",
    "a: &x {b: 1}\n*x : 5\n? b\n: c\n",
    "a: 'x\u{85} y'\nb: z\u{2028}  w\nc: [-, 'p\u{2029}q', -]\nd: |\n  x\u{2028}  y\u{85}\n  z\n",
];

const PIECES: [&str; 56] = [
    " ", "\n", "\n ", "\n  ", "\n- ", "- ", ": ", ":", ",", ", ", "[", "]", "{", "}", "#", " #", "&a ", "*a",
    "!", "!t ", "!!int ", "|\n ", ">", "'", "\"", "%", "@", "?", "? ", "-", "--- ", "\n---", "\n...",
    "\n...\n", "\t", "\r\n", "é", "\u{2028}", "\\", "x", "|-\n  ", ">+\n", "|2\n   ", "\n    ", "\n\n", "-,",
    "-]", "*a,", "&b", "*b ", "<<: ", "''", "\\\n", " # c\n", "\u{85}", "''\n",
];

fn same(text: &str) -> Result<bool, TestCaseError> {
    let limits = YamlLimits::default();
    let Some(parser) = compose(text, Origin::new(7), &limits) else { return Ok(false) };
    let slow = through_library(text, Origin::new(7), &limits);
    prop_assert!(slow.is_ok(), "{:?}: {:?}", text, slow.err());
    prop_assert_eq!(parser, slow.unwrap(), "{:?}", text);
    Ok(true)
}

/// The same cases in every run: a fuzz target looks for others.
fn config() -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(11);
    ProptestConfig { rng_seed, ..ProptestConfig::with_cases(8000) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn trees_with_changes_are_the_same_both_ways(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, 0..PIECES.len()), 0..5),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (index, cut, piece) in changes {
            let at = index.index(text.len() + 1);
            let end = (at + cut).min(text.len());
            text.splice(at..end, if cut == 3 { Vec::new() } else { PIECES[piece].chars().collect() });
        }
        let text: String = text.into_iter().collect();
        if check_text(text.as_bytes(), Origin::new(0), &YamlLimits::default()).is_ok() {
            same(&text)?;
        }
    }

    #[test]
    fn texts_of_marks_are_the_same_both_ways(pieces in prop::collection::vec(0..PIECES.len(), 0..12)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        same(&text)?;
    }
}

#[test]
fn trees_as_pyyaml_writes_them_go_the_quick_way() {
    for (number, seed) in SEEDS.iter().enumerate() {
        // Their empty keys, roots of several lines, keys that are aliases, and line breaks of YAML 1.1 are rare.
        let quick = ![5, 6, 8, 14, 15].contains(&number);
        assert_eq!(same(seed).unwrap(), quick, "{number}: {seed}");
    }
    assert!(same("").is_ok() && same("# c\n").is_ok() && same("---\n...\n").is_ok());
}

#[test]
fn errors_are_those_of_the_library() {
    let limits = YamlLimits::default();
    for text in ["a: b: c\n", "a: 1\n b: 2\n", "[a,,b]\n", "- 1\nb: 2\n", "a: 'x\n"] {
        assert!(compose(text, Origin::new(0), &limits).is_none(), "{text}");
        let error = Document::parse(text.as_bytes(), 100, &limits).unwrap_err();
        assert!(error.range().is_some_and(|range| range.start >= 100), "{error}");
    }
}
