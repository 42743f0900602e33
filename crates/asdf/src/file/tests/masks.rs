//! Masks of arrays.

use super::*;

fn mask(array: &str, region: &str, shape: &[u64]) -> Result<Option<Vec<u8>>> {
    let block: Vec<u8> =
        [f32::NAN, -999.0, -999.005, -0.0].iter().flat_map(|value| value.to_be_bytes()).collect();
    let file = open(&format!("a: !core/ndarray-1.1.0 {array}"), &[plain(&block)]);
    let mask = file.mask("a", &Region::parse(region, shape)?, &ReadOptions::default())?;
    mask.map(|mask| mask.bytes(Order::C, &Limits::default()).map(Cow::into_owned)).transpose()
}

#[test]
fn a_value_hides_what_is_equal_to_it() {
    let stored =
        |value: &str| format!("{{source: 0, datatype: float32, byteorder: big, shape: [4], mask: {value}}}");
    for (value, want) in [
        ("-999", [0, 1, 0, 0]),
        // Rounded as the element was when it was written.
        ("-999.005", [0, 0, 1, 0]),
        (".nan", [1, 0, 0, 0]),
        ("0", [0, 0, 0, 1]),
        ("1.0e+300", [0, 0, 0, 0]),
        ("16777217", [0, 0, 0, 0]),
    ] {
        assert_eq!(mask(&stored(value), "...", &[4]).unwrap(), Some(want.to_vec()), "{value}");
    }
    assert_eq!(mask(&stored("null"), "...", &[4]).unwrap(), None);
    assert_eq!(mask(&stored("-999"), "::-2", &[4]).unwrap(), Some(vec![0, 1]));
    for (array, want) in [
        ("{data: [1, 2, 300], mask: 2}", vec![0, 1, 0]),
        ("{data: [1, 2, 3], datatype: int8, mask: 300}", vec![0, 0, 0]),
        ("{data: [1, 2, 3], datatype: int8, mask: 2.5}", vec![0, 0, 0]),
        (
            "{data: [!core/complex-1.0.0 1+2j, 3, !core/complex-1.0.0 nan+2j], mask: !core/complex-1.0.0 1+2j}",
            vec![1, 0, 0],
        ),
        ("{data: [!core/complex-1.0.0 1+2j, 3, !core/complex-1.0.0 1+nanj], mask: .nan}", vec![0, 0, 1]),
    ] {
        assert_eq!(mask(array, "...", &[3]).unwrap(), Some(want), "{array}");
    }
    let records = "{data: [[1, 2], [3, 1]], datatype: [int8, int8], mask: 1}";
    assert_eq!(mask(records, "...", &[2]).unwrap(), Some(vec![1, 0, 0, 1]));
}

/// A whole number that the type rounds is none that was written: 2^24 + 1 as float32, twice as complex64, 2^11 + 1 as float16.
#[test]
fn masked_numbers_that_the_type_rounds_hide_nothing() {
    for (datatype, data, value, want) in [
        ("float64", "[16777216, 16777217]", "16777217", [0, 1]),
        ("float32", "[16777216, 16777218]", "16777217", [0, 0]),
        ("float32", "[16777216, 16777218]", "16777216", [1, 0]),
        ("float16", "[2048, 2050]", "2049", [0, 0]),
        ("float16", "[2048, 2050]", "2050", [0, 1]),
        // A number, not its bits: of zero there are two, and of NaN many.
        ("float16", "[-0.0, 1.0]", "0", [1, 0]),
        ("float16", "[.nan, 1.0]", ".nan", [1, 0]),
        ("complex64", "[16777216, 16777218]", "16777217", [0, 0]),
        ("complex64", "[16777216, 16777218]", "16777218", [0, 1]),
        ("complex128", "[16777216, 16777217]", "16777217", [0, 1]),
        ("float64", "[9007199254740992, 1]", "9007199254740993", [0, 0]),
        // Too large for the type, and for any.
        ("float32", "[.inf, 1]", "1.0e+300", [0, 0]),
        ("float64", "[1.0e+300, .inf]", "1.0e+300", [1, 0]),
        ("float32", "[.inf, 1]", ".inf", [1, 0]),
        ("float64", "[1.0e+40, 1]", "10000000000000000303786028427003666890752", [0, 0]),
    ] {
        let array = format!("{{data: {data}, datatype: {datatype}, mask: {value}}}");
        assert_eq!(mask(&array, "...", &[2]).unwrap(), Some(want.to_vec()), "{array}");
    }
}

