//! Planes as colours.

use container_core::dtype::Kind;
use container_core::{Error, Result};

use crate::Picture;
use crate::downsample::plane;
use crate::frame::{Frame, Style};
use crate::frame_axis::index_axis;
use crate::hint::Levels;
use crate::integer_base::Counting;
use crate::palette::Palette;
use crate::scale::{Range, Stretch, middle, place};
use crate::scene::{Item, Pixels, Rect, Rgba};
use crate::values::PlotData;

/// Corner of the first value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The upper left one, as matrices are written.
    #[default]
    Upper,
    /// The lower left one, as astronomers have it.
    Lower,
}

/// Colours of a plane.
#[derive(Clone)]
pub struct Colors {
    /// Values at the ends of the palette.
    pub range: Range,
    /// Scale of the values between them.
    pub stretch: Stretch,
    /// The colours.
    pub palette: Palette,
    /// The colour of values that are not finite.
    pub nan: Rgba,
}

/// Planes longer than this many times their width fill the picture instead of keeping square pixels.
const MAX_ASPECT: f64 = 6.0;

/// Blocks along an axis, and pixels of the picture for it.
#[derive(Clone, Copy)]
pub(crate) struct Fit {
    /// Indices in a block.
    pub(crate) block: u64,
    pub(crate) pixels: u32,
}

/// Draws a plane: the first kept axis goes down, the second to the right; larger planes are drawn by the means of blocks. `label` is the
/// text of the colour bar.
///
/// # Errors
/// `Usage` for a region without two axes, without elements, or of elements that are not numbers; those of reading.
pub fn heatmap(
    subject: &PlotData<'_>,
    colors: &Colors,
    origin: Origin,
    label: &str,
    style: &Style,
) -> Result<Picture> {
    let kept = subject.kept_axes();
    let [(row_axis, rows), (column_axis, columns)] = kept.as_slice() else {
        return Err(Error::usage("a heat map has two axes"));
    };
    if rows.count == 0 || columns.count == 0 {
        return Err(Error::usage("no values to draw"));
    }
    let (size, across, down) = sheet(style, (columns.count, rows.count), true);
    let from = Counting::of(subject, colors.range)?;
    let grid = plane(subject, from.base, (down.block, across.block))?;
    // Only where the colours of small differences are asked for: other stretches are for wide ranges.
    let is_auto = colors.range == Range::Auto && colors.stretch == Stretch::Linear && is_real(subject)?;
    let middle = grid.extremes.filter(|_| is_auto).and_then(|ends| middle(&grid.sample, ends));
    let ends = match colors.range {
        // Of the data, not of their means: the bar of a smaller picture ends where that of a larger one does.
        Range::Auto | Range::MinMax => middle.or(grid.extremes),
        range => range.ends_beyond(&grid.values, from.base),
    };
    let bounds = ends.map(|ends| from.bounds(colors.range, ends));
    if let Some(bounds) = bounds.filter(|bounds| !from.is_settled(*bounds)) {
        // As the recipe has it, to the bit.
        let colors = Colors { range: Range::Fixed(bounds.0, bounds.1), ..colors.clone() };
        return heatmap(subject, &colors, origin, label, style);
    }
    let mut notes = Vec::new();
    let is_averaged = down.block > 1 || across.block > 1;
    if is_averaged {
        notes.push(format!("means of blocks of {} x {} values", down.block, across.block));
    }
    let infinite = grid.values.iter().filter(|value| !value.is_finite()).count();
    if infinite > 0 {
        let masked = if subject.has_mask()? { ", or are masked" } else { "" };
        notes.push(format!("{infinite} of {} points have no finite value{masked}", grid.values.len()));
    }
    if let Some((low, high)) = grid.extremes.filter(|_| middle.is_some()) {
        notes.push(format!("range of the middle 99 % of the values; --range={low:?},{high:?} shows all"));
    }
    let ends = bounds.map(|(low, high)| (low.beyond(from.base), high.beyond(from.base)));
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    let mut levels = Levels::new();
    let mut pixels = Pixels::transparent(dimension(grid.columns)?, dimension(grid.rows)?);
    let row_len = grid.columns * 4;
    for (row, points) in pixels.rgba.chunks_exact_mut(row_len).enumerate() {
        let source = if origin == Origin::Upper { row } else { grid.rows - 1 - row };
        let values = grid.values.get(source * grid.columns..(source + 1) * grid.columns).unwrap_or_default();
        for (point, value) in points.chunks_exact_mut(4).zip(values) {
            let Rgba(r, g, b, a) = match value.is_finite() {
                true => {
                    let place = colors.stretch.apply(place(*value, low, high));
                    levels.count(place);
                    colors.palette.at(place)
                }
                false => colors.nan,
            };
            point.copy_from_slice(&[r, g, b, a]);
        }
    }
    notes.extend(levels.hint(colors.range, colors.stretch, &grid.sample));
    let mut frame = Frame::new(style, size, (across.pixels, down.pixels), true);
    frame.scene.items.push(Item::Image { rect: frame.rect, pixels });
    let mut y = index_axis(subject, *row_axis, rows)?;
    if origin == Origin::Upper {
        std::mem::swap(&mut y.low, &mut y.high);
    }
    frame.axes(&index_axis(subject, *column_axis, columns)?, &y);
    if ends.is_some() {
        let whole = !is_averaged && matches!(subject.scalar()?.kind, Kind::Bool | Kind::Int | Kind::Uint);
        frame.bar(&colors.palette, (low, high), from.base, (colors.stretch, whole), label);
    } else if !style.bare {
        let Rect { x, y, w, h } = frame.rect;
        let middle = (x + w / 2.0, y + h / 2.0);
        let what = "no finite values";
        frame.scene.text(middle, style.scaled(14.0), crate::scene::Anchor::Middle, what);
    }
    frame.title();
    notes.extend(frame.told());
    let range = bounds.map(|(low, high)| Range::Fixed(low, high));
    Ok(Picture { scene: frame.scene, range, bins: None, notes })
}

