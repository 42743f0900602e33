//! Hash table of the last offset of each byte sequence.

/// Hash table of positions by the bytes there. Empty entries hold 0, which is as good a candidate as any.
pub(super) trait Table {
    /// Stores `pos` under the first five bytes of `word`, and returns the entry that it replaces.
    fn swap(&mut self, word: u64, pos: usize) -> usize;
}

/// Bits of an index. Either table takes 32 KiB or less, which stay in the L1 cache next to the data.
const SHORT_TABLE_BITS: u32 = 14;
const LONG_TABLE_BITS: u32 = 13;

/// For data of up to 64 KiB.
pub(super) type Short = [u16; 1 << SHORT_TABLE_BITS];
/// For longer data.
pub(super) type Long = [u32; 1 << LONG_TABLE_BITS];

impl Table for Short {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the table is for data of 64 KiB")]
    fn swap(&mut self, word: u64, pos: usize) -> usize {
        usize::from(std::mem::replace(&mut self[hash::<SHORT_TABLE_BITS>(word)], pos as u16))
    }
}

impl Table for Long {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the data are shorter than 2^32")]
    fn swap(&mut self, word: u64, pos: usize) -> usize {
        std::mem::replace(&mut self[hash::<LONG_TABLE_BITS>(word)], pos as u32) as usize
    }
}

/// Returns `LOG` bits of the hash of the first five bytes of `word`. Matches of four save little, and hide longer ones.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves few bits")]
pub(super) fn hash<const LOG: u32>(word: u64) -> usize {
    ((word << 24).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - LOG)) as usize
}

/// Returns the table that `entries` hold, all 0.
pub(super) fn emptied<T: Copy + Default, const N: usize>(entries: &mut Vec<T>) -> &mut [T; N] {
    entries.clear();
    entries.resize(N, T::default());
    entries.as_mut_slice().try_into().expect("it was just made so long")
}
