//! Values along an axis as lines, and how often they occur as bars.

use container_core::region::{AxisSelection, Kept};
use container_core::{Error, Result};

use crate::Picture;
use crate::categorical_palette::distinct;
use crate::envelope::{Envelope, fill, joined};
use crate::frame::{Axis, Frame, Style};
use crate::frame_axis::RowAxis;
use crate::hint;
use crate::integer_base::Counting;
use crate::legend::Mark;
use crate::scale::{Range, Stretch};
use crate::scene::{Anchor, Item, Rect, Rgba};
use crate::values::{PIECE, PlotData};

/// Most columns that are drawn as lines.
pub const MAX_LINES: u64 = 8;

/// Draws one line for one axis, or one for each column of two: the values over the index. With many more values than pixels, each column of
/// pixels is filled from the minimum to the maximum, so that no spike is lost.
///
/// # Errors
/// `Usage` for no or more than [`MAX_LINES`] columns, for no values, and for elements that are not numbers; those of reading.
pub fn lines(
    subject: &PlotData<'_>,
    range: Range,
    stretch: Stretch,
    label: &str,
    style: &Style,
) -> Result<Picture> {
    let kept = subject.kept_axes();
    let (number, rows, columns) = match kept.as_slice() {
        [] => (0, AxisSelection { start: 0, step: 1, count: 1, kept: Kept::Yes }, 1),
        [(number, rows)] => (*number, *rows, 1),
        [(number, rows), (_, columns)] if columns.count <= MAX_LINES => (*number, *rows, columns.count),
        [_, (_, columns)] => {
            let problem = format!("too many lines: {} columns (expected at most {MAX_LINES})", columns.count);
            return Err(Error::usage(problem).with_hint("a selection: FILE::PATH[:, 0:8]"));
        }
        _ => return Err(Error::usage("lines have one axis, or two with a line for each column")),
    };
    if rows.count == 0 || columns == 0 {
        return Err(Error::usage("no values to draw"));
    }
    let has_legend = columns > 1;
    let (size, room) = style.canvas((900, 480), has_legend);
    let from = Counting::of(subject, range)?;
    let envelope = Envelope::read(subject, from.base, rows.count, columns, room.0)?;
    let mut notes = Vec::new();
    if envelope.is_reduced {
        let width = (rows.count / u64::from(room.0.max(1))).max(1);
        notes.push(format!("least and greatest of runs of {width} to {} values", width + 1));
    }
    if envelope.infinite > 0 {
        let masked = if subject.has_mask()? { "masked or " } else { "" };
        let count = rows.count.saturating_mul(columns);
        notes.push(format!("{} of {count} values are {masked}not finite", envelope.infinite));
    }
    let shown: Vec<f64> = envelope.runs.iter().flatten().flat_map(|(low, high)| [*low, *high]).collect();
    let ends = range.ends_beyond(&shown, from.base);
    let padded = padded(ends.unwrap_or((0.0, 1.0)), matches!(range, Range::Fixed(..)), stretch);
    let bounds = from.bounds(range, padded);
    if ends.is_some() && !from.is_settled(bounds) {
        return lines(subject, Range::Fixed(bounds.0, bounds.1), stretch, label, style);
    }
    let mut frame = Frame::new(style, size, room, has_legend);
    let x = RowAxis::of(subject, number, &rows, envelope.is_reduced)?;
    let (low, high) = (bounds.0.beyond(from.base), bounds.1.beyond(from.base));
    let y = Axis { low, high, base: from.base, label: label.to_owned(), whole: false, stretch };
    let columns = envelope.curves;
    for column in (0..columns).rev() {
        let color = distinct(column);
        let runs = envelope.runs.iter().skip(column).step_by(columns);
        if envelope.is_reduced {
            let places: Vec<_> = runs.map(|run| run.map(|(low, high)| (y.at(low), y.at(high)))).collect();
            area(&mut frame, &places, color, style);
        } else {
            let places = runs.enumerate().map(|(at, run)| run.map(|(value, _)| (x.at(at), y.at(value))));
            curve(&mut frame, places, color, style);
        }
    }
    frame.axes(&x.axis, &y);
    frame.title();
    if ends.is_none() {
        nothing(&mut frame, style);
    }
    if columns > 1 {
        let entries: Vec<(Rgba, String)> =
            (0..columns).map(|column| (distinct(column), column.to_string())).collect();
        frame.legend(Mark::Line, &entries);
    }
    notes.extend(frame.told());
    let range = ends.map(|_| Range::Fixed(bounds.0, bounds.1));
    Ok(Picture { scene: frame.scene, range, bins: None, notes })
}

