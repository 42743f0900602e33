//! [`Value`]: a tree of metadata.

#[cfg(feature = "serde")]
mod serde;

use crate::json_pointer::unescape;

/// Metadata of any format: the common data model of YAML, JSON, msgpack and fixed headers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A number with a fraction, an infinity or NaN.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes that are not text.
    Bytes(Vec<u8>),
    /// Values in order.
    List(Vec<Value>),
    /// Named values in the file's order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The value of `key` in a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value at a JSON pointer (RFC 6901): `/a/0/b`, with `~1` for a slash and `~0` for a tilde. The empty
    /// pointer is the value itself.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut here = self;
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = unescape(step);
            here = match here {
                // No sign and no leading zeros.
                Self::List(items) => {
                    items.get(step.parse().ok().filter(|at: &usize| at.to_string() == step)?)?
                }
                other => other.get(&step)?,
            };
        }
        Some(here)
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident;)+) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )+};
}

from! {
    bool => Bool;
    u8 => Int;
    u32 => Int;
    u64 => Int;
    i64 => Int;
    i128 => Int;
    f64 => Float;
    &str => Text;
    String => Text;
    Vec<u8> => Bytes;
    Vec<Value> => List;
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_walk_maps_and_lists() {
        let tree = Value::Map(vec![("a/b".into(), vec![Value::Null, Value::from(3_u64)].into())]);
        assert_eq!(tree.pointer("/a~1b/1"), Some(&Value::Int(3)));
        assert_eq!(tree.pointer(""), Some(&tree));
        assert_eq!(tree.pointer("/a~1b/2"), None);
        assert_eq!(tree.pointer("/a~1b/01"), None);
        assert_eq!(tree.pointer("a"), None);
    }

    #[test]
    fn plain_values_become_values() {
        assert_eq!(Value::from(true), Value::Bool(true));
        assert_eq!(
            [Value::from(3_u8), 3_u32.into(), 3_u64.into(), 3_i64.into(), 3_i128.into()],
            [const { Value::Int(3) }; 5]
        );
        assert_eq!((Value::from(1.5), Value::from("a")), (Value::Float(1.5), Value::Text("a".into())));
        assert_eq!(Value::from(String::from("a")), Value::Text("a".into()));
        assert_eq!(Value::from(vec![1_u8]), Value::Bytes(vec![1]));
        assert_eq!((Value::from(None::<u64>), Value::from(Some(1_u64))), (Value::Null, Value::Int(1)));
        let map = Value::Map(vec![("a".into(), 1_u64.into()), ("a".into(), 2_u64.into())]);
        assert_eq!((map.get("a"), map.get("b"), Value::Null.get("a")), (Some(&Value::Int(1)), None, None));
        assert_eq!(Value::List(vec![Value::Null]).pointer("/+0"), None);
    }
}
