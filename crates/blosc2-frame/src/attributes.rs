//! Named values of any number and with names of any length, although C-Blosc2 takes 16 pieces of user metadata with names of up to
//! 31 bytes.
//!
//! An attribute is a piece of user metadata as long as there is room for it. The others are together in the one called `attrs`, a
//! msgpack map of names to values: python-blosc2 shows it as a dict under that name. [`Frame::attributes`] shows both as one list.
//! One place is kept for `attrs`, so the 16th attribute is the first in it.

use std::collections::HashSet;

use blosc_chunk::{Chunk, Decoder};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};
use rmp::{Marker, decode, encode};

use crate::frame::Frame;
use crate::metalayer::{MAX_METALAYERS, MAX_NAME};
use crate::msgpack;
use crate::writer::{remove_vlmetalayer, set_vlmetalayer};

/// The piece of user metadata that holds those without a place of their own.
pub const NAME: &str = "attrs";

/// Names and values in the order of the file; values are msgpack.
pub(crate) type Entries = Vec<(String, Vec<u8>)>;

impl Frame {
    /// Returns all attributes in the order of the file, those within `attrs` after the others. A piece of user metadata hides one
    /// of the same name within `attrs`. If `attrs` is not a map with text for keys, it is an attribute like the others.
    ///
    /// # Errors
    /// As [`Frame::vlmetalayer`]; `Limit`.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        self.attributes_as(&|name, bytes| msgpack::metalayer_to_value(name, bytes, &self.options().limits))
    }

    /// Returns all attributes, with values as `value` makes them of names and msgpack.
    pub(crate) fn attributes_as(
        &self,
        value: &dyn Fn(&str, &[u8]) -> Result<Value>,
    ) -> Result<Vec<(String, Value)>> {
        let show = |name: &str, bytes: &[u8]| -> Result<(String, Value)> {
            Ok((name.to_owned(), value(name, bytes)?))
        };
        let mut found = Vec::new();
        let mut within = Vec::new();
        for name in self.vlmetalayer_names() {
            let bytes = self.vlmetalayer(name)?.unwrap_or_default();
            match entries(&bytes).filter(|_| name == NAME) {
                Some(entries) => within = entries,
                None => found.push(show(name, &bytes)?),
            }
        }
        for (name, bytes) in within {
            if !found.iter().any(|(own, _)| *own == name) {
                found.push(show(&name, &bytes)?);
            }
        }
        Ok(found)
    }

    /// Returns the attribute `name` as msgpack, from either place, for [`from_msgpack`](crate::msgpack::from_msgpack). `None` without
    /// such an attribute.
    ///
    /// # Errors
    /// As [`Frame::vlmetalayer`].
    pub fn attribute(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let within = self.vlmetalayer(NAME)?.and_then(|bytes| entries(&bytes));
        if name != NAME || within.is_none() {
            let own = self.vlmetalayer(name)?;
            if own.is_some() {
                return Ok(own);
            }
        }
        let mut within = within.unwrap_or_default().into_iter();
        Ok(within.find(|(own, _)| own == name).map(|(_, value)| value))
    }
}

/// Sets an attribute to a msgpack value: in its present place, else as a piece of user metadata, else within `attrs`. `all` are names and
/// chunks of the user metadata.
///
/// # Errors
/// `Usage` when there is no room for `attrs` either, when `attrs` is not such a map, and for bytes that are not one msgpack value; those
/// of the chunk of `attrs`.
pub(crate) fn set(all: &mut Entries, name: &str, value: &[u8], limits: &Limits) -> Result<()> {
    if skip(value).is_none_or(|rest| !rest.is_empty()) {
        return Err(Error::usage(format!("the value of the attribute {name:?} is not one msgpack value")));
    }
    let within = read(all, limits)?;
    let is_within = within.as_ref().is_some_and(|entries| entries.iter().any(|(own, _)| own == name));
    let is_own = name != NAME && all.iter().any(|(own, _)| own == name);
    let others = all.iter().filter(|(own, _)| own != NAME).count();
    let fits =
        name != NAME && (1..=MAX_NAME).contains(&name.len()) && others.saturating_add(1) < MAX_METALAYERS;
    if is_own || (fits && !is_within) {
        return set_vlmetalayer(all, name, value);
    }
    let is_other = within.is_none() && all.iter().any(|(own, _)| own == NAME);
    let mut entries = match within {
        Some(entries) => entries,
        None if is_other => {
            let problem = format!("no room for the attribute {name:?}: {NAME:?} exists and is not a map");
            return Err(Error::usage(problem));
        }
        None => Vec::new(),
    };
    match entries.iter_mut().find(|(own, _)| own == name) {
        Some((_, own)) => value.clone_into(own),
        None => entries.push((name.to_owned(), value.to_vec())),
    }
    set_vlmetalayer(all, NAME, &map(&entries)?).map_err(|error| {
        error.with_hint(format!("remove an entry of the user metadata to make room for {NAME:?}"))
    })
}

/// Removes an attribute from wherever it is; false where there was none. `attrs` goes with the last that is in it.
///
/// # Errors
/// Those of the chunk of `attrs`.
pub(crate) fn remove(all: &mut Entries, name: &str, limits: &Limits) -> Result<bool> {
    let within = read(all, limits)?;
    let is_map = within.is_some();
    if (name != NAME || !is_map) && remove_vlmetalayer(all, name) {
        return Ok(true);
    }
    let mut entries = within.unwrap_or_default();
    let before = entries.len();
    entries.retain(|(own, _)| own != name);
    if entries.len() == before {
        return Ok(false);
    }
    if entries.is_empty() {
        return Ok(remove_vlmetalayer(all, NAME));
    }
    set_vlmetalayer(all, NAME, &map(&entries)?)?;
    Ok(true)
}

