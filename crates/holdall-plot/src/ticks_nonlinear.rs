//! Marks along an axis where numbers are not spread evenly: 0, then 1, 2 and 5 times powers of ten, then round numbers between them.

use crate::axis_offset::{common, note, offset, scaled, with_common};
use crate::number_format::short;
use crate::ticks::{Tick, Ticks};

/// Number of letters of a label that fit next to an axis, its own label included.
const LABEL: usize = 7;

/// Marks further from each other than this many times the least gap get one between them.
const WIDE: f64 = 3.0;

/// Numbers whose ratio to the span exceeds this differ too late for short labels: a common offset is left out.
const MAX_LABEL_RATIO: f64 = 1e3;

/// With fewer marks than this, the labels leave out a power of ten, if that gives more.
const MIN_MARKS: usize = 5;

/// An axis from `low` to `high`, which are counted from the integer `base`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bent {
    pub(crate) base: i128,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The least distance of marks, of the axis' length.
    pub(crate) gap: f64,
    /// Only whole numbers mean something.
    pub(crate) whole: bool,
}

impl Bent {
    /// Chooses the marks; `place` maps a number to its place along the axis, from 0 to 1. Values are counted from `base`, as the ends are.
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    pub(crate) fn ticks(&self, place: impl Fn(f64) -> f64) -> Ticks {
        let Self { base, low, high, .. } = *self;
        if !low.is_finite() || !high.is_finite() || low >= high {
            return Ticks::default();
        }
        // Integers, or any number, that all have in common.
        let (mut whole, mut part, mut shift) = (0, 0.0, 0.0);
        if base != 0 {
            (whole, shift) = common(base, low, high, high - low);
        } else if low.abs().max(high.abs()) / 2.0 > MAX_LABEL_RATIO * (high / 2.0 - low / 2.0) {
            part = offset(low, high);
            shift = -part;
        }
        let magnitude = (low + shift).abs().max((high + shift).abs());
        let marked = |exponent: i32| {
            let value = |number: f64| scaled(number, exponent) - shift;
            let mut marks = Marks {
                low: scaled(low + shift, -exponent),
                high: scaled(high + shift, -exponent),
                gap: self.gap,
                whole: self.whole,
                place: |number: f64| place(value(number)),
                found: Vec::new(),
            };
            marks.powers();
            marks.ends();
            marks.between();
            marks.found.sort_by(|a, b| a.value.total_cmp(&b.value));
            marks.found.iter_mut().for_each(|tick| tick.value = value(tick.value).clamp(low, high));
            Ticks { ticks: marks.found, note: with_common(&note(exponent, part), whole) }
        };
        let ticks = marked(0);
        let exponent = magnitude.log10().floor() as i32;
        if ticks.ticks.len() >= MIN_MARKS || exponent == 0 || self.whole {
            return ticks;
        }
        // Their labels are too long, or they are among the least or the greatest doubles.
        let others = marked(exponent);
        if others.ticks.len() > ticks.ticks.len() { others } else { ticks }
    }
}

struct Marks<P> {
    low: f64,
    high: f64,
    gap: f64,
    whole: bool,
    place: P,
    found: Vec<Tick>,
}

impl<P: Fn(f64) -> f64> Marks<P> {
    /// Adds a number if it has room and a label that distinguishes it.
    fn add(&mut self, value: f64) {
        if !(self.low..=self.high).contains(&value) || (self.whole && value.fract() != 0.0) {
            return;
        }
        let at = (self.place)(value);
        let label = short(value);
        let is_free = |other: &Tick| {
            // Equal but for rounding is far enough.
            ((self.place)(other.value) - at).abs() >= self.gap * 0.999 && other.label != label
        };
        if label.chars().count() <= LABEL && self.found.iter().all(is_free) {
            self.found.push(Tick { value, label });
        }
    }

    /// Adds powers, the greatest first: they cover most of the values.
    fn powers(&mut self) {
        self.add(0.0);
        let top = self.low.abs().max(self.high.abs()).log10().floor();
        for factors in [&[1.0][..], &[5.0, 2.0]] {
            for down in 0..12 {
                let power = 10_f64.powf(top - f64::from(down));
                for factor in factors {
                    self.add(factor * power);
                    self.add(-factor * power);
                }
            }
        }
    }

