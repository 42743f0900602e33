//! Mapping of values to colours: the range of values shown, and their distribution over the colours.

use std::fmt;
use std::str::FromStr;

use container_core::to_f64::{interpolate, percentile_ranks};
use container_core::{Error, Result};

use crate::range_end::Bound;

/// Scale of values between the two ends. With `x` from 0 to 1 between them:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stretch {
    /// x.
    #[default]
    Linear,
    /// ln(1000 x + 1) / ln 1001, as in astropy and DS9. It takes negative values, too.
    Log,
    /// asinh(10 x) / asinh 10, as in astropy.
    Asinh,
    /// √x.
    Sqrt,
}

impl Stretch {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Log, Self::Asinh, Self::Sqrt];

    /// `linear`, `log`, `asinh` or `sqrt`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
            Self::Asinh => "asinh",
            Self::Sqrt => "sqrt",
        }
    }

    /// Maps 0..=1 to 0..=1.
    #[must_use]
    pub fn apply(self, x: f64) -> f64 {
        let x = x.clamp(0.0, 1.0);
        match self {
            Self::Linear => x,
            Self::Log => (1000.0 * x).ln_1p() / 1000_f64.ln_1p(),
            Self::Asinh => (10.0 * x).asinh() / 10_f64.asinh(),
            Self::Sqrt => x.sqrt(),
        }
    }
}

/// The percentiles between which 99 % of the values are. It is `PercentileInterval(99)` of astropy and the 99 % of SAOImage DS9's menu.
pub(crate) const MIDDLE: (f64, f64) = (0.5, 99.5);

/// Part of the whole range that the middle of the values has to exceed for all of it to be shown: less than 26 of 256 colours would be left
/// to 99 % of a picture.
const MIN_PART: f64 = 0.1;

/// The ends of the middle of the values, where it is a small part of the whole range. `None` where it is not, or has no width itself.
/// `sample` is sorted.
pub(crate) fn middle(sample: &[f64], (low, high): (f64, f64)) -> Option<(f64, f64)> {
    if sample.is_empty() {
        return None;
    }
    let (from, to) = (percentile(sample, MIDDLE.0), percentile(sample, MIDDLE.1));
    // Halves, because a difference may be infinite.
    let (part, whole) = (to / 2.0 - from / 2.0, high / 2.0 - low / 2.0);
    (part > 0.0 && part <= MIN_PART * whole).then_some((from, to))
}

/// The values at the ends of the colours. Percentiles and `zscale` use the finite values that are drawn: for a picture of block means, the
/// means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Range {
    /// That of a heat map of floating-point numbers whose outliers would leave one colour to the rest: the middle 99 % of its values. Else
    /// as [`Range::MinMax`].
    #[default]
    Auto,
    /// The least and the greatest finite value of the data.
    MinMax,
    /// The algorithm of IRAF and astropy's `ZScaleInterval`: for astronomical images.
    Zscale,
    /// Two percentiles, by linear interpolation.
    Percentiles(f64, f64),
    /// These two.
    Fixed(Bound, Bound),
}

impl FromStr for Range {
    type Err = Error;

    /// `auto`, `minmax`, `zscale`, `p1,99` or `0,250`.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::usage(format!(
                "unknown range {text:?} (expected auto, minmax, zscale, p1,99 (percentiles) or LOW,HIGH)"
            ))
        };
        match text {
            "auto" => return Ok(Self::Auto),
            "minmax" => return Ok(Self::MinMax),
            "zscale" => return Ok(Self::Zscale),
            _ => {}
        }
        let (is_percent, pair) = text.strip_prefix('p').map_or((false, text), |rest| (true, rest));
        let (low, high) = pair.split_once(',').ok_or_else(bad)?;
        let number = |text: &str| Bound::parse(text.trim());
        let (low, high) = number(low).zip(number(high)).ok_or_else(bad)?;
        let percents = (low.beyond(0), high.beyond(0));
        let within = |value: f64| (0.0..=100.0).contains(&value);
        match is_percent {
            true if low < high && within(percents.0) && within(percents.1) => {
                Ok(Self::Percentiles(percents.0, percents.1))
            }
            // The range of constant data has equal ends, too.
            false if low <= high => Ok(Self::Fixed(low, high)),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::MinMax => write!(f, "minmax"),
            Self::Zscale => write!(f, "zscale"),
            Self::Percentiles(low, high) => write!(f, "p{low},{high}"),
            Self::Fixed(low, high) => write!(f, "{low},{high}"),
        }
    }
}

impl Range {
    /// The two ends for `values`, in the order of the picture; `None` without a finite one. Both are the same where all
    /// values are.
    #[must_use]
    pub fn ends(self, values: &[f64]) -> Option<(f64, f64)> {
        self.ends_beyond(values, 0)
    }

