//! Curves with more values than pixels: the least and the greatest value of each column of pixels, drawn as a filled area.
//!
//! Strokes between the ends of runs would be antialiased against the pixel grid, and a run that is a little wider or narrower than a
//! pixel beats with it: bands that are not in the data. Here a run is a column of pixels exactly, and columns are filled.

use container_core::dtype::Order;
use container_core::{Error, Result};

use crate::frame::{Frame, Style};
use crate::scene::{Item, Rect, Rgba};
use crate::values::{PIECE, PlotData};

/// Number of values per pixel up to which a curve is drawn point by point. Above it, the number of values in neighbouring columns differs
/// by a quarter at most, which is invisible: minimum and maximum of 4 and of 5 random values are 2.06 and 2.33 standard deviations apart,
/// those of 1 and 2 are 0 and 1.13.
const MAX_POINTS_PER_PIXEL: u64 = 4;

/// Rows of a table, cut into runs: one for each row, or one for each column of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    rows: u64,
    /// Columns of pixels; 0 where each row is a run.
    pixels: u64,
}

impl Runs {
    fn new(rows: u64, pixels: u32) -> Self {
        let pixels = u64::from(pixels.max(1));
        let is_reduced = rows > pixels.saturating_mul(MAX_POINTS_PER_PIXEL);
        Self { rows, pixels: if is_reduced { pixels } else { 0 } }
    }

    fn count(self) -> u64 {
        if self.pixels == 0 { self.rows } else { self.pixels }
    }

    /// The run of a row. The first row is at the left edge of the picture, the last one at the right edge.
    fn of(self, row: u64) -> u64 {
        if self.pixels == 0 {
            return row;
        }
        let place = u128::from(row) * u128::from(self.pixels) / u128::from((self.rows - 1).max(1));
        u64::try_from(place).unwrap_or(u64::MAX).min(self.pixels - 1)
    }

    /// The end of the rows of a run.
    fn end(self, run: u64) -> u64 {
        if self.pixels == 0 {
            return run + 1;
        }
        if run + 1 >= self.pixels {
            return self.rows;
        }
        let end = (u128::from(run + 1) * u128::from(self.rows - 1)).div_ceil(self.pixels.into());
        u64::try_from(end).unwrap_or(u64::MAX)
    }
}

/// Least and greatest value of each run of rows, for each curve.
pub(crate) struct Envelope {
    pub(crate) curves: usize,
    /// Minimum and maximum by run and curve; `None` without a finite value.
    pub(crate) runs: Vec<Option<(f64, f64)>>,
    /// Whether a run is a column of pixels rather than a row.
    pub(crate) is_reduced: bool,
    /// Values that are not finite.
    pub(crate) infinite: u64,
}

impl Envelope {
    /// Reads `rows` rows of `curves` values for a picture of this many `pixels` across.
    ///
    /// # Errors
    /// `Usage` for more values than there is room for; `Limit`; those of reading.
    pub(crate) fn read(
        subject: &PlotData<'_>,
        base: i128,
        rows: u64,
        curves: u64,
        pixels: u32,
    ) -> Result<Self> {
        let cut = Runs::new(rows, pixels);
        let count = cut.count().saturating_mul(curves);
        subject.read.limits.allocate(count.saturating_mul(24))?;
        let too_many = || Error::usage("too many values for a picture");
        let count = usize::try_from(count).map_err(|_| too_many())?;
        let width = usize::try_from(curves).map_err(|_| too_many())?;
        if let Some(value) = subject.same(base)? {
            let ends = value.is_finite().then_some((value, value));
            let infinite = if ends.is_none() { rows.saturating_mul(curves) } else { 0 };
            return Ok(Self { curves: width, runs: vec![ends; count], is_reduced: cut.pixels > 0, infinite });
        }
        let mut runs: Vec<Option<(f64, f64)>> = vec![None; count];
        let mut infinite = 0;
        subject.pieces(
            base,
            Order::C,
            PIECE,
            |start, _, values| {
                let first = cut.of(start / curves);
                (first * curves, extremes(cut, start, width, values))
            },
            |(first, (part, more))| {
                infinite += more;
                let places = runs.iter_mut().skip(usize::try_from(first).unwrap_or(usize::MAX));
                for (run, more) in places.zip(part) {
                    *run = joined(*run, more);
                }
                Ok(())
            },
        )?;
        Ok(Self { curves: width, runs, is_reduced: cut.pixels > 0, infinite })
    }
}

/// The extremes of the runs that values belong to, from that of the first value on, and the number of values that are not finite. `start` is the place of
/// the first value; `width` values are a row.
fn extremes(cut: Runs, start: u64, width: usize, values: &[f64]) -> (Vec<Option<(f64, f64)>>, u64) {
    let curves = width.max(1) as u64;
    let (mut part, mut infinite) = (Vec::new(), 0);
    let (mut at, mut rest) = (start, values);
    while !rest.is_empty() {
        let end = cut.end(cut.of(at / curves)).saturating_mul(curves);
        let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(rest.len());
        let (run, behind) = rest.split_at(len);
        let base = part.len();
        part.resize(base + width, None);
        let places = part.get_mut(base..).unwrap_or_default();
        let mut curve = usize::try_from(at % curves).unwrap_or(0);
        for value in run {
            if !value.is_finite() {
                infinite += 1;
            } else if let Some(place) = places.get_mut(curve) {
                *place = joined(*place, Some((*value, *value)));
            }
            curve = if curve + 1 == width { 0 } else { curve + 1 };
        }
        at += len as u64;
        rest = behind;
    }
    (part, infinite)
}

