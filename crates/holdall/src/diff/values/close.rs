//! Comparison of scalars within a tolerance.

use container_core::dtype::{ByteOrder, Kind, Scalar};

use crate::repr::float::Float;
use crate::repr::integer::Integer;

/// `|a - b| <= atol + rtol * |b|`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    rtol: f64,
    atol: f64,
}

impl Tolerance {
    /// The tolerance; `None` where both are 0: bits are compared then.
    pub(super) fn new(rtol: f64, atol: f64) -> Option<Self> {
        (rtol > 0.0 || atol > 0.0).then_some(Self { rtol: rtol.max(0.0), atol: atol.max(0.0) })
    }

    /// True where two little-endian scalars of one type are close. NaN is close to NaN alone.
    pub(super) fn holds(self, scalar: &Scalar, a: &[u8], b: &[u8]) -> bool {
        const LITTLE: ByteOrder = ByteOrder::Little;
        let close = match scalar.kind {
            Kind::Int => {
                Integer::signed(a, LITTLE).zip(Integer::signed(b, LITTLE)).map(|pair| self.integers(pair))
            }
            Kind::Uint => {
                Integer::unsigned(a, LITTLE).zip(Integer::unsigned(b, LITTLE)).map(|pair| self.integers(pair))
            }
            Kind::Float => Float::ieee(a, LITTLE).zip(Float::ieee(b, LITTLE)).map(|pair| self.floats(pair)),
            Kind::BFloat => {
                Float::bfloat(a, LITTLE).zip(Float::bfloat(b, LITTLE)).map(|pair| self.floats(pair))
            }
            Kind::Complex => self.complex(a, b),
            _ => None,
        };
        close.unwrap_or(false)
    }

    /// The difference is exact; only the comparison with the tolerance rounds.
    fn integers(self, pair: (Integer, Integer)) -> bool {
        let (difference, magnitude) = match pair {
            (Integer::Signed(a), Integer::Signed(b)) => (a.abs_diff(b), b.unsigned_abs()),
            (Integer::Unsigned(a), Integer::Unsigned(b)) => (a.abs_diff(b), b),
            _ => return false,
        };
        difference == 0 || self.allows(difference as f64, magnitude as f64)
    }

    fn floats(self, (a, b): (Float, Float)) -> bool {
        let (a, b) = (a.value(), b.value());
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        // Infinities are close to themselves alone.
        a == b || (b.is_finite() && self.allows((a - b).abs(), b.abs()))
    }

    fn complex(self, a: &[u8], b: &[u8]) -> Option<bool> {
        fn part(bytes: &[u8]) -> Option<f64> {
            Float::ieee(bytes, ByteOrder::Little).map(Float::value)
        }
        let split = |bytes: &[u8]| {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            Some((part(re)?, part(im)?))
        };
        let (a, b) = (split(a)?, split(b)?);
        let is_nan = |(re, im): (f64, f64)| re.is_nan() || im.is_nan();
        if is_nan(a) || is_nan(b) {
            return Some(is_nan(a) && is_nan(b));
        }
        let is_finite = b.0.is_finite() && b.1.is_finite();
        let apart = (a.0 - b.0).hypot(a.1 - b.1);
        Some(a == b || (is_finite && self.allows(apart, b.0.hypot(b.1))))
    }

    fn allows(self, difference: f64, magnitude: f64) -> bool {
        difference <= self.atol + self.rtol * magnitude
    }
}
