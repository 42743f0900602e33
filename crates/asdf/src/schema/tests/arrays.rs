//! `ndim`, `max_ndim`, `datatype`, `exact_datatype`. The verdicts are those of Python asdf 6.0, but for inline complex numbers: while it
//! validates, they are text to it.

use super::*;

const ARRAY: &str = "!core/ndarray-1.1.0 {source: 0, shape: [2, 3], byteorder: little, datatype: DATATYPE}";
const INLINE: &str = "!core/ndarray-1.1.0 [[1, 2], [3, 4]]";

fn fits(schema: &str, text: &str) -> bool {
    by(schema, text).is_empty()
}

fn of(datatype: &str) -> String {
    ARRAY.replace("DATATYPE", datatype)
}

#[test]
fn ranks() {
    for (schema, array, want) in [
        ("ndim: 2", of("int8"), true),
        ("ndim: 1", of("int8"), false),
        ("max_ndim: 2", of("int8"), true),
        ("max_ndim: 1", of("int8"), false),
        ("ndim: 2", INLINE.into(), true),
        ("ndim: 3", INLINE.into(), false),
        ("ndim: 1", "!core/ndarray-1.1.0 {data: [1, 2], datatype: int8}".into(), true),
        // Only values with the tag of an array are checked.
        ("ndim: 1", "[[1]]".into(), true),
        ("ndim: 1", "5".into(), true),
    ] {
        assert_eq!(fits(schema, &array), want, "{schema} {array}");
    }
}

#[test]
fn datatypes_are_cast_without_loss() {
    let record = "[{name: a, datatype: float32}, {name: b, datatype: [ascii, 4]}]";
    for (wanted, have, want) in [
        ("float32", "float32", true),
        ("float64", "float32", true),
        ("float32", "float64", false),
        ("int16", "uint8", true),
        ("int8", "uint8", false),
        ("float32", "int32", false),
        ("complex64", "float32", true),
        ("float32", "complex64", false),
        ("bool8", "int8", false),
        ("[ascii, 4]", "[ascii, 3]", true),
        ("[ascii, 4]", "[ascii, 5]", false),
        ("[ucs4, 4]", "[ascii, 4]", true),
        ("[ascii, 4]", "[ucs4, 4]", false),
        ("[ascii, 4]", "int8", true),
        ("[ascii, 3]", "int8", false),
        (record, record, true),
        ("[{datatype: float64}, {datatype: [ucs4, 9]}]", record, true),
        ("[{datatype: float64}]", record, false),
        ("[{datatype: float16}, {datatype: [ascii, 4]}]", record, false),
        ("float64", record, false),
        (record, "float64", false),
        ("[{datatype: float64, shape: [2]}]", "[{name: a, datatype: float32, shape: [2]}]", true),
        ("[{datatype: float64, shape: [3]}]", "[{name: a, datatype: float32, shape: [2]}]", false),
    ] {
        let schema = format!("datatype: {wanted}");
        assert_eq!(fits(&schema, &of(have)), want, "{have} as {wanted}");
        let exact = format!("{{datatype: {wanted}, exact_datatype: true}}");
        assert_eq!(fits(&exact, &of(have)), wanted == have, "{have} as exactly {wanted}");
    }
}

#[test]
fn datatypes_of_inline_data_follow_from_the_items() {
    for (data, exact) in [
        ("[1, 2]", "int64"),
        ("[true, false]", "bool8"),
        ("[1, true]", "int64"),
        ("[1, 2.5]", "float64"),
        ("[1, !core/complex-1.0.0 1+1j]", "complex128"),
        ("[a, bcd]", "[ucs4, 3]"),
    ] {
        let array = format!("!core/ndarray-1.1.0 {data}");
        let schema = format!("{{datatype: {exact}, exact_datatype: true}}");
        assert_eq!(by(&schema, &array), [], "{data}");
        assert!(!fits("{datatype: uint8, exact_datatype: true}", &array), "{data}");
    }
}
