//! Legend: names of the colours, to the right of the data.

use crate::ellipsis::shortened;
use crate::frame::Frame;
use crate::layout::SideParts;
use crate::scene::{Anchor, Item, Rect, Rgba};

/// Sample of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Line,
    Square,
}

/// Maximum number of rows: more colours cannot be distinguished.
const MAX_ROWS: usize = 24;

impl Frame<'_> {
    /// A row for each entry, as many as there is room for; the last one gives the number of those left out.
    pub(crate) fn legend(&mut self, mark: Mark, entries: &[(Rgba, String)]) {
        if self.style.bare || entries.is_empty() {
            return;
        }
        if self.plan.beside >= SideParts::NoBar {
            self.leave_out("the legend");
            return;
        }
        let (size, row) = (self.small(), self.px(17.0));
        let top = self.rect.y + self.px(4.0);
        let right = self.rect.x + self.rect.w;
        let room = f64::from(self.scene.height) - top - self.px(2.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few rows")]
        let rows = ((room / row).floor().max(1.0) as usize).min(MAX_ROWS);
        let shown = if entries.len() > rows { rows - 1 } else { entries.len() };
        let is_narrow = self.plan.beside >= SideParts::Narrow;
        // Marks, and letters after them.
        let (start, text, side) = match (mark, is_narrow) {
            (Mark::Line, false) => (14.0, 38.0, 18.0),
            (Mark::Square, false) => (14.0, 32.0, 11.0),
            (_, true) => (6.0, 20.0, 10.0),
        };
        let x = right + self.px(text);
        let most = (f64::from(self.scene.width) - x - 2.0).min(self.px(80.0));
        let below = |row_number: usize| top + row * (row_number as f64 + 0.5);
        let names: Vec<&str> = entries.iter().take(shown).map(|(_, name)| name.as_str()).collect();
        let names = shortened(&self.font, &names, size, most);
        for (number, ((color, _), name)) in entries.iter().zip(names).enumerate() {
            let middle = below(number);
            let from = right + self.px(start);
            let side = self.px(side);
            match mark {
                Mark::Line => {
                    let points = vec![(from, middle), (from + side, middle)];
                    self.scene.line(points, self.px(2.0), *color);
                }
                Mark::Square => {
                    let side = side.round();
                    let (x, y) = (from.round(), (middle - side / 2.0).round());
                    self.scene.items.push(Item::Rect { rect: Rect { x, y, w: side, h: side }, fill: *color });
                }
            }
            self.scene.text((x, middle + size * 0.36), size, Anchor::Start, name);
        }
        if shown < entries.len() {
            let more = format!("+ {} more", entries.len() - shown);
            let is_short = self.font.width(&more, size) <= most + self.px(text - start);
            let more = if is_short { more } else { format!("+ {}", entries.len() - shown) };
            let at = (right + self.px(start), below(shown) + size * 0.36);
            self.scene.text(at, size, Anchor::Start, more);
            self.notes.push(format!("the legend has {shown} of {}", entries.len()));
        }
    }
}
