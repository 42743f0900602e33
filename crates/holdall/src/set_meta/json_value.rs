//! Values of metadata that is JSON or msgpack in its file.

use container_core::{Error, Result, Value};

/// Parses JSON; a value that does not begin as JSON is plain text.
pub(super) fn parse(text: &str) -> Result<Value> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => Ok(of_json(json)),
        Err(error) if text.trim_start().starts_with(['{', '[', '"']) => {
            Err(Error::usage(format!("{text} is not JSON: {error}"))
                .with_hint(r#"text within JSON needs quotes: {"a": "b"}"#))
        }
        Err(_) => Ok(text.into()),
    }
}

/// A value of JSON. Integers that no `i128` holds are floats.
pub(crate) fn of_json(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => value.into(),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => text.into(),
        serde_json::Value::Array(list) => list.into_iter().map(of_json).collect::<Vec<_>>().into(),
        serde_json::Value::Object(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (key, of_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::container::OpenOptions;
    use container_core::format::{MetaChange, MetadataChanges, Replace};
    use container_core::write::Durability;

    fn change(json: &str, changes: &[(&str, Option<&str>)]) -> Result<Value> {
        let tree = of_json(serde_json::from_str(json).unwrap());
        let changes: Vec<MetaChange> = changes
            .iter()
            .map(|(pointer, value)| match value {
                Some(value) => MetaChange::Set { pointer: (*pointer).into(), value: (*value).into() },
                None => MetaChange::Unset { pointer: (*pointer).into() },
            })
            .collect();
        let open = OpenOptions::default();
        let changes = MetadataChanges {
            list: &changes,
            replace: Replace::default(),
            open: &open,
            durability: Durability::Cached,
            parse,
        };
        changes.apply(tree, Some("top"))
    }

    #[test]
    fn values_are_parsed_as_json_or_text_and_set_at_the_pointer() {
        for (before, pointer, value, after) in [
            ("{}", "/a", Some("5"), r#"{"a": 5}"#),
            (r#"{"a": 1}"#, "/a", Some("1.5"), r#"{"a": 1.5}"#),
            ("{}", "/a", Some("30 s"), r#"{"a": "30 s"}"#),
            ("{}", "/a", Some("yes"), r#"{"a": "yes"}"#),
            ("{}", "/a", Some("\"5\""), r#"{"a": "5"}"#),
            ("{}", "/a", Some("[1, {\"b\": null}]"), r#"{"a": [1, {"b": null}]}"#),
            (r#"{"l": [1]}"#, "/l/-", Some("2"), r#"{"l": [1, 2]}"#),
            (r#"{"l": [1, 2]}"#, "/l/0", None, r#"{"l": [2]}"#),
            (r#"{"a/b": {"c": 1}, "d": 2}"#, "/a~1b/c", None, r#"{"a/b": {}, "d": 2}"#),
            ("{}", "/top/x", Some("1"), r#"{"top": {"x": 1}}"#),
        ] {
            let wanted = of_json(serde_json::from_str(after).unwrap());
            assert_eq!(change(before, &[(pointer, value)]).unwrap(), wanted, "{pointer}");
        }
    }

    #[test]
    fn invalid_pointers_and_values_are_refused() {
        for (pointer, value) in [
            ("/x/y", Some("1")),
            ("/a/b", Some("1")),
            ("/x", None),
            ("/l/1", Some("1")),
            ("/l/1", None),
            ("x", Some("1")),
            ("", None),
            ("/a", Some("{a: 1}")),
        ] {
            assert!(change(r#"{"a": 1, "l": [0]}"#, &[(pointer, value)]).is_err(), "{pointer}");
        }
    }
}
