//! Arrays whose numbers point outside of their block, wrap, or ask for more than there is.

use std::fmt::Write as _;

use asdf::container_core::ErrorKind;
use asdf::container_core::container::ReadOptions;
use asdf::container_core::dtype::Order;
use asdf::{ChecksumStatus, Strictness, checksum_status};

use crate::crafted::{MEMORY, array, file, open, options, plain, said, short};

const TYPE: &str = "source: 0, datatype: int8, byteorder: little";

/// Checks that the rest of the array is damage under the compatible policy, and that the strict one refuses it.
fn is_damage(rest: &str) {
    let bytes = array(rest, &[7; 16]);
    let said = said(&bytes);
    assert!(!said.opens[1] && said.opens[0] && said.opens[2], "{rest}: {said:?}");
    assert!(!said.reads[0], "{rest}: {said:?}");
    assert!(said.codes.contains(&"array"), "{rest}: {said:?}");
}

#[test]
fn offsets_before_and_behind() {
    for offset in [
        "-1",
        "-4096",
        "13",
        "17",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1e400",
        "99999999999999999999999999999999999999999999",
    ] {
        is_damage(&format!("{TYPE}, shape: [4], offset: {offset}"));
    }
}

#[test]
fn strides_that_leave_the_block_or_wrap() {
    for (shape, strides) in [
        ("[2]", "[-1]"),
        ("[2]", "[16]"),
        ("[17]", "[1]"),
        ("[3]", "[9223372036854775807]"),
        ("[3]", "[-9223372036854775808]"),
        ("[4294967296, 4294967296]", "[4294967296, 1]"),
        ("[2, 2]", "[9223372036854775807, -9223372036854775808]"),
        ("[2, 9]", "[8, 1]"),
        ("[4]", "[1, 1]"),
        ("[4]", "[]"),
        ("[4]", "['*']"),
        ("[4]", "[18446744073709551616]"),
    ] {
        is_damage(&format!("{TYPE}, shape: {shape}, strides: {strides}"));
    }
    // Sums that cancel out in 64 bits, and elements that do stay within.
    let within = array(
        &format!("{TYPE}, shape: [4, 4], strides: [-4, -1], offset: 15"),
        &(0..16).collect::<Vec<u8>>(),
    );
    let file = open(&within, Strictness::Strict).unwrap();
    let read = file.read_index(0, &file.whole(0).unwrap(), &ReadOptions::default()).unwrap();
    let bytes = read.bytes(Order::C, &Default::default()).unwrap().into_owned();
    assert_eq!(bytes, (0..16).rev().collect::<Vec<u8>>());
}

#[test]
fn shapes_that_wrap_or_never_end() {
    for shape in [
        "[17]",
        "[4294967296, 4294967296]",
        "[18446744073709551615]",
        "[9223372036854775808, 2]",
        "[-1]",
        "[2, '*']",
        "[1.5]",
        "[[1]]",
        "4",
        "[18446744073709551617]",
    ] {
        let bytes = array(&format!("{TYPE}, shape: {shape}"), &[7; 16]);
        let said = said(&bytes);
        assert!(said.opens[0] && said.opens[2], "{shape}: {said:?}");
        assert!(!said.opens[1] && !said.reads[0], "{shape}: {said:?}");
    }
    // An array without elements may have any other length.
    for shape in ["[0, 18446744073709551615]", "[18446744073709551615, 0, 18446744073709551615]"] {
        let said = said(&array(&format!("{TYPE}, shape: {shape}"), &[7; 16]));
        assert!(said.opens[0] && said.opens[2], "{shape}: {said:?}");
    }
    let deep = format!("{TYPE}, shape: [{}1]", "1, ".repeat(10_000));
    assert!(!said(&array(&deep, &[7; 16])).reads[0]);
}

