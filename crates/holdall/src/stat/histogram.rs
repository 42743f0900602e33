//! Distribution of values between the least and the greatest.

/// Counts of values in intervals of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Lower end of the first interval.
    pub low: f64,
    /// Upper end of the last one; the value there belongs to it.
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

    /// Counts values where numpy's `histogram` does: the edges are those of its `linspace`, and a value that rounding takes past one is
    /// brought back.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins")]
    pub(super) fn add(&mut self, values: &[f64]) {
        let last = self.counts.len().saturating_sub(1);
        let unit = self.unit();
        let (low, high) = (self.low * unit, self.high * unit);
        let width = high - low;
        let (scale, step) = (self.counts.len() as f64 / width, width / self.counts.len() as f64);
        let edge = |at: usize| if at > last { high } else { at as f64 * step + low };
        for value in values {
            let value = value * unit;
            let place = (value - low) * scale;
            let at = if width > 0.0 { (place.max(0.0) as usize).min(last) } else { 0 };
            let at = match at {
                at if value < edge(at) => at.saturating_sub(1),
                at if at < last && value >= edge(at + 1) => at + 1,
                at => at,
            };
            if let Some(count) = self.counts.get_mut(at) {
                *count += 1;
            }
        }
    }

    /// Factor of values, so that neither their widest range nor the inverse of the narrowest is infinite: a power of two.
    fn unit(&self) -> f64 {
        const GREAT: f64 = f64::from_bits((1023 + 200) << 52);
        match self.high - self.low {
            width if !width.is_finite() => 0.5,
            width if width < 1.0 / (GREAT * GREAT) => GREAT,
            _ => 1.0,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
    }

    /// Adds another one `times` times.
    pub(super) fn merge_times(&mut self, other: &Self, times: u64) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other * times);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64]) -> Vec<u64> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut histogram = Histogram::new(low, high);
        histogram.add(values);
        histogram.counts
    }

    /// Expected: `np.histogram(np.arange(1, 100) / 100, 32)[0]`, many of whose values are a rounding away from an edge.
    #[test]
    fn values_beside_edges_are_counted_as_numpy_counts_them() {
        let values: Vec<f64> = (1..100).map(|number| f64::from(number) / 100.0).collect();
        let found = counts(&values);
        assert_eq!(
            found,
            [4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4]
        );
    }

    /// The inverse of the width would be infinite.
    #[test]
    fn the_least_numbers_have_intervals_as_others_do() {
        let ordinary: Vec<f64> = (0..100).map(|at| 1.0 + f64::from(at) / 1024.0).collect();
        let least: Vec<f64> = ordinary.iter().map(|value| value * f64::from_bits(1 << 52)).collect();
        assert_eq!(counts(&least), counts(&ordinary));
        let subnormal: Vec<f64> = (0..64_u64).map(f64::from_bits).collect();
        assert_eq!(counts(&subnormal), [2; 32]);
        assert_eq!(counts(&[f64::MIN, 0.0, f64::MAX])[15..17], [0, 1]);
    }
}
