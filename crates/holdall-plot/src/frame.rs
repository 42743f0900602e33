//! What surrounds the data: axes with ticks, labels, title, colour bar.

use crate::bent::Bent;
use crate::font::Font;
use crate::palette::Palette;
use crate::scale::{Stretch, place};
use crate::scene::{Anchor, Direction, Item, Pixels, Rect, Rgba, Scene};
use crate::ticks::{Ticks, based, single};

/// How a picture looks, whatever it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels; without them, what suits the data.
    pub size: Option<(u32, u32)>,
    /// Pixels per inch: text and lines grow with it.
    pub dpi: u32,
    /// The title; `None` is none.
    pub title: Option<String>,
    /// The data alone, to the edges.
    pub bare: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { size: None, dpi: 100, title: None, bare: false }
    }
}

/// Widths of the parts around the data, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margins {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) top: u32,
    pub(crate) bottom: u32,
}

impl Style {
    /// Lengths given for 100 dots per inch, in pixels.
    pub(crate) fn scaled(&self, length: f64) -> f64 {
        length * f64::from(self.dpi) / 100.0
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pixels")]
    fn pixels(&self, length: f64) -> u32 {
        self.scaled(length).round().max(0.0) as u32
    }

    /// The same for every number of digits, so that a picture of the same size has the same place for its data.
    pub(crate) fn margins(&self, bar: bool) -> Margins {
        if self.bare {
            return Margins { left: 0, right: 0, top: 0, bottom: 0 };
        }
        Margins {
            left: self.pixels(78.0),
            right: self.pixels(if bar { 124.0 } else { 24.0 }),
            top: self.pixels(if self.title.is_some() { 44.0 } else { 26.0 }),
            bottom: self.pixels(54.0),
        }
    }

    /// The canvas, and what of it is for the data.
    pub(crate) fn canvas(&self, default: (u32, u32), bar: bool) -> ((u32, u32), (u32, u32)) {
        let size = self.size.unwrap_or((self.pixels(default.0.into()), self.pixels(default.1.into())));
        (size, self.room(size, bar))
    }

    /// The room within the margins of a picture of this size.
    pub(crate) fn room(&self, size: (u32, u32), bar: bool) -> (u32, u32) {
        let margins = self.margins(bar);
        let inner = |whole: u32, around: u32| whole.saturating_sub(around).max(8);
        (inner(size.0, margins.left + margins.right), inner(size.1, margins.top + margins.bottom))
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
    /// How numbers are spread along it.
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

    fn ticks(&self, length: f64, room: f64) -> Ticks {
        let (low, high) = (self.low.min(self.high), self.low.max(self.high));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few marks")]
        let most = (length / room).floor().max(2.0) as usize;
        match self.stretch {
            Stretch::Linear => based(self.base, low, high, most, self.whole),
            _ => Bent { base: self.base, low, high, gap: 0.5 * room / length, whole: self.whole }
                .ticks(|value| self.at(value)),
        }
    }
}

/// The rectangle of the data, with a scene around it.
pub(crate) struct Frame<'s> {
    pub(crate) scene: Scene,
    pub(crate) rect: Rect,
    style: &'s Style,
    font: Font,
}

impl<'s> Frame<'s> {
    /// A frame whose data have `inner` pixels on a sheet of `size`, in the middle of what the margins leave.
    pub(crate) fn new(style: &'s Style, size: (u32, u32), inner: (u32, u32), bar: bool) -> Self {
        let margins = style.margins(bar);
        let spare = |whole: u32, around: u32, inner: u32| f64::from(whole.saturating_sub(around + inner) / 2);
        let rect = Rect {
            x: f64::from(margins.left) + spare(size.0, margins.left + margins.right, inner.0),
            y: f64::from(margins.top) + spare(size.1, margins.top + margins.bottom, inner.1),
            w: inner.0.into(),
            h: inner.1.into(),
        };
        Self { scene: Scene::new(size.0, size.1, style.dpi), rect, style, font: Font::new() }
    }

    fn px(&self, length: f64) -> f64 {
        self.style.scaled(length)
    }

    /// Border, ticks and labels.
    pub(crate) fn axes(&mut self, x: &Axis, y: &Axis) {
        if self.style.bare {
            return;
        }
        self.border(self.rect);
        let Rect { x: left, y: top, w, h } = self.rect;
        let bottom = top + h;
        let (tick, small, normal) = (self.px(4.0), self.px(12.0), self.px(13.0));
        let line = self.px(1.0).max(1.0);
        let mut ticks = x.ticks(w, self.px(84.0));
        if x.low > x.high {
            // From left to right.
            ticks.ticks.reverse();
        }
        let mut taken = f64::NEG_INFINITY;
        for mark in &ticks.ticks {
            let at = left + x.at(mark.value) * w;
            self.scene.line(vec![(at, bottom), (at, bottom + tick)], line, Rgba::INK);
            let half = self.font.width(&mark.label, small) / 2.0;
            if at - half >= taken {
                self.scene.text((at, bottom + tick + small), small, Anchor::Middle, mark.label.clone());
                taken = at + half + small / 2.0;
            }
        }
        let note = if ticks.note.is_empty() { String::new() } else { format!("  ({})", ticks.note) };
        let label = self.font.fitted(&format!("{}{note}", x.label), normal, f64::from(self.scene.width));
        let middle = self.middle(left + w / 2.0, &label, normal);
        self.scene.text((middle, bottom + self.px(40.0)), normal, Anchor::Middle, label);
        let ticks = y.ticks(h, self.px(48.0));
        for mark in &ticks.ticks {
            let at = bottom - y.at(mark.value) * h;
            self.scene.line(vec![(left - tick, at), (left, at)], line, Rgba::INK);
            let place = (left - self.px(8.0), at + small * 0.36);
            self.scene.text(place, small, Anchor::End, mark.label.clone());
        }
        let note = if ticks.note.is_empty() { String::new() } else { format!("  ({})", ticks.note) };
        let label = self.font.fitted(&format!("{}{note}", y.label), normal, f64::from(self.scene.height));
        self.upwards((left - self.px(58.0), top + h / 2.0), normal, label);
    }

