//! Sums of squares of numbers whose squares doubles do not reach.

/// A sum in a unit of its own: that of ordinary numbers is 1, so that no bit of them changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Squares {
    sum: f64,
    unit: Unit,
}

/// Divisor of numbers before they are squared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// 2⁻⁶⁰⁰: squares are below 2⁻⁹⁰⁰, where doubles end.
    Small,
    #[default]
    One,
    /// 2⁶⁰⁰: squares, or their sum, are beyond the greatest double.
    Great,
}

/// Exact: a power of two. The greatest double becomes 2⁴²⁴, the least 2⁻⁴⁷⁴; the squares of both are doubles with all their digits.
const STEP: f64 = f64::from_bits((1023 + 600) << 52);

/// A sum below this in its unit is counted in the next smaller one.
const MIN_SUM: f64 = f64::from_bits((1023 - 900) << 52);

impl Unit {
    /// Factor of numbers.
    const fn factor(self) -> f64 {
        match self {
            Self::Small => STEP,
            Self::One => 1.0,
            Self::Great => 1.0 / STEP,
        }
    }
}

impl Squares {
    /// The sum that `sum` gives for a factor that is applied to each number before it is squared. Rounding errors of constant data are not
    /// resolved further.
    pub(super) fn of(is_constant: bool, sum: impl Fn(f64) -> f64) -> Self {
        let of = |unit: Unit| Self { sum: sum(unit.factor()), unit };
        let ordinary = of(Unit::One);
        match ordinary.sum {
            sum if !sum.is_finite() => of(Unit::Great),
            sum if sum < MIN_SUM && !is_constant => of(Unit::Small).settled(),
            _ => ordinary,
        }
    }

    /// Sum of both, and of the result of `more` for a factor, as in [`Squares::of`].
    pub(super) fn joined(self, other: Self, more: impl Fn(f64) -> f64) -> Self {
        let in_unit =
            |unit: Unit| Self { sum: self.in_unit(unit) + (other.in_unit(unit) + more(unit.factor())), unit };
        let unit = self.unit.max(other.unit).max(Unit::One);
        let joined = in_unit(unit);
        match joined.sum {
            sum if !sum.is_finite() => in_unit(Unit::Great),
            sum if sum < MIN_SUM && unit == Unit::One => in_unit(Unit::Small).settled(),
            _ => joined,
        }
    }

    /// Converts to the ordinary unit if the sum is in its range.
    fn settled(self) -> Self {
        let ordinary = self.in_unit(Unit::One);
        if self.sum == 0.0 || ordinary >= MIN_SUM { Self { sum: ordinary, unit: Unit::One } } else { self }
    }

    /// The sum, counted in another unit.
    fn in_unit(self, unit: Unit) -> f64 {
        let ratio = unit.factor() / self.unit.factor();
        self.sum * ratio * ratio
    }

    /// The root of the mean over `count` numbers.
    pub(super) fn root_of_mean(self, count: f64) -> f64 {
        (self.sum / count).sqrt() / self.unit.factor()
    }
}