/// The least and the greatest of both.
pub(crate) fn joined(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some((low, high)), Some((other_low, other_high))) => {
            Some((low.min(other_low), high.max(other_high)))
        }
        (one, other) => one.or(other),
    }
}

/// Fills one curve: for each column of pixels, from the left edge on, the upper and the lower place of its values in pixels; `None`
/// is a gap. A column without neighbours is a dot.
pub(crate) fn fill(frame: &mut Frame<'_>, columns: &[Option<(f64, f64)>], color: Rgba, style: &Style) {
    let Rect { x: left, y: top, w, h } = frame.rect;
    let line = style.scaled(1.0).max(1.0);
    let step = w / columns.len().max(1) as f64;
    let columns = thickened(&connected(columns), line);
    let mut start = 0;
    for piece in columns.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let x = |column: usize| left + step * column as f64;
        let first = start;
        start += piece.len();
        if let [Some((upper, lower))] = piece {
            let (x, y) = (x(first) + step / 2.0, f64::midpoint(*upper, *lower));
            let radius = style.scaled(2.5).max((lower - upper) / 2.0);
            let (y, end) = ((y - radius).max(top), (y + radius).min(top + h));
            let rect = Rect { x: x - style.scaled(2.5), y, w: 2.0 * style.scaled(2.5), h: end - y };
            if rect.h > 0.0 {
                frame.scene.items.push(Item::Rect { rect, fill: color });
            }
            continue;
        }
        for points in outlines(piece, first, x, (top, top + h)) {
            frame.scene.items.push(Item::Area { points, fill: color });
        }
    }
}

/// Neighbours that share no height meet halfway, as a line between them would have it.
fn connected(columns: &[Option<(f64, f64)>]) -> Vec<Option<(f64, f64)>> {
    let mut joined = columns.to_vec();
    for (at, pair) in columns.windows(2).enumerate() {
        let [Some(left), Some(right)] = pair else { continue };
        // From the lower edge of the upper one to the upper edge of the lower one.
        let (middle, is_down) = if left.1 < right.0 {
            (f64::midpoint(left.1, right.0), true)
        } else if right.1 < left.0 {
            (f64::midpoint(right.1, left.0), false)
        } else {
            continue;
        };
        for (place, is_upper) in [(at, is_down), (at + 1, !is_down)] {
            if let Some(Some((upper, lower))) = joined.get_mut(place) {
                if is_upper {
                    *lower = lower.max(middle);
                } else {
                    *upper = upper.min(middle);
                }
            }
        }
    }
    joined
}

/// The same with the thickness of a line of this width.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pixels")]
fn thickened(columns: &[Option<(f64, f64)>], width: f64) -> Vec<Option<(f64, f64)>> {
    let beside = ((width - 1.0) / 2.0).round().max(0.0) as usize;
    let around = |at: usize| {
        let near = columns.get(at.saturating_sub(beside)..(at + beside + 1).min(columns.len()));
        let (upper, lower) = near.unwrap_or_default().iter().copied().fold(None, joined)?;
        Some((upper - width / 2.0, lower + width / 2.0))
    };
    (0..columns.len()).map(|at| columns.get(at).copied().flatten().and_then(|_| around(at))).collect()
}