/// Whether the elements are floating-point or complex numbers.
fn is_real(subject: &PlotData<'_>) -> Result<bool> {
    Ok(matches!(subject.scalar()?.kind, Kind::Float | Kind::BFloat | Kind::Complex))
}

fn dimension(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::usage("a picture of more than 2^32 points"))
}

/// The size of a picture of this many columns and rows, and the pixels and blocks of them; `bar` if it has a colour bar.
pub(crate) fn sheet(style: &Style, (columns, rows): (u64, u64), bar: bool) -> ((u32, u32), Fit, Fit) {
    let (mut size, room) = style.canvas((900, 720), bar);
    let (across, down) = fit(columns, rows, room);
    if style.size.is_none() || style.bare {
        let margins = style.plan(size, bar).margins;
        let least = |length: f64| if style.bare { 1 } else { style.pixels(length) };
        size.0 = (across.pixels + margins.left + margins.right).max(least(420.0));
        size.1 = (down.pixels + margins.top + margins.bottom).max(least(200.0));
    }
    (size, across, down)
}

/// Pixels and blocks for `width` by `height` values in `room`: square, whole pixels for each value or whole values for
/// each pixel, and, where that leaves a thread, as much as there is. The room that it takes gives the same again.
fn fit(width: u64, height: u64, room: (u32, u32)) -> (Fit, Fit) {
    let (w, h) = (width as f64, height as f64);
    if w / h > MAX_ASPECT || h / w > MAX_ASPECT {
        let long = |count: u64, room: u32| {
            let block = settled(count, room);
            Fit { block, pixels: if block > 1 { blocks(count, block) } else { room } }
        };
        return (long(width, room.0), long(height, room.1));
    }
    let scale = (f64::from(room.0) / w).min(f64::from(room.1) / h);
    if scale >= 1.0 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no more than the room")]
        let pixels = |count: f64| (count * scale.floor()) as u32;
        return (Fit { block: 1, pixels: pixels(w) }, Fit { block: 1, pixels: pixels(h) });
    }
    let block = settled(width, room.0).max(settled(height, room.1));
    (Fit { block, pixels: blocks(width, block) }, Fit { block, pixels: blocks(height, block) })
}

