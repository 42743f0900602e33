//! Stored form of a chunk: its bytes, or a mark for a special value in the index.

use std::borrow::Cow;

use blosc_chunk::{BloscVersion, Chunk, Encoder, Params, Special};
use container_core::{Error, Result};

use crate::options::default_params;

/// A chunk as it is stored.
#[derive(Debug)]
pub(crate) enum StoredChunk<'a> {
    /// A mark in the index.
    Mark(Special),
    /// These bytes.
    Bytes(Cow<'a, [u8]>),
}

/// Properties of the frame that determine the stored form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreRules {
    /// Bytes of an element.
    pub typesize: u32,
    /// Whether each chunk has its own size. A mark does not record the length of its chunk, so it is not used then.
    pub variable_size: bool,
}

/// Checks a chunk that is to be stored.
///
/// # Errors
/// Those of [`Chunk::parse`]; `Usage` for chunks of Blosc1, which C-Blosc2 does not look for in a frame.
pub(crate) fn check(chunk: &[u8]) -> Result<Chunk<'_>> {
    let chunk = Chunk::parse(chunk)?;
    let header = chunk.header();
    if !header.extended {
        return Err(Error::usage("a chunk with a header of 16 bytes cannot be in a frame")
            .with_hint("decode it, and append its contents"));
    }
    Ok(chunk)
}

/// Returns the stored form of `chunk`. C-Blosc2 refuses chunks of zeros, NaN and uninitialized bytes when it finds them
/// between others.
///
/// # Errors
/// As [`physical`].
pub(crate) fn stored_form<'a>(chunk: &Chunk<'a>, rules: StoreRules) -> Result<StoredChunk<'a>> {
    let header = chunk.header();
    let special = match header.special() {
        None | Some(Special::Value) => return Ok(StoredChunk::Bytes(readable(chunk))),
        Some(special) => special,
    };
    // NaN of another width than the frame's elements would become others.
    let same = special != Special::Nan || u32::from(header.typesize) == rules.typesize;
    if !rules.variable_size && same {
        return Ok(StoredChunk::Mark(special));
    }
    Ok(StoredChunk::Bytes(Cow::Owned(physical(special, chunk.nbytes(), u32::from(header.typesize))?)))
}

/// Returns the bytes of a chunk, with the length of blocks that it has in truth: C-Blosc2 3.3.5 writes chunks that it does not read
/// because of that field alone.
fn readable<'a>(chunk: &Chunk<'a>) -> Cow<'a, [u8]> {
    const FIELD: std::ops::Range<usize> = 8..12;
    let bytes = chunk.bytes();
    let blocksize = chunk.header().blocksize.to_le_bytes();
    if bytes.get(FIELD) == Some(&blocksize[..]) {
        return Cow::Borrowed(bytes);
    }
    let mut bytes = bytes.to_vec();
    if let Some(field) = bytes.get_mut(FIELD) {
        field.copy_from_slice(&blocksize);
    }
    Cow::Owned(bytes)
}

/// Judges a mark of `nbytes` bytes.
///
/// # Errors
/// `Usage` for [`Special::Value`], for NaN of another width than 4 and 8, and for parts of elements.
pub(crate) fn check_mark(special: Special, nbytes: u64, typesize: u32) -> Result<()> {
    let whole = nbytes.is_multiple_of(u64::from(typesize.max(1)));
    match special {
        Special::Value => {
            Err(Error::usage("a value does not fit the index").with_hint("append a chunk that repeats it"))
        }
        Special::Nan if !matches!(typesize, 4 | 8) => {
            Err(Error::usage(format!("no NaN of {typesize} bytes (expected 4 or 8)")))
        }
        Special::Nan | Special::Uninit if !whole => {
            Err(Error::usage(format!("{nbytes} bytes are not a multiple of {typesize}")))
        }
        _ => Ok(()),
    }
}

/// Returns the chunk that repeats a value, for `nbytes` bytes of `special` that need a length of their own.
///
/// # Errors
/// `Usage` for NaN of another width than 4 and 8.
pub(crate) fn physical(special: Special, nbytes: usize, typesize: u32) -> Result<Vec<u8>> {
    let width = match (special, typesize as usize) {
        (Special::Nan, width) => width,
        (_, width @ 1..=255) if nbytes.is_multiple_of(width) => width,
        _ => 1,
    };
    let value = match special {
        Special::Nan => {
            let none = || Error::usage(format!("no NaN of {width} bytes (expected 4 or 8)"));
            Special::nan(width).ok_or_else(none)?.to_vec()
        }
        _ => vec![0; width],
    };
    let params = Params { blosc_version: BloscVersion::Blosc2, ..default_params(width) };
    let mut out = Vec::new();
    Encoder::new(params)?.value(&value, nbytes, &mut out)?;
    Ok(out)
}

/// Encodes a value of user metadata as it is stored: zstd, elements of one byte.
///
/// # Errors
/// `Usage` for more than a chunk holds.
pub(crate) fn vlmetalayer(value: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    Encoder::new(default_params(1))?.encode(value, &mut out)?;
    if Chunk::parse(&out)?.header().special().is_some() {
        // C-Blosc2 may not read a special chunk here, but always reads a plain one.
        out.clear();
        Encoder::new(Params { level: 0, ..default_params(1) })?.encode(value, &mut out)?;
    }
    Ok(out)
}
