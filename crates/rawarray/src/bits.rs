//! Bit arrays of RawArray.jl (flag bits 1 and 2, eltype 5, elbyte 8).
//!
//! Element k is bit k mod 64 of the 64-bit word k / 64, least significant bit first; unused high bits are 0. In memory each
//! element is one byte, 0 or 1.

use container_core::codec::Codec;
use container_core::dtype::ByteOrder;
use container_core::{Error, Result, Stop};

/// Name of the codec.
pub(crate) const NAME: &str = "bits";

/// Bits in words of one byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub order: ByteOrder,
}

/// Stored bytes for `count` bits. Cannot overflow: a word is 64 bits.
pub(crate) fn stored_len(count: u64) -> u64 {
    count.div_ceil(64) * 8
}

impl Bits {
    /// Index of the byte with bit `k` of 64, among the eight bytes of its word.
    fn byte_of(self, k: usize) -> usize {
        match self.order {
            ByteOrder::Little => k / 8,
            ByteOrder::Big => 7 - k / 8,
        }
    }

    /// True where a bit after the last element is set in the last word.
    pub(crate) fn beyond(self, last_word: &[u8], count: u64) -> bool {
        let used = usize::try_from(count % 64).unwrap_or(0);
        used != 0
            && (used..64).any(|k| last_word.get(self.byte_of(k)).is_some_and(|byte| byte >> (k % 8) & 1 == 1))
    }
}

/// Words that are decoded between two checks of a request to stop: a few milliseconds.
const WORDS_BETWEEN_STOPS: usize = 1 << 16;

impl Codec for Bits {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.decode_until(src, dst, Stop::never())
    }

    fn decode_until(&self, src: &[u8], dst: &mut [u8], stop: Stop) -> Result<()> {
        if stored_len(dst.len() as u64) != src.len() as u64 {
            return Err(Error::malformed(format!("{} bits are not {} bytes of words", dst.len(), src.len())));
        }
        let words = src.as_chunks::<8>().0.iter().zip(dst.chunks_mut(64));
        for (at, (word, items)) in words.enumerate() {
            if at % WORDS_BETWEEN_STOPS == 0 {
                stop.check()?;
            }
            for (k, item) in items.iter_mut().enumerate() {
                *item = word[self.byte_of(k)] >> (k % 8) & 1;
            }
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        if level.is_some() {
            return Err(Error::usage("bits have no levels"));
        }
        for items in src.chunks(64) {
            let mut word = [0; 8];
            for (k, item) in items.iter().enumerate() {
                word[self.byte_of(k)] |= u8::from(*item != 0) << (k % 8);
            }
            out.extend(word);
        }
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        len.div_ceil(64).saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_comes_first_in_either_order() {
        let mut items = vec![0; 65];
        for k in [0, 9, 63, 64] {
            items[k] = 1;
        }
        let little = [1, 2, 0, 0, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0, 0];
        let big = [0x80, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1];
        for (order, words) in [(ByteOrder::Little, little), (ByteOrder::Big, big)] {
            let mut encoded = Vec::new();
            Bits { order }.encode(&items, None, &mut encoded).unwrap();
            assert_eq!(encoded, words);
            let mut decoded = vec![9; 65];
            Bits { order }.decode(&words, &mut decoded).unwrap();
            assert_eq!(decoded, items);
            assert!(!Bits { order }.beyond(&words[8..], 65));
            assert!(Bits { order }.beyond(&[0xff; 8], 65));
            assert!(!Bits { order }.beyond(&[0xff; 8], 64));
            assert!(Bits { order }.decode(&words[..8], &mut decoded).is_err());
        }
    }

    #[test]
    fn encoded_len_is_rounded_up_to_64_bit_words() {
        let bits = Bits { order: ByteOrder::Little };
        assert_eq!([0, 1, 64, 65, 129].map(|count| bits.max_encoded_len(count)), [0, 8, 8, 16, 24]);
        assert_eq!([0, 1, 64, 65, 129].map(stored_len), [0, 8, 8, 16, 24]);
    }
}
