//! Offset of an axis: the power of ten and the number that its labels leave out.

use crate::number_format::{exact, superscript};

/// `value` times a power of ten, in two steps: of the least numbers, the power that takes them to 1 is beyond the greatest.
pub(crate) fn scaled(value: f64, tens: i32) -> f64 {
    let half = tens / 2;
    value * 10_f64.powi(half) * 10_f64.powi(tens - half)
}

/// The power of ten that is a little more than `span`: its multiples have few digits, and labels beyond one of them, too.
#[expect(clippy::cast_possible_truncation, reason = "an exponent")]
fn power(span: f64) -> i32 {
    (span.log10() + 0.5).ceil() as i32
}

/// Offset of numbers from `low` to `high`, whose distance is finite: a number of few digits, the one between them if there is one, else the next
/// towards 0. It is 0 for numbers that are not far from 0.
///
/// In decimal digits: products of doubles would have more of them.
pub(crate) fn offset(low: f64, high: f64) -> f64 {
    let (power, middle) = (power(high - low), low / 2.0 + high / 2.0);
    let exponent = |text: &str| text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    let exponent_of_middle = exponent(&format!("{middle:e}")).unwrap_or(0);
    // Labels nearer to 0 than that share no offset.
    let Some(decimals) = usize::try_from(exponent_of_middle - power).ok().filter(|count| *count < 30) else {
        return 0.0;
    };
    let text = format!("{middle:.decimals$e}");
    let digits: String = text.chars().take_while(|letter| *letter != 'e').filter(|c| *c != '.').collect();
    let Ok(mut digits) = digits.parse::<i128>() else { return 0.0 };
    // 9.99 may have become 10.0.
    if exponent(&text) > Some(exponent_of_middle) {
        digits *= 10;
    }
    let number = |digits: i128| format!("{digits}e{power}").parse().unwrap_or(0.0);
    let nearest: f64 = number(digits);
    if !(low..=high).contains(&nearest) && nearest.abs() > middle.abs() {
        return number(digits - digits.signum());
    }
    nearest
}

/// As above, for integers that are counted from `base`; and the offset to add to the labels. `span` bounds the numbers in labels.
#[expect(clippy::cast_possible_truncation, reason = "spans of integers of 8 bytes")]
pub(crate) fn common(base: i128, low: f64, high: f64, span: f64) -> (i128, f64) {
    let start = base.saturating_add(low.floor() as i128);
    if start.unsigned_abs() as f64 <= 1e4 * span {
        return (0, base as f64);
    }
    let round = 10_f64.powi(power(span).max(0)) as i128;
    let middle = base.saturating_add((low / 2.0 + high / 2.0).floor() as i128);
    let nearest = (middle + round / 2).div_euclid(round) * round;
    let common =
        if (low..=high).contains(&((nearest - base) as f64)) { nearest } else { middle / round * round };
    (common, base.saturating_sub(common) as f64)
}

/// `×10⁵ + 3`.
pub(crate) fn note(exponent: i32, common: f64) -> String {
    let power = if exponent == 0 { String::new() } else { format!("×10{}", superscript(exponent)) };
    if common == 0.0 { power } else { joined(&power, common < 0.0, &exact(common.abs())) }
}

/// A note with an integer that is added.
pub(crate) fn with_common(note: &str, common: i128) -> String {
    match common {
        0 => note.to_owned(),
        common => joined(note, common < 0, &common.unsigned_abs().to_string()),
    }
}

fn joined(note: &str, is_negative: bool, common: &str) -> String {
    let sign = if is_negative { '−' } else { '+' };
    format!("{note} {sign} {common}").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets were once shown as floors of multiples of doubles: 999999999.99, 0.034420000000000006, 1.49999998999999998×10⁻³⁰⁰.
    #[test]
    fn offsets_have_few_digits() {
        for (low, high, common) in [
            (999_999_999.999, 1_000_000_000.001, 1e9),
            (999_999_999_999_990.0, 1_000_000_000_000_209.0, 1e15),
            (1.0 - 5e-14, 1.0 + 1.05e-12, 1.0),
            (1.5e-300 - 1e-309, 1.5e-300 + 2e-308, 1.5e-300),
            (0.034_429_3, 0.034_429_7, 0.034_42),
            (-0.034_429_7, -0.034_429_3, -0.034_42),
            (123_456.625, 123_456.75, 123_456.0),
            (99_999.7, 99_999.9, 99_999.0),
            (1e9, 1e9 + 1.0, 1e9),
            (3.0, 7.0, 0.0),
            (-1.0, 1.0, 0.0),
        ] {
            assert_eq!(offset(low, high), common, "{low} {high}");
        }
        assert_eq!(note(0, 0.034_42), "+ 0.03442");
        assert_eq!(note(-7, -1.5e-300), "×10⁻⁷ − 1.5×10⁻³⁰⁰");
    }

    #[test]
    fn integers_leave_out_round_ones() {
        // Seconds of 2024 in nanoseconds, from a little before its first.
        let base = 1_704_067_199_000_000_000;
        let (common, shift) = common(base, 0.0, 2e10, 2e10);
        assert_eq!((common, shift), (1_704_067_200_000_000_000, -1e9));
        assert_eq!(with_common("×10⁹", common), "×10⁹ + 1704067200000000000");
    }
}
