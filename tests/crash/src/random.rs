//! Numbers and bytes that depend on their seed alone.

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The remainder is below the bound.
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }
}

/// Bytes that do not repeat and do not compress.
#[must_use]
pub fn random_bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed);
    std::iter::repeat_with(|| random.next().to_le_bytes()).flatten().take(len).collect()
}
