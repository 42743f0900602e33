//! Trees of metadata in the data model of serde. Order and repetition of keys stay.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Value;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => to.serialize_i64(value),
                (_, Ok(value)) => to.serialize_u64(value),
                _ => to.serialize_i128(*value),
            },
            Self::Float(value) => to.serialize_f64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::Bytes(bytes) => to.serialize_bytes(bytes),
            Self::List(items) => to.collect_seq(items),
            Self::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::Error as Plain;

    use super::*;

    #[test]
    fn trees_of_json_keep_the_order_and_repetition_of_keys() {
        let text = r#"{"b":[null,true,-3,18446744073709551615,1.5,"x"],"a":{},"b":"again"}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let list = vec![
            Value::Null,
            Value::Bool(true),
            Value::Int(-3),
            Value::Int(u64::MAX.into()),
            Value::Float(1.5),
            "x".into(),
        ];
        let entries = [("b", Value::List(list)), ("a", Value::Map(vec![])), ("b", "again".into())];
        assert_eq!(value, Value::Map(entries.map(|(key, value)| (key.to_owned(), value)).to_vec()));
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }

    #[test]
    fn integers_and_bytes_beyond_json_are_serialised() {
        let json = |value: &Value| serde_json::to_string(value).map_err(|error| error.to_string());
        assert_eq!(json(&Value::Int(i64::MIN.into())), Ok("-9223372036854775808".into()));
        assert_eq!(json(&Value::Int(i128::MAX)), Ok(i128::MAX.to_string()));
        assert_eq!(json(&Value::Bytes(vec![1, 255])), Ok("[1,255]".into()));
    }

    #[test]
    fn every_kind_of_value_is_taken_and_others_are_named() {
        let of = |value: Result<Value, Plain>| value.map_err(|error| error.to_string());
        assert_eq!(of(Value::deserialize(i128::MAX.into_deserializer())), Ok(Value::Int(i128::MAX)));
        assert_eq!(of(Value::deserialize(().into_deserializer())), Ok(Value::Null));
        let bytes = serde::de::value::BytesDeserializer::<Plain>::new(&[1, 2]);
        assert_eq!(of(Value::deserialize(bytes)), Ok(Value::Bytes(vec![1, 2])));
        let error = of(Value::deserialize(u128::MAX.into_deserializer())).unwrap_err();
        assert!(error.ends_with("expected metadata"), "{error}");
    }
}
