//! Numbers next to the data: those of the axis at the left, and the room that labels have.

use crate::frame::{Axis, Frame};
use crate::layout::{SideParts, TopParts};
use crate::scene::{Anchor, Rect, Rgba};
use crate::ticks::Ticks;

/// The parts of the height of letters that are above and below their line.
const OVER: f64 = 0.8;
const UNDER: f64 = 0.25;

/// Letters of labels become smaller before any are left out, down to this part.
const MIN_LABEL_SCALE: f64 = 0.75;

/// Pixels between labels and the text that runs upwards next to them.
const GAP: f64 = 4.0;

impl Frame<'_> {
    /// The axis at the left.
    pub(crate) fn upright(&mut self, y: &Axis) {
        const NUMBERS: &str = "numbers of the axis at the left";
        if self.plan.beside == SideParts::Nothing {
            self.leave_out("ticks at the left");
            return;
        }
        let Rect { x: left, y: top, h, .. } = self.rect;
        let (tick, normal) = (self.px(4.0), self.px(13.0));
        let mut ticks = y.ticks(h, self.px(48.0));
        let has_label = self.plan.beside < SideParts::Narrow;
        let note = if has_label { None } else { self.place_note(2.0, &mut ticks, NUMBERS) };
        let (end, furthest) = (left - self.px(8.0), 2.0 + OVER * normal);
        let beside = if has_label { furthest + UNDER * normal + self.px(GAP) } else { 1.0 };
        let room = end - beside;
        let small = self.letters(&ticks, room);
        let numbers = Numbers {
            line: (left - tick, left),
            at: end,
            anchor: Anchor::End,
            size: small,
            room,
            long: "long numbers of the axis at the left",
        };
        let under = self.under_note(note, &ticks.note);
        let widest = self.numbers(&ticks, &numbers, under, |value| top + h - y.at(value) * h);
        if has_label {
            let (label, size) = self.labelled(&y.label, &ticks.note, normal, f64::from(self.scene.height));
            let x = (end - widest - self.px(GAP) - UNDER * normal).min(left - self.px(58.0));
            self.upwards((x, top + h / 2.0), size, label);
            return;
        }
        self.leave_out("the label of the axis at the left");
        if let Some(place) = note {
            self.note(place, &ticks.note);
        }
    }

    /// Marks along an upright line with their numbers, those below `top` and on the sheet that have room. Gives the width of the widest.
    pub(crate) fn numbers(
        &mut self,
        ticks: &Ticks,
        numbers: &Numbers,
        top: f64,
        place: impl Fn(f64) -> f64,
    ) -> f64 {
        let Numbers { line: (from, to), at: x, anchor, size, room, long } = *numbers;
        let mut column = Column::new(size, top, f64::from(self.scene.height));
        let (line, mut widest) = (self.px(1.0).max(1.0), 0.0_f64);
        for mark in &ticks.ticks {
            let at = place(mark.value);
            self.scene.line(vec![(from, at), (to, at)], line, Rgba::BLACK);
            let width = self.font.width(&mark.label, size);
            if width == 0.0 {
                continue;
            }
            if width > room {
                self.leave_out(long);
            } else if let Some(at) = column.takes(at) {
                self.scene.text((x, at + size * 0.36), size, anchor, mark.label.clone());
                widest = widest.max(width);
            }
        }
        widest
    }

    /// A label of the colour bar, whose numbers begin at `start` and are at most `widest` wide.
    pub(crate) fn behind_numbers(&self, start: f64, widest: f64) -> f64 {
        start + widest + self.px(GAP) + OVER * self.px(13.0)
    }

    /// Room on the sheet for numbers that begin at `start`, with a label after them or without.
    pub(crate) fn room_behind(&self, start: f64, has_label: bool) -> f64 {
        let normal = self.px(13.0);
        let label = if has_label { 2.0 + (UNDER + OVER) * normal + self.px(GAP) } else { 2.0 };
        f64::from(self.scene.width) - start - label
    }

    /// Height of the letters with which all labels have room, unless they would be too small.
    pub(crate) fn letters(&self, ticks: &Ticks, room: f64) -> f64 {
        let small = self.small();
        let widths = ticks.ticks.iter().map(|tick| self.font.width(&tick.label, small));
        let widest = widths.fold(1.0, f64::max);
        // A little less, so that rounding makes none too wide.
        small * (room * 0.999 / widest).clamp(MIN_LABEL_SCALE, 1.0)
    }

    /// As [`Frame::note_place`]. Without room for it the numbers, which are `what`, are left out as well: without the offset they would be
    /// wrong.
    pub(crate) fn place_note(
        &mut self,
        at: f64,
        ticks: &mut Ticks,
        what: &'static str,
    ) -> Option<(f64, f64)> {
        let place = self.note_place(at, &ticks.note);
        if place.is_none() && !ticks.note.is_empty() {
            self.leave_out(what);
            ticks.ticks.iter_mut().for_each(|tick| tick.label.clear());
            ticks.note.clear();
        }
        place
    }

    /// Position of the note with the common offset of the labels, above the data, from `at` on or further left where it is too long, and the height
    /// of its letters.
    fn note_place(&self, at: f64, note: &str) -> Option<(f64, f64)> {
        let (sheet, small) = (f64::from(self.scene.width) - 4.0, self.small());
        let wide = self.font.width(note, small);
        let size = small * (sheet / wide.max(1.0)).min(1.0);
        let wide = wide * size / small;
        let from = at.min(sheet + 2.0 - wide).max(2.0);
        let is_free = self.note.is_none_or(|(start, end)| from > end + small || from + wide + small < start);
        (self.plan.above < TopParts::Nothing && size >= MIN_LABEL_SCALE * small && is_free)
            .then_some((from, size))
    }

    /// Draws the common offset of numbers at a place of [`Frame::note_place`].
    pub(crate) fn note(&mut self, (from, size): (f64, f64), note: &str) {
        if note.is_empty() {
            return;
        }
        let wide = self.font.width(note, size);
        let y = self.note_line(size);
        self.scene.text((from, y), size, Anchor::Start, note);
        let (start, end) = self.note.unwrap_or((from, from));
        self.note = Some((start.min(from), end.max(from + wide)));
    }

    fn note_line(&self, size: f64) -> f64 {
        (self.rect.y - self.px(8.0)).max(size * OVER)
    }

    /// Upper end of the numbers below a note.
    pub(crate) fn under_note(&self, place: Option<(f64, f64)>, note: &str) -> f64 {
        let size = place.filter(|_| !note.is_empty()).map(|(_, size)| size);
        size.map_or(0.0, |size| self.note_line(size) + 0.1 * size)
    }
}

