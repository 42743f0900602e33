//! Values of the caller's types from nodes, and trees from them.

mod deserialize;
mod serialize;

use container_core::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Node, Yaml};

impl Node<'_> {
    /// The value as a type of the caller's. Tags are ignored.
    ///
    /// # Errors
    /// `Malformed` where the value is of another type, with the range of its text; `Limit` for cycles, and where aliases make over a million nodes of
    /// few, and more than 16 times those that are written.
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<T> {
        deserialize::get(self)
    }
}

impl Yaml {
    /// A value of the caller's as a tree to be written: structs and maps as mappings in their order, an enum's variant as its name or as a mapping
    /// from its name, bytes as `!!binary`.
    ///
    /// # Errors
    /// `Usage` with the message of the type's `Serialize`.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        serialize::yaml(value)
    }
}

#[cfg(test)]
mod tests;
