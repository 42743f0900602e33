//! Trailer: bytes after the data, which the format does not define. A conversion keeps metadata there, as JSON text.

use container_core::interchange::{self, Forms, WHOLE};
use container_core::{Result, Value};

/// A longer trailer is read as a dataset, not as metadata.
pub(crate) const MAX_TRAILER_LEN: u64 = 1 << 24;

/// Converts a trailer to a tree: the entries of a JSON object, or, under one name, other JSON, text or bytes as they are.
pub(crate) fn to_tree(bytes: Vec<u8>) -> Value {
    match json(&bytes) {
        Some(tree @ Value::Map(_)) => return tree,
        // Text in quotes is text with quotes, unless it would come back as another value without.
        Some(Value::Text(bare))
            if interchange::is_equivalent(
                &to_tree(bare.clone().into_bytes()),
                &whole(bare.clone().into()),
            ) => {}
        // Any JSON value could come from another writer; a value in our own spelling is ours.
        Some(value) if text(&value).is_some_and(|text| text.as_bytes() == bytes) => return whole(value),
        _ => {}
    }
    if bytes.is_empty() {
        return Value::Map(Vec::new());
    }
    whole(String::from_utf8(bytes).map_or_else(|bad| bad.into_bytes().into(), Value::from))
}

/// The trailer with these metadata; empty for an empty tree.
pub(crate) fn from_tree(tree: &Value) -> Result<Vec<u8>> {
    match interchange::entries(tree) {
        [] => return Ok(Vec::new()),
        [(key, alone)] if key == WHOLE => {
            let plain = match alone {
                Value::Text(text) => Some(text.clone().into_bytes()),
                Value::Bytes(bytes) => Some(bytes.clone()),
                other => text(other).map(String::into_bytes),
            };
            // Text that reads as JSON is not left bare.
            let quoted = || text(alone).map(String::into_bytes);
            let says_it = |bytes: &Vec<u8>| interchange::is_equivalent(&to_tree(bytes.clone()), tree);
            if let Some(bytes) = plain.filter(says_it).or_else(|| quoted().filter(says_it)) {
                return Ok(bytes);
            }
        }
        _ => {}
    }
    let json = serde_json::to_vec(&interchange::to_json_value(tree));
    json.map_err(|error| container_core::Error::usage(format!("metadata as JSON: {error}")))
}

fn whole(value: Value) -> Value {
    Value::Map(vec![(WHOLE.to_owned(), value)])
}

fn text(value: &Value) -> Option<String> {
    serde_json::to_string(&interchange::to_json_value(value)).ok()
}

/// Parses JSON whose values fit in a tree; `None` for integers that would become other numbers.
fn json(bytes: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(bytes).ok().filter(|_| !has_large_integers(bytes))?;
    match value {
        Value::Map(_) => {
            let tree = interchange::escape_reserved(value, Forms::Known);
            Some(interchange::unescape_top(interchange::from_json_value(tree)))
        }
        other => Some(interchange::from_json_value(other)),
    }
}

/// True for text with an integer beyond 64 bits outside of strings, which is read as the nearest float.
fn has_large_integers(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'"' => loop {
                match rest {
                    [b'\\', _, after @ ..] => rest = after,
                    [b'"', after @ ..] => {
                        rest = after;
                        break;
                    }
                    [_, after @ ..] => rest = after,
                    [] => return false,
                }
            },
            b'0'..=b'9' | b'-' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                let len = rest.iter().take_while(|byte| is_part(byte)).count();
                let (more, after) = rest.split_at_checked(len).unwrap_or_default();
                rest = after;
                let digits = more.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(more).unwrap_or_default();
                let number = format!("{}{number}", char::from(*first));
                if digits && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Value {
        to_tree(text.as_bytes().to_vec())
    }

    #[test]
    fn an_object_is_metadata_and_the_rest_is_kept_as_it_is() {
        assert_eq!(tree("{\"a\": [1, 2.5, null]}").pointer("/a/1"), Some(&Value::Float(2.5)));
        for whole in [
            "hello",
            "\"hello\"",
            "\"\\\"a\\\"\"",
            "\" \"",
            "12 ",
            "[1, 2]",
            "{\"a\": 1",
            "{\"a\": 123456789012345678901234567890}",
        ] {
            assert_eq!(tree(whole).get(WHOLE), Some(&whole.into()), "{whole}");
            assert_eq!(from_tree(&tree(whole)).unwrap(), whole.as_bytes());
        }
        let bytes = vec![0, 255, 0];
        assert_eq!(from_tree(&to_tree(bytes.clone())).unwrap(), bytes);
        assert_eq!(tree("12").get(WHOLE), Some(&Value::Int(12)));
        for text in ["12", "", "null", "{}", "[1]"] {
            let quoted = format!("{text:?}");
            assert_eq!(tree(&quoted).get(WHOLE), Some(&text.into()));
            assert_eq!(from_tree(&tree(&quoted)).unwrap(), quoted.as_bytes());
        }
        assert_eq!(from_tree(&Value::Map(vec![])).unwrap(), b"");
    }

    /// Decimal digits name one number, which a sum in floating point may miss by one.
    #[test]
    fn numbers_are_the_nearest_to_their_digits() {
        for digits in ["31.245270191439438", "121.48791951161945", "5e-324", "1.7976931348623157e308"] {
            let number = tree(&format!("{{\"x\": [{digits}]}}")).pointer("/x/0").cloned();
            assert_eq!(number, Some(Value::Float(digits.parse().unwrap())), "{digits}");
        }
    }

    #[test]
    fn trees_round_trip_through_the_trailer() {
        let same_text: Value = "12".into();
        let odd: [Value; 6] = [
            same_text,
            "".into(),
            b"text".to_vec().into(),
            Value::Null,
            Value::Float(f64::NAN),
            vec![Value::Null].into(),
        ];
        for value in odd {
            let tree = whole(value);
            let bytes = from_tree(&tree).unwrap();
            assert!(
                interchange::is_equivalent(&to_tree(bytes.clone()), &tree),
                "{tree:?} {}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }

    #[test]
    fn bytes_and_nan_are_encoded_as_tagged_json_objects() {
        let tree = Value::Map(vec![("b".into(), vec![7_u8].into()), ("n".into(), Value::Float(f64::NAN))]);
        let bytes = from_tree(&tree).unwrap();
        assert_eq!(bytes, br#"{"b":{"$holdall:bytes":"07"},"n":{"$holdall:float":"nan"}}"#);
        assert!(interchange::is_equivalent(&to_tree(bytes), &tree));
    }
}
