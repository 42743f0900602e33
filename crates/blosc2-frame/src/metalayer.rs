//! Metalayers: named values of fixed length, in the header between byte 87 and its end.
//!
//! Spec: docs/formats/blosc2.md, "Metalayers". msgpack: an array of 3, the size of the index, a map of names to the places of
//! values (counted from the start of the frame), an array of the values as bin32.

use container_core::{Error, Result};
use rmp::decode;

/// Largest number of metalayers, and of user metalayers, that C-Blosc2 writes.
pub const MAX_METALAYERS: usize = 16;

/// Longest name of either that C-Blosc2 takes.
pub const MAX_NAME: usize = 31;

/// Named values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metalayers(Vec<(String, Vec<u8>)>, Index);

/// Whether the size of the index that was read matches its entries.
#[derive(Clone, Copy, Debug, Default)]
struct Index {
    is_other: bool,
}

/// Always equal: metalayers that are written and read again are the same, for any stored size of their index.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Index {}

impl Metalayers {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new(), Index { is_other: false })
    }

    /// Returns the value of `name`, as stored: by convention msgpack.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Names and values in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Whether the stored size of the index differed from that of its entries.
    pub(crate) const fn has_other_index(&self) -> bool {
        self.1.is_other
    }

    /// Returns the number of metalayers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for an empty list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the value of `name`, in its place or after the others.
    ///
    /// # Errors
    /// `Usage` for a name of no or over 31 bytes, for a 17th one, and for more than the 64 KiB that the index can count.
    pub fn set(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        if name.is_empty() || name.len() > MAX_NAME {
            let problem =
                format!("the name of a metalayer has {} bytes (expected 1 to {MAX_NAME})", name.len());
            return Err(Error::usage(problem));
        }
        if let Some((_, own)) = self.0.iter_mut().find(|(own, _)| own == name) {
            *own = value;
            return Ok(());
        }
        if self.0.len() >= MAX_METALAYERS {
            return Err(Error::usage(format!("a frame has at most {MAX_METALAYERS} metalayers")));
        }
        self.0.push((name.to_owned(), value));
        Ok(())
    }

    /// Parses the bytes between the fixed part of a header and its end. `at` is the place of `bytes` in the frame.
    ///
    /// # Errors
    /// `Malformed`, with a range from the start of the frame.
    pub fn parse(bytes: &[u8], at: u64) -> Result<Self> {
        let wrong = |rest: &[u8], what: &'static str| {
            let place = at.saturating_add(bytes.len().saturating_sub(rest.len()) as u64);
            Error::malformed(what).with_range(place..place.saturating_add(1)).with_context("metalayers")
        };
        let mut rest = bytes;
        if decode::read_array_len(&mut rest).ok() != Some(3) {
            return Err(wrong(bytes, "not an array of index, map and values"));
        }
        let index_len = decode::read_u16(&mut rest).map_err(|_| wrong(rest, "missing size of the index"))?;
        let (rest, entries) =
            parse_names(rest).map_err(|rest| wrong(rest, "not a map of names and offsets"))?;
        let mut found = Vec::with_capacity(entries.len());
        let mut room = bytes.len();
        for (name, offset) in entries {
            let start = u64::try_from(offset).ok().and_then(|offset| offset.checked_sub(at));
            let value = start
                .and_then(|start| bytes.get(usize::try_from(start).ok()?..))
                .and_then(value)
                .ok_or_else(|| wrong(rest, "the value of a metalayer is not within the header"))?;
            room = room.checked_sub(value.len()).ok_or_else(|| wrong(rest, "values share bytes"))?;
            found.push((name, value.to_vec()));
        }
        let taken = found.iter().fold(7, |sum: usize, (name, _): &(String, Vec<u8>)| {
            sum.saturating_add(name_len(name)).saturating_add(5)
        });
        Ok(Self(found, Index { is_other: usize::from(index_len) != taken }))
    }

    /// Returns the bytes after the fixed part of the header.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // The value marker's place counts from the start of the frame, the size of the index from byte 87.
        let values: Vec<&[u8]> = self.0.iter().map(|(_, value)| value.as_slice()).collect();
        encode(&[0x93], 7, &self.0, &values, crate::header::FIXED_LEN)
    }
}

/// The bytes after a map of names to offsets, and the map.
type ParsedNames<'b> = (&'b [u8], Vec<(String, i32)>);

/// Parses a map of names to places, as header and trailer have it, and returns the bytes after it; or those from the first
/// invalid one on.
pub(crate) fn parse_names(bytes: &[u8]) -> std::result::Result<ParsedNames<'_>, &[u8]> {
    let mut rest = bytes;
    let count = decode::read_map_len(&mut rest).map_err(|_| bytes)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let here = rest;
        let len = decode::read_str_len(&mut rest).map_err(|_| here)?;
        let (name, behind) = rest.split_at_checked(usize::try_from(len).map_err(|_| here)?).ok_or(here)?;
        let name = std::str::from_utf8(name).map_err(|_| here)?.to_owned();
        rest = behind;
        let offset = decode::read_i32(&mut rest).map_err(|_| here)?;
        entries.push((name, offset));
    }
    Ok((rest, entries))
}

/// Reads the value whose marker `bytes` begin with.
pub(crate) fn value(mut bytes: &[u8]) -> Option<&[u8]> {
    let len = decode::read_bin_len(&mut bytes).ok()?;
    bytes.get(..usize::try_from(len).ok()?)
}

/// Encodes index, map and values after `head`. The place of a value counts from `base` before `head`, and the size of the index
/// is the sum of `own` and its entries.
pub(crate) fn encode(
    head: &[u8],
    own: usize,
    names: &[(String, Vec<u8>)],
    values: &[&[u8]],
    base: usize,
) -> Vec<u8> {
    let mut entries = Vec::new();
    let entries_len: usize =
        names.iter().map(|(name, _)| name_len(name).saturating_add(5)).fold(0, usize::saturating_add);
    let index_len = own.saturating_add(entries_len);
    // Marker and count of the map end the index; marker and count of the values are three more.
    let mut place =
        base.saturating_add(head.len()).saturating_add(6).saturating_add(entries_len).saturating_add(3);
    for ((name, _), value) in names.iter().zip(values) {
        put_name(name, &mut entries);
        entries.push(0xd2);
        entries.extend_from_slice(&to_u32(place).to_be_bytes());
        place = place.saturating_add(5).saturating_add(value.len());
    }
    let mut out = head.to_vec();
    out.push(0xcd);
    out.extend_from_slice(&to_u16(index_len).to_be_bytes());
    out.push(0xde);
    out.extend_from_slice(&to_u16(names.len()).to_be_bytes());
    out.extend_from_slice(&entries);
    out.push(0xdc);
    out.extend_from_slice(&to_u16(names.len()).to_be_bytes());
    for value in values {
        out.push(0xc6);
        out.extend_from_slice(&to_u32(value.len()).to_be_bytes());
        out.extend_from_slice(value);
    }
    out
}

/// Bytes of a name with its marker. Names over 31 bytes are read, and written back as they were.
fn name_len(name: &str) -> usize {
    name.len().saturating_add(if name.len() <= MAX_NAME { 1 } else { 2 })
}

fn put_name(name: &str, out: &mut Vec<u8>) {
    let len = name.len().to_le_bytes();
    let [len, ..] = len;
    if name.len() <= MAX_NAME {
        out.push(0xa0 | len);
    } else {
        out.extend_from_slice(&[0xd9, len]);
    }
    out.extend_from_slice(name.as_bytes());
}

fn to_u16(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
