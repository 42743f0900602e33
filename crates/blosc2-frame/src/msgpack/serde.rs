//! Encodes and decodes types that implement serde's traits as msgpack, for metalayers and user metadata.
//!
//! A struct is a map of its fields by name, so python-blosc2 reads it as a `dict`, and a `dict` is read as a struct.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Run {
//!     station: String,
//!     year: u16,
//!     offsets: Vec<f64>,
//! }
//!
//! fn main() -> blosc2_frame::Result<()> {
//!     let run = Run { station: "Vent".into(), year: 2026, offsets: vec![0.5, -1.0] };
//!     let bytes = blosc2_frame::msgpack::to_msgpack(&run)?;
//!     assert_eq!(blosc2_frame::msgpack::from_msgpack::<Run>(&bytes)?, run);
//!     Ok(())
//! }
//! ```

use container_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::msgpack::MAX_DEPTH;

/// Encodes `value` as msgpack, structs as maps of their fields.
///
/// `Vec<u8>` is a list of numbers to serde; for bytes use a type that serialises as such. Enums are named after their variants.
///
/// # Errors
/// `Usage` where the type refuses, or has what msgpack does not: integers beyond 64 bits, sequences of unknown length.
pub fn to_msgpack<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|error| Error::usage(format!("invalid msgpack: {error}")))
}

/// Decodes one msgpack value, which is all of `bytes`. Copies.
///
/// Fields that the struct does not have are skipped; structs that were written as arrays, without names, are read as well. python
/// tuples are lists that begin with `"__tuple__"`. Memory is bounded by what `T` makes of each byte.
///
/// # Errors
/// `Malformed` when `bytes` are not msgpack, hold another type, or more than one value; with the range inside of them.
pub fn from_msgpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let mut rest = bytes;
    let mut reader = rmp_serde::Deserializer::new(&mut rest);
    // One level is the value itself.
    reader.set_max_depth(MAX_DEPTH + 1);
    let value = T::deserialize(&mut reader);
    let all = bytes.len() as u64;
    let at = all - rest.len() as u64;
    match value {
        Ok(_) if at < all => {
            Err(Error::malformed(format!("{} bytes follow the value", all - at)).with_range(at..all))
        }
        Ok(value) => Ok(value),
        Err(error) => {
            let problem = format!("the value is not of the requested type: {error}");
            Err(Error::malformed(problem).with_range(0..all))
        }
    }
    .map_err(|error| error.with_context("msgpack"))
}

#[cfg(test)]
mod tests;