fn nothing(frame: &mut Frame<'_>, style: &Style) {
    let Rect { x, y, w, h } = frame.rect;
    if !style.bare {
        frame.scene.text((x + w / 2.0, y + h / 2.0), style.scaled(14.0), Anchor::Middle, "no finite values");
    }
}

/// Adds a little room above and below, unless the user fixed the range. A stretch begins at the lower end, so that room below would
/// displace the smallest values: most of the axis, of a logarithmic one.
fn padded((low, high): (f64, f64), is_fixed: bool, stretch: Stretch) -> (f64, f64) {
    if is_fixed {
        return (low, high);
    }
    let span = high / 2.0 - low / 2.0;
    let room = if span > 0.0 { span * 0.1 } else { (low.abs() * 0.05).max(0.5) };
    let below = if stretch == Stretch::Linear || span <= 0.0 { room } else { 0.0 };
    ((low - below).max(f64::MIN), (high + room).min(f64::MAX))
}

/// A place on the axis of values, in pixels. Far outside is as good as just outside, and keeps the numbers small.
fn height(rect: Rect, place: f64) -> f64 {
    rect.y + rect.h - place.clamp(-0.5, 1.5) * rect.h
}

/// Draws a curve as an area; each column of pixels has its minimum and maximum place on the axis of values.
fn area(frame: &mut Frame<'_>, places: &[Option<(f64, f64)>], color: Rgba, style: &Style) {
    let rect = frame.rect;
    let columns: Vec<_> =
        places.iter().map(|place| place.map(|(low, high)| (height(rect, high), height(rect, low)))).collect();
    fill(frame, &columns, color, style);
}

/// Draws a curve with gaps at missing values; a value without neighbours is a dot.
fn curve(
    frame: &mut Frame<'_>,
    places: impl Iterator<Item = Option<(f64, f64)>>,
    color: Rgba,
    style: &Style,
) {
    let rect = frame.rect;
    let Rect { x: left, y: top, w, h } = rect;
    let width = style.scaled(1.3).max(1.0);
    let mut piece: Vec<(f64, f64)> = Vec::new();
    let mut pieces = Vec::new();
    for place in places {
        match place {
            None => pieces.push(std::mem::take(&mut piece)),
            Some((x, y)) => piece.push((left + x * w, height(rect, y))),
        }
    }
    pieces.push(piece);
    for piece in pieces {
        match piece.as_slice() {
            [] => {}
            [(x, y)] => {
                let radius = style.scaled(2.5);
                if (top..=top + h).contains(y) {
                    let rect = Rect { x: x - radius, y: y - radius, w: 2.0 * radius, h: 2.0 * radius };
                    frame.scene.items.push(Item::Rect { rect, fill: color });
                }
            }
            points => clipped(points, top, top + h)
                .into_iter()
                .for_each(|points| frame.scene.line(points, width, color)),
        }
    }
}

/// The parts of a line between two heights.
fn clipped(points: &[(f64, f64)], top: f64, bottom: f64) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut part: Vec<(f64, f64)> = Vec::new();
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let at = |y: f64| (x0 + (x1 - x0) * ((y - y0) / (y1 - y0)), y);
        if (y0 < top && y1 < top) || (y0 > bottom && y1 > bottom) {
            parts.push(std::mem::take(&mut part));
            continue;
        }
        let inside = |x: f64, y: f64| match y {
            y if y < top => at(top),
            y if y > bottom => at(bottom),
            y => (x, y),
        };
        let (from, to) = (inside(x0, y0), inside(x1, y1));
        if part.last() != Some(&from) {
            parts.push(std::mem::take(&mut part));
            part.push(from);
        }
        part.push(to);
    }
    parts.push(part);
    parts.retain(|part| part.len() > 1);
    parts
}

