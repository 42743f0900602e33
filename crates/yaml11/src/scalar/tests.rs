//! Values of PyYAML 6.0.3 for texts of each kind.

use super::{Int, Scalar, Timestamp, resolve, resolve_tagged};

fn int(value: i128) -> Scalar<'static> {
    Scalar::Int(Int::Small(value))
}

fn time(date: (i32, u8, u8), time: Option<(u8, u8, u8, u32)>, offset: Option<i32>) -> Scalar<'static> {
    Scalar::Timestamp(Timestamp { year: date.0, month: date.1, day: date.2, time, offset })
}

#[test]
fn booleans_nulls_merge_and_default_keys_are_resolved() {
    for text in ["yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"] {
        assert_eq!(resolve(text), Scalar::Bool(true), "{text}");
    }
    for text in ["no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"] {
        assert_eq!(resolve(text), Scalar::Bool(false), "{text}");
    }
    for text in ["", "~", "null", "Null", "NULL"] {
        assert_eq!(resolve(text), Scalar::Null, "{text}");
    }
    assert_eq!(resolve("<<"), Scalar::Merge);
    assert_eq!(resolve("="), Scalar::Default);
    for text in ["y", "n", "Y", "N", "tRUE", "nULL", "oN", "~~", "<", "==", "none", "None"] {
        assert_eq!(resolve(text), Scalar::Text(text));
    }
}

#[test]
fn whole_numbers() {
    for (text, value) in [
        ("0", 0),
        ("00", 0),
        ("+1", 1),
        ("-0", 0),
        ("1_000", 1000),
        ("0b101", 5),
        ("-0b1_0", -2),
        ("0x1F", 31),
        ("0x_1f", 31),
        ("017", 15),
        ("0_17", 15),
        ("0_", 0),
        ("1:30", 90),
        ("190:20:30", 685_230),
        ("12:30:45", 45_045),
        ("-1:05", -65),
        ("170141183460469231731687303715884105727", i128::MAX),
        ("-170141183460469231731687303715884105728", i128::MIN),
        ("0xffffffffffffffff", u64::MAX.into()),
    ] {
        assert_eq!(resolve(text), int(value), "{text}");
    }
    for text in [
        "08", "09", "0o17", "0X1F", "_1", "1:60", "0:30", "1:3x", "0b2", "0b", "0x", "--1", "+", "-", "1:",
        "0b_", "0x_",
    ] {
        assert_eq!(resolve(text), Scalar::Text(text));
    }
    let big = |digits: &str| Scalar::Int(Int::Big(digits.to_owned()));
    assert_eq!(
        resolve("170141183460469231731687303715884105728"),
        big("170141183460469231731687303715884105728")
    );
    assert_eq!(
        resolve("-0x100000000000000000000000000000000"),
        big("-340282366920938463463374607431768211456")
    );
    let longest = "9".repeat(4300);
    assert_eq!(resolve(&longest), big(&longest));
    let longer = "9".repeat(4301);
    assert_eq!(resolve(&longer), Scalar::Text(&longer));
}

#[test]
fn numbers_with_a_dot() {
    for (text, value) in [
        ("1.", 1.0),
        (".5", 0.5),
        ("1.0", 1.0),
        ("1.0e+3", 1000.0),
        ("1.5E-3", 0.0015),
        ("685.230_15e+03", 685_230.15),
        ("1:30.5", 90.5),
        ("0:30.5", 30.5),
        ("-1:00.", -60.0),
        (".inf", f64::INFINITY),
        ("+.Inf", f64::INFINITY),
        ("-.INF", f64::NEG_INFINITY),
        ("-0.0", -0.0),
        ("1.e+5", 100_000.0),
        (".5_e-1", 0.05),
        ("5.0e-324", 5e-324),
        ("1.0e+999", f64::INFINITY),
    ] {
        let Scalar::Float(found) = resolve(text) else { panic!("{text}") };
        assert_eq!(found.to_bits(), value.to_bits(), "{text}: {found}");
    }
    for text in [".nan", ".NaN", ".NAN"] {
        assert!(matches!(resolve(text), Scalar::Float(value) if value.is_nan()), "{text}");
    }
    for text in [
        "1e3", "1e+3", "1.0e3", "1.e5", "12e03", "-2E+05", "-.5", "+.5", "inf", "nan", ".", "-.nan", ".iNF",
        "._1", "1.0e+", "1.2.3",
    ] {
        assert_eq!(resolve(text), Scalar::Text(text));
    }
}

#[test]
fn dates_and_times() {
    assert_eq!(resolve("2001-12-14"), time((2001, 12, 14), None, None));
    let noon = Some((21, 59, 43, 100_000));
    assert_eq!(resolve("2001-12-14 21:59:43.10 -5"), time((2001, 12, 14), noon, Some(-300)));
    assert_eq!(resolve("2001-12-14t21:59:43.10-05:30"), time((2001, 12, 14), noon, Some(-330)));
    assert_eq!(resolve("2001-12-14T21:59:43.1Z"), time((2001, 12, 14), noon, Some(0)));
    assert_eq!(resolve("2001-1-4  1:09:43"), time((2001, 1, 4), Some((1, 9, 43, 0)), None));
    assert_eq!(resolve("2020-02-29 00:00:00.12345678"), time((2020, 2, 29), Some((0, 0, 0, 123_456)), None));
    for text in [
        "2001-1-1",
        "2001-13-45",
        "2019-02-29",
        "0000-01-01",
        "2001-12-14 24:00:00",
        "2001-12-14 1:2:3",
        "2001-12-14 21:59:43 +24:00",
        "2001-12-14x",
        "2001-12-14T",
    ] {
        assert_eq!(resolve(text), Scalar::Text(text));
    }
}

#[test]
fn tags_choose_how_a_text_is_read() {
    assert_eq!(resolve_tagged("int", "0x1F"), int(31));
    assert_eq!(resolve_tagged("int", " 12 "), int(12));
    assert_eq!(resolve_tagged("float", "1e3"), Scalar::Float(1000.0));
    assert_eq!(resolve_tagged("float", "inf"), Scalar::Float(f64::INFINITY));
    assert_eq!(resolve_tagged("bool", "tRUE"), Scalar::Bool(true));
    assert_eq!(resolve_tagged("null", "anything"), Scalar::Null);
    assert_eq!(resolve_tagged("str", "1"), Scalar::Text("1"));
    assert_eq!(resolve_tagged("binary", "aGVs\nbG8="), Scalar::Binary(b"hello".to_vec()));
    assert_eq!(resolve_tagged("binary", "aGk"), Scalar::Text("aGk"));
    assert_eq!(resolve_tagged("timestamp", "2001-12-14"), time((2001, 12, 14), None, None));
    for (tag, text) in [
        ("int", "5."),
        ("int", "08"),
        ("int", ""),
        ("bool", "y"),
        ("float", "x"),
        ("timestamp", "now"),
        ("seq", "1"),
        ("python/int", "1"),
    ] {
        assert_eq!(resolve_tagged(tag, text), Scalar::Text(text), "{tag}");
    }
}
