//! Random values of the tests: the same in each run.

/// Returns the number of cases, where the usual run has `count`: `HOLDALL_CASES` multiplies it.
///
/// # Panics
/// When the variable is no number.
#[must_use]
pub fn cases(count: u64) -> u64 {
    let more =
        std::env::var("HOLDALL_CASES").map_or(1, |text| text.parse().expect("HOLDALL_CASES is a number"));
    count * more
}

/// Marsaglia's xorshift64*.
pub struct Random(u64);

impl Random {
    /// Another sequence for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.bits();
        random
    }

    /// 48 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Less than `most`, which is not 0.
    pub fn below(&mut self, most: u64) -> u64 {
        self.bits() % most
    }

    /// True so many times of ten.
    pub fn chance(&mut self, of_ten: u64) -> bool {
        self.below(10) < of_ten
    }

    /// One of a list that is not empty.
    ///
    /// # Panics
    /// When it is.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let at = self.below(of.len() as u64);
        of[usize::try_from(at).expect("less than a length")]
    }
}
