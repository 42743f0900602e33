//! Streams whose parts begin at any bit, the most significant of a byte first.

/// The number of `len` bits, 56 at most, from the bit `at` on; `None` past the end.
pub(super) fn number(src: &[u8], at: u64, len: u32) -> Option<u64> {
    let first = usize::try_from(at / 8).ok()?;
    let skip = u32::try_from(at % 8).ok()?;
    let bits = skip.checked_add(len)?;
    let bytes = src.get(first..first.checked_add(usize::try_from(bits.div_ceil(8)).ok()?)?)?;
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let word = u64::from_be_bytes(word).checked_shl(skip)?;
    Some(word.checked_shr(64_u32.checked_sub(len)?).unwrap_or(0))
}

/// Reads bits one after the other. Bits past the end are zeros, so readers compare their final position.
pub(super) struct Reader<'s> {
    src: &'s [u8],
    /// The byte that is loaded next.
    at: usize,
    /// The bits that have been loaded, from the top.
    word: u64,
    /// Bits of it that count.
    count: u32,
}

impl<'s> Reader<'s> {
    /// Begins with the bit `at`.
    pub(super) fn new(src: &'s [u8], at: u64) -> Self {
        let first = usize::try_from(at / 8).unwrap_or(usize::MAX);
        let mut reader = Self { src, at: first, word: 0, count: 0 };
        reader.refill();
        reader.skip(u32::try_from(at % 8).unwrap_or(0));
        reader
    }

    /// Loads at least 56 bits.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = match self.src.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u64::from_be_bytes(*bytes),
            None => self.last_bytes(),
        };
        self.word |= word.wrapping_shr(self.count);
        // The bits of a byte that is loaded in part are loaded again with the rest.
        self.at = self.at.saturating_add(usize::try_from(63_u32.wrapping_sub(self.count) >> 3).unwrap_or(0));
        self.count |= 56;
    }

    #[cold]
    fn last_bytes(&self) -> u64 {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(self.src.get(self.at..).unwrap_or_default()) {
            *to = *from;
        }
        u64::from_be_bytes(bytes)
    }

    /// The next `len` bits, 1 to 56, of those that are loaded.
    #[inline(always)]
    pub(super) const fn peek(&self, len: u32) -> u64 {
        self.word.wrapping_shr(64_u32.wrapping_sub(len))
    }

    /// Skips `len` loaded bits, 63 at most.
    #[inline(always)]
    pub(super) const fn skip(&mut self, len: u32) {
        self.word = self.word.wrapping_shl(len);
        self.count = self.count.wrapping_sub(len);
    }

    /// The next `len` bits, 1 to 32; `None` past the end.
    pub(super) fn take(&mut self, len: u32) -> Option<u64> {
        if self.count < len {
            self.refill();
        }
        let bits = self.peek(len);
        self.skip(len);
        (self.position() <= (self.src.len() as u64).saturating_mul(8)).then_some(bits)
    }

    /// The bit that comes next.
    pub(super) const fn position(&self) -> u64 {
        (self.at as u64).saturating_mul(8).saturating_sub(self.count as u64)
    }
}

/// A buffer to which bits are appended.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    /// The whole bytes so far.
    pub(super) bytes: Vec<u8>,
    /// The last, incomplete byte, filled from the top bit.
    last: u8,
    /// Number of those bits, 0 to 7.
    count: u32,
}

impl Joiner {
    /// Appends the first `len` bits of `bytes`.
    pub(super) fn push(&mut self, bytes: &[u8], len: u64) {
        let whole = usize::try_from(len / 8).unwrap_or(usize::MAX);
        let (bytes, rest) = bytes.split_at_checked(whole).unwrap_or((bytes, &[]));
        if self.count == 0 {
            self.bytes.extend_from_slice(bytes);
        } else {
            let (mut last, right, left) = (self.last, self.count, 8_u32.saturating_sub(self.count));
            self.bytes.extend(bytes.iter().map(|byte| {
                let full = last | byte.wrapping_shr(right);
                last = byte.wrapping_shl(left);
                full
            }));
            self.last = last;
        }
        let count = u32::try_from(len % 8).unwrap_or(0);
        let Some(byte) = rest.first().filter(|_| count > 0) else { return };
        let byte = byte & 0xff_u8.wrapping_shl(8_u32.saturating_sub(count));
        let both = u16::from(self.last) << 8 | u16::from(byte).wrapping_shl(8_u32.saturating_sub(self.count));
        let [first, second] = both.to_be_bytes();
        self.count = self.count.saturating_add(count);
        if self.count >= 8 {
            self.bytes.push(first);
            (self.last, self.count) = (second, self.count.saturating_sub(8));
        } else {
            self.last = first;
        }
    }

    /// Appends the `len` lowest bits of `number`, 56 at most.
    pub(super) fn push_number(&mut self, number: u64, len: u32) {
        self.push(&number.wrapping_shl(64_u32.saturating_sub(len)).to_be_bytes(), u64::from(len));
    }

    /// Fills the last byte with zeros.
    pub(super) fn pad(&mut self) {
        if self.count > 0 {
            self.bytes.push(self.last);
            (self.last, self.count) = (0, 0);
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_where_they_were_put() {
        for skip in 0..20 {
            let mut joiner = Joiner::default();
            joiner.push_number(0, skip);
            joiner.push_number(0x1_2345_6789_abcd, 49);
            joiner.push(&[0b1010_0111, 0b1100_0000, 0xff], 10);
            joiner.push(&[], 0);
            joiner.push_number(5, 3);
            joiner.pad();
            let at = u64::from(skip);
            let mut reader = Reader::new(&joiner.bytes, at);
            let (high, low) = (reader.take(17), reader.take(32));
            assert_eq!(high.zip(low).map(|(high, low)| high << 32 | low), Some(0x1_2345_6789_abcd), "{skip}");
            assert_eq!((reader.take(10), reader.position()), (Some(0b10_1001_1111), at + 59));
            assert_eq!((reader.take(3), reader.take(32), reader.take(32)), (Some(5), None, None));
            assert_eq!(number(&joiner.bytes, at, 49), Some(0x1_2345_6789_abcd), "{skip}");
            assert_eq!(number(&joiner.bytes, at + 49, 10), Some(0b10_1001_1111));
            assert_eq!(number(&joiner.bytes, at + 59, 3), Some(5));
            assert_eq!(joiner.bytes.len() as u64, (at + 62).div_ceil(8));
            assert_eq!(number(&joiner.bytes, joiner.bytes.len() as u64 * 8 - 7, 8), None);
        }
    }
}