/// Reads the entries of `attrs`, where that is a map.
fn read(all: &Entries, limits: &Limits) -> Result<Option<Entries>> {
    let Some((_, stored)) = all.iter().find(|(own, _)| own == NAME) else { return Ok(None) };
    let chunk = Chunk::parse(stored)?;
    let mut bytes = try_zeroed_vec(chunk.nbytes() as u64, limits)?;
    Decoder::new().with_limits(*limits).decode(&chunk, &mut bytes)?;
    Ok(entries(&bytes))
}

/// Whether a map of that name holds attributes without a place of their own, next to the pieces `own`, and is not an unrelated piece of
/// that name: there is no room for its entries, or one of them has a name that a piece cannot have.
pub(crate) fn is_of_the_others(own: &[&str], within: &[&str]) -> bool {
    let distinct: HashSet<&str> = own.iter().chain(within).copied().collect();
    let is_full = own.len() >= MAX_METALAYERS.saturating_sub(2);
    let is_needed = is_full || within.iter().any(|name| !has_place(name));
    !within.is_empty() && distinct.len() == own.len().saturating_add(within.len()) && is_needed
}

/// Whether a piece of user metadata can have the name.
pub(crate) fn has_place(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.contains('\0')
}

/// Names and values of a map with text for keys, which is all there is in `bytes`.
pub(crate) fn entries(bytes: &[u8]) -> Option<Entries> {
    let mut rest = bytes;
    let count = decode::read_map_len(&mut rest).ok()?;
    let mut found = Vec::new();
    for _ in 0..count {
        let len = usize::try_from(decode::read_str_len(&mut rest).ok()?).ok()?;
        let (name, behind) = rest.split_at_checked(len)?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        rest = skip(behind)?;
        let value = behind.get(..behind.len().checked_sub(rest.len())?)?;
        found.push((name, value.to_vec()));
    }
    rest.is_empty().then_some(found)
}

/// Returns the map of these names and values.
pub(crate) fn map(entries: &Entries) -> Result<Vec<u8>> {
    let wrong = || Error::usage("more attributes than a msgpack map holds");
    let mut out = Vec::new();
    let count = u32::try_from(entries.len()).map_err(|_| wrong())?;
    encode::write_map_len(&mut out, count).map_err(|_| wrong())?;
    for (name, value) in entries {
        encode::write_str(&mut out, name).map_err(|_| wrong())?;
        out.extend_from_slice(value);
    }
    Ok(out)
}

/// Returns the bytes after the first msgpack value of `bytes`, however deep that is. `None` where it does not end.
fn skip(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    // Values that are still to come; each has a byte or more.
    let mut left = 1_u64;
    while left > 0 {
        left = left.checked_sub(1)?;
        let (marker, behind) = rest.split_first()?;
        // Reads a count of `len` bytes.
        let number = |len: usize| -> Option<(u64, &[u8])> {
            let (number, behind) = behind.split_at_checked(len)?;
            let number = number.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
            Some((number, behind))
        };
        let (len, values, behind) = match Marker::from_u8(*marker) {
            Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::False | Marker::True => {
                (0, 0, behind)
            }
            Marker::U8 | Marker::I8 => (1, 0, behind),
            Marker::U16 | Marker::I16 | Marker::FixExt1 => (2, 0, behind),
            Marker::FixExt2 => (3, 0, behind),
            Marker::U32 | Marker::I32 | Marker::F32 => (4, 0, behind),
            Marker::FixExt4 => (5, 0, behind),
            Marker::U64 | Marker::I64 | Marker::F64 => (8, 0, behind),
            Marker::FixExt8 => (9, 0, behind),
            Marker::FixExt16 => (17, 0, behind),
            Marker::FixStr(len) => (u64::from(len), 0, behind),
            Marker::Str8 | Marker::Bin8 => number(1).map(|(len, behind)| (len, 0, behind))?,
            Marker::Str16 | Marker::Bin16 => number(2).map(|(len, behind)| (len, 0, behind))?,
            Marker::Str32 | Marker::Bin32 => number(4).map(|(len, behind)| (len, 0, behind))?,
            Marker::Ext8 => number(1).map(|(len, behind)| (len.saturating_add(1), 0, behind))?,
            Marker::Ext16 => number(2).map(|(len, behind)| (len.saturating_add(1), 0, behind))?,
            Marker::Ext32 => number(4).map(|(len, behind)| (len.saturating_add(1), 0, behind))?,
            Marker::FixArray(len) => (0, u64::from(len), behind),
            Marker::Array16 => number(2).map(|(len, behind)| (0, len, behind))?,
            Marker::Array32 => number(4).map(|(len, behind)| (0, len, behind))?,
            Marker::FixMap(len) => (0, u64::from(len).saturating_mul(2), behind),
            Marker::Map16 => number(2).map(|(len, behind)| (0, len.saturating_mul(2), behind))?,
            Marker::Map32 => number(4).map(|(len, behind)| (0, len.saturating_mul(2), behind))?,
            Marker::Reserved => return None,
        };
        rest = behind.get(usize::try_from(len).ok()?..)?;
        left = left.checked_add(values)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests;
