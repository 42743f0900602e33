//! Contents of an EmbedStore (`.b2e`): consecutive frames in the decoded bytes of a super-chunk, and a map of their names
//! in its user metadata.
//!
//! The map is msgpack: `embed_map` has for each key either `offset` and `length`, or `urlbase` and `path` of an array on a server,
//! which is shown and never fetched. What was removed leaves a hole.

use std::fmt;
use std::ops::Range;

use container_core::{Error, Result};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use crate::frame::Frame;

/// Name of the user metadata that holds the map.
pub(crate) const MAP: &str = "estore_metadata";

/// Metalayers that identify an EmbedStore: its own, and those of the stores that have one inside.
pub(crate) const MARKS: [&str; 3] = ["b2embed", "b2dict", "b2tree"];

/// Location of the value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A range of the decoded bytes of the super-chunk.
    Here(Range<u64>),
    /// On a server.
    Elsewhere(String),
    /// An unrecognized place.
    Nowhere,
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EmbedMap(pub(crate) Vec<(String, Value)>);

/// True for a frame that is an EmbedStore, or the part of a store that is one.
pub(crate) fn is_embed(frame: &Frame) -> bool {
    MARKS.iter().any(|mark| frame.metalayers().get(mark).is_some())
}

impl EmbedMap {
    /// Reads the map of a frame; empty for a frame without one, as python-blosc2 takes it.
    ///
    /// # Errors
    /// Those of the user metadata; `Malformed` when they are not a map.
    pub(crate) fn read(frame: &Frame) -> Result<Self> {
        match frame.vlmetalayer(MAP)? {
            None => Ok(Self::default()),
            Some(bytes) => Self::parse(&bytes),
        }
    }

    /// Parses the value of the user metadata.
    ///
    /// # Errors
    /// `Malformed` when it is not a map.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let metadata: Metadata = rmp_serde::from_slice(bytes)
            .map_err(|error| Error::malformed(format!("invalid {MAP}: {error}")))?;
        let value = |stored: Stored| match stored {
            Stored { urlbase: Some(base), path: Some(path), .. } => {
                Value::Elsewhere(format!("{base} {path}"))
            }
            Stored { offset: Some(offset), length: Some(length), .. } => {
                offset.checked_add(length).map_or(Value::Nowhere, |end| Value::Here(offset..end))
            }
            _ => Value::Nowhere,
        };
        Ok(Self(metadata.embed_map.0.into_iter().map(|(key, stored)| (key, value(stored))).collect()))
    }

    /// Bytes of `0..len` that no key names.
    pub(crate) fn holes(&self, len: u64) -> u64 {
        let mut used: Vec<&Range<u64>> = self.0.iter().filter_map(|(_, value)| value.range()).collect();
        used.sort_by_key(|range| range.start);
        let (mut at, mut holes) = (0_u64, 0_u64);
        for range in used {
            holes = holes.saturating_add(range.start.min(len).saturating_sub(at));
            at = at.max(range.end);
        }
        holes.saturating_add(len.saturating_sub(at))
    }
}

impl Value {
    fn range(&self) -> Option<&Range<u64>> {
        match self {
            Self::Here(range) => Some(range),
            _ => None,
        }
    }
}

/// Stored fields, as python-blosc2 names them; other names are skipped.
#[derive(Deserialize)]
struct Metadata {
    embed_map: Entries,
}

#[derive(Deserialize)]
struct Stored {
    offset: Option<u64>,
    length: Option<u64>,
    urlbase: Option<String>,
    path: Option<String>,
}

/// A map in its order.
struct Entries(Vec<(String, Stored)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of keys")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries, A::Error> {
                // The count is not trusted: entries are read one by one.
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// `{'embed_map': {'/n1': {'offset': 0, 'length': 277}, '/c': {'urlbase': 'https://h/', 'path': '@p/x'}, '/n0': {'offset': 300,
    /// 'length': 5}}, 'current_offset': 305}`, packed by Python's msgpack 1.1.
    const STORED: &[u8] = b"\x82\xa9embed_map\x83\xa3/n1\x82\xa6offset\x00\xa6length\xcd\x01\x15\xa2/c\x82\xa7urlbase\xaahttps://h/\xa4path\xa4@p/x\xa3/n0\x82\xa6offset\xcd\x01,\xa6length\x05\xaecurrent_offset\xcd\x011";

    #[test]
    fn the_map_keeps_its_order() {
        let map = EmbedMap::parse(STORED).unwrap();
        let want = [
            ("/n1".to_owned(), Value::Here(0..277)),
            ("/c".to_owned(), Value::Elsewhere("https://h/ @p/x".into())),
            ("/n0".to_owned(), Value::Here(300..305)),
        ];
        assert_eq!(map.0, want);
        // 277..300, and what follows.
        assert_eq!(map.holes(310), 23 + 5);
    }

    #[test]
    fn invalid_embed_maps_are_malformed() {
        for bytes in [&b""[..], b"\xc0", b"\x81\xa9embed_map\xdf\xff\xff\xff\xff", &STORED[..40]] {
            assert!(EmbedMap::parse(bytes).unwrap_err().is_damage());
        }
    }

    #[test]
    fn ends_beyond_64_bits_are_nowhere() {
        let bytes =
            b"\x81\xa9embed_map\x81\xa2/a\x82\xa6offset\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa6length\x01";
        assert_eq!(EmbedMap::parse(bytes).unwrap().0, [("/a".to_owned(), Value::Nowhere)]);
    }
}