#[test]
fn elements_that_are_one_byte_many_times() {
    // 2^40 elements in one byte: allowed, and none of them is made before it is read.
    for (shape, strides) in [("[1048576, 1048576]", "[0, 0]"), ("[1099511627776]", "[0]")] {
        let bytes = array(&format!("{TYPE}, shape: {shape}, strides: {strides}"), &[7]);
        for strictness in [Strictness::Compatible, Strictness::Lenient] {
            let file = open(&bytes, strictness).unwrap();
            let error = file.whole(0).and_then(|whole| {
                let read = file.read_index(
                    0,
                    &whole,
                    &ReadOptions::default().with_limits(options(strictness).limits),
                )?;
                read.bytes(Order::C, &options(strictness).limits).map(|_| ())
            });
            assert!(matches!(error.unwrap_err().kind(), ErrorKind::Limit { .. }));
        }
        let _ = said(&bytes);
    }
    let few = array(&format!("{TYPE}, shape: [3], strides: [0]"), &[7]);
    assert_eq!(short(&few).1, ["zero_stride"]);
}

#[test]
fn datatypes_of_any_size() {
    for datatype in [
        "[ascii, 18446744073709551615]",
        "[ucs4, 4611686018427387905]",
        "[ascii, -1]",
        "[[int8, [ascii, 18446744073709551615]], [ascii, 18446744073709551615]]",
        "[{name: a, datatype: int8, shape: [4294967296, 4294967296]}]",
        "[{name: a, datatype: int8, shape: [-1]}]",
        "{a: b}",
        "&a [*a, *a]",
        "!!binary aGk=",
        "5",
    ] {
        is_damage(&format!("source: 0, byteorder: big, shape: [1], datatype: {datatype}"));
    }
    // Records within records, and a million fields, by aliases: a few hundred bytes.
    let mut lines = String::from("t0: &t0 [{name: a, datatype: int8}, {name: b, datatype: int8}]\n");
    for level in 1..12 {
        let names =
            (0..8).map(|at| format!("{{name: f{at}, datatype: *t{}}}", level - 1)).collect::<Vec<_>>();
        writeln!(lines, "t{level}: &t{level} [{}]", names.join(", ")).unwrap();
    }
    lines += "a: !core/ndarray-1.1.0 {source: 0, byteorder: big, shape: [1], datatype: *t11}";
    let said = said(&file(&lines, &[plain(&[7; 64])]));
    assert!(!said.reads[0], "{said:?}");
}

#[test]
fn invalid_sources_are_damage() {
    for source in [
        "1",
        "-2",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "99999999999999999999",
        "1.0",
        "[0]",
        "null",
        "true",
    ] {
        is_damage(&format!("source: {source}, datatype: int8, byteorder: little, shape: [1]"));
    }
    is_damage("datatype: int8, byteorder: little, shape: [1]");
    is_damage("source: 0, data: [1], datatype: int8, byteorder: little, shape: [1]");
}

#[test]
fn lists_that_are_bombs() {
    let mut lines = String::from("l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1]\n");
    for level in 1..20 {
        let items = vec![format!("*l{}", level - 1); 8].join(", ");
        writeln!(lines, "l{level}: &l{level} [{items}]").unwrap();
    }
    for typed in ["", ", datatype: int8", ", datatype: [ascii, 1000]", ", shape: [8]"] {
        let lines = format!("{lines}a: !core/ndarray-1.1.0 {{data: *l19{typed}}}\n");
        let said = said(&file(&lines, &[]));
        assert!(said.opens[0] && !said.reads[0], "{typed}: {said:?}");
    }
    // Few items of a type that is large.
    let text = format!(
        "a: !core/ndarray-1.1.0 {{datatype: [ucs4, {}], data: [{}x]}}",
        MEMORY / 8,
        "x, ".repeat(1000)
    );
    assert!(!said(&file(&text, &[])).reads[0]);
    // Text of different lengths takes the longest for each.
    let text =
        format!("a: !core/ndarray-1.1.0 {{data: [{}, {}x]}}", "y".repeat(10_000), "x, ".repeat(10_000));
    assert!(!said(&file(&text, &[])).reads[0]);
    for data in ["&x [*x]", "&x [[1, *x], [2, 3]]", "[[1, 2], [3]]", "[1, [2]]", "[{a: 1}]"] {
        let said = said(&file(&format!("a: !core/ndarray-1.1.0 {{data: {data}}}"), &[]));
        assert!(said.opens[0] && !said.opens[1], "{data}: {said:?}");
    }
}

