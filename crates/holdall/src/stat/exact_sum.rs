//! Sums of doubles that keep the rounding error of each addition.

/// A sum as two doubles: the nearest one, and the remainder.
///
/// Numbers whose sum needs no more than about 100 bits are summed exactly, in whatever order they come, so that one array gives one sum from
/// every file. This is Neumaier's summation, with the exact differences of Knuth, TAOCP 2, 4.2.2, theorem B.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    high: f64,
    low: f64,
}

impl Total {
    /// Sum of `values`, over eight lanes: as fast as the machine can, and the same on every machine.
    pub(super) fn of(values: &[f64]) -> Self {
        let (eights, rest) = values.as_chunks::<8>();
        let (mut highs, mut lows) = ([0.0; 8], [0.0; 8]);
        for eight in eights {
            for ((high, low), value) in highs.iter_mut().zip(&mut lows).zip(eight) {
                let rounded;
                (*high, rounded) = added(*high, *value);
                *low += rounded;
            }
        }
        let lanes = highs.into_iter().zip(lows).map(|(high, low)| Self { high, low });
        let rest = rest.iter().map(|value| Self { high: *value, low: 0.0 });
        lanes.chain(rest).fold(Self::default(), Self::and)
    }

    /// Sum of both.
    pub(super) fn and(self, other: Self) -> Self {
        let (high, rounded) = added(self.high, other.high);
        let (high, low) = added(high, rounded + (self.low + other.low));
        Self { high, low }
    }

    /// The mean of `count` numbers of this sum: the nearest double, and the remainder. `None` as [`Self::value`], and for a count of 0.
    pub(super) fn mean(self, count: f64) -> Option<(f64, f64)> {
        let mean = self.value().filter(|_| count > 0.0)? / count;
        // The remainder of the rounded quotient: exact, as one product and sum are rounded together.
        let left = (-mean).mul_add(count, self.high) + self.low;
        Some((mean, left / count))
    }

    /// The nearest double; `None` where the sum exceeded the doubles.
    pub(super) fn value(self) -> Option<f64> {
        Some(self.high + self.low).filter(|value| value.is_finite())
    }
}

/// The rounded sum, and its difference to the exact one.
pub(super) fn added(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(values: &[f64]) -> Option<f64> {
        Total::of(values).value()
    }

    /// Expected: Python's `math.fsum`, which rounds the exact sum once.
    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(total(&[]), Some(0.0));
        assert_eq!(total(&[0.1; 10]), Some(1.0));
        assert_eq!(total(&[0.1; 1_000_003]), Some(100_000.3));
        assert_eq!(total(&[1e16, 1.0, 1.0, -1e16]), Some(2.0));
        let thirds: Vec<f64> = (1..=1000).map(|number| 1.0 / f64::from(number)).collect();
        assert_eq!(total(&thirds), Some(7.485_470_860_550_345));
    }

    #[test]
    fn the_order_makes_no_difference_to_numbers_that_have_an_exact_sum() {
        let values: Vec<f64> =
            (0..4099_u32).map(|at| f64::from(at.wrapping_mul(2_654_435_761)) / 8.0).collect();
        let exact: u64 = (0..4099_u32).map(|at| u64::from(at.wrapping_mul(2_654_435_761))).sum();
        let strided: Vec<f64> =
            (0..7).flat_map(|first| values.iter().skip(first).step_by(7)).copied().collect();
        for order in [&values, &strided] {
            let pieces = order.chunks(129).map(Total::of).fold(Total::default(), Total::and);
            assert_eq!((total(order), pieces.value()), (Some(exact as f64 / 8.0), Some(exact as f64 / 8.0)));
        }
    }

    #[test]
    fn overflowing_sums_are_detected() {
        assert_eq!(total(&[f64::MAX; 2]), None);
        assert_eq!(total(&[f64::MAX, f64::MAX, -f64::MAX]), None);
        assert_eq!(total(&[f64::MAX, -f64::MAX]), Some(0.0));
    }
}
