//! LZ4 blocks: the bare block format, without frame and without a stored size, by lz4_flex.
//!
//! lz4_flex cannot decode a block in part, and a block does not record its end. [`block_shape`] and [`decode_prefix`] walk it for the two
//! questions of damaged files: whether it is a block at all, and how much of it is intact.
//!
//! Spec: <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>

use std::borrow::Cow;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use super::shared::{make_room, wrong_length};
use container_core::codec::Codec;
use container_core::{Error, Result};

mod frame;
mod walk;

pub use frame::Lz4Frame;
pub use walk::{BlockEnd, BlockShape, block_shape, decode_prefix};

/// `lz4`: one bare LZ4 block, without levels. Reads LZ4 HC as well, which is the same format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lz4;

/// `LZ4_MAX_INPUT_SIZE` of lz4.h: no C reader need take a block of more.
pub const MAX_INPUT_LEN: usize = 0x7E00_0000;

impl Codec for Lz4 {
    fn name(&self) -> &str {
        "lz4"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        // lz4_flex adds lengths from the block without checks, which 64 bits can hold but 32 cannot.
        if usize::BITS < 64 && !block_shape(src, dst.len() as u64).is_exactly(dst.len() as u64) {
            return Err(wrong_length("lz4", dst.len(), what_is_wrong(src, dst.len())));
        }
        match decompress_into(src, dst) {
            Ok(made) if made == dst.len() => Ok(()),
            _ => Err(wrong_length("lz4", dst.len(), what_is_wrong(src, dst.len()))),
        }
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        if let Some(level) = level {
            return Err(Error::usage(format!("lz4 has no levels (found level {level})")));
        }
        check_input_len(src.len())?;
        let start = out.len();
        let room = get_maximum_output_size(src.len());
        make_room(out, room)?;
        out.resize(start.saturating_add(room), 0);
        let made = out.get_mut(start..).and_then(|room| compress_into(src, room).ok());
        out.truncate(start.saturating_add(made.unwrap_or(0)));
        made.map(drop).ok_or_else(|| Error::unsupported("lz4 data larger than their own bound"))
    }

    /// One extra byte for every 255 literals, as `LZ4_COMPRESSBOUND` of lz4.h: a match is never longer
    /// encoded than decoded.
    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(len / 255).saturating_add(16)
    }
}

fn check_input_len(len: usize) -> Result<()> {
    if len > MAX_INPUT_LEN {
        return Err(Error::unsupported(format!(
            "{len} bytes do not fit into one lz4 block ({MAX_INPUT_LEN})"
        ))
        .with_hint("store the data uncompressed or in chunks"));
    }
    Ok(())
}

/// Describes why `src` is not a block of `want` bytes, with the place, which lz4_flex does not report.
fn what_is_wrong(src: &[u8], want: usize) -> Cow<'static, str> {
    let shape = block_shape(src, want as u64);
    let BlockShape { decoded_len, encoded_len, end } = shape;
    let src_len = src.len();
    match end {
        BlockEnd::Complete => format!("only {decoded_len} found").into(),
        BlockEnd::PastLimit => "more found".into(),
        BlockEnd::Cut => format!("the encoded data end early, after {decoded_len}").into(),
        BlockEnd::BadOffset => {
            format!("a match has an impossible offset, at byte {encoded_len} of {src_len}").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    #[test]
    fn input_longer_than_a_c_reader_takes_is_unsupported() {
        assert!(check_input_len(2_113_929_216).is_ok());
        assert!(matches!(check_input_len(2_113_929_217).unwrap_err().kind(), ErrorKind::Unsupported(_)));
    }

    #[test]
    fn every_level_is_refused() {
        for level in [-1, 0, 1, 9] {
            let error = Lz4.encode(b"x", Some(level), &mut Vec::new()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)));
        }
    }
}
