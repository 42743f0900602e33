//! Hints for pictures that show one colour or one bar.

use crate::scale::{MIDDLE, Range, Stretch, percentile};

/// Share of points or values above which a picture shows little else.
const MOST: f64 = 0.95;

/// Levels of colour that are told apart.
const LEVELS: usize = 256;

/// Numbers of points by their level of colour.
pub(crate) struct Levels([u64; LEVELS]);

impl Levels {
    pub(crate) const fn new() -> Self {
        Self([0; LEVELS])
    }

    /// Counts a point at `place`, from 0 to 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the levels")]
    pub(crate) fn count(&mut self, place: f64) {
        let level = (place * LEVELS as f64).clamp(0.0, (LEVELS - 1) as f64) as usize;
        if let Some(count) = self.0.get_mut(level) {
            *count += 1;
        }
    }

    /// A hint where nearly all points have one colour. `sample` are values of the data, sorted. Data of one or two values have no more colours,
    /// and a range that was asked for has its reason.
    pub(crate) fn hint(&self, range: Range, stretch: Stretch, sample: &[f64]) -> Option<String> {
        let changes = sample.windows(2).filter(|pair| pair.first() != pair.last()).count();
        if matches!(range, Range::Fixed(..)) || changes < 2 {
            return None;
        }
        let share = share(&self.0)?;
        let is_spread = percentile(sample, MIDDLE.0) < percentile(sample, MIDDLE.1);
        let how = match stretch {
            _ if is_spread => {
                format!("--range=p{},{} shows the differences between them", MIDDLE.0, MIDDLE.1)
            }
            Stretch::Linear => "--stretch log shows differences between small values".to_owned(),
            _ => "--range=LOW,HIGH shows a part of them".to_owned(),
        };
        Some(format!("{share} of the points have nearly one colour; {how}"))
    }
}

/// A hint where nearly all values are in one bar of several.
pub(crate) fn of_bars(counts: &[u64], stretch: Stretch) -> Option<String> {
    if counts.iter().filter(|count| **count > 0).count() < 2 {
        return None;
    }
    let share = share(counts)?;
    let how = match stretch {
        Stretch::Linear => "--stretch log shows the others, --range=LOW,HIGH a part of the values",
        _ => "--range=LOW,HIGH shows a part of the values",
    };
    Some(format!("{share} of the values are in one bar; {how}"))
}

/// The share of the greatest count in all, in percent, where it is more than [`MOST`].
fn share(counts: &[u64]) -> Option<String> {
    let all: u64 = counts.iter().sum();
    let most = counts.iter().copied().max().unwrap_or(0);
    let share = most as f64 / all.max(1) as f64;
    // Cut, not rounded: 100 % would be wrong.
    (share > MOST).then(|| format!("{} %", (share * 1000.0).floor() / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_what_would_show_more() {
        assert_eq!(
            of_bars(&[96, 4, 0], Stretch::Linear).unwrap(),
            "96 % of the values are in one bar; --stretch log shows the others, --range=LOW,HIGH a part of the values"
        );
        assert!(
            of_bars(&[9999, 1], Stretch::Log)
                .unwrap()
                .starts_with("99.9 % of the values are in one bar; --range=")
        );
        for quiet in [&[95, 5][..], &[7], &[7, 0], &[0, 0], &[]] {
            assert_eq!(of_bars(quiet, Stretch::Linear), None, "{quiet:?}");
        }
        let mut levels = Levels::new();
        (0..97).for_each(|_| levels.count(0.0));
        (0..3).for_each(|at| levels.count(0.3 * f64::from(at) + 0.4));
        let sample: Vec<f64> = (0..100).map(f64::from).collect();
        let hint = |range, stretch, sample: &[f64]| levels.hint(range, stretch, sample).unwrap_or_default();
        assert!(
            hint(Range::MinMax, Stretch::Linear, &sample)
                .contains("97 % of the points have nearly one colour; --range=p0.5,99.5")
        );
        let sparse = [vec![1.0; 997], vec![2.0, 3.0]].concat();
        assert!(hint(Range::MinMax, Stretch::Linear, &sparse).contains("--stretch log"));
        assert!(hint(Range::MinMax, Stretch::Log, &sparse).contains("--range=LOW,HIGH"));
        assert_eq!(hint(Range::Fixed(0.0.into(), 1.0.into()), Stretch::Linear, &sample), "");
        // A mask.
        assert_eq!(hint(Range::MinMax, Stretch::Linear, &[0.0, 0.0, 1.0]), "");
    }
}
