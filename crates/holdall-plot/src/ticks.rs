//! Round numbers along an axis.

/// A mark with its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Marks, and what their labels leave out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) ticks: Vec<Tick>,
    /// ` ×10⁵ + 3`, for the end of the axis; empty for labels that say all.
    pub(crate) note: String,
}

/// Steps of 1, 2 or 5 times a power of ten, at most `most` of them from `low` to `high`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few marks")]
pub(crate) fn linear(low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 || most == 0 {
        return Ticks::default();
    }
    let rough = span / most as f64;
    let power = rough.log10().floor();
    let base = 10_f64.powf(power);
    let mut step =
        [1.0, 2.0, 5.0, 10.0].map(|nice| nice * base).into_iter().find(|step| *step >= rough * 0.999);
    if whole {
        step = step.map(|step| step.max(1.0));
    }
    let Some(mut step) = step.filter(|step| *step > 0.0 && step.is_finite()) else { return Ticks::default() };
    let marks = |step: f64| ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let (mut first, mut last) = marks(step);
    if last - first < 1.0 {
        // One mark alone tells no scale: the next smaller step, if its marks have room.
        let smaller =
            [5.0, 2.0, 1.0, 0.5].map(|nice| nice * base).into_iter().find(|less| *less < step * 0.9);
        let smaller = smaller.filter(|less| *less > 0.0 && (!whole || *less >= 1.0));
        if let Some((less, ends)) = smaller.map(|less| (less, marks(less)))
            && ends.1 - ends.0 > last - first
            && ends.1 - ends.0 <= most as f64
        {
            (step, (first, last)) = (less, ends);
        }
    }
    if !(0.0..=1000.0).contains(&(last - first)) {
        return Ticks::default();
    }
    let values: Vec<f64> = (0..=(last - first) as u32).map(|at| (first + f64::from(at)) * step).collect();
    let magnitude = low.abs().max(high.abs());
    // Labels of more than 6 digits are told by what they have in common.
    let round = 10_f64.powf((span.log10() + 0.5).ceil());
    let common = if magnitude / step > 2e5 { (low / round).floor() * round } else { 0.0 };
    let magnitude = if common == 0.0 { magnitude } else { (low - common).abs().max((high - common).abs()) };
    let exponent = magnitude.log10().floor();
    let exponent = if (-3.0..5.0).contains(&exponent) { 0 } else { exponent as i32 };
    // In two steps: of the least numbers, the power that takes them to 1 is beyond the greatest.
    let half = exponent / 2;
    let (first, second) = (10_f64.powi(-half), 10_f64.powi(half - exponent));
    let scaled = |value: f64| value * first * second;
    // The exponent again: logarithms of powers of ten round.
    let decimals = (-scaled(step).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let label = |value: &f64| minus(&format!("{:.decimals$}", scaled(value - common) + 0.0));
    let ticks = values.iter().map(|value| Tick { value: *value, label: label(value) }).collect();
    let mut note = String::new();
    if exponent != 0 {
        note = format!("×10{}", superscript(exponent));
    }
    if common != 0.0 {
        let sign = if common < 0.0 { "−" } else { "+" };
        note = format!("{note} {sign} {}", exact(common.abs())).trim_start().to_owned();
    }
    Ticks { ticks, note }
}

/// As [`linear`], of numbers that are counted from an integer, which doubles would round. Labels and note are of the numbers, the
/// marks are counted from the integer.
pub(crate) fn based(base: i128, low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    let span = high - low;
    if base == 0 || !span.is_finite() || span <= 0.0 {
        return linear(low, high, most, whole);
    }
    let (common, shift) = common(base, low, span);
    let mut ticks = linear(low + shift, high + shift, most, whole);
    ticks.ticks.iter_mut().for_each(|tick| tick.value -= shift);
    ticks.note = with_common(&ticks.note, common);
    ticks
}

/// The mark of a range that is one number.
pub(crate) fn single(base: i128, value: f64) -> Ticks {
    let (common, shift) = if base == 0 { (0, 0.0) } else { common(base, value, 50.0) };
    let tick = Tick { value, label: short(value + shift) };
    Ticks { ticks: vec![tick], note: with_common("", common) }
}

/// What labels leave out of integers of many digits, and what is added to numbers that are counted from `base` to get the rest.
#[expect(clippy::cast_possible_truncation, reason = "spans of integers of 8 bytes")]
pub(crate) fn common(base: i128, low: f64, span: f64) -> (i128, f64) {
    let start = base.saturating_add(low.floor() as i128);
    let common = if start.unsigned_abs() as f64 > 1e4 * span {
        let round = 10_f64.powf((span.log10() + 0.5).ceil()).max(1.0) as i128;
        start.div_euclid(round) * round
    } else {
        0
    };
    (common, base.saturating_sub(common) as f64)
}

pub(crate) fn with_common(note: &str, common: i128) -> String {
    match common {
        0 => note.to_owned(),
        common => {
            let sign = if common < 0 { "−" } else { "+" };
            format!("{note} {sign} {}", common.unsigned_abs()).trim_start().to_owned()
        }
    }
}

/// A number in few characters: up to six digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return if value.is_nan() { "NaN".into() } else { minus(&format!("{value}")) };
    }
    let text = format!("{value:.5e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return minus(text);
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    match digits {
        "1" => format!("10{}", superscript(exponent)),
        "-1" => format!("−10{}", superscript(exponent)),
        digits => format!("{}×10{}", minus(digits), superscript(exponent)),
    }
}

/// A positive number with all its digits.
pub(crate) fn exact(value: f64) -> String {
    if (1e-5..1e16).contains(&value) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}×10{}", superscript(exponent.parse().unwrap_or(0)))
}

/// With the minus sign of typography; zero has none.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|letter| matches!(letter, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

fn superscript(exponent: i32) -> String {
    let raised = |letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    exponent.to_string().chars().map(raised).collect()
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
        // One alone tells no scale.
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
        assert_eq!(linear(f64::MIN, f64::MAX, 5, false), Ticks::default());
        assert!(!labels(-1e308, 0.7e308, 5).0.is_empty());
        assert!(labels(0.0, 5e-324, 5).0.len() < 10);
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.1, "0.1"), (-12.5, "−12.5"), (1e6, "10⁶"), (1.5e-7, "1.5×10⁻⁷"), (123_456.0, "123456")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
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
