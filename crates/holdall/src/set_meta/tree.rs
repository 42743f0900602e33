//! Changes of a tree of metadata that is JSON or msgpack in its file.

use container_core::json_pointer::unescape;
use container_core::{Error, Result, Value};

use super::MetaChange;

/// Applies the changes to the tree, in order. A missing entry is created where its parent exists, in the tree itself and in `root`, the map
/// below which the file has its metadata; `/list/-` appends.
///
/// # Errors
/// `Usage` for a pointer that finds no place to change, and for a value that begins as JSON but is invalid.
pub(super) fn changed(mut tree: Value, changes: &[MetaChange], root: Option<&str>) -> Result<Value> {
    for change in changes {
        match change {
            MetaChange::Set { pointer, value } => {
                let value = parse(value).map_err(|error| error.with_context(pointer.clone()))?;
                if let (Some(root), Value::Map(entries)) = (root, &mut tree)
                    && pointer
                        .strip_prefix('/')
                        .and_then(|rest| rest.strip_prefix(root))
                        .is_some_and(|rest| rest.starts_with('/'))
                    && !entries.iter().any(|(key, _)| key == root)
                {
                    entries.push((root.to_owned(), Value::Map(Vec::new())));
                }
                set(&mut tree, pointer, value)?;
            }
            MetaChange::Unset { pointer } => unset(&mut tree, pointer)?,
        }
    }
    Ok(tree)
}

/// Parses JSON; a value that does not begin as JSON is plain text.
fn parse(text: &str) -> Result<Value> {
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

/// The parent of the pointer's target, and the last step.
fn holder<'v>(tree: &'v mut Value, pointer: &str) -> Result<(&'v mut Value, String)> {
    let steps = pointer
        .strip_prefix('/')
        .ok_or_else(|| Error::usage(format!("{pointer:?} is not a JSON pointer")).with_hint("/name"))?;
    let mut steps: Vec<String> = steps.split('/').map(|step| unescape(step).into_owned()).collect();
    let last = steps.pop().unwrap_or_default();
    let mut at = tree;
    for step in steps {
        let next = match at {
            Value::Map(entries) => entries.iter_mut().find(|(key, _)| *key == step).map(|(_, value)| value),
            Value::List(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
            _ => None,
        };
        at = next.ok_or_else(|| Error::usage(format!("{pointer}: no parent {step:?}")))?;
    }
    Ok((at, last))
}

fn set(tree: &mut Value, pointer: &str, value: Value) -> Result<()> {
    let (holder, last) = holder(tree, pointer)?;
    match holder {
        Value::Map(entries) => match entries.iter_mut().find(|(key, _)| *key == last) {
            Some((_, old)) => *old = value,
            None => entries.push((last, value)),
        },
        Value::List(items) if last == "-" => items.push(value),
        Value::List(items) => match last.parse().ok().and_then(|index: usize| items.get_mut(index)) {
            Some(old) => *old = value,
            None => return Err(Error::usage(format!("{pointer}: the list has {} items", items.len()))),
        },
        _ => return Err(Error::usage(format!("{pointer}: its parent is neither a map nor a list"))),
    }
    Ok(())
}

fn unset(tree: &mut Value, pointer: &str) -> Result<()> {
    let (holder, last) = holder(tree, pointer)?;
    let found = match holder {
        Value::Map(entries) => {
            let place = entries.iter().position(|(key, _)| *key == last);
            place.map(|place| drop(entries.remove(place)))
        }
        Value::List(items) => {
            let place = last.parse().ok().filter(|place: &usize| *place < items.len());
            place.map(|place| drop(items.remove(place)))
        }
        _ => None,
    };
    found.ok_or_else(|| Error::usage(format!("{pointer}: not found")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(json: &str, changes: &[(&str, Option<&str>)]) -> Result<Value> {
        let tree = of_json(serde_json::from_str(json).unwrap());
        let changes: Vec<MetaChange> = changes
            .iter()
            .map(|(pointer, value)| match value {
                Some(value) => MetaChange::Set { pointer: (*pointer).into(), value: (*value).into() },
                None => MetaChange::Unset { pointer: (*pointer).into() },
            })
            .collect();
        changed(tree, &changes, Some("top"))
    }

    #[test]
    fn values_are_json_or_text_and_go_where_the_pointer_leads() {
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
    fn a_place_that_nothing_holds_is_refused() {
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
