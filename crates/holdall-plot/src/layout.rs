//! Layout of the parts around the data, by the available room.

use crate::frame::Style;

/// Widths of the parts around the data, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Margins {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) top: u32,
    pub(crate) bottom: u32,
}

/// Parts next to the data. Each step leaves out the least useful part of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SideParts {
    Everything,
    /// No label along the colour bar.
    NoBarLabel,
    /// No label along the axis either; the bar and the letters of its ticks are smaller.
    Narrow,
    /// No colour bar, no legend.
    NoBar,
    /// The data, with a border.
    Nothing,
}

/// Parts above and below the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TopParts {
    Everything,
    /// No label along the axis.
    NoLabel,
    /// No title either.
    NoTitle,
    /// The data, with a border.
    Nothing,
}

/// Layout of a sheet of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) margins: Margins,
    pub(crate) beside: SideParts,
    pub(crate) above: TopParts,
}

/// Pixels at 100 dots per inch that the data should have.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 100.0;
/// The part of a small sheet that they should have instead.
const PART: f64 = 0.4;

impl Style {
    /// Layout of the parts around the data that fit a sheet of this size; `side` is a colour bar or a legend. The same for every number of digits, so
    /// that a picture of the same size has the same place for its data.
    pub(crate) fn plan(&self, size: (u32, u32), side: bool) -> Plan {
        let margins = |beside: SideParts, above: TopParts| {
            if self.bare {
                return Margins::default();
            }
            let (left, right) = match beside {
                SideParts::Everything => (78.0, if side { 124.0 } else { 24.0 }),
                SideParts::NoBarLabel => (78.0, if side { 84.0 } else { 24.0 }),
                SideParts::Narrow => (46.0, if side { 62.0 } else { 14.0 }),
                SideParts::NoBar => (46.0, 14.0),
                SideParts::Nothing => (2.0, 2.0),
            };
            let title = if self.title.is_some() { 44.0 } else { 26.0 };
            let (top, bottom) = match above {
                TopParts::Everything => (title, 54.0),
                TopParts::NoLabel => (title, 26.0),
                TopParts::NoTitle => (12.0, 26.0),
                TopParts::Nothing => (2.0, 2.0),
            };
            let [left, right, top, bottom] = [left, right, top, bottom].map(|length| self.pixels(length));
            Margins { left, right, top, bottom }
        };
        let enough = |whole: u32, around: u32, wanted: f64| {
            f64::from(whole.saturating_sub(around)) >= self.scaled(wanted).min(PART * f64::from(whole))
        };
        let fits_beside = |beside: &SideParts| {
            let Margins { left, right, .. } = margins(*beside, TopParts::Everything);
            enough(size.0, left + right, WIDTH)
        };
        let fits_above = |above: &TopParts| {
            let Margins { top, bottom, .. } = margins(SideParts::Everything, *above);
            enough(size.1, top + bottom, HEIGHT)
        };
        let beside = [SideParts::Everything, SideParts::NoBarLabel, SideParts::Narrow, SideParts::NoBar];
        let beside = beside.into_iter().find(fits_beside).unwrap_or(SideParts::Nothing);
        let above = [TopParts::Everything, TopParts::NoLabel, TopParts::NoTitle];
        let above = above.into_iter().find(fits_above).unwrap_or(TopParts::Nothing);
        Plan { margins: margins(beside, above), beside, above }
    }

    /// The canvas, and its part for the data.
    pub(crate) fn canvas(&self, default: (u32, u32), side: bool) -> ((u32, u32), (u32, u32)) {
        let size = self.size.unwrap_or((self.pixels(default.0.into()), self.pixels(default.1.into())));
        (size, self.room(size, side))
    }

    /// The room within the margins of a picture of this size.
    pub(crate) fn room(&self, size: (u32, u32), side: bool) -> (u32, u32) {
        let Margins { left, right, top, bottom } = self.plan(size, side).margins;
        let inner = |whole: u32, around: u32| whole.saturating_sub(around).max(8);
        (inner(size.0, left + right), inner(size.1, top + bottom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sheets_leave_out_what_has_no_room() {
        let style = Style { title: Some("t".into()), ..Style::default() };
        for (size, beside, above) in [
            (16, SideParts::Nothing, TopParts::Nothing),
            (100, SideParts::NoBar, TopParts::NoTitle),
            (150, SideParts::NoBar, TopParts::NoLabel),
            (200, SideParts::Narrow, TopParts::Everything),
            (300, SideParts::NoBarLabel, TopParts::Everything),
            (400, SideParts::Everything, TopParts::Everything),
        ] {
            let plan = style.plan((size, size), true);
            assert_eq!((plan.beside, plan.above), (beside, above), "{size}");
            let room = style.room((size, size), true);
            assert!(room.0 * 10 >= size * 4 && room.1 * 10 >= size * 4, "{size}: {room:?}");
            // Letters grow with the resolution, and so does the room that they need.
            let fine = Style { dpi: 200, ..style.clone() };
            assert_eq!(fine.plan((size * 2, size * 2), true).beside, beside, "{size}");
        }
    }
}
