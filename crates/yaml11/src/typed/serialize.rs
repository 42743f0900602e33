//! Values of the caller's types as trees to be written.

use std::fmt;

use container_core::Error;
use serde::Serialize;
use serde::ser;

use crate::{Int, Yaml};

/// The tree of a value.
pub(crate) fn yaml<T: Serialize + ?Sized>(value: &T) -> container_core::Result<Yaml> {
    value.serialize(Writer).map_err(|failure| Error::usage(failure.0))
}

/// Error message of a caller's `Serialize`.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Writer;

/// A mapping of one entry, variant name to value, as serde's other formats write it.
fn under(variant: &str, value: Yaml) -> Yaml {
    Yaml::mapping([(variant, value)])
}

macro_rules! integers {
    ($($name:ident $type:ty)*) => {
        $(fn $name(self, value: $type) -> Result<Yaml, Failure> {
            Ok(Yaml::int(value))
        })*
    };
}

impl ser::Serializer for Writer {
    type Ok = Yaml;
    type Error = Failure;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Pairs;
    type SerializeStruct = Pairs;
    type SerializeStructVariant = Pairs;

    integers! {
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
    }

    fn serialize_u128(self, value: u128) -> Result<Yaml, Failure> {
        Ok(Yaml::Int(i128::try_from(value).map_or_else(|_| Int::Big(value.to_string()), Int::Small)))
    }

    fn serialize_bool(self, value: bool) -> Result<Yaml, Failure> {
        Ok(Yaml::Bool(value))
    }

    /// Widens to `f64` first, as Python does: the shortest decimal of an `f32` reads back as another `f64`.
    fn serialize_f32(self, value: f32) -> Result<Yaml, Failure> {
        Ok(Yaml::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Yaml, Failure> {
        Ok(Yaml::Float(value))
    }

    fn serialize_char(self, value: char) -> Result<Yaml, Failure> {
        Ok(Yaml::text(value))
    }

    fn serialize_str(self, value: &str) -> Result<Yaml, Failure> {
        Ok(Yaml::text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Yaml, Failure> {
        Ok(Yaml::Binary(value.to_vec()))
    }

    fn serialize_none(self) -> Result<Yaml, Failure> {
        Ok(Yaml::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Yaml, Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Yaml, Failure> {
        Ok(Yaml::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Yaml, Failure> {
        Ok(Yaml::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Yaml, Failure> {
        Ok(Yaml::text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Yaml, Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Yaml, Failure> {
        Ok(under(variant, value.serialize(self)?))
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items, Failure> {
        Ok(Items { variant: None, items: Vec::new() })
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items, Failure> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Items, Failure> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items, Failure> {
        Ok(Items { variant: Some(variant), items: Vec::new() })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Pairs, Failure> {
        Ok(Pairs { variant: None, pairs: Vec::new(), key: None })
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Pairs, Failure> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Pairs, Failure> {
        Ok(Pairs { variant: Some(variant), pairs: Vec::new(), key: None })
    }
}

/// Builder of a sequence.
pub(crate) struct Items {
    variant: Option<&'static str>,
    items: Vec<Yaml>,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.items.push(value.serialize(Writer)?);
        Ok(())
    }

    fn done(self) -> Yaml {
        let value = Yaml::sequence(self.items);
        match self.variant {
            Some(variant) => under(variant, value),
            None => value,
        }
    }
}

/// Builder of a mapping.
pub(crate) struct Pairs {
    variant: Option<&'static str>,
    pairs: Vec<(Yaml, Yaml)>,
    key: Option<Yaml>,
}

impl Pairs {
    fn push<T: Serialize + ?Sized>(&mut self, key: Yaml, value: &T) -> Result<(), Failure> {
        self.pairs.push((key, value.serialize(Writer)?));
        Ok(())
    }

    fn done(self) -> Yaml {
        let value = Yaml::Mapping(self.pairs, None);
        match self.variant {
            Some(variant) => under(variant, value),
            None => value,
        }
    }
}

macro_rules! items {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Items {
            type Ok = Yaml;
            type Error = Failure;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
                self.push(value)
            }

            fn end(self) -> Result<Yaml, Failure> {
                Ok(self.done())
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Pairs {
            type Ok = Yaml;
            type Error = Failure;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failure> {
                self.push(Yaml::text(key), value)
            }

            fn end(self) -> Result<Yaml, Failure> {
                Ok(self.done())
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Pairs {
    type Ok = Yaml;
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        self.key = Some(key.serialize(Writer)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let key = self.key.take().ok_or_else(|| Failure("a value before its key".to_owned()))?;
        self.push(key, value)
    }

    fn end(self) -> Result<Yaml, Failure> {
        Ok(self.done())
    }
}