/// Closed outlines of columns, the first of which is number `first`: along the upper edges to the right, along the lower ones back.
/// Columns that are above or below the picture are left out.
fn outlines(
    piece: &[Option<(f64, f64)>],
    first: usize,
    x: impl Fn(usize) -> f64,
    (top, bottom): (f64, f64),
) -> Vec<Vec<(f64, f64)>> {
    let seen: Vec<Option<(f64, f64)>> = piece
        .iter()
        .map(|column| column.filter(|(upper, lower)| *upper < bottom && *lower > top))
        .map(|column| column.map(|(upper, lower)| (upper.max(top), lower.min(bottom))))
        .collect();
    let mut start = first;
    let mut outlines = Vec::new();
    for part in seen.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let columns = part.iter().enumerate().filter_map(|(at, column)| Some((start + at, (*column)?)));
        let edge = |at: usize, y: f64| [(x(at), y), (x(at + 1), y)];
        let mut points: Vec<(f64, f64)> =
            columns.clone().flat_map(|(at, (upper, _))| edge(at, upper)).collect();
        points.extend(columns.rev().flat_map(|(at, (_, lower))| {
            let [left, right] = edge(at, lower);
            [right, left]
        }));
        start += part.len();
        if !points.is_empty() {
            outlines.push(points);
        }
    }
    outlines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy_data::with_plot_data;

    #[test]
    fn every_row_is_in_the_run_that_its_place_in_the_picture_names() {
        for (rows, pixels) in [(3193, 798), (60_000, 798), (100_000, 798), (4001, 1000), (9, 2), (1, 3)] {
            let runs = Runs::new(rows, pixels);
            let mut row = 0;
            for run in 0..runs.count() {
                let end = runs.end(run);
                assert!(end > row, "{rows} {pixels}: run {run} is empty");
                assert!((row..end).all(|row| runs.of(row) == run), "{rows} {pixels} {run}");
                row = end;
            }
            assert_eq!(row, rows);
        }
        // A row for each, up to four for a pixel.
        assert_eq!((Runs::new(3192, 798).count(), Runs::new(3193, 798).count()), (3192, 798));
    }

    #[test]
    fn extremes_do_not_depend_on_how_values_are_cut_into_pieces() {
        let values: Vec<f64> = (0..60).map(|at| f64::from(at * 7919 % 101)).collect();
        let cut = Runs { rows: 30, pixels: 4 };
        let (whole, _) = extremes(cut, 0, 2, &values);
        assert_eq!(whole.len(), 8);
        for at in 1..60 {
            let mut pieces = vec![None; 8];
            for (start, part) in [(0, &values[..at]), (at, &values[at..])] {
                let first = usize::try_from(cut.of(start as u64 / 2)).unwrap() * 2;
                let places = pieces.iter_mut().skip(first);
                for (place, more) in places.zip(extremes(cut, start as u64, 2, part).0) {
                    *place = joined(*place, more);
                }
            }
            assert_eq!(pieces, whole, "{at}");
        }
    }

    #[test]
    fn columns_that_share_no_height_meet_halfway() {
        let columns = [Some((0.0, 2.0)), Some((6.0, 8.0)), None, Some((9.0, 9.0)), Some((1.0, 5.0))];
        let met = [Some((0.0, 4.0)), Some((4.0, 8.0)), None, Some((7.0, 9.0)), Some((1.0, 7.0))];
        assert_eq!(connected(&columns), met);
    }

    #[test]
    fn an_area_ends_at_the_edges_of_the_picture() {
        let columns = [Some((-5.0, 3.0)), Some((20.0, 30.0)), Some((2.0, 20.0))];
        let areas = outlines(&columns, 4, |at| at as f64, (0.0, 10.0));
        let first = vec![(4.0, 0.0), (5.0, 0.0), (5.0, 3.0), (4.0, 3.0)];
        let last = vec![(6.0, 2.0), (7.0, 2.0), (7.0, 10.0), (6.0, 10.0)];
        assert_eq!(areas, [first, last]);
    }

    /// Noise of a constant spread, as a picture.
    fn noise(count: u32, size: (u32, u32), dpi: u32) -> crate::Pixels {
        // The sum of twelve uniform numbers is nearly normal.
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / 16_777_216.0
        };
        let bytes: Vec<u8> =
            (0..count).flat_map(|_| ((0..12).map(|_| uniform()).sum::<f64>() - 6.0).to_le_bytes()).collect();
        let style = Style { size: Some(size), dpi, bare: true, ..Style::default() };
        let stretch = crate::Stretch::Linear;
        let drawn = with_plot_data("<f8", &[count.into()], Order::C, &bytes, |subject| {
            crate::lines(subject, crate::Range::Fixed((-7.0).into(), 7.0.into()), stretch, "", &style)
        });
        crate::raster(&drawn.unwrap().scene, &container_core::Limits::default()).unwrap()
    }

    /// The strokes of runs that were not pixels beat with them: of 100 000 values on 798 pixels, the darkest of sixteen parts of the
    /// picture was a fifth darker than the lightest. matplotlib draws the same grey everywhere.
    #[test]
    fn noise_is_equally_dark_everywhere() {
        // A sixteenth of fewer values differs more by chance.
        for (count, width, dpi, most) in [
            (3200, 798, 100, 1.25),
            (5000, 798, 100, 1.25),
            (60_000, 798, 100, 1.1),
            (100_000, 798, 100, 1.1),
            (50_001, 640, 100, 1.1),
            (100_000, 1600, 250, 1.1),
        ] {
            let pixels = noise(count, (width, 300), dpi);
            let darkness = |part: u32| {
                let columns = (part * width / 16)..((part + 1) * width / 16);
                let places = columns.flat_map(|x| (126..174).map(move |y| (x, y)));
                let (sum, count) = places.fold((0.0, 0.0), |(sum, count), (x, y)| {
                    (sum + 255.0 - f64::from(pixels.at(x, y).0), count + 1.0)
                });
                sum / count
            };
            let parts: Vec<f64> = (0..16).map(darkness).collect();
            let (low, high) =
                (parts.iter().copied().fold(f64::MAX, f64::min), parts.iter().copied().fold(0.0, f64::max));
            assert!(low > 30.0 && high / low < most, "{count} {width}: {low} {high}");
        }
    }
}