/// Draws a histogram: bars over `bins` intervals, or as many as suit the number of values. Values outside `range` are not counted. [`Stretch::Log`]
/// and others bend the axis of the counts.
///
/// # Errors
/// As [`lines`], for any number of axes.
pub fn histogram(
    subject: &PlotData<'_>,
    bins: Option<usize>,
    range: Range,
    stretch: Stretch,
    label: &str,
    style: &Style,
) -> Result<Picture> {
    const MAX_BINS: usize = 10_000;
    let count = subject.region.len().unwrap_or(u64::MAX);
    if count == 0 {
        return Err(Error::usage("no values to draw"));
    }
    let from = Counting::of(subject, range)?;
    let mut ends: Option<(f64, f64)> = None;
    let mut finite = 0_u64;
    let order = subject.container.require(subject.index)?.order;
    let extremes = |_, _: &_, values: &[f64]| {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let extremes = finite().fold(None, |found, value| joined(found, Some((value, value))));
        (extremes, finite().count() as u64)
    };
    // The range: fixed, or from a first pass over the values.
    let same = subject.same(from.base)?;
    match (range, same) {
        (Range::Fixed(low, high), _) => ends = Some((low.beyond(from.base), high.beyond(from.base))),
        // Every rule gives the one value.
        (_, Some(value)) if value.is_finite() => (ends, finite) = (Some((value, value)), count),
        (_, Some(_)) => {}
        (Range::Auto | Range::MinMax, None) => {
            subject.pieces(from.base, order, PIECE, extremes, |(found, more)| {
                ends = joined(ends, found);
                finite += more;
                Ok(())
            })?;
        }
        // Those need the values themselves.
        (other, None) => ends = other.ends_beyond(&subject.all(from.base)?, from.base),
    }
    // The edges of the outer bars, and the number of bins.
    let whole = !matches!(
        subject.scalar()?.kind,
        container_core::dtype::Kind::Float
            | container_core::dtype::Kind::BFloat
            | container_core::dtype::Kind::Complex
    );
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    let is_exact = matches!(range, Range::Fixed(..));
    let (low, high) = match () {
        () if low == high => (low - 0.5, high + 0.5),
        // A bar is around its integer.
        () if whole && !is_exact => (low - 0.5, high + 0.5),
        () => (low, high),
    };
    let bins = bins.unwrap_or_else(|| bins_for(if finite > 0 { finite } else { count }, low, high, whole));
    if bins == 0 || bins > MAX_BINS {
        return Err(Error::usage(format!("a histogram has 1 to {MAX_BINS} bins")));
    }
    let is_given = is_exact && ends.is_some_and(|ends| ends == (low, high));
    let bounds = from.bounds(if is_given { range } else { Range::MinMax }, (low, high));
    if ends.is_some() && !from.is_settled(bounds) {
        return histogram(subject, Some(bins), Range::Fixed(bounds.0, bounds.1), stretch, label, style);
    }
    let (low, high) = (bounds.0.beyond(from.base), bounds.1.beyond(from.base));
    // The counts, by a pass over the values.
    let mut counts = vec![0_u64; bins];
    let mut outside = 0_u64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins")]
    let count_piece = |_, _: &_, values: &[f64]| {
        let mut counts = vec![0_u64; bins];
        let mut outside = 0_u64;
        for value in values {
            if !(low..=high).contains(value) {
                outside += 1;
                continue;
            }
            let place = crate::scale::place(*value, low, high) * bins as f64;
            if let Some(count) = counts.get_mut((place.max(0.0) as usize).min(bins - 1)) {
                *count += 1;
            }
        }
        (counts, outside)
    };
    let mut add = |more: &[u64], more_outside: u64, times: u64| {
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more * times);
        outside += more_outside * times;
    };
    match same {
        Some(value) => {
            let (more, more_outside) = count_piece(0, subject.region, &[value]);
            add(&more, more_outside, count);
        }
        None => subject.pieces(from.base, order, PIECE, count_piece, |(more, more_outside)| {
            add(&more, more_outside, 1);
            Ok(())
        })?,
    }
    let (size, room) = style.canvas((900, 480), false);
    let mut frame = Frame::new(style, size, room, false);
    // The bars.
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let label = label.to_owned();
    let x = Axis { low, high, base: from.base, label, whole: false, stretch: Stretch::Linear };
    let y = Axis { low: 0.0, high: most * 1.05, base: 0, label: "count".into(), whole: true, stretch };
    let Rect { x: left, y: top, w, h } = frame.rect;
    for (number, count) in counts.iter().enumerate() {
        let edge = |number: usize| (left + w * number as f64 / bins as f64).round();
        let height = (y.at(*count as f64) * h).round();
        // Bars that are not empty stay visible.
        let height = if *count > 0 { height.max(1.0) } else { 0.0 };
        let (from, to) = (edge(number), edge(number + 1));
        let gap = if to - from > 8.0 && whole { 1.0 } else { 0.0 };
        let rect = Rect { x: from, y: top + h - height, w: (to - from - gap).max(1.0), h: height };
        if height > 0.0 {
            frame.scene.items.push(Item::Rect { rect, fill: distinct(0) });
        }
    }
    frame.axes(&x, &y);
    frame.title();
    if ends.is_none() {
        nothing(&mut frame, style);
    }
    let mut notes = frame.told();
    notes.extend(hint::of_bars(&counts, stretch));
    if outside > 0 {
        let masked = if subject.has_mask()? { "masked, " } else { "" };
        notes.push(format!("{outside} of {count} values are {masked}not finite or outside the range"));
    }
    let range = ends.map(|_| Range::Fixed(bounds.0, bounds.1));
    Ok(Picture { scene: frame.scene, range, bins: Some(bins), notes })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few hundred")]
