//! Decodes LZ4 blocks.
//!
//! The loop here checks every byte and can decode all by itself. Where both ends are far off it lets the vector kernel run
//! ahead, which stops before any sequence that may be invalid.

use super::{Fault, MIN_MATCH, WINDOW};
use crate::simd::lz::{self, Ahead, repeat};

/// Decodes all of `src`, which must fill `dst` exactly.
///
/// # Errors
/// A fault where the block is cut short, reaches before its start, or holds more or less than `dst` does.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    run::<true>(src, &[], dst, lz::lz4())
}

/// Decodes only the first `dst.len()` bytes; the bytes after those that they need are ignored.
///
/// # Errors
/// As [`decode`], for the bytes that are read; a block that holds fewer bytes is at fault, too.
pub(crate) fn decode_prefix(src: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    run::<false>(src, &[], dst, lz::lz4())
}

/// As [`decode`], for a block that may reach back into the last 64 KiB of `dictionary`.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_with_dictionary(src: &[u8], dictionary: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    run::<true>(src, dictionary, dst, lz::lz4())
}

/// As [`decode_prefix`], for a block that may reach back into the last 64 KiB of `dictionary`.
///
/// # Errors
/// As [`decode_prefix`].
pub(crate) fn decode_prefix_with_dictionary(
    src: &[u8],
    dictionary: &[u8],
    dst: &mut [u8],
) -> Result<(), Fault> {
    run::<false>(src, dictionary, dst, lz::lz4())
}

/// Decodes `src`: all of it, or as far as `dst` has room.
pub(super) fn run<const WHOLE: bool>(
    src: &[u8],
    dictionary: &[u8],
    dst: &mut [u8],
    ahead: Ahead,
) -> Result<(), Fault> {
    let (mut at, mut done) = (0, 0);
    if !WHOLE && dst.is_empty() {
        return Ok(());
    }
    loop {
        (at, done) = ahead(src, dst, at, done);
        let token = *src.get(at).ok_or(Fault::at(at, "the block ends where a token should be"))?;
        at += 1;
        let literals = length(src, &mut at, token >> 4)?;
        let literals = within::<WHOLE>(literals, dst.len() - done, at)?;
        let from =
            src.get(at..at + literals).ok_or(Fault::at(src.len(), "the block ends inside literals"))?;
        dst[done..done + literals].copy_from_slice(from);
        at += literals;
        done += literals;
        if !WHOLE && done == dst.len() {
            return Ok(());
        }
        if at == src.len() {
            return if done == dst.len() {
                Ok(())
            } else {
                Err(Fault::at(at, "the block holds fewer bytes than it should"))
            };
        }
        let position = at;
        let &[low, high] =
            src.get(at..at + 2).ok_or(Fault::at(src.len(), "the block ends inside an offset"))?
        else {
            unreachable!("a slice of two bytes");
        };
        let offset = usize::from(u16::from_le_bytes([low, high]));
        at += 2;
        let len = length(src, &mut at, token & 15)?.saturating_add(MIN_MATCH);
        let len = within::<WHOLE>(len, dst.len() - done, at)?;
        if offset == 0 {
            return Err(Fault::at(position, "a match has the offset 0"));
        }
        if offset > done {
            copy_outside(dictionary, dst, done, offset, len)
                .ok_or(Fault::at(position, "a match reaches before the start"))?;
        } else {
            repeat(dst, done, offset, len);
        }
        done += len;
        if !WHOLE && done == dst.len() {
            return Ok(());
        }
    }
}

/// Returns the length that a nibble begins and, if it is 15, further bytes continue.
fn length(src: &[u8], at: &mut usize, nibble: u8) -> Result<usize, Fault> {
    let mut len = usize::from(nibble);
    if nibble == 15 {
        loop {
            let more = *src.get(*at).ok_or(Fault::at(*at, "the block ends inside a length"))?;
            *at += 1;
            // A length of 2^63 takes 2^55 bytes, but 32-bit machines exist.
            len = len.saturating_add(usize::from(more));
            if more != 255 {
                break;
            }
        }
    }
    Ok(len)
}

/// Returns `len` if there is room for it; cut to the room where only a prefix is requested.
fn within<const WHOLE: bool>(len: usize, room: usize, at: usize) -> Result<usize, Fault> {
    match len <= room {
        true => Ok(len),
        false if WHOLE => Err(Fault::at(at, "the block holds more bytes than it should")),
        false => Ok(room),
    }
}

/// Copies a match that begins in the dictionary and may run on into what is decoded. `None` if it begins before that.
fn copy_outside(dictionary: &[u8], dst: &mut [u8], done: usize, offset: usize, len: usize) -> Option<()> {
    let back = offset - done;
    // No offset is larger than the window, so that this only keeps the rule where it can be seen.
    let reachable = &dictionary[dictionary.len().saturating_sub(WINDOW)..];
    let from = &reachable[reachable.len().checked_sub(back)?..];
    let part = len.min(back);
    dst[done..done + part].copy_from_slice(&from[..part]);
    if len > part {
        repeat(dst, done + part, offset, len - part);
    }
    Some(())
}
