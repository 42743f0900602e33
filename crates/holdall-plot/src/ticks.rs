//! Round numbers along an axis.

use crate::axis_offset::{common, note, offset, scaled, with_common};
use crate::number_format::{minus, short};

/// A mark with its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Marks, and the common offset of their labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) ticks: Vec<Tick>,
    /// ` ×10⁵ + 3`, for the end of the axis; empty for labels that are complete.
    pub(crate) note: String,
}

/// Labels of more digits than this leave out a common offset.
const DIGITS: f64 = 2e5;

/// Labels of more letters than this, their sign aside, leave out a common offset as well.
const LETTERS: usize = 8;

/// Steps of 1, 2 or 5 times a power of ten, at most `most` of them from `low` to `high`.
pub(crate) fn linear(low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    if !low.is_finite() || !high.is_finite() || low >= high || most == 0 {
        return Ticks::default();
    }
    let (ticks, is_long) = beyond(0.0, low, high, most, whole);
    if is_long {
        let common = offset(low, high);
        if common != 0.0 {
            return beyond(common, low, high, most, whole).0;
        }
    }
    ticks
}

/// The marks with labels relative to `common`; true where those are long.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few marks")]
fn beyond(common: f64, low: f64, high: f64, most: usize, whole: bool) -> (Ticks, bool) {
    // Ends that are round but for their last bit have marks.
    let slack = if common == 0.0 { 0.0 } else { low.abs().max(high.abs()) * f64::EPSILON };
    let (from, to) = (low - common - slack, high - common + slack);
    let magnitude = from.abs().max(to.abs());
    // Neither the span of the greatest doubles is one, nor are steps between the least.
    let tens = if (1e-280..1e300).contains(&magnitude) { 0 } else { -magnitude.log10().floor() as i32 };
    let [from, to, magnitude] = [from, to, magnitude].map(|value| scaled(value, tens));
    let span = to - from;
    let least = if whole { scaled(1.0, tens) } else { 0.0 };
    let Some(step) = step(from, to, most, least) else { return Default::default() };
    let (first, last) = marks(from, to, step);
    let is_long = magnitude / step > DIGITS;
    if span <= 0.0 || !(0.0..=1000.0).contains(&(last - first)) {
        return (Ticks::default(), is_long);
    }
    let exponent = magnitude.log10().floor() as i32 - tens;
    let exponent = if (-3..5).contains(&exponent) { 0 } else { exponent };
    let shown = |value: f64| scaled(value, -tens - exponent);
    // The exponent again: logarithms of powers of ten round.
    let decimals = (-shown(step).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let tick = |at: u32| {
        let number = (first + f64::from(at)) * step;
        let value = (scaled(number, -tens) + common).clamp(low, high);
        Tick { value, label: minus(&format!("{:.decimals$}", shown(number) + 0.0)) }
    };
    let ticks: Vec<Tick> = (0..=(last - first) as u32).map(tick).collect();
    let letters = |tick: &Tick| tick.label.trim_start_matches('−').chars().count();
    let is_long = is_long || ticks.iter().map(letters).max() > Some(LETTERS);
    (Ticks { ticks, note: note(exponent, common) }, is_long)
}

/// The number of the first and of the last mark.
fn marks(low: f64, high: f64, step: f64) -> (f64, f64) {
    ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor())
}

/// The distance of marks.
fn step(low: f64, high: f64, most: usize, least: f64) -> Option<f64> {
    let rough = (high - low) / most as f64;
    let base = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].map(|nice| nice * base);
    let mut step = nice.into_iter().find(|step| *step >= rough * 0.999)?.max(least);
    if step <= 0.0 || !step.is_finite() {
        return None;
    }
    let count = |step: f64| {
        let (first, last) = marks(low, high, step);
        last - first + 1.0
    };
    // A single mark does not show the scale: tries a smaller step, if its marks have room.
    for smaller in [5.0, 2.0, 1.0, 0.5, 0.2, 0.1].map(|nice| nice * base) {
        let is_better = smaller < step * 0.9 && count(smaller) > count(step);
        if count(step) < 2.0 && is_better && smaller >= least && count(smaller) <= most as f64 + 1.0 {
            step = smaller;
        }
    }
    Some(step)
}

/// As [`linear`], of numbers that are counted from an integer, which doubles would round. Labels and note are of the numbers, the
/// marks are counted from the integer.
pub(crate) fn based(base: i128, low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    let span = high - low;
    if base == 0 || !span.is_finite() || span <= 0.0 {
        return linear(low, high, most, whole);
    }
    let (common, shift) = common(base, low, high, span);
    let mut ticks = linear(low + shift, high + shift, most, whole);
    ticks.ticks.iter_mut().for_each(|tick| tick.value -= shift);
    ticks.note = with_common(&ticks.note, common);
    ticks
}

