//! The trailer: user metadata of any length, each value a Blosc2 chunk, and a fingerprint that writers leave empty.
//!
//! Spec: docs/formats/blosc2.md, "Trailer". It is found from the end of the frame: its length is the `u32` 22 bytes before.

use container_core::{Error, Result};
use rmp::decode;

use crate::metalayer::{encode, parse_names, value};

/// Bytes of a trailer without metadata.
pub const BARE_LEN: u32 = 35;

/// Bytes at its end with fixed places: marker and length, marker, type and fingerprint.
pub const TAIL_LEN: usize = 23;

/// Largest number of entries that C-Blosc2 reads.
pub const MAX_READ: usize = 8192;

/// The trailer of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailer {
    /// Names and encoded values (Blosc2 chunks), in the order of the file.
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
    /// Type and bytes of the fingerprint. Type 0 means that there is no fingerprint; no writer has filled one.
    pub fingerprint: Fingerprint,
}

/// Fingerprint of a frame, reserved by the format for checking that it is unchanged. Kept where bytes are copied, dropped when anything changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// 0 none, 1 of 32 bits, 2 of 64, 3 of 128.
    pub kind: u8,
    /// Its bytes, padded on the left.
    pub bytes: [u8; 16],
}

/// Returns the length that the last bytes of a frame give its trailer: `tail` ends where the frame does.
pub(crate) fn len_of(tail: &[u8]) -> Option<u32> {
    let tail = tail.get(tail.len().checked_sub(TAIL_LEN)?..)?;
    let (marker, rest) = tail.split_first()?;
    let len = u32::from_be_bytes(rest.get(..4)?.try_into().ok()?);
    (*marker == 0xce && rest.get(4) == Some(&0xd8)).then_some(len)
}

/// Returns the length of the trailer that `bytes` begin with, by its own values: for one that is found without its end.
pub(crate) fn len_from_start(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(&[0x94, 0x01, 0x93, 0xcd])?.get(2..)?;
    let (_, entries) = parse_names(rest).ok()?;
    let end = |offset: i32| {
        let start = usize::try_from(offset).ok()?;
        start.checked_add(5)?.checked_add(value(bytes.get(start..)?)?.len())
    };
    let mut last: usize = 12;
    for (_, offset) in entries {
        last = last.max(end(offset)?);
    }
    let len = last.checked_add(TAIL_LEN)?;
    (len_of(bytes.get(..len)?)? as usize == len).then_some(len)
}

impl Trailer {
    /// Parses the trailer that `bytes` are. `at` is its place in the frame.
    ///
    /// # Errors
    /// `Malformed`, with a range from the start of the frame; `Limit` for more than 8192 entries.
    pub fn parse(bytes: &[u8], at: u64) -> Result<Self> {
        let wrong = |rest: &[u8], what: &'static str| {
            let place = at.saturating_add(bytes.len().saturating_sub(rest.len()) as u64);
            Error::malformed(what).with_range(place..place.saturating_add(1)).with_context("trailer")
        };
        if len_of(bytes).map(u64::from) != Some(bytes.len() as u64) {
            return Err(wrong(&[], "the trailer does not end with its length"));
        }
        let mut rest = bytes;
        if decode::read_array_len(&mut rest).ok() != Some(4) {
            return Err(wrong(bytes, "not an array of version, metadata, length and fingerprint"));
        }
        let (version, mut rest) = rest.split_first().ok_or_else(|| wrong(&[], "no version"))?;
        if *version != 1 {
            let problem = format!("unsupported version {version} of the trailer (expected 1)");
            return Err(Error::unsupported(problem).with_range(at.saturating_add(1)..at.saturating_add(2)));
        }
        if decode::read_array_len(&mut rest).ok() != Some(3) {
            return Err(wrong(rest, "not an array of index, map and values"));
        }
        decode::read_u16(&mut rest).map_err(|_| wrong(rest, "missing size of the index"))?;
        let (rest, entries) =
            parse_names(rest).map_err(|rest| wrong(rest, "not a map of names and offsets"))?;
        if entries.len() > MAX_READ {
            return Err(Error::limit("entries of user metadata", entries.len() as u64, MAX_READ as u64));
        }
        let mut vlmetalayers = Vec::with_capacity(entries.len());
        let mut room = bytes.len();
        for (name, offset) in entries {
            let value = usize::try_from(offset)
                .ok()
                .and_then(|start| bytes.get(start..))
                .and_then(value)
                .ok_or_else(|| wrong(rest, "a value is not within the trailer"))?;
            room = room.checked_sub(value.len()).ok_or_else(|| wrong(rest, "values share bytes"))?;
            vlmetalayers.push((name, value.to_vec()));
        }
        let mut fingerprint = Fingerprint::default();
        if let Some((kind, value)) = bytes.last_chunk::<17>().and_then(|tail| tail.split_first()) {
            fingerprint.kind = *kind;
            fingerprint.bytes.copy_from_slice(value);
        }
        Ok(Self { vlmetalayers, fingerprint })
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let values: Vec<&[u8]> = self.vlmetalayers.iter().map(|(_, value)| value.as_slice()).collect();
        let mut out = encode(&[0x94, 0x01, 0x93], 6, &self.vlmetalayers, &values, 0);
        let len = u32::try_from(out.len().saturating_add(TAIL_LEN)).unwrap_or(u32::MAX);
        out.push(0xce);
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(&[0xd8, self.fingerprint.kind]);
        out.extend_from_slice(&self.fingerprint.bytes);
        out
    }
}
