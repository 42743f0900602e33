//! Very many small items: processing time must not grow with the square of the file.

use asdf::Strictness;
use std::fmt::Write as _;

use crate::crafted::{Clock, LONGEST, expected, file, header, open, plain, read_all, repaired, said, tree};

const TYPE: &str = "datatype: int8, byteorder: big, shape: [1]";

#[test]
fn strict_open_refuses_magics_without_a_block_header() {
    for junk in [&b"\xd3BLK"[..], b"\xd3BLK\0\0", b"\xd3BLK\0\x2f", b"x\xd3BLK\xff\xff"] {
        let bytes = [tree("a: 5").as_bytes(), &junk.repeat(10_000)].concat();
        assert!(!said(&bytes).opens[1]);
    }
}

#[test]
fn strict_open_refuses_thousands_of_empty_blocks() {
    let mut bytes = tree("a: 5").into_bytes();
    let mut flagged = header(b"none", 0, 0, 0);
    flagged.flags = 0xff00;
    (0..3000).for_each(|_| bytes.extend(flagged.to_bytes()));
    assert!(!said(&bytes).opens[1]);
}

#[test]
fn blocks_that_hold_one_another() {
    // Each claims all that follows, whose digest it does not fit.
    let mut bytes = tree("a: 5").into_bytes();
    let (start, count) = (bytes.len() as u64, 500_u64);
    let total = start + count * 100;
    for at in 0..count {
        let rest = total - (start + at * 100) - 54;
        let mut head = header(b"", rest / 2, rest, rest / 3);
        head.checksum = [1; 16];
        bytes.extend(head.to_bytes());
        bytes.resize(bytes.len() + 46, 9);
    }
    assert!(!said(&bytes).opens[1]);
}

#[test]
fn arrays_among_losses() {
    // Every array asks whether a block was lost before its own.
    let mut bytes = (0..1000).fold(String::new(), |mut lines, at| {
        writeln!(lines, "a{at}: !core/ndarray-1.1.0 {{source: {}, {TYPE}}}", at % 7).unwrap();
        lines
    });
    bytes = tree(&bytes);
    let mut flagged = header(b"", 1, 1, 1);
    flagged.flags = 2;
    let one = [&flagged.to_bytes()[..], b"x"].concat();
    let bytes = [bytes.as_bytes(), &one.repeat(1000), &b"\xd3BLK\0\0".repeat(1000)].concat();
    let _ = said(&bytes);
}

#[test]
fn arrays_of_one_block() {
    let records =
        "datatype: [{name: a, datatype: int8}, {name: b, datatype: int16}], byteorder: big, shape: [1]";
    let lines = (0..3000).fold(String::new(), |mut lines, at| {
        writeln!(lines, "a{at}: !core/ndarray-1.1.0 {{source: 0, {records}}}").unwrap();
        lines
    });
    let bytes = file(&lines, &[plain(b"abcdefgh")]);
    for strictness in [Strictness::Compatible, Strictness::Strict, Strictness::Lenient] {
        let began = Clock::start();
        match open(&bytes, strictness) {
            Ok(file) => assert!(read_all(&file)),
            Err(error) => expected(&error),
        }
        assert!(began.elapsed() < LONGEST, "{strictness:?} {:?}", began.elapsed());
    }
}

#[test]
fn repairs_of_many_arrays() {
    let lines = (0..500).fold(String::new(), |mut lines, at| {
        writeln!(lines, "a{at}: !core/ndarray-1.1.0 {{source: {at}, {TYPE}}}").unwrap();
        lines
    });
    // All blocks but one are missing.
    let began = Clock::start();
    let bytes = [tree(&lines).as_bytes(), &plain(b"x")].concat();
    assert!(repaired(&bytes).is_some());
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
    let claims = [
        tree(&format!("a: !core/ndarray-1.1.0 {{source: 9223372036854775807, {TYPE}}}")).as_bytes(),
        &plain(b"x"),
        &[7; 999],
    ]
    .concat();
    let _ = said(&claims);
}

#[test]
fn arrays_that_share_a_large_record() {
    // Thousands of fields by aliases, in an array with thousands of aliases: few bytes, and each entry would be large.
    let mut lines = String::from("t0: &t0 [int8, int16, int8, int16, int8, int16, int8, int16]\n");
    for level in 1..4 {
        let before = level - 1;
        writeln!(
            lines,
            "t{level}: &t{level} [*t{before}, *t{before}, *t{before}, *t{before}, *t{before}, *t{before}]"
        )
        .unwrap();
    }
    lines += "a: &a !core/ndarray-1.1.0 {source: 0, byteorder: big, shape: [1], datatype: *t3}\nb: [";
    lines += &"*a, ".repeat(3000);
    lines += "*a]";
    let said = said(&file(&lines, &[plain(&[7; 4000])]));
    assert_eq!(said.opens, [false; 3]);
}
