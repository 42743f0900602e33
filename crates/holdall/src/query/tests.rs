use super::*;
use container_core::ErrorKind;

/// A row of a file with `/a` = 3, `/b/c` = "x y", `/start` = a time, `/big` = 2^63, `/flag` = true, `/d` = "2.50".
fn fits(text: &str) -> bool {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let meta = |pointer: &String| {
        Some(
            match pointer.as_str() {
                "/a" => "3",
                "/b/c" => "x y",
                "/start" => "2026-03-04T05:06:07.500",
                "/big" => "9223372036854775808",
                "/flag" => "true",
                "/d" => "2.50",
                "/format" => "mine",
                _ => return None,
            }
            .to_owned(),
        )
    };
    let row = Row {
        path: "f.asdf".into(),
        dataset: Some("data".into()),
        format: Some("asdf".into()),
        shape: Some(vec![10, 200, 3]),
        dtype: Some(">f4".into()),
        bytes: Some(24_000),
        modified: Some(1_767_225_600_000_000),
        meta: query.pointers().iter().map(meta).collect(),
        ..Row::default()
    };
    query.fits(&row)
}

#[test]
fn comparisons_are_those_of_numbers_dates_and_texts() {
    for text in [
        "a == 3",
        "a == 3.0",
        "a <= 3 & a >= 3",
        "a != 4",
        "a < 3.5 and a > 2.5",
        "b/c == 'x y'",
        "/b/c == \"x y\"",
        "b/c < 'x z'",
        "start >= 2026-01-01",
        "start < 2026-03-04T05:06:08",
        "start == 2026-03-04T06:06:07.5+01:00",
        "start > 2026-03",
        "start != 2026-03-04",
        "big == 9223372036854775808",
        "big > 9223372036854775807",
        "flag == true",
        "d == 2.5",
        "d == '2.50'",
        "format == asdf",
        "/format == mine",
        "'format' == mine",
        "dtype == float32",
        "dtype == '>f4'",
        "dtype != '<f4'",
        "dtype != float64",
        "bytes > 23K",
        "bytes < 24KiB",
        "bytes == 24KB",
        "bytes < 1GB",
        "shape[0] == 10",
        "shape[-1] == 3",
        "shape[1] > 100 and ndim == 3",
        "modified == 2026-01-01",
        "modified < 2026-01-01T00:00:01Z",
        "exists a",
        "a exists",
        "exists(a)",
        "exists shape",
        "not exists codec",
        "~(a == 4)",
        "! a == 4",
        "not not a == 3",
        "a == 4 or a == 3 and b/c != z",
        "(a == 4 | a == 3) && format == asdf",
        "a == 3 || nothing == 1",
    ] {
        assert!(fits(text), "{text}");
    }
    for text in [
        "a == 4",
        "a < 3",
        "a > x",
        "b/c == x",
        "b/c > 3",
        "start < 2026-01-01",
        "d == '2.5'",
        "dtype == '<f4'",
        "shape[3] == 3",
        "shape[-4] > 0",
        "nothing == 1",
        "nothing != 1",
        "nothing < 1",
        "exists nothing",
        "nothing exists",
        "codec != none",
        "a == 3 and nothing exists",
        // `and` binds closer than `or`.
        "(a == 3 or a == 3) and a == 4",
    ] {
        assert!(!fits(text), "{text}");
    }
    assert!(fits("a == 3 or a == 3 and a == 4"));
}

#[test]
fn errors_have_their_column() {
    for (text, column, what) in [
        ("", 1, "the end is no name"),
        ("a", 2, "the end follows a name"),
        ("a = 3", 3, "= is no comparison"),
        ("a ==", 5, "the end is no value"),
        ("a == (3)", 6, "is no value"),
        ("a == 3 b == 4", 8, "follows a condition"),
        ("a == 3 == 4", 8, "two sides"),
        ("3 < a", 1, "is a value"),
        ("2026-01-01 < start", 1, "is a value"),
        ("(a == 3", 8, "where a parenthesis ends"),
        ("a == 3)", 7, "follows a condition"),
        ("a == 'x", 6, "has no end"),
        ("é == 'x", 6, "has no end"),
        ("a == '\\n'", 7, "backslash"),
        ("a == 3 and", 11, "the end is no name"),
        ("shape == 3", 10, "shape[0]"),
        ("shape[x] == 3", 1, "no length of an axis"),
        ("shape[0] == x", 13, "is no number"),
        ("bytes > 3X", 9, "no number of bytes"),
        ("modified > 3", 12, "is no date"),
        ("dtype < f4", 9, "no order"),
        ("dtype == flat32", 10, "is no type"),
        ("and", 1, "and is no name"),
    ] {
        let error = Query::parse(text).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{text}: {error}");
        let message = error.to_string();
        assert!(
            message.contains(&format!("column {column}:")) && message.contains(what),
            "{text}: {message}"
        );
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let deep = [&"(".repeat(60), "a == 1", &")".repeat(60)].concat();
    assert!(Query::parse(&deep).is_ok());
    for text in [
        ["(".repeat(10_000).as_str(), "a == 1"].concat(),
        ["not ".repeat(10_000).as_str(), "a == 1"].concat(),
        ["~".repeat(65).as_str(), "a == 1"].concat(),
        format!("a == {}", "1".repeat(70_000)),
    ] {
        assert!(matches!(Query::parse(&text).unwrap_err().kind(), ErrorKind::Limit { .. }));
    }
    // Side by side they are not deep.
    let wide = ["a == 3 & ".repeat(5000).as_str(), "a == 3"].concat();
    assert!(fits(&wide));
}

#[test]
fn names_of_columns_and_metadata_are_reported() {
    let query = Query::parse("a == 1 and /a == 2 or shape[0] > 1 and roman/meta/x exists").unwrap();
    assert_eq!(query.pointers(), ["/a", "/roman/meta/x"]);
    assert!(query.uses("shape") && !query.uses("verdict"));
}
