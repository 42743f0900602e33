//! Decodes BloscLZ streams.
//!
//! The loop here checks every byte and can decode all by itself. Where both ends are far off it lets the vector kernel run
//! ahead, which stops before any operation that may be invalid.

use super::{Fault, MIN_FAR_DISTANCE, MIN_MATCH};
use crate::simd::lz::{self, Ahead, repeat};

/// Decodes all of `src`, which must fill `dst` exactly.
///
/// # Errors
/// A fault where the stream is cut short, reaches before its start, ends in a match, or holds more or less than `dst` does.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    run::<true>(src, dst, lz::blosclz())
}

/// Decodes only the first `dst.len()` bytes; the bytes after those that they need are ignored.
///
/// # Errors
/// As [`decode`], for the bytes that are read; a stream that holds fewer bytes is at fault, too.
pub(crate) fn decode_prefix(src: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    run::<false>(src, dst, lz::blosclz())
}

/// Decodes `src`: all of it, or as far as `dst` has room.
pub(super) fn run<const WHOLE: bool>(src: &[u8], dst: &mut [u8], ahead: Ahead) -> Result<(), Fault> {
    if !WHOLE && dst.is_empty() {
        return Ok(());
    }
    let (mut at, mut done) = (0, 0);
    loop {
        if at > 0 {
            (at, done) = ahead(src, dst, at, done);
            if !WHOLE && done == dst.len() {
                return Ok(());
            }
        }
        let start = at;
        let &byte = src.get(at).ok_or(Fault::at(at, "the stream ends in a match"))?;
        at += 1;
        // The marker of the first byte is not part of its length.
        let control = if start == 0 { byte & 31 } else { byte };
        if control < 32 {
            let len = within::<WHOLE>(usize::from(control) + 1, dst.len() - done, start)?;
            let from =
                src.get(at..at + len).ok_or(Fault::at(src.len(), "the stream ends inside literals"))?;
            dst[done..done + len].copy_from_slice(from);
            at += len;
            done += len;
            if WHOLE && at == src.len() {
                return if done == dst.len() {
                    Ok(())
                } else {
                    Err(Fault::at(at, "the stream holds fewer bytes than it should"))
                };
            }
        } else {
            let (len, distance) = operands(src, &mut at, control)?;
            let len = within::<WHOLE>(len, dst.len() - done, start)?;
            if distance > done {
                return Err(Fault::at(start, "a match reaches before the start"));
            }
            repeat(dst, done, distance, len);
            done += len;
        }
        if !WHOLE && done == dst.len() {
            return Ok(());
        }
    }
}

/// Reads length and distance of a match. `at` is the offset after its control byte, and afterwards that of the next
/// operation.
fn operands(src: &[u8], at: &mut usize, control: u8) -> Result<(usize, usize), Fault> {
    let mut next = || {
        let byte = *src.get(*at).ok_or(Fault::at(*at, "the stream ends inside a match"))?;
        *at += 1;
        Ok(byte)
    };
    let mut len = usize::from(control >> 5) - 1;
    if len == 6 {
        loop {
            let more = next()?;
            // C-Blosc counted in 32 bits and could be made to wrap around (c-blosc2 #801).
            len = len.saturating_add(usize::from(more));
            if more != 255 {
                break;
            }
        }
    }
    let high = usize::from(control & 31) << 8;
    let low = next()?;
    let distance = if low == 255 && high == 31 << 8 {
        let far = u16::from_be_bytes([next()?, next()?]);
        usize::from(far) + MIN_FAR_DISTANCE
    } else {
        high + usize::from(low) + 1
    };
    Ok((len.saturating_add(MIN_MATCH), distance))
}

/// Returns `len` if there is room for it; cut to the room where only a prefix is requested.
fn within<const WHOLE: bool>(len: usize, room: usize, at: usize) -> Result<usize, Fault> {
    match len <= room {
        true => Ok(len),
        false if WHOLE => Err(Fault::at(at, "the stream holds more bytes than it should")),
        false => Ok(room),
    }
}