fn blocks(count: u64, block: u64) -> u32 {
    u32::try_from(count.div_ceil(block)).unwrap_or(u32::MAX)
}

/// The block length by which `count` values fit `room`, such that the room that they then take gives it again.
fn settled(count: u64, room: u32) -> u64 {
    let mut room = u64::from(room.max(1));
    let mut block = count.div_ceil(room).max(1);
    loop {
        room = count.div_ceil(block).max(1);
        match count.div_ceil(room) {
            same if same == block => return block,
            other => block = other,
        }
    }
}

#[cfg(test)]
mod tests {
    use container_core::dtype::Order;

    use super::*;
    use crate::npy_data::with_plot_data;
    use crate::text_boxes::assert_apart;

    fn viridis(range: Range, stretch: Stretch) -> Colors {
        Colors { range, stretch, palette: Palette::by_name("viridis").unwrap(), nan: Rgba::GRID }
    }

    #[test]
    fn the_room_that_is_taken_gives_the_same_picture() {
        for (width, height) in
            [(1, 1), (3, 2), (700, 690), (701, 10), (16384, 16384), (100_000, 3), (5, 4000)]
        {
            let (across, down) = fit(width, height, (700, 600));
            assert!(across.pixels <= 700 && down.pixels <= 600 && across.pixels > 0 && down.pixels > 0);
            let (again, again_down) = fit(width, height, (across.pixels, down.pixels));
            assert_eq!((again.block, again.pixels), (across.block, across.pixels), "{width} {height}");
            assert_eq!((again_down.block, again_down.pixels), (down.block, down.pixels), "{width} {height}");
        }
    }

    /// The greatest value of a mean of blocks was the end of the colour bar, 7.5 % below the greatest of the data.
    #[test]
    fn the_range_is_that_of_the_data_however_small_the_picture_is() {
        let value = |at: u32| match at {
            77 => -3.0,
            4000 => 1000.0,
            9 => f64::INFINITY,
            10 => f64::NAN,
            _ => f64::from(at % 100),
        };
        let bytes: Vec<u8> = (0..4096).flat_map(|at| value(at).to_le_bytes()).collect();
        for order in [Order::C, Order::F] {
            with_plot_data("<f8", &[64, 64], order, &bytes, |subject| {
                let colors = viridis(Range::MinMax, Stretch::Linear);
                for size in [(60, 60), (1200, 1200)] {
                    let style = Style { size: Some(size), ..Style::default() };
                    let drawn = heatmap(subject, &colors, Origin::Upper, "data", &style).unwrap();
                    assert_eq!(drawn.range.unwrap().to_string(), "-3.0,1000.0", "{size:?}");
                }
                let fixed = Colors { range: Range::Percentiles(0.0, 100.0), ..colors };
                let style = Style { size: Some((60, 60)), ..Style::default() };
                let drawn = heatmap(subject, &fixed, Origin::Upper, "data", &style).unwrap();
                assert_ne!(drawn.range.unwrap().to_string(), "-3.0,1000.0");
            });
        }
    }

