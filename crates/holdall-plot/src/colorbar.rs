//! The colour bar.

use crate::frame::{Axis, Frame};
use crate::layout::SideParts;
use crate::palette::Palette;
use crate::scale::Stretch;
use crate::scene::{Anchor, Item, Pixels, Rect, Rgba};
use crate::ticks::single;
use crate::y_axis::Numbers;

impl Frame<'_> {
    /// A colour bar to the right; `whole` if only whole numbers occur.
    pub(crate) fn bar(
        &mut self,
        palette: &Palette,
        ends: (f64, f64),
        base: i128,
        (stretch, whole): (Stretch, bool),
        label: &str,
    ) {
        if self.style.bare {
            return;
        }
        let Rect { x, y, w, h } = self.rect;
        if self.plan.beside >= SideParts::NoBar {
            self.leave_out("the colour bar");
            return;
        }
        let is_narrow = self.plan.beside >= SideParts::Narrow;
        let (space, width) = if is_narrow { (8.0, 10.0) } else { (16.0, 16.0) };
        let rect = Rect { x: x + w + self.px(space), y, w: self.px(width).round(), h };
        let mut pixels = Pixels::transparent(1, 256);
        for (row, point) in pixels.rgba.chunks_exact_mut(4).enumerate() {
            let Rgba(r, g, b, a) = palette.at(1.0 - (row as f64 + 0.5) / 256.0);
            point.copy_from_slice(&[r, g, b, a]);
        }
        self.scene.items.push(Item::Image { rect: Rect { x: rect.x.round(), ..rect }, pixels });
        self.border(Rect { x: rect.x.round(), ..rect });
        let axis = Axis { low: ends.0, high: ends.1, base, label: String::new(), whole, stretch };
        let mut ticks = axis.ticks(h, self.px(44.0));
        if ends.0 == ends.1 {
            ticks = single(base, ends.0);
        }
        let note = self.place_note(rect.x, &mut ticks, "numbers of the colour bar");
        let tick = self.px(4.0);
        let right = rect.x.round() + rect.w;
        let start = right + self.px(7.0);
        let has_label = self.plan.beside < SideParts::NoBarLabel && !label.is_empty();
        let room = self.room_behind(start, has_label);
        let small = self.letters(&ticks, room);
        let numbers = Numbers {
            line: (right, right + tick),
            at: start,
            anchor: Anchor::Start,
            size: small,
            room,
            long: "long numbers of the colour bar",
        };
        let under = self.under_note(note, &ticks.note);
        // The bar is of places: the stretch is in its marks.
        let widest = self.numbers(&ticks, &numbers, under, |value| y + h - axis.at(value) * h);
        if let Some(place) = note {
            self.note(place, &ticks.note);
        }
        if self.plan.beside >= SideParts::NoBarLabel {
            self.leave_out("the label of the colour bar");
        } else if has_label {
            let normal = self.px(13.0);
            let label = self.font.fitted(label, normal, f64::from(self.scene.height));
            let x = self.behind_numbers(start, widest).max(right + self.px(74.0));
            self.upwards((x, y + h / 2.0), normal, label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Style;

    /// The note of a bar may be longer than the bar is wide.
    #[test]
    fn the_note_of_a_bar_stays_on_the_sheet() {
        let style = Style::default();
        let mut frame = Frame::new(&style, (400, 300), (198, 220), true);
        let palette = Palette::by_name("viridis").unwrap();
        frame.bar(&palette, (1e9, 1e9 + 9e-4), 0, (Stretch::Linear, false), "data");
        let note = frame.scene.items.iter().find_map(|item| match item {
            Item::Text { at, size, text, .. } if text.starts_with('×') => Some((*at, *size, text)),
            _ => None,
        });
        let (at, size, text) = note.unwrap();
        assert_eq!(text, "×10⁻⁴ + 1000000000");
        assert!(at.0 >= 0.0 && at.0 + frame.font.width(text, size) <= 400.0, "{at:?}");
    }
}