    /// The middle of a centred text, moved as far as it has to be to stay on the sheet.
    fn middle(&self, at: f64, text: &str, size: f64) -> f64 {
        let half = self.font.width(text, size) / 2.0;
        let width = f64::from(self.scene.width);
        at.min(width - half - 2.0).max(half + 2.0)
    }

    fn upwards(&mut self, at: (f64, f64), size: f64, text: String) {
        let half = self.font.width(&text, size) / 2.0;
        let height = f64::from(self.scene.height);
        let at = (at.0, at.1.min(height - half - 2.0).max(half + 2.0));
        let (anchor, direction, color) = (Anchor::Middle, Direction::Up, Rgba::INK);
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
        let mut edge = |from: (f64, f64), to: (f64, f64)| self.scene.line(vec![from, to], line, Rgba::INK);
        edge((x0 - half, y0), (x1 + half, y0));
        edge((x0 - half, y1), (x1 + half, y1));
        edge((x0, y0), (x0, y1));
        edge((x1, y0), (x1, y1));
    }

    /// The title, smaller where it is long and cut where it is very long.
    pub(crate) fn title(&mut self) {
        let Some(title) = self.style.title.as_ref().filter(|_| !self.style.bare) else { return };
        let room = f64::from(self.scene.width) - self.px(16.0);
        let wanted = self.px(14.0);
        let size = (wanted * room / self.font.width(title, wanted).max(1.0)).clamp(wanted * 0.75, wanted);
        let title = self.font.fitted(title, size, room);
        let at = self.middle(self.rect.x + self.rect.w / 2.0, &title, size);
        let y = self.px(24.0).max(self.rect.y - self.px(16.0));
        self.scene.text((at, y), size, Anchor::Middle, title);
    }

    /// A colour bar to the right.
    pub(crate) fn bar(
        &mut self,
        palette: &Palette,
        ends: (f64, f64),
        base: i128,
        stretch: Stretch,
        label: &str,
    ) {
        if self.style.bare {
            return;
        }
        let Rect { x, y, w, h } = self.rect;
        let rect = Rect { x: x + w + self.px(16.0), y, w: self.px(16.0).round(), h };
        let mut pixels = Pixels::transparent(1, 256);
        for (row, point) in pixels.rgba.chunks_exact_mut(4).enumerate() {
            let Rgba(r, g, b, a) = palette.at(1.0 - (row as f64 + 0.5) / 256.0);
            point.copy_from_slice(&[r, g, b, a]);
        }
        self.scene.items.push(Item::Image { rect: Rect { x: rect.x.round(), ..rect }, pixels });
        self.border(Rect { x: rect.x.round(), ..rect });
        let axis = Axis { low: ends.0, high: ends.1, base, label: String::new(), whole: false, stretch };
        let mut ticks = axis.ticks(h, self.px(44.0));
        if ends.0 == ends.1 {
            ticks = single(base, ends.0);
        }
        let (tick, small) = (self.px(4.0), self.px(12.0));
        let right = rect.x.round() + rect.w;
        let line = self.px(1.0).max(1.0);
        for mark in &ticks.ticks {
            // The bar is of places: the stretch is in its marks.
            let at = y + h - axis.at(mark.value) * h;
            self.scene.line(vec![(right, at), (right + tick, at)], line, Rgba::INK);
            self.scene.text(
                (right + self.px(7.0), at + small * 0.36),
                small,
                Anchor::Start,
                mark.label.clone(),
            );
        }
        if !ticks.note.is_empty() {
            // Further left where it is too long for the place behind the bar's edge.
            let end = f64::from(self.scene.width) - self.font.width(&ticks.note, small) - 2.0;
            let place = (rect.x.min(end).max(2.0), y - self.px(6.0));
            self.scene.text(place, small, Anchor::Start, ticks.note.clone());
        }
        if !label.is_empty() {
            let normal = self.px(13.0);
            let label = self.font.fitted(label, normal, f64::from(self.scene.height));
            self.upwards((right + self.px(74.0), y + h / 2.0), normal, label);
        }
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

    /// What the numbers of a bar have in common may be longer than the bar is wide.
    #[test]
    fn the_note_of_a_bar_stays_on_the_sheet() {
        let style = Style::default();
        let mut frame = Frame::new(&style, (400, 300), (198, 220), true);
        let palette = Palette::by_name("viridis").unwrap();
        frame.bar(&palette, (1e9, 1e9 + 9e-4), 0, Stretch::Linear, "data");
        let note = frame.scene.items.iter().find_map(|item| match item {
            Item::Text { at, size, text, .. } if text.starts_with('×') => Some((*at, *size, text)),
            _ => None,
        });
        let (at, size, text) = note.unwrap();
        assert_eq!(text, "×10⁻⁴ + 1000000000");
        assert!(at.0 >= 0.0 && at.0 + frame.font.width(text, size) <= 400.0, "{at:?}");
    }
}
