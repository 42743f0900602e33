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

/// The least length of a text that `numpy.can_cast(…, "safe")` of NumPy 2 allows for a number; length 0 stands for any.
#[test]
fn numbers_are_cast_to_texts_that_have_room() {
    for (number, least) in [
        ("bool8", 5),
        ("int8", 4),
        ("int16", 6),
        ("int32", 11),
        ("int64", 21),
        ("uint8", 3),
        ("uint16", 5),
        ("uint32", 10),
        ("uint64", 20),
        ("float16", 32),
        ("float32", 32),
        ("float64", 32),
        ("complex64", 64),
        ("complex128", 64),
    ] {
        for text in ["ascii", "ucs4"] {
            for (len, want) in [(0, true), (least - 1, false), (least, true)] {
                assert_eq!(
                    fits(&format!("datatype: [{text}, {len}]"), &of(number)),
                    want,
                    "{number} {text} {len}"
                );
            }
        }
    }
    for (wanted, have, want) in [
        ("[ascii, 0]", "[ascii, 9]", true),
        ("[ucs4, 0]", "[ascii, 9]", true),
        ("[ascii, 0]", "[ucs4, 9]", false),
    ] {
        assert_eq!(fits(&format!("datatype: {wanted}"), &of(have)), want, "{have} as {wanted}");
    }
    assert!(!fits("datatype: int8", &of("[ascii, 1]")));
}

/// Types of `numpy.array` for lists of such items, in any order; texts are as long as the longest.
#[test]
fn the_widest_item_decides_wherever_it_is() {
    let complex = "!core/complex-1.0.0 1+1j";
    for (items, exact) in [
        (vec!["true", "1"], "int64"),
        (vec!["true", "1.5"], "float64"),
        (vec!["1", "2.5"], "float64"),
        (vec!["2.5", complex], "complex128"),
        (vec!["true", complex, "1"], "complex128"),
        // One that has all of them exactly, where numpy takes floats.
        (vec!["1", "9223372036854775808"], "uint64"),
        (vec!["9223372036854775808", "1.5"], "float64"),
        (vec!["1", "ab", "2.5"], "[ucs4, 2]"),
        (vec!["null", "1"], "int64"),
        (vec!["[[true]]", "[[7]]"], "int64"),
    ] {
        for _ in 0..items.len() {
            let schema = format!("{{datatype: {exact}, exact_datatype: true}}");
            let mut turned = items.clone();
            turned.rotate_left(1);
            for list in [&items, &turned] {
                let array = format!("!core/ndarray-1.1.0 [{}]", list.join(", "));
                assert_eq!(by(&schema, &array), [], "{array}");
            }
        }
    }
    let exact = |datatype: &str, array: &str| {
        by(
            &format!("{{datatype: {datatype}, exact_datatype: true}}"),
            &format!("!core/ndarray-1.1.0 {array}"),
        )
        .is_empty()
    };
    assert!(exact("float64", "[]") && exact("float64", "[[], []]") && !exact("int64", "[]"));
    assert!(exact("int8", "{data: [1.5], datatype: int8}"));
}

#[test]
fn violations_of_arrays_name_both_types() {
    let told =
        |schema: &str, array: &str| by(schema, array).into_iter().map(|it| it.message).collect::<Vec<_>>();
    assert_eq!(
        told("datatype: int8", &of("float64")),
        ["datatype float64 cannot be cast to int8 without loss"]
    );
    assert_eq!(
        told("{datatype: int8, exact_datatype: true}", &of("[ascii, 4]")),
        ["has datatype [ascii, 4] (expected int8)"]
    );
    assert_eq!(
        told("datatype: [ucs4, 2]", &of("[{datatype: int8}, {datatype: float32}]")),
        ["datatype a record of (int8, float32) cannot be cast to [ucs4, 2] without loss"]
    );
    // The schema of the tag refuses it as well.
    let own = "has a datatype that is not in the standard".to_owned();
    assert!(told("datatype: int8", &of("int7")).contains(&own));
    assert!(
        told("datatype: int8", "!core/ndarray-1.1.0 {source: 0}").contains(&"is not an array".to_owned())
    );
    assert_eq!(told("ndim: 1", &of("int8")), ["has 2 dimensions (expected 1)"]);
    assert_eq!(told("max_ndim: 1", &of("int8")), ["has 2 dimensions (expected at most 1)"]);
    let own = "has no shape (expected 2 dimensions)".to_owned();
    assert!(told("ndim: 2", "!core/ndarray-1.1.0 {source: 0}").contains(&own));
    // A field has a shape of its own, and one element fills it.
    let field = |shape: &str| format!("[{{datatype: int8{shape}}}]");
    assert!(fits(&format!("datatype: {}", field(", shape: [2]")), &of(&field(""))));
    assert!(!fits(&format!("datatype: {}", field("")), &of(&field(", shape: [2]"))));
    for exact in ["name: a", "byteorder: big"] {
        let wanted = format!("[{{datatype: int16, {exact}}}]");
        assert!(fits(&format!("datatype: {wanted}"), &of("[{datatype: int16}]")));
        assert!(!fits(&format!("{{datatype: {wanted}, exact_datatype: true}}"), &of("[{datatype: int16}]")));
    }
}