    /// The same of values that are counted from `base`; so are the ends.
    pub(crate) fn ends_beyond(self, values: &[f64], base: i128) -> Option<(f64, f64)> {
        if let Self::Fixed(low, high) = self {
            return Some((low.beyond(base), high.beyond(base)));
        }
        let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if finite.is_empty() {
            return None;
        }
        match self {
            Self::Zscale => Some(zscale(&finite)),
            Self::Percentiles(low, high) => {
                finite.sort_by(f64::total_cmp);
                Some((percentile(&finite, low), percentile(&finite, high)))
            }
            _ => {
                let fold = |pick: fn(f64, f64) -> f64, start: f64| finite.iter().copied().fold(start, pick);
                Some((fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY)))
            }
        }
    }
}

/// Percentile of the sorted values, of which there is one at least.
#[expect(clippy::cast_possible_truncation, reason = "a place in the slice")]
pub(crate) fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let (ranks, part) = percentile_ranks(percent, sorted.len() as u64);
    let [low, high] = ranks.map(|rank| sorted[rank as usize]);
    interpolate(low, high, part)
}

/// Number of sampled values.
const SAMPLES: usize = 1000;
/// Slope of the line is divided by this.
const CONTRAST: f64 = 0.25;
/// Values further from the line than this many standard deviations are left out of it.
const REJECTION: f64 = 2.5;
/// Most turns of that.
const TURNS: usize = 5;

/// A line is fitted to the sorted samples, without those far from it; its slope, made steeper, gives the ends around the
/// median.
fn zscale(finite: &[f64]) -> (f64, f64) {
    let stride = (finite.len() / SAMPLES).max(1);
    let mut samples: Vec<f64> = finite.iter().copied().step_by(stride).take(SAMPLES).collect();
    samples.sort_by(f64::total_cmp);
    let count = samples.len();
    let (mut low, mut high) = (samples[0], samples[count - 1]);
    let least = 5.max(count / 2);
    let grow = (count / 100).max(1);
    let mut bad = vec![false; count];
    let (mut good, mut before) = (count, count + 1);
    let mut slope = 0.0;
    for _ in 0..TURNS {
        if good >= before || good < least {
            break;
        }
        let (fitted_slope, start) = fit(&samples, &bad);
        slope = fitted_slope;
        let flat: Vec<f64> =
            samples.iter().enumerate().map(|(at, value)| value - (slope * at as f64 + start)).collect();
        let threshold = REJECTION * deviation(&flat, &bad);
        let outside: Vec<bool> =
            flat.iter().zip(&bad).map(|(value, bad)| *bad || value.abs() > threshold).collect();
        // Rejected samples reject their neighbours, too: `grow` places, one more before than after if they are even in number.
        let behind = (grow - 1) / 2;
        bad = (0..count)
            .map(|at| {
                let end = (at + behind + 1).min(count);
                let start = (at + behind + 1).saturating_sub(grow);
                outside.get(start..end).is_some_and(|near| near.contains(&true))
            })
            .collect();
        before = good;
        good = bad.iter().filter(|bad| !**bad).count();
    }
    if good >= least {
        let slope = slope / CONTRAST;
        let center = (count - 1) / 2;
        let median = percentile(&samples, 50.0);
        low = low.max(median - (center as f64 - 1.0) * slope);
        high = high.min(median + (count - center) as f64 * slope);
    }
    (low, high)
}

/// Slope and start of the line through the values that are not left out, least squares.
fn fit(values: &[f64], left_out: &[bool]) -> (f64, f64) {
    let used = || values.iter().zip(left_out).enumerate().filter(|(_, (_, out))| !**out);
    let count = used().count() as f64;
    let x_mean = used().map(|(at, _)| at as f64).sum::<f64>() / count;
    let y_mean = used().map(|(_, (value, _))| *value).sum::<f64>() / count;
    let (mut above, mut below) = (0.0, 0.0);
    for (at, (value, _)) in used() {
        above += (at as f64 - x_mean) * (value - y_mean);
        below += (at as f64 - x_mean) * (at as f64 - x_mean);
    }
    let slope = if below > 0.0 { above / below } else { 0.0 };
    (slope, y_mean - slope * x_mean)
}

fn deviation(values: &[f64], left_out: &[bool]) -> f64 {
    let used: Vec<f64> =
        values.iter().zip(left_out).filter(|(_, out)| !**out).map(|(value, _)| *value).collect();
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    (used.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / used.len() as f64).sqrt()
}