    /// Adds a number near each end that lacks one.
    fn ends(&mut self) {
        for end in [0.0, 1.0_f64] {
            let places = self.found.iter().map(|tick| ((self.place)(tick.value) - end).abs());
            let room = (places.fold(1.0, f64::min) - self.gap).min(self.gap);
            if room > 0.0 {
                let (from, to) = if end == 0.0 { (0.0, room) } else { (1.0 - room, 1.0) };
                self.add_round(from, to, end);
            }
        }
    }

    /// Numbers where marks are far from each other.
    fn between(&mut self) {
        // Each adds a mark or is the last for its gap.
        let mut done = 0.0;
        for _ in 0..64 {
            let mut places: Vec<f64> = self.found.iter().map(|tick| (self.place)(tick.value)).collect();
            places.extend([0.0, 1.0]);
            places.sort_by(f64::total_cmp);
            let wide = |pair: &&[f64]| pair[0] >= done && pair[1] - pair[0] > WIDE * self.gap;
            let Some((from, to)) = places.windows(2).find(wide).map(|pair| (pair[0], pair[1])) else {
                return;
            };
            let count = self.found.len();
            let inner = (0.3 * (to - from)).max(self.gap);
            for margin in [inner, self.gap] {
                if self.found.len() == count {
                    self.add_round(from + margin, to - margin, (from + to) / 2.0);
                }
            }
            if self.found.len() == count {
                done = to;
            }
        }
    }

    /// The number of the fewest digits between two places, the nearest to a third.
    fn add_round(&mut self, from: f64, to: f64, wanted: f64) {
        let (low, high) = (self.at(from).max(self.low), self.at(to).min(self.high));
        let top = low.abs().max(high.abs()).log10().floor();
        if high < low || !top.is_finite() {
            return;
        }
        let wanted = self.at(wanted);
        for down in 0..8 {
            let power = 10_f64.powf(top - f64::from(down));
            for step in [10.0 * power, 5.0 * power, 2.0 * power, power] {
                let slack = step * 1e-9;
                let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
                if first <= last && (!self.whole || step >= 1.0) {
                    let value = (wanted / step).round().clamp(first, last) * step;
                    // Ends that are round but for their last bit are themselves.
                    self.add(value.clamp(self.low, self.high));
                    return;
                }
            }
        }
    }

