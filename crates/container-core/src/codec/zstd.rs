//! Zstandard frames (RFC 8878), by the reference library.
//!
//! Everything goes through its one-shot calls. They decode straight into the destination, which is then
//! also the history that matches refer to, so the window that a frame declares costs nothing: the
//! reference library allocates windows, and needs `windowLogMax` to bound them, only when it streams.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::io::{self, Cursor};

use ::zstd::bulk::Compressor;
use ::zstd::zstd_safe::{self, zstd_sys::ZSTD_ErrorCode};

use super::Codec;
use super::common::{level_in, make_room, wrong_length};
use crate::{Error, Result};

/// `zstd`: levels -7 (fastest) to 22, default 3, which is also what level 0 means to zstd.
///
/// Reads any number of frames, skippable ones among them; writes one frame that states its content size
/// and has no checksum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zstd;

impl Codec for Zstd {
    fn name(&self) -> &str {
        "zstd"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        // The library takes no bytes at all for no frames at all.
        if src.is_empty() {
            return Err(wrong_length("zstd", dst.len(), "the encoded data are empty"));
        }
        let made = zstd_safe::decompress(dst, src).map_err(|code| failed(code, dst.len()))?;
        if made < dst.len() {
            return Err(wrong_length("zstd", dst.len(), format!("there are only {made}")));
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let level = level_in("zstd", level, -7..=22, 3)?;
        make_room(out, self.max_encoded_len(src.len()))?;
        let mut end = Cursor::new(&mut *out);
        end.set_position(u64::try_from(end.get_ref().len()).unwrap_or(u64::MAX));
        Compressor::new(level)?.compress_to_buffer(src, &mut end)?;
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        // For lengths that no slice has, the library answers with an error code.
        zstd_safe::compress_bound(len).max(len)
    }
}

/// What the library means by an error of decoding. Its codes are the negative of a stable enumeration.
fn failed(code: usize, want: usize) -> Error {
    let is = |known: ZSTD_ErrorCode| code.wrapping_neg() == known as usize;
    if is(ZSTD_ErrorCode::ZSTD_error_dictionary_wrong) {
        Error::unsupported("these zstd data need a dictionary")
    } else if is(ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        Error::unsupported("these zstd data need a larger window than the library has")
    } else if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        io::Error::from(io::ErrorKind::OutOfMemory).into()
    } else {
        wrong_length("zstd", want, zstd_safe::get_error_name(code))
    }
}
