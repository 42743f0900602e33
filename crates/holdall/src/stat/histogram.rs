//! How values are spread between the least and the greatest.

/// Counts of values in intervals of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Where the first interval begins.
    pub low: f64,
    /// Where the last one ends; the value there belongs to it.
    pub high: f64,
    /// Values in each. An interval has its lower end, not its upper one.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Number of intervals.
    pub const BINS: usize = 32;

    pub(super) fn new(low: f64, high: f64) -> Self {
        Self { low, high, counts: vec![0; Self::BINS] }
    }

    pub(super) fn emptied(&self) -> Self {
        Self::new(self.low, self.high)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins")]
    pub(super) fn add(&mut self, values: &[f64]) {
        let last = self.counts.len().saturating_sub(1);
        // Halved, so that the width of the widest range is finite.
        let width = self.high / 2.0 - self.low / 2.0;
        let scale = self.counts.len() as f64 / width;
        for value in values {
            let place = (value / 2.0 - self.low / 2.0) * scale;
            let at = if width > 0.0 { (place.max(0.0) as usize).min(last) } else { 0 };
            if let Some(count) = self.counts.get_mut(at) {
                *count += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
    }

    /// A line of blocks as high as the counts. Only an empty interval is blank.
    #[must_use]
    pub fn sparkline(&self) -> String {
        const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = u128::from(self.counts.iter().copied().max().unwrap_or(0)).max(1);
        let block = |count: &u64| {
            let height = (u128::from(*count) * 8).div_ceil(most);
            usize::try_from(height).ok().and_then(|height| BLOCKS.get(height)).copied().unwrap_or('█')
        };
        self.counts.iter().map(block).collect()
    }
}
