//! Counts, extremes, sum, mean and variance, merged piece by piece.

use super::Number;
use super::exact_sum::{Total, added};
use super::sort_keys::{Batch, Keys};
use super::wide_squares::Squares;

/// Sums of one pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    finite: u64,
    pub(super) nan: u64,
    pub(super) negative_infinity: u64,
    pub(super) positive_infinity: u64,
    pub(super) empty: u64,
    /// Exact, for integers.
    sum: i128,
    /// For floating-point numbers.
    total: Total,
    /// Origin of distances, relative to `base`: the double nearest to the mean.
    mean: f64,
    /// The difference between the exact mean and `mean`, which would matter in the squares of many distances.
    rest: f64,
    /// Base that is subtracted from integers that doubles would round.
    base: i128,
    /// Sum of the squared distances from the mean.
    squares: Squares,
    /// The least and the greatest key.
    extremes: Option<(u64, u64)>,
}

impl Moments {
    /// Number of finite values.
    pub(super) fn count(&self) -> u64 {
        self.finite
    }

    pub(super) fn extremes(&self) -> Option<(u64, u64)> {
        self.extremes
    }

    /// Exact for integers; for floating-point numbers the nearest double, or the mean times the count where a sum exceeded the doubles.
    pub(super) fn sum(&self, keys: Keys) -> Number {
        match keys {
            Keys::Doubles => Number::Float(self.total.value().unwrap_or(self.mean * self.finite as f64)),
            Keys::Signed | Keys::Unsigned => Number::Integer(self.sum),
        }
    }

    pub(super) fn mean(&self, keys: Keys) -> f64 {
        let mean = self.sum(keys).value() / self.finite as f64;
        if mean.is_finite() { mean } else { self.mean }
    }

    /// Standard deviation of the population.
    pub(super) fn std(&self) -> f64 {
        self.squares.root_of_mean(self.finite as f64)
    }

    /// Adds a batch, whose finite values are `values`.
    pub(super) fn add(&mut self, batch: &Batch, values: &[f64], keys: Keys) {
        let extremes = batch.keys.iter().copied().min().zip(batch.keys.iter().copied().max());
        let base = extremes.map_or(0, |extremes| keys.base(extremes));
        let beyond: Vec<f64>;
        let values = if base == 0 {
            values
        } else {
            beyond = batch.keys.iter().map(|key| keys.beyond(*key, base)).collect();
            &beyond
        };
        let count = values.len() as f64;
        let total = Total::of(values);
        let (mean, rest) = total
            .mean(count)
            // By parts of the count where the sum of finite values is not.
            .unwrap_or_else(|| (within(lanes(values, |value| value / count)), 0.0));
        let is_constant = extremes.is_none_or(|(low, high)| low == high);
        let squares = Squares::of(is_constant, |unit| {
            // The factor of ordinary numbers is 1, which changes no bit.
            let of_mean = lanes(values, |value| {
                let distance = value * unit - mean * unit;
                distance * distance
            });
            let rest = rest * unit;
            // Where this exceeds the doubles the others do, and another unit is tried.
            let more = Some(count * rest * rest).filter(|more| more.is_finite()).unwrap_or(0.0);
            (of_mean - more).max(0.0)
        });
        let sum = match keys {
            Keys::Doubles => 0,
            Keys::Unsigned => batch.keys.iter().map(|key| i128::from(*key)).sum(),
            Keys::Signed => batch.keys.iter().map(|key| i128::from((key ^ (1 << 63)).cast_signed())).sum(),
        };
        self.merge(&Self {
            finite: values.len() as u64,
            nan: batch.nan,
            negative_infinity: batch.negative_infinity,
            positive_infinity: batch.positive_infinity,
            empty: batch.empty,
            sum,
            total,
            mean,
            rest,
            base,
            squares,
            extremes,
        });
    }

    /// Merges other moments (Chan, Golub and LeVeque's formula for the squares).
    pub(super) fn merge(&mut self, other: &Self) {
        self.nan += other.nan;
        self.negative_infinity += other.negative_infinity;
        self.positive_infinity += other.positive_infinity;
        self.empty += other.empty;
        self.sum = self.sum.saturating_add(other.sum);
        self.total = self.total.and(other.total);
        self.extremes = match (self.extremes, other.extremes) {
            (Some((low, high)), Some((other_low, other_high))) => {
                Some((low.min(other_low), high.max(other_high)))
            }
            (one, another) => one.or(another),
        };
        if other.finite == 0 {
            return;
        }
        if self.finite == 0 {
            (self.finite, self.base) = (other.finite, other.base);
            (self.mean, self.rest, self.squares) = (other.mean, other.rest, other.squares);
            return;
        }
        let (n, m) = (self.finite as f64, other.finite as f64);
        let (base, mean) = (other.base.saturating_sub(self.base) as f64, self.mean);
        let between = other.rest - self.rest;
        let distance = base + (other.mean - mean) + between;
        let part = m / (n + m);
        if distance.is_finite() {
            (self.mean, self.rest) = added(mean, self.rest + distance * part);
        } else {
            // Floating-point numbers, whose base is 0.
            (self.mean, self.rest) = (within(mean * (n / (n + m)) + other.mean * part), 0.0);
        }
        self.squares = self.squares.joined(other.squares, |unit| {
            let scaled = base * unit + (other.mean * unit - mean * unit);
            let distance = if distance.is_finite() { distance * unit } else { scaled };
            distance * distance * n * part
        });
        self.finite += other.finite;
    }
}

/// A mean of finite numbers is finite, though rounding may take it beyond the greatest.
fn within(mean: f64) -> f64 {
    mean.clamp(f64::MIN, f64::MAX)
}

/// A sum over eight lanes: as fast as the machine can, and the same on every machine.
fn lanes(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, value) in sums.iter_mut().zip(eight) {
            *sum += of(*value);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let rest: f64 = rest.iter().map(|value| of(*value)).sum();
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}