/// Positions of the numbers along a vertical axis.
pub(crate) struct Numbers {
    /// The ends of their ticks.
    pub(crate) line: (f64, f64),
    /// Position at which they begin or end.
    pub(crate) at: f64,
    pub(crate) anchor: Anchor,
    /// Height of their letters.
    pub(crate) size: f64,
    /// Largest width.
    pub(crate) room: f64,
    /// Replacement of wider ones.
    pub(crate) long: &'static str,
}

/// Labels above each other.
struct Column {
    /// Height of a line.
    line: f64,
    /// The middle of the highest and of the lowest label there is room for.
    ends: (f64, f64),
    taken: Vec<f64>,
}

impl Column {
    fn new(small: f64, top: f64, bottom: f64) -> Self {
        let half = 0.5 * small;
        Self { line: small * 1.05, ends: (top + half, bottom - half), taken: Vec::new() }
    }

    /// The middle of a label, moved to where there is room; `None` where another is.
    fn takes(&mut self, at: f64) -> Option<f64> {
        let at = at.min(self.ends.1).max(self.ends.0);
        let is_free = self.taken.iter().all(|other| (other - at).abs() >= self.line);
        is_free.then(|| {
            self.taken.push(at);
            at
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Style;
    use crate::palette::Palette;
    use crate::scale::Stretch;
    use crate::text_boxes::{assert_apart, texts};

    /// The label of the axis and that of the colour bar lay on numbers of seven characters.
    #[test]
    fn labels_are_beside_the_widest_numbers() {
        let palette = Palette::by_name("viridis").unwrap();
        for (low, high, stretch) in [
            (-1_927_490.0, 4_375_455.0, Stretch::Sqrt),
            (-150_779.0, 7539.0, Stretch::Log),
            (0.034_429_28, 0.034_429_72, Stretch::Linear),
            (-0.001_239, -0.001_234, Stretch::Linear),
            (-1e-5, 1e-5, Stretch::Log),
            (0.0, 1.0, Stretch::Linear),
        ] {
            for ((width, height), dpi) in [(900, 480), (1000, 300), (400, 400), (300, 300), (220, 300)]
                .map(|size| (size, 100))
                .into_iter()
                .chain([((800, 900), 200), ((690, 162), 300), ((284, 91), 150), ((500, 120), 200)])
            {
                let style = Style { dpi, ..Style::default() };
                let room = style.room((width, height), true);
                let mut frame = Frame::new(&style, (width, height), room, true);
                let axis =
                    |label: &str| Axis { low, high, base: 0, label: label.into(), whole: false, stretch };
                frame.axes(&axis("across"), &axis("data of an instrument"));
                frame.bar(&palette, (low, high), 0, (stretch, false), "data");
                let what = format!("{low} to {high} on {width} x {height}");
                assert_apart(&frame.scene, frame.rect, &what);
                let numbers =
                    texts(&frame.scene).into_iter().filter(|(text, _)| text.contains(char::is_numeric));
                assert!(
                    frame.told().iter().any(|note| note.contains("numbers")) || numbers.count() > 3,
                    "{what}"
                );
            }
        }
    }
}