/// Position of `value` between `low` (0) and `high` (1), without overflow; 0.5 where they are the same.
#[must_use]
pub fn place(value: f64, low: f64, high: f64) -> f64 {
    let width = high / 2.0 - low / 2.0;
    if width > 0.0 {
        (value / 2.0 - low / 2.0) / width
    } else {
        match value.partial_cmp(&low) {
            Some(std::cmp::Ordering::Less) => 0.0,
            Some(std::cmp::Ordering::Greater) => 1.0,
            _ => 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(at: u64) -> f64 {
        let word = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((word ^ (word >> 29)) >> 40) as f64 / 16_777_216.0
    }

    /// An image of noise with stars. The ends are those of astropy 8.0.2, `ZScaleInterval().get_limits`.
    #[test]
    fn zscale_is_astropys() {
        let value = |at: u64| {
            100.0 + hash(at) + hash(at + 7) + if at.is_multiple_of(97) { 5000.0 * hash(at + 3) } else { 0.0 }
        };
        for (count, expected) in ZSCALE {
            let values: Vec<f64> = (0..count).map(value).collect();
            let (low, high) = Range::Zscale.ends(&values).unwrap();
            let close = |have: f64, want: f64| (have - want).abs() < 1e-9 * want.abs();
            assert!(close(low, expected.0) && close(high, expected.1), "{count}: {low} {high} {expected:?}");
        }
    }

    const ZSCALE: [(u64, (f64, f64)); 4] = [
        (7, (100.50657773017883, 2462.2418130636215)),
        (450, (100.33007657527924, 103.33163877441612)),
        (1000, (100.32770419120789, 103.30715824751263)),
        (25000, (100.32938432693481, 103.3064863034369)),
    ];

    #[test]
    fn ranges_are_read_as_they_are_written() {
        for text in ["auto", "minmax", "zscale", "p1,99.5", "-1.5,2.0", "0.0,1e-300"] {
            assert_eq!(text.parse::<Range>().unwrap().to_string(), text);
        }
        for bad in ["", "p", "1", "2,1", "p5,101", "nan,1", "0,inf"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ends_are_of_the_finite_values() {
        let values = [f64::NAN, 3.0, 1.0, f64::INFINITY, 2.0];
        assert_eq!(Range::MinMax.ends(&values), Some((1.0, 3.0)));
        assert_eq!(Range::Percentiles(0.0, 50.0).ends(&values), Some((1.0, 2.0)));
        assert_eq!(Range::Zscale.ends(&[f64::NAN]), None);
        assert_eq!(Range::Zscale.ends(&[4.0]), Some((4.0, 4.0)));
    }

    /// 1000 values from 0 to 1, of which some are replaced. Percentiles by numpy 2.5.5.
    #[test]
    fn the_middle_is_taken_where_outliers_would_leave_it_few_colours() {
        let with = |outliers: &[f64]| {
            let mut values: Vec<f64> = (0..1000).map(|at| f64::from(at) / 999.0).collect();
            values.splice(1000 - outliers.len().., outliers.iter().copied());
            values.sort_by(f64::total_cmp);
            let ends = (values[0], values[999]);
            middle(&values, ends)
        };
        let close = |found: Option<(f64, f64)>, wanted: (f64, f64)| {
            found.is_some_and(|found| (found.0 - wanted.0).abs() + (found.1 - wanted.1).abs() < 1e-12)
        };
        assert!(close(with(&[1e4]), (0.005, 0.995)) && close(with(&[10.0]), (0.005, 0.995)));
        assert!(close(with(&[-1e300, 1e300]), (3.995 / 999.0, 993.005 / 999.0)));
        assert_eq!((with(&[]), with(&[9.0]), with(&[1e4; 20])), (None, None, None));
        // One colour would be left to all.
        assert_eq!(middle(&[vec![0.0; 999], vec![5.0]].concat(), (0.0, 5.0)), None);
        assert_eq!((middle(&[], (0.0, 1.0)), middle(&[3.0], (3.0, 3.0))), (None, None));
    }

    #[test]
    fn percentiles_of_numbers_far_apart_are_finite() {
        let far = [1.7e308, -1.7e308];
        assert_eq!(Range::Percentiles(0.0, 100.0).ends(&far), Some((-1.7e308, 1.7e308)));
        assert_eq!(Range::Percentiles(25.0, 75.0).ends(&far), Some((-8.5e307, 8.5e307)));
    }

    /// Values by astropy 8.0.2: `LogStretch()(0.1)` and so on.
    #[test]
    fn stretches_are_astropys() {
        let close = |have: f64, want: f64| (have - want).abs() < 1e-12;
        assert!(
            close(Stretch::Log.apply(0.1), STRETCHED[0]) && close(Stretch::Asinh.apply(0.1), STRETCHED[1])
        );
        assert!(close(Stretch::Sqrt.apply(0.25), 0.5) && close(Stretch::Linear.apply(1.5), 1.0));
        assert!(close(place(f64::MAX, f64::MIN, f64::MAX), 1.0) && close(place(3.0, 3.0, 3.0), 0.5));
    }

    const STRETCHED: [f64; 2] = [0.6680104684941067, 0.2939653260048424];
}