/// asdf-format/asdf#1909: numpy.ma's mask of records, a truth value for each field.
#[test]
fn a_mask_of_records_hides_field_by_field() {
    let array = |mask: &str| {
        let datatype = "[{name: x, datatype: int8}, {name: v, datatype: int8, shape: [2]}]";
        format!(
            "{{data: [[1, [2, 3]], [4, [5, 6]]], datatype: {datatype}, mask: !core/ndarray-1.1.0 {mask}}}"
        )
    };
    let fields = "[{name: p, datatype: bool8}, {name: q, datatype: bool8, shape: [2]}]";
    let records = |data: &str| array(&format!("{{data: {data}, datatype: {fields}}}"));
    let both = records("[[true, [false, false]], [false, [false, true]]]");
    assert_eq!(mask(&both, "...", &[2]).unwrap(), Some(vec![1, 0, 0, 0, 0, 1]));
    assert_eq!(mask(&both, "::-1", &[2]).unwrap(), Some(vec![0, 0, 1, 1, 0, 0]));
    assert_eq!(mask(&both, "1", &[2]).unwrap(), Some(vec![0, 0, 1]));
    let one = records("[[false, [true, false]]]");
    assert_eq!(mask(&one, "...", &[2]).unwrap(), Some(vec![0, 1, 0, 0, 1, 0]));
    // One truth value hides the whole of a record.
    assert_eq!(mask(&array("[true, false]"), "...", &[2]).unwrap(), Some(vec![1, 1, 1, 0, 0, 0]));
    let unfit = array("{data: [[true], [false]], datatype: [{name: x, datatype: bool8}]}");
    assert!(mask(&unfit, "...", &[2]).unwrap_err().is_damage());
    let no_records = "{data: [1, 2], mask: !core/ndarray-1.1.0 {data: [[true], [false]], datatype: [bool8]}}";
    assert!(mask(no_records, "...", &[2]).unwrap_err().is_damage());
}

#[test]
fn an_array_hides_where_it_is_not_zero() {
    let array = |mask: &str| format!("{{data: [[1, 2, 3], [4, 5, 6]], mask: !core/ndarray-1.1.0 {mask}}}");
    for (given, region, want) in [
        ("[[true, false, false], [false, false, true]]", "...", vec![1, 0, 0, 0, 0, 1]),
        ("[0, 1, 0]", "...", vec![0, 1, 0, 0, 1, 0]),
        ("[[0], [7]]", "...", vec![0, 0, 0, 1, 1, 1]),
        ("[[0], [7]]", "1, ::2", vec![1, 1]),
        ("[0, 1, 0]", "::-1, 1:", vec![1, 0, 1, 0]),
        ("[1]", "0:1, 0", vec![1]),
        ("{data: [-0.0, .nan, 0.5]}", "0", vec![0, 1, 1]),
    ] {
        assert_eq!(mask(&array(given), region, &[2, 3]).unwrap(), Some(want), "{given} {region}");
    }
    for unfit in ["[1, 0]", "[[[0, 0, 0]]]", "[[1], [1], [1]]"] {
        assert!(mask(&array(unfit), "...", &[2, 3]).is_err(), "{unfit}");
    }
}

#[test]
fn items_that_are_null_are_missing() {
    assert_eq!(mask("[1, null, 3]", "...", &[3]).unwrap(), Some(vec![0, 1, 0]));
    assert_eq!(mask("[[null, 1], [2, ~]]", "1", &[2, 2]).unwrap(), Some(vec![0, 1]));
    assert_eq!(mask("{data: [1, null, 3], mask: 3}", "...", &[3]).unwrap(), Some(vec![0, 1, 1]));
    assert_eq!(mask("[1, 2]", "...", &[2]).unwrap(), None);
    let records = |data: &str| format!("{{data: {data}, datatype: [int8, {{datatype: int8, shape: [2]}}]}}");
    assert_eq!(
        mask(&records("[[1, [2, null]], null, [null, null]]"), "...", &[3]).unwrap().unwrap(),
        [0, 0, 1, 1, 1, 1, 1, 1, 1]
    );
    assert_eq!(mask(&records("[null, [1, [2, 3]]]"), "...", &[2]).unwrap().unwrap(), [1, 1, 1, 0, 0, 0]);
    assert_eq!(mask(&records("[[1, [2, 3]]]"), "...", &[1]).unwrap(), None);
}

/// Python asdf 6.0 reads no array with such a mask: the node stays a mapping.
#[test]
fn masks_are_arrays_or_scalars_that_parse_as_numbers() {
    for (value, is_mask) in [
        ("word", false),
        ("'*'", false),
        ("2001-12-14", false),
        ("=", false),
        // An array is one by its tag.
        ("[1, 0, 1]", false),
        ("{data: [1, 0, 1]}", false),
        ("!core/ndapray-1.1.0 {data: [1, 0, 1]}", false),
        ("!core/ndarray-1.1.0 {data: [1, 0, 1]}", true),
        ("'5'", true),
        ("1+2j", true),
        ("true", true),
        ("0x10", true),
        (".nan", true),
    ] {
        let array = format!("{{data: [1, 2, 3], datatype: int64, mask: {value}}}");
        let file = open(&format!("a: !core/ndarray-1.1.0 {array}"), &[]);
        let codes: Vec<&str> = file.array_faults().iter().map(Fault::code).collect();
        assert_eq!(codes, if is_mask { vec![] } else { vec!["array"] }, "{value}");
        assert_eq!(mask(&array, "...", &[3]).is_ok(), is_mask, "{value}");
        // The elements are there.
        assert_eq!(all(&file, "a").unwrap().len(), 24);
    }
}