#[test]
fn masks_of_masks() {
    // A mask that is its own mask, one that is that of another, and a chain of them.
    for lines in [
        format!("a: &a !core/ndarray-1.1.0 {{{TYPE}, shape: [4], mask: *a}}"),
        format!(
            "a: &a !core/ndarray-1.1.0 {{{TYPE}, shape: [4], mask: &b !core/ndarray-1.1.0 {{{TYPE}, shape: [4], mask: *a}}}}"
        ),
        (0..5000)
            .fold(format!("!core/ndarray-1.1.0 {{{TYPE}, shape: [4]}}"), |mask, at| {
                if at < 90 {
                    format!("!core/ndarray-1.1.0 {{{TYPE}, shape: [4], mask: {mask}}}")
                } else {
                    mask
                }
            })
            .replacen('!', "a: !", 1),
    ] {
        let said = said(&file(&lines, &[plain(b"abcd")]));
        assert!(said.opens[0] && said.opens[2], "{said:?}");
    }
    for mask in [
        "{a: b}",
        "!core/ndarray-1.1.0 {data: [1, 2, 3]}",
        "!core/ndarray-1.1.0 {source: 9, datatype: bool8, byteorder: big, shape: [4]}",
    ] {
        let said = said(&file(
            &format!("a: !core/ndarray-1.1.0 {{{TYPE}, shape: [4], mask: {mask}}}"),
            &[plain(b"abcd")],
        ));
        assert!(said.opens[0] && !said.reads[0], "{mask}: {said:?}");
    }
    // An array without elements, each of which would be longer than any memory: reading makes one element to compare with.
    let long = "source: 0, datatype: [ascii, 1152921504606846976], byteorder: big, shape: [0]";
    for mask in ["5".to_owned(), format!("!core/ndarray-1.1.0 {{{long}}}")] {
        let said =
            said(&file(&format!("a: !core/ndarray-1.1.0 {{{long}, mask: {mask}}}"), &[plain(b"abcd")]));
        assert!(said.opens[0] && !said.reads[0], "{mask}: {said:?}");
    }
}

#[test]
fn digests_of_what_cannot_be_decoded() {
    let mut head = crate::crafted::header(b"zlib", 4, 4, 1 << 63);
    head.checksum = [1; 16];
    let bytes = file("a: 5", &[[&head.to_bytes()[..], b"abcd"].concat()]);
    let opened = open(&bytes, Strictness::Compatible).unwrap();
    let opts = options(Strictness::Compatible);
    let state = checksum_status(opened.source(), &opened.blocks()[0], &opts.codecs, &opts.limits, 2);
    assert!(
        !matches!(state, Ok(ChecksumStatus::Stored | ChecksumStatus::LegacyDecoded | ChecksumStatus::Absent)),
        "{state:?}"
    );
}

#[test]
fn empty_streamed_rows_open_and_invalid_values_are_reported() {
    // A block would have any number of rows without bytes.
    for shape in ["['*', 0]", "['*', 0, 3]"] {
        let said = said(&array(&format!("{TYPE}, shape: {shape}"), &[7; 16]));
        assert!(said.opens[0] && said.opens[2], "{shape}: {said:?}");
    }
    for (datatype, bytes) in [
        ("[ucs4, 1]", [0xff; 4]),
        ("[ucs4, 1]", [0, 0, 0xd8, 0]),
        ("[ucs4, 1]", [0, 0x11, 0, 0]),
        ("bool8", [0, 1, 2, 1]),
    ] {
        let rest = format!("source: 0, byteorder: big, datatype: {datatype}");
        let shape = if datatype == "bool8" { 4 } else { 1 };
        let (opens, codes) = short(&array(&format!("{rest}, shape: [{shape}]"), &bytes));
        // The bytes can be read, but have no value of the type.
        assert_eq!((opens.as_str(), codes), ("RRR", vec!["array"]), "{datatype} {bytes:?}");
    }
}
