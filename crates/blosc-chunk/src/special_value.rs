//! Special values: chunks whose header describes their contents.

use crate::Chunk;

/// Content of a chunk without streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Nothing but zeros.
    Zeros,
    /// Nothing but NaN, as f32 or f64.
    Nan,
    /// One value, over and over.
    Value,
    /// Never written; read as zeros.
    Uninit,
}

const NAN_F32: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
const NAN_F64: [u8; 8] = 0x7FF8_0000_0000_0000_u64.to_le_bytes();

impl Special {
    /// Returns the number of it in a header, 1 to 4.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Zeros => 1,
            Self::Nan => 2,
            Self::Value => 3,
            Self::Uninit => 4,
        }
    }

    /// Decodes the number in a header; `None` for 0, which is an ordinary chunk, and for those without a meaning.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Zeros),
            2 => Some(Self::Nan),
            3 => Some(Self::Value),
            4 => Some(Self::Uninit),
            _ => None,
        }
    }

    /// Returns the bytes of the NaN that a chunk of [`Special::Nan`] holds, little-endian: quiet, positive, without payload
    /// (C-Blosc2's `nanf("")` and `nan("")`). `None` for elements of other than 4 and 8 bytes, which have none.
    #[must_use]
    pub const fn nan(typesize: usize) -> Option<&'static [u8]> {
        match typesize {
            4 => Some(&NAN_F32),
            8 => Some(&NAN_F64),
            _ => None,
        }
    }

    /// Fills `dst` with what `chunk` holds from byte `start` on.
    pub(crate) fn fill(self, chunk: &Chunk<'_>, start: usize, dst: &mut [u8]) {
        let value = match self {
            // C-Blosc2 leaves this memory uninitialized; zeros avoid the exposure of unrelated bytes.
            Self::Zeros | Self::Uninit => return dst.fill(0),
            Self::Nan => Self::nan(chunk.header().typesize.into()).unwrap_or(&NAN_F32),
            Self::Value => chunk.value(),
        };
        repeat(value, start, dst);
    }
}

/// Fills `dst` with `value`, over and over, from its byte `start` on.
fn repeat(value: &[u8], start: usize, dst: &mut [u8]) {
    if let [byte] = value {
        return dst.fill(*byte);
    }
    let phase = start % value.len().max(1);
    let first = dst.len().min(value.len());
    for (dst, src) in dst.iter_mut().zip(value.iter().cycle().skip(phase)).take(first) {
        *dst = *src;
    }
    // The part that is filled consists of whole values, so it can be copied to its own end.
    let mut done = first;
    while done < dst.len() {
        let len = done.min(dst.len() - done);
        dst.copy_within(..len, done);
        done += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_repeats_from_anywhere() {
        for len in 0..40 {
            for start in 0..9 {
                let mut dst = vec![9; len];
                repeat(&[1, 2, 3], start, &mut dst);
                let want: Vec<u8> = (start..start + len).map(|k| [1, 2, 3][k % 3]).collect();
                assert_eq!(dst, want, "{len} from {start}");
            }
        }
    }
}