    /// The number at a place.
    fn at(&self, place: f64) -> f64 {
        let (mut low, mut high) = (self.low, self.high);
        for _ in 0..80 {
            let middle = low / 2.0 + high / 2.0;
            if (self.place)(middle) < place { low = middle } else { high = middle }
        }
        if place >= 1.0 {
            self.high
        } else if place <= 0.0 {
            self.low
        } else {
            high
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{Stretch, place};

    const GAP: f64 = 0.05;

    fn marks(base: i128, low: f64, high: f64, stretch: Stretch) -> (Vec<String>, String) {
        let at = |value: f64| stretch.apply(place(value, low, high));
        let ticks = Bent { base, low, high, gap: GAP, whole: false }.ticks(at);
        let places: Vec<f64> = ticks.ticks.iter().map(|tick| at(tick.value)).collect();
        assert!(places.len() > 4, "{low} {high}: {ticks:?}");
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] > GAP * 0.99), "{low} {high}: {ticks:?}");
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] < 0.3), "{low} {high}: {ticks:?}");
        // No end is bare.
        let ends = (places[0], 1.0 - places[places.len() - 1]);
        assert!(ends.0 < 2.0 * GAP && ends.1 < 2.0 * GAP, "{low} {high}: {ticks:?}");
        (ticks.ticks.into_iter().map(|tick| tick.label).collect(), ticks.note)
    }

    /// 1, 2 and 5 times powers of ten where there is room, 0, and both signs.
    #[test]
    fn marks_are_round_numbers_from_end_to_end() {
        let cases: [(f64, f64, Stretch, &[&str]); 4] = [
            (
                0.0,
                1.0,
                Stretch::Log,
                &["0", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"],
            ),
            (
                -1000.0,
                1000.0,
                Stretch::Asinh,
                &["−1000", "−950", "−900", "−800", "−700", "−600", "−500", "−200", "0", "200", "500", "1000"],
            ),
            (
                -5.0,
                5.0,
                Stretch::Log,
                &["−5", "−4.99", "−4.98", "−4.95", "−4.9", "−4.8", "−4.5", "−4", "−3", "−2", "0", "5"],
            ),
            (3.0, 47.0, Stretch::Asinh, &["3", "5", "6", "8", "10", "12", "15", "20", "25", "30", "45"]),
        ];
        for (low, high, stretch, expected) in cases {
            assert_eq!(
                marks(0, low, high, stretch),
                (expected.iter().map(|mark| (*mark).to_owned()).collect(), String::new())
            );
        }
        for (low, high) in
            [(0.0, 5e4), (1.0, 1e3), (-3e-8, 2e-5), (0.5, 0.52), (1e5, 3e5), (90.0, 112.0), (-5e4, -100.0)]
        {
            for stretch in [Stretch::Log, Stretch::Asinh, Stretch::Sqrt] {
                let (labels, note) = marks(0, low, high, stretch);
                assert!(
                    note.is_empty() && labels.iter().all(|label| label.chars().count() <= LABEL),
                    "{labels:?}"
                );
            }
        }
    }

    /// Their labels were all the same.
    #[test]
    fn labels_far_from_zero_share_an_offset_note() {
        let (labels, note) = marks(0, 1e9, 1e9 + 1.0, Stretch::Asinh);
        assert_eq!(
            (labels[0].as_str(), labels[labels.len() - 1].as_str(), note.as_str()),
            ("0", "1", "+ 1000000000")
        );
        let (labels, note) = marks((1 << 60) + 4, 0.0, 10.0, Stretch::Log);
        assert_eq!(
            (labels[0].as_str(), labels[labels.len() - 1].as_str(), note.as_str()),
            ("80", "90", "+ 1152921504606846900")
        );
    }

    /// Such axes had one label or none.
    #[test]
    fn every_range_has_numbers() {
        for (low, high, scale, common) in [
            (-1.9871e9, -1.0123e9, 1e9, "×10⁹"),
            (1.0123e-7, 1.9871e-7, 1e-7, "×10⁻⁷"),
            (f64::MIN, f64::MAX, 1e308, "×10³⁰⁸"),
        ] {
            for stretch in [Stretch::Log, Stretch::Asinh, Stretch::Sqrt] {
                let (labels, note) = marks(0, low, high, stretch);
                let numbers: Vec<f64> =
                    labels.iter().map(|label| label.replace('−', "-").parse().unwrap()).collect();
                let within = numbers.iter().all(|number| (low / scale..=high / scale).contains(number));
                assert!(within && numbers.is_sorted(), "{labels:?}");
                assert_eq!(note, common);
            }
        }
    }

    /// Ends of all sizes, near to each other and far.
    #[test]
    fn no_axis_has_a_single_number() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for turn in 0..600 {
            let size = 10_f64.powf(random() * 600.0 - 300.0);
            let size = if turn % 3 == 0 { 10_f64.powf(random() * 16.0 - 8.0) } else { size };
            let (low, width) = ((random() * 2.0 - 1.0) * size, size * 10_f64.powf(-10.0 * random()));
            let high = low + width;
            if low >= high {
                continue;
            }
            for stretch in Stretch::ALL {
                let at = |value: f64| stretch.apply(place(value, low, high));
                let ticks = match stretch {
                    Stretch::Linear => crate::ticks::linear(low, high, 8, false),
                    _ => Bent { base: 0, low, high, gap: GAP, whole: false }.ticks(at),
                };
                let labels: Vec<&str> = ticks.ticks.iter().map(|tick| tick.label.as_str()).collect();
                let is_in = ticks.ticks.iter().all(|tick| (low..=high).contains(&tick.value));
                let differ = labels.windows(2).all(|pair| pair[0] != pair[1]);
                assert!(labels.len() > 1 && is_in && differ, "{low:?} {high:?} {stretch:?}: {ticks:?}");
                let longest = labels.iter().map(|label| label.trim_start_matches('−').chars().count()).max();
                assert!(longest <= Some(8), "{low:?} {high:?} {stretch:?}: {labels:?}");
            }
        }
    }

    #[test]
    fn degenerate_ranges_have_empty_ticks() {
        for (low, high) in [(1.0, 1.0), (f64::NEG_INFINITY, f64::MAX), (f64::NAN, 1.0)] {
            let bent = Bent { base: 0, low, high, gap: GAP, whole: false };
            assert_eq!(bent.ticks(|value| place(value, low, high)), Ticks::default());
        }
        let whole = Bent { base: 0, low: 0.0, high: 2.1, gap: GAP, whole: true };
        let labels: Vec<String> =
            whole.ticks(|value| (value / 2.1_f64).sqrt()).ticks.into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0", "1", "2"]);
    }
}