/// The mark of a range that is one number.
pub(crate) fn single(base: i128, value: f64) -> Ticks {
    let (common, shift) = if base == 0 { (0, 0.0) } else { common(base, value, value, 50.0) };
    let tick = Tick { value, label: short(value + shift) };
    Ticks { ticks: vec![tick], note: with_common("", common) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> (Vec<String>, String) {
        let ticks = linear(low, high, most, false);
        (ticks.ticks.into_iter().map(|tick| tick.label).collect(), ticks.note)
    }

    fn expect(low: f64, high: f64, most: usize, marks: &[&str], note: &str) {
        assert_eq!(
            labels(low, high, most),
            (marks.iter().map(|mark| (*mark).to_owned()).collect(), note.to_owned())
        );
    }

    #[test]
    fn marks_are_round_numbers() {
        expect(0.0, 1.0, 6, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], "");
        expect(-1.0, 1.0, 4, &["−1.0", "−0.5", "0.0", "0.5", "1.0"], "");
        expect(0.0, 4e7, 4, &["0", "1", "2", "3", "4"], "×10⁷");
        expect(1e9, 1e9 + 1.0, 2, &["0.0", "0.5", "1.0"], "+ 1000000000");
        expect(1e9 + 0.04, 1e9 + 1.0, 2, &["0.5", "1.0"], "+ 1000000000");
        expect(123_456.125, 123_456.25, 3, &["0.15", "0.20", "0.25"], "+ 123456");
        expect(0.0, 3e-8, 3, &["0", "1", "2", "3"], "×10⁻⁸");
        // A single mark does not show the scale.
        expect(90.0, 19031.0, 3, &["5000", "10000", "15000"], "");
        expect(-3.2, 3.2, 2, &["−2", "0", "2"], "");
        expect(0.1, 1.9, 1, &["1"], "");
        assert_eq!(linear(0.4, 1.6, 2, true).ticks.len(), 1);
        expect(0.5, 4.52, 2, &["2", "4"], "");
        expect(0.51, 0.52, 1, &["0.51", "0.52"], "");
        assert_eq!(linear(0.2, 0.8, 2, true), Ticks::default());
        expect(0.0, 3e-310, 3, &["0", "1", "2", "3"], "×10⁻³¹⁰");
        expect(0.0, 4e300, 4, &["0", "1", "2", "3", "4"], "×10³⁰⁰");
        assert_eq!(linear(1.0, 1.0, 5, false), Ticks::default());
        // The difference of these ends overflows a double.
        expect(f64::MIN, f64::MAX, 4, &["−1", "0", "1"], "×10³⁰⁸");
        expect(0.0, 1.7e308, 4, &["0.0", "0.5", "1.0", "1.5"], "×10³⁰⁸");
        expect(1e-300, 1.0001e-300, 4, &["1.00000", "1.00005", "1.00010"], "×10⁻³⁰⁰");
        expect(1.5e-300, 1.5e-300 + 2e-308, 4, &["0.0", "0.5", "1.0", "1.5", "2.0"], "×10⁻³⁰⁸ + 1.5×10⁻³⁰⁰");
        assert!(labels(0.0, 5e-324, 5).0.len() < 10);
    }

    #[test]
    fn long_labels_leave_out_what_they_have_in_common() {
        let near = |middle: f64, room: f64, marks: &[&str], note: &str| {
            expect(middle - room, middle + room, 6, marks, note);
        };
        near(1e9, 1e-3, &["−0.0010", "−0.0005", "0.0000", "0.0005", "0.0010"], "+ 1000000000");
        near(0.034_429_5, 2e-7, &["9.3", "9.4", "9.5", "9.6", "9.7"], "×10⁻⁶ + 0.03442");
        expect(1.0, 1.0 + 1e-12, 5, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], "×10⁻¹² + 1");
        expect(5.123e-5, 5.1234e-5, 5, &["5.1230", "5.1231", "5.1232", "5.1233", "5.1234"], "×10⁻⁵");
    }

    #[test]
    fn integers_beyond_doubles_have_labels_of_their_last_digits() {
        let base = (1_i128 << 60) + 7;
        let ticks = based(base, 0.0, 10.0, 6, false);
        let marks: Vec<(f64, &str)> =
            ticks.ticks.iter().map(|tick| (tick.value, tick.label.as_str())).collect();
        assert_eq!(marks, [(1.0, "84"), (3.0, "86"), (5.0, "88"), (7.0, "90"), (9.0, "92")]);
        assert_eq!(ticks.note, "+ 1152921504606846900");
        // Wide ones are as others are.
        let ticks = based(-base, 0.0, 2.0 * base as f64, 4, false);
        let labels: Vec<&str> = ticks.ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!((&labels[..], ticks.note.as_str()), (&["−1", "0", "1"][..], "×10¹⁸"));
        let one = single(base, 0.0);
        assert_eq!((one.ticks[0].label.as_str(), one.note.as_str()), ("983", "+ 1152921504606846000"));
    }
}
