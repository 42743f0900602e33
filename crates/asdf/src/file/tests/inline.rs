//! Inline data: types, bytes and refused values. Types and values are those of numpy by Python asdf 6.0 unless a comment names another source.

use super::*;

fn read(array: &str) -> Result<(String, Vec<u64>, Vec<u8>)> {
    let file = open(&format!("a: !core/ndarray-1.1.0 {array}"), &[]);
    file.array("a")?;
    let geometry = file.geometry(0)?;
    let dtype = geometry.dtype.to_string();
    Ok((dtype.replace(['<', '>', '='], ""), geometry.shape.clone(), all(&file, "a")?))
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn types_follow_from_the_items() {
    for (array, dtype, shape, bytes) in [
        ("[1, 2, -3]", "i8", vec![3], integers(&[1, 2, -3])),
        ("[[1, 2.5], [3, 4]]", "f8", vec![2, 2], doubles(&[1.0, 2.5, 3.0, 4.0])),
        ("[true, no]", "|b1", vec![2], vec![1, 0]),
        ("[true, 2]", "i8", vec![2], integers(&[1, 2])),
        ("[!core/complex-1.0.0 1+2j, 3]", "c16", vec![2], doubles(&[1.0, 2.0, 3.0, 0.0])),
        ("[]", "f8", vec![0], vec![]),
        ("[[], []]", "f8", vec![2, 0], vec![]),
        ("[9223372036854775808]", "u8", vec![1], 9_223_372_036_854_775_808_u64.to_le_bytes().to_vec()),
        ("[1, null, 3]", "i8", vec![3], integers(&[1, 0, 3])),
        ("{data: [.inf, -.inf, -0.0]}", "f8", vec![3], doubles(&[f64::INFINITY, f64::NEG_INFINITY, -0.0])),
    ] {
        assert_eq!(read(array).unwrap(), (dtype.to_owned(), shape, bytes), "{array}");
    }
    // Text is as wide as the widest item; numpy takes 21 characters for any number.
    let (dtype, _, bytes) = read("[a, é😀, 12]").unwrap();
    let chars: Vec<u32> = bytes.chunks(4).map(|char| u32::from_le_bytes(char.try_into().unwrap())).collect();
    assert_eq!((dtype.as_str(), chars), ("U2", vec![0x61, 0, 0xe9, 0x1f600, 0x31, 0x32]));
}

#[test]
fn items_become_the_type_that_is_named() {
    for (array, bytes) in [
        ("{data: [1, 2, -3], datatype: int8}", vec![1, 2, 253]),
        ("{data: [1, 2], datatype: int16, byteorder: big}", vec![0, 1, 0, 2]),
        ("{data: [1, 0, true], datatype: bool8}", vec![1, 0, 1]),
        ("{data: [1.5, 2], datatype: float32, byteorder: big}", vec![0x3f, 0xc0, 0, 0, 0x40, 0, 0, 0]),
        ("{data: [1.5], datatype: float16, byteorder: little}", vec![0, 0x3e]),
        ("{data: [ab, c], datatype: [ascii, 3]}", vec![97, 98, 0, 99, 0, 0]),
        ("{data: [a], datatype: [ucs4, 2], byteorder: big}", vec![0, 0, 0, 97, 0, 0, 0, 0]),
        ("{data: [3.0], datatype: uint8}", vec![3]),
        ("{data: [18446744073709551615], datatype: uint64, byteorder: big}", vec![255; 8]),
        (
            "{data: [170141183460469231731687303715884105728], datatype: uint128, byteorder: big}",
            [&[0x80][..], &[0; 15]].concat(),
        ),
        ("{data: [], shape: [0, 3], datatype: float64}", vec![]),
        ("{data: [[1, 2]], shape: ['*', 2], datatype: uint8}", vec![1, 2]),
        (
            "{data: [[1, 2.5], [3, 4]], datatype: [uint8, float32], byteorder: big}",
            vec![1, 0x40, 0x20, 0, 0, 3, 0x40, 0x80, 0, 0],
        ),
        (
            "{data: [[1, [2, 3]], [4, [5, 6]]], datatype: [{name: x, datatype: int8}, {name: y, datatype: uint16, byteorder: big, shape: [2]}]}",
            vec![1, 0, 2, 0, 3, 4, 0, 5, 0, 6],
        ),
        ("{data: [[[1, 2], 3]], datatype: [[uint8, uint8], uint8]}", vec![1, 2, 3]),
    ] {
        assert_eq!(read(array).unwrap().2, bytes, "{array}");
    }
    assert_eq!(read("{data: [], shape: [0, 3], datatype: float64}").unwrap().1, [0, 3]);
    assert_eq!(read("{data: [[1, 2.5], [3, 4]], datatype: [uint8, float32]}").unwrap().1, [2]);
}

/// A record is a list of its fields, or null as a whole: where no record is given, the lists are axes alone.
#[test]
fn lists_without_a_record_are_axes() {
    let of = |data: &str| read(&format!("{{data: {data}, datatype: [uint8, uint8]}}")).map(|it| (it.1, it.2));
    assert_eq!(of("[]").unwrap(), (vec![0], vec![]));
    assert_eq!(of("[[], []]").unwrap(), (vec![2, 0], vec![]));
    assert_eq!(of("[null, null]").unwrap(), (vec![2], vec![0; 4]));
    assert_eq!(of("[[null], [null]]").unwrap(), (vec![2, 1], vec![0; 4]));
    assert_eq!(of("[null, [1, 2]]").unwrap(), (vec![2], vec![0, 0, 1, 2]));
    assert_eq!(of("[1, 2]").unwrap(), (vec![], vec![1, 2]));
    // Null is no list, and so no array.
    assert!(of("null").is_err());
}

#[test]
fn inline_data_that_does_not_fit_its_description_is_refused() {
    for array in [
        "{data: [1, 2, 300], datatype: int8}",
        "{data: [-1], datatype: uint64}",
        // numpy cuts these three.
        "{data: [1.5], datatype: int8}",
        "{data: [abc], datatype: [ascii, 2]}",
        "{data: [abc], datatype: [ucs4, 2]}",
        "{data: [é], datatype: [ascii, 2]}",
        "{data: [x], datatype: float64}",
        "{data: [2], datatype: bool8}",
        "{data: [1, 2, 3], shape: [2]}",
        "{data: [1, 2, 3, 4], shape: [2, 2]}",
        "[[1, 2], [3]]",
        "[[1, 2], null]",
        "[1, [2]]",
        "[1, {}]",
        "{data: {}}",
        "[-1, 9223372036854775808]",
        "[99999999999999999999]",
        "{data: [[1]], datatype: [uint8, uint8]}",
        "{data: [1], source: 0}",
        "{}",
        "5",
    ] {
        let error = read(array).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{array}: {error}");
        assert!(error.range().is_some(), "{array}");
    }
    for array in ["[2001-01-01]", "[!!binary AA==]", "{data: [1], datatype: float80}"] {
        let error = read(array).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{array}: {error}");
    }
}

#[test]
fn lists_that_hold_themselves_and_lists_of_lists_without_number_end() {
    assert!(read("&a [*a]").is_err());
    let mut tree = "l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..18 {
        let below = format!("*l{}", level - 1);
        tree.push_str(&format!("l{level}: &l{level} [{}]\n", [below.as_str(); 10].join(", ")));
    }
    let file = open(&format!("{tree}a: !core/ndarray-1.1.0 {{data: *l17, datatype: uint8}}"), &[]);
    assert!(matches!(all(&file, "a").unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn parts_of_inline_data_are_read() {
    let file = open("a: !core/ndarray-1.1.0 {data: [[1, 2, 3], [4, 5, 6]], datatype: uint8}", &[]);
    for (text, want) in
        [("1", vec![4, 5, 6]), (":, ::-2", vec![3, 1, 6, 4]), ("0:0", vec![]), ("1, 1", vec![5])]
    {
        let region = Region::parse(text, &[2, 3]).unwrap();
        let read = file.read("a", &region, &ReadOptions::default()).unwrap();
        assert_eq!(read.bytes(Order::C, &Limits::default()).unwrap().into_owned(), want, "{text}");
    }
}

/// As many axes as other arrays may have; numpy has no more.
#[test]
fn lists_within_lists_are_axes_and_there_are_not_too_many() {
    for (depth, is_read) in [(64, true), (65, false)] {
        let data = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        for array in [data.clone(), format!("{{data: {data}, datatype: int8}}")] {
            let file = open(&format!("a: !core/ndarray-1.1.0 {array}"), &[]);
            match file.geometry(0) {
                Ok(geometry) => assert!(is_read && geometry.shape == vec![1; depth], "{depth}"),
                Err(error) => {
                    assert!(!is_read && matches!(error.kind(), ErrorKind::Limit { .. }), "{depth}: {error}");
                }
            }
        }
    }
}