fn bins_for(count: u64, low: f64, high: f64, whole: bool) -> usize {
    const MAX_POINTS_SHOWN: f64 = 200.0;
    let span = high - low;
    if whole && span <= MAX_POINTS_SHOWN {
        return span.round().max(1.0) as usize;
    }
    let bins = ((count as f64).sqrt().ceil()).clamp(10.0, MAX_POINTS_SHOWN);
    // As many integers in each.
    let bins = if whole { (span / (span / bins).ceil()).ceil() } else { bins };
    bins.max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_edges() {
        let points = [(0.0, 5.0), (1.0, 15.0), (2.0, 5.0), (3.0, -5.0), (4.0, -6.0), (5.0, 4.0)];
        let parts = clipped(&points, 0.0, 10.0);
        assert_eq!(
            parts,
            [
                vec![(0.0, 5.0), (0.5, 10.0)],
                vec![(1.5, 10.0), (2.0, 5.0), (2.5, 0.0)],
                vec![(4.6, 0.0), (5.0, 4.0)]
            ]
        );
    }

    /// A tenth of half the span below 0 would be half of a logarithmic axis to 10¹³.
    #[test]
    fn a_stretched_axis_begins_at_the_least_value() {
        assert_eq!(padded((0.0, 20.0), false, Stretch::Linear), (-1.0, 21.0));
        assert_eq!(padded((0.0, 20.0), false, Stretch::Log), (0.0, 21.0));
        assert_eq!(padded((0.0, 20.0), true, Stretch::Log), (0.0, 20.0));
        assert_eq!(padded((20.0, 20.0), false, Stretch::Sqrt), (19.0, 21.0));
    }

    #[test]
    fn integers_have_bins_of_their_own() {
        assert_eq!(bins_for(1_000_000, -0.5, 9.5, true), 10);
        assert_eq!(bins_for(100, 0.0, 1.0, false), 10);
        assert_eq!(bins_for(1_000_000, -0.5, 999.5, true), 200);
    }
}