    /// A plane of noise with one hot pixel was one colour. The percentiles, numpy's, are of the data, so the size of the picture does not matter.
    #[test]
    fn a_hot_pixel_does_not_take_the_colours() {
        let value = |at: u32| if at == 77 { 1e6 } else { f64::from(at * 7 % 1000) };
        for (descr, expected) in [("<f8", (4.995, 995.0)), ("<i4", (0.0, 1e6))] {
            #[allow(clippy::cast_possible_truncation)]
            let bytes: Vec<u8> = match descr {
                "<f8" => (0..10_000).flat_map(|at| value(at).to_le_bytes()).collect(),
                _ => (0..10_000).flat_map(|at| (value(at) as i32).to_le_bytes()).collect(),
            };
            with_plot_data(descr, &[100, 100], Order::C, &bytes, |subject| {
                let colors = viridis(Range::Auto, Stretch::Linear);
                for size in [(90, 90), (1200, 1200)] {
                    let style = Style { size: Some(size), ..Style::default() };
                    let drawn = heatmap(subject, &colors, Origin::Upper, "data", &style).unwrap();
                    let Some(Range::Fixed(low, high)) = drawn.range else { panic!("no range") };
                    let off = (low.beyond(0) - expected.0).abs() + (high.beyond(0) - expected.1).abs();
                    assert!(off < 1e-9, "{descr} {size:?}: {low} {high}");
                    let told = drawn.notes.join("\n");
                    let (shows, hint) = ("--range=0.0,1000000.0 shows all", "--range=p0.5,99.5");
                    assert_eq!(
                        (told.contains(shows), told.contains(hint)),
                        (descr == "<f8", descr == "<i4"),
                        "{told}"
                    );
                }
                let wide = Colors { stretch: Stretch::Log, ..colors };
                let drawn = heatmap(subject, &wide, Origin::Upper, "data", &Style::default()).unwrap();
                assert_eq!(drawn.range.unwrap().to_string(), "0.0,1000000.0", "{descr}");
            });
        }
    }

    /// Labels lay on each other, and hardly anything was left for the data.
    #[test]
    fn small_heatmaps_keep_labels_apart_and_inside_the_image() {
        let wide = |at: u32| f64::from(at) * 7.3 - 5e3;
        let near = |at: u32| 1e9 + f64::from(at) * 1e-7;
        let far = |at: u32| -1.829_84e13 + f64::from(at) * 1e4;
        let limits = container_core::Limits::default();
        for (value, dtype) in
            [(&wide as &dyn Fn(u32) -> f64, "float"), (&near, "float"), (&far, "float"), (&wide, "long")]
        {
            let bytes: Vec<u8> = match dtype {
                "float" => (0..4096).flat_map(|at| value(at).to_le_bytes()).collect(),
                _ => (0..4096_i64).flat_map(|at| ((1 << 60) + at).to_le_bytes()).collect(),
            };
            let descr = if dtype == "float" { "<f8" } else { "<i8" };
            with_plot_data(descr, &[64, 64], Order::C, &bytes, |subject| {
                let sizes = [
                    (16, 16),
                    (50, 50),
                    (100, 100),
                    (150, 150),
                    (200, 200),
                    (300, 300),
                    (400, 120),
                    (120, 400),
                ];
                let fine = [(150, 400), (400, 120), (700, 120), (600, 600)];
                for ((width, height), dpi) in
                    sizes.map(|size| (size, 100)).into_iter().chain(fine.map(|size| (size, 200)))
                {
                    for stretch in Stretch::ALL {
                        let colors = viridis(Range::MinMax, stretch);
                        let title = Some("small.npy::data".to_owned());
                        let style = Style { size: Some((width, height)), title, dpi, ..Style::default() };
                        let drawn = heatmap(subject, &colors, Origin::Upper, "data", &style).unwrap();
                        let what = format!("{width} x {height}, {dpi}, {descr}, {stretch:?}");
                        // The data are the first item after the sheet.
                        let Item::Image { rect, .. } = &drawn.scene.items[1] else { panic!("no image") };
                        assert_apart(&drawn.scene, *rect, &what);
                        let least = f64::from(width.min(height));
                        assert!(rect.w >= 0.2 * least && rect.h >= 0.2 * least, "{what}: {rect:?}");
                        assert_eq!(
                            drawn.notes.iter().any(|note| note.starts_with("left out")),
                            width.min(height) < 4 * dpi,
                            "{what}"
                        );
                        let raster = crate::raster(&drawn.scene, &limits).unwrap();
                        assert_eq!((raster.width, raster.height), (width, height));
                    }
                }
            });
        }
    }
}
