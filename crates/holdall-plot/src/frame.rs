//! Parts around the data: axes with ticks, labels, title, colour bar.

use std::collections::BTreeSet;

use crate::font::Font;
use crate::layout::{Plan, SideParts, TopParts};
use crate::scale::{Stretch, place};
use crate::scene::{Anchor, Direction, Item, Rect, Rgba, Scene};
use crate::ticks::{Ticks, based};
use crate::ticks_nonlinear::Bent;

/// Appearance of a picture, whatever it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels; by default, a size that suits the data.
    pub size: Option<(u32, u32)>,
    /// Pixels per inch: text and lines grow with it.
    pub dpi: u32,
    /// The title, if any.
    pub title: Option<String>,
    /// The data alone, to the edges.
    pub bare: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { size: None, dpi: 100, title: None, bare: false }
    }
}

impl Style {
    /// Lengths given for 100 dots per inch, in pixels.
    pub(crate) fn scaled(&self, length: f64) -> f64 {
        length * f64::from(self.dpi) / 100.0
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pixels")]
    pub(crate) fn pixels(&self, length: f64) -> u32 {
        self.scaled(length).round().max(0.0) as u32
    }
}

/// One axis of a frame: the numbers at its ends. `low` is at the left or below.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The integer that they are counted from.
    pub(crate) base: i128,
    pub(crate) label: String,
    /// Only whole numbers mean something.
    pub(crate) whole: bool,
    /// Scale of the numbers along it.
    pub(crate) stretch: Stretch,
}

impl Axis {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let place = if self.low <= self.high {
            place(value, self.low, self.high)
        } else {
            1.0 - place(value, self.high, self.low)
        };
        if self.stretch == Stretch::Linear { place } else { self.stretch.apply(place) }
    }

    pub(crate) fn ticks(&self, length: f64, room: f64) -> Ticks {
        let (low, high) = (self.low.min(self.high), self.low.max(self.high));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few marks")]
        let most = (length / room).floor().max(2.0) as usize;
        match self.stretch {
            Stretch::Linear => {
                let of = |most: usize| based(self.base, low, high, most, self.whole);
                let ticks = of(most);
                // A few close to each other rather than one alone.
                let closer = if ticks.ticks.len() < 2 { of(3) } else { Ticks::default() };
                if closer.ticks.len() > ticks.ticks.len() { closer } else { ticks }
            }
            _ => Bent { base: self.base, low, high, gap: 0.5 * room / length, whole: self.whole }
                .ticks(|value| self.at(value)),
        }
    }
}

/// The rectangle of the data, with a scene around it.
pub(crate) struct Frame<'s> {
    pub(crate) scene: Scene,
    pub(crate) rect: Rect,
    pub(crate) plan: Plan,
    pub(crate) style: &'s Style,
    pub(crate) font: Font,
    /// Notes for the reader about the parts around the data.
    pub(crate) notes: Vec<String>,
    left_out: Vec<&'static str>,
    /// Horizontal range of the notes above the data.
    pub(crate) note: Option<(f64, f64)>,
}

impl<'s> Frame<'s> {
    /// A frame whose data have `inner` pixels on a sheet of `size`, centred between the margins.
    pub(crate) fn new(style: &'s Style, size: (u32, u32), inner: (u32, u32), bar: bool) -> Self {
        let plan = style.plan(size, bar);
        let margins = plan.margins;
        let spare = |whole: u32, around: u32, inner: u32| f64::from(whole.saturating_sub(around + inner) / 2);
        let rect = Rect {
            x: f64::from(margins.left) + spare(size.0, margins.left + margins.right, inner.0),
            y: f64::from(margins.top) + spare(size.1, margins.top + margins.bottom, inner.1),
            w: inner.0.into(),
            h: inner.1.into(),
        };
        let scene = Scene::new(size.0, size.1, style.dpi);
        let (font, notes, left_out) = (Font::new(), Vec::new(), Vec::new());
        Self { scene, rect, plan, style, font, notes, left_out, note: None }
    }

    pub(crate) fn px(&self, length: f64) -> f64 {
        self.style.scaled(length)
    }

    /// Height of letters next to ticks.
    pub(crate) fn small(&self) -> f64 {
        self.px(if self.plan.beside >= SideParts::Narrow { 11.0 } else { 12.0 })
    }

    pub(crate) fn leave_out(&mut self, what: &'static str) {
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// Finishes the picture: returns the parts that had no room, and characters missing from the font.
    pub(crate) fn told(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        if !self.left_out.is_empty() {
            notes.push(format!("left out, because the picture is small: {}", self.left_out.join(", ")));
        }
        notes.extend(self.boxes());
        notes
    }

    /// A note on characters missing from the font, which are drawn as boxes. SVG has the texts themselves, for the viewer's fonts.
    fn boxes(&self) -> Option<String> {
        const SHOWN: usize = 8;
        let texts = self.scene.items.iter().filter_map(|item| match item {
            Item::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let lacking: BTreeSet<char> = texts.flat_map(|text| self.font.lacks(text)).collect();
        if lacking.is_empty() {
            return None;
        }
        let shown: Vec<String> =
            lacking.iter().take(SHOWN).map(|letter| letter.escape_debug().to_string()).collect();
        let more = if lacking.len() > SHOWN { ", …" } else { "" };
        Some(format!(
            "drawn as boxes, because the font lacks them (SVG uses the viewer's font): {}{more}",
            shown.join(", ")
        ))
    }

    /// Border, ticks and labels.
    pub(crate) fn axes(&mut self, x: &Axis, y: &Axis) {
        if self.style.bare {
            return;
        }
        self.border(self.rect);
        self.along(x);
        self.upright(y);
    }

    /// The axis below.
    fn along(&mut self, x: &Axis) {
        if self.plan.above == TopParts::Nothing {
            self.leave_out("ticks below");
            return;
        }
        let Rect { x: left, y: top, w, h } = self.rect;
        let bottom = top + h;
        let (tick, small, normal) = (self.px(4.0), self.small(), self.px(13.0));
        let line = self.px(1.0).max(1.0);
        let mut ticks = x.ticks(w, self.px(84.0));
        if x.low > x.high {
            // From left to right.
            ticks.ticks.reverse();
        }
        let has_label = self.plan.above < TopParts::NoLabel;
        if !has_label {
            self.leave_out("the label of the axis below");
            if !ticks.note.is_empty() {
                // Numbers without their common offset would be wrong.
                self.leave_out("numbers of the axis below");
                ticks.ticks.iter_mut().for_each(|tick| tick.label.clear());
            }
        }
        let mut taken = 0.0;
        let sheet = f64::from(self.scene.width);
        for mark in &ticks.ticks {
            let at = left + x.at(mark.value) * w;
            self.scene.line(vec![(at, bottom), (at, bottom + tick)], line, Rgba::BLACK);
            let half = self.font.width(&mark.label, small) / 2.0;
            // Those at the ends of the sheet are moved inwards.
            let middle = at.min(sheet - half).max(half);
            if half > 0.0 && middle - half >= taken && middle + half <= sheet {
                self.scene.text((middle, bottom + tick + small), small, Anchor::Middle, mark.label.clone());
                taken = middle + half + small / 2.0;
            }
        }
        if has_label {
            let (label, size) = self.labelled(&x.label, &ticks.note, normal, sheet - 4.0);
            let middle = self.middle(left + w / 2.0, &label, size);
            self.scene.text((middle, bottom + self.px(40.0)), size, Anchor::Middle, label);
        }
    }

    /// The label of an axis with the common offset of its numbers, which is never cut; and the height of its letters.
    pub(crate) fn labelled(&self, label: &str, note: &str, size: f64, room: f64) -> (String, f64) {
        if note.is_empty() {
            return (self.font.fitted(label, size, room), size);
        }
        let note = format!("({note})");
        let rest = room - self.font.width(&format!("  {note}"), size);
        let label = self.font.fitted(label, size, rest);
        if !label.is_empty() {
            return (format!("{label}  {note}"), size);
        }
        let size = size.min(size * (room - 4.0) / self.font.width(&note, size).max(1.0));
        (note, size)
    }

    /// The middle of a centred text, moved as far as it has to be to stay on the sheet.
    fn middle(&self, at: f64, text: &str, size: f64) -> f64 {
        let half = self.font.width(text, size) / 2.0;
        let width = f64::from(self.scene.width);
        at.min(width - half - 2.0).max(half + 2.0)
    }

    pub(crate) fn upwards(&mut self, at: (f64, f64), size: f64, text: String) {
        let half = self.font.width(&text, size) / 2.0;
        let height = f64::from(self.scene.height);
        let at = (at.0, at.1.min(height - half - 2.0).max(half + 2.0));
        let (anchor, direction, color) = (Anchor::Middle, Direction::Up, Rgba::BLACK);
        self.scene.items.push(Item::Text { at, size, anchor, direction, color, text });
    }

    pub(crate) fn border(&mut self, rect: Rect) {
        if self.style.bare {
            return;
        }
        let line = self.px(1.0).max(1.0);
        // Half a line outwards, so that no value is covered.
        let (x0, y0) = (rect.x - line / 2.0, rect.y - line / 2.0);
        let (x1, y1) = (rect.x + rect.w + line / 2.0, rect.y + rect.h + line / 2.0);
        let half = line / 2.0;
        let mut edge = |from: (f64, f64), to: (f64, f64)| self.scene.line(vec![from, to], line, Rgba::BLACK);
        edge((x0 - half, y0), (x1 + half, y0));
        edge((x0 - half, y1), (x1 + half, y1));
        edge((x0, y0), (x0, y1));
        edge((x1, y0), (x1, y1));
    }

    /// The title, smaller where it is long and cut where it is very long.
    pub(crate) fn title(&mut self) {
        let Some(title) = self.style.title.as_ref().filter(|_| !self.style.bare) else { return };
        if self.plan.above >= TopParts::NoTitle {
            self.leave_out("the title");
            return;
        }
        let room = f64::from(self.scene.width) - self.px(16.0);
        let wanted = self.px(14.0);
        let size = (wanted * room / self.font.width(title, wanted).max(1.0)).clamp(wanted * 0.75, wanted);
        let title = self.font.fitted(title, size, room);
        let at = self.middle(self.rect.x + self.rect.w / 2.0, &title, size);
        let half = self.font.width(&title, size) / 2.0;
        let y = match self.note {
            // TopParts the note.
            Some((from, to)) if at + half > from && at - half < to => self.rect.y - self.px(24.0),
            _ => self.px(24.0).max(self.rect.y - self.px(16.0)),
        };
        self.scene.text((at, y), size, Anchor::Middle, title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers fall along the axis of a selection with a negative step.
    #[test]
    fn a_falling_axis_has_labels_at_all_its_marks() {
        let style = Style::default();
        let axis = |low, high| Axis {
            low,
            high,
            base: 0,
            label: String::new(),
            whole: true,
            stretch: Stretch::Linear,
        };
        let labels = |x: &Axis| {
            let mut frame = Frame::new(&style, (900, 300), (700, 200), false);
            frame.axes(x, &axis(0.0, 1.0));
            let text = |item: &Item| match item {
                Item::Text { text, anchor: Anchor::Middle, direction: Direction::Right, .. } => {
                    Some(text.clone())
                }
                _ => None,
            };
            frame.scene.items.iter().filter_map(text).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(labels(&axis(-0.5, 39.5)), ["0", "5", "10", "15", "20", "25", "30", "35"]);
        assert_eq!(labels(&axis(39.5, -0.5)), ["35", "30", "25", "20", "15", "10", "5", "0"]);
    }

    #[test]
    fn missing_glyphs_are_reported() {
        let style = Style::default();
        let mut frame = Frame::new(&style, (900, 300), (700, 200), false);
        frame.scene.text((0.0, 9.0), 9.0, Anchor::Start, "Å and µ");
        assert_eq!(frame.told(), [""; 0]);
        frame.scene.text((0.0, 9.0), 9.0, Anchor::Start, "日本 a日\u{202e}");
        assert_eq!(
            frame.told(),
            ["drawn as boxes, because the font lacks them (SVG uses the viewer's font): \\u{202e}, 日, 本"]
        );
        frame.scene.text((0.0, 9.0), 9.0, Anchor::Start, "一丁七万丈三上");
        assert!(frame.told()[0].ends_with(", …"), "{:?}", frame.told());
    }
}
