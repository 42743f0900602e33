//! Arrays of colours: the last of three axes has red, green, blue and, if it has four places, opacity.

use container_core::container::Container;
use container_core::dtype::{Kind, Order, Scalar};
use container_core::region::{AxisSelection, Region};
use container_core::{Error, Result};

use crate::Picture;
use crate::frame::{Frame, Style};
use crate::frame_axis::index_axis;
use crate::heatmap::{Origin, sheet};
use crate::scene::{Item, Pixels, Rgba};
use crate::values::{PIECE, PlotData};

/// Whether a region of a dataset is one of colours: two axes of several places, then one of 3 or 4, of bytes, of unsigned integers of two
/// bytes, or of floating-point numbers, whose values have yet to be looked at. Frames of trajectories are none: `(frames, N, 3)` are positions.
///
/// # Errors
/// `Usage` for a dataset that does not exist.
pub fn is_colored(container: &dyn Container, index: usize, region: &Region) -> Result<bool> {
    let dataset = container.require(index)?;
    let is_shape = matches!(region.shape()[..], [rows, columns, 3 | 4] if rows > 1 && columns > 1);
    let has_levels = dataset.dtype.as_scalar().is_some_and(|scalar| full(scalar).is_some());
    Ok(is_shape && has_levels && !container.has_frame_axis(&dataset))
}

/// The value of full light.
fn full(scalar: &Scalar) -> Option<f64> {
    match (&scalar.kind, scalar.size) {
        (Kind::Uint, 1) => Some(255.0),
        (Kind::Uint, 2) => Some(65_535.0),
        (Kind::Float | Kind::BFloat, _) => Some(1.0),
        _ => None,
    }
}

/// Draws a region of colours as a picture. Values are levels from 0 to full light: 255, 65535, and 1 of floating-point numbers; bytes stay as
/// they are. Larger pictures are drawn by the means of blocks, colours weighted by their opacity. `None` where floating-point numbers are
/// less than 0 or more than 1, unless the picture `is_asked` for: then they are clipped.
///
/// # Errors
/// `Usage` for another shape or type; those of reading.
pub fn rgb(
    subject: &PlotData<'_>,
    is_asked: bool,
    origin: Origin,
    nan: Rgba,
    style: &Style,
) -> Result<Option<Picture>> {
    let kept = subject.kept_axes();
    let wrong = || {
        Error::usage(format!(
            "a colour picture has the shape (H, W, 3) or (H, W, 4), not {:?}",
            subject.region.shape()
        ))
    };
    let [(row_axis, rows), (column_axis, columns), (_, AxisSelection { count: channels @ (3 | 4), .. })] =
        kept.as_slice()
    else {
        return Err(wrong());
    };
    let scalar = subject.scalar()?;
    let full = full(&scalar).ok_or_else(|| {
        Error::usage("a colour picture has elements of type u1 or u2, or floating-point numbers")
    })?;
    let (size, across, down) = sheet(style, (columns.count, rows.count), false);
    let blocks = Blocks {
        channels: *channels,
        columns: columns.count,
        block: (down.block.max(1), across.block.max(1)),
        wide: columns.count.div_ceil(across.block.max(1)),
        high: rows.count.div_ceil(down.block.max(1)),
    };
    let (means, (low, high)) = blocks.read(subject, full)?;
    let mut notes = Vec::new();
    if low < 0.0 || high > full {
        if !is_asked {
            return Ok(None);
        }
        notes.push(format!("values from {low:?} to {high:?} are clipped to 0 and {full:?}"));
    }
    if down.block > 1 || across.block > 1 {
        notes.push(format!("means of blocks of {} x {} values", down.block, across.block));
    }
    let blank = means.iter().filter(|mean| mean.count == 0.0).count();
    if blank > 0 {
        notes.push(format!("{blank} of {} points have no finite value", means.len()));
    }
    let side =
        |count: u64| u32::try_from(count).map_err(|_| Error::usage("a picture of more than 2^32 points"));
    let mut pixels = Pixels::transparent(side(blocks.wide)?, side(blocks.high)?);
    let row_len = pixels.width as usize;
    let row_count = pixels.height as usize;
    for (row, points) in pixels.rgba.chunks_exact_mut(row_len * 4).enumerate() {
        let source = if origin == Origin::Upper { row } else { row_count - 1 - row };
        let means = means.get(source * row_len..(source + 1) * row_len).unwrap_or_default();
        for (point, mean) in points.chunks_exact_mut(4).zip(means) {
            let Rgba(r, g, b, a) = mean.color(full, nan);
            point.copy_from_slice(&[r, g, b, a]);
        }
    }
    let mut frame = Frame::new(style, size, (across.pixels, down.pixels), false);
    frame.scene.items.push(Item::Image { rect: frame.rect, pixels });
    let mut y = index_axis(subject, *row_axis, rows)?;
    if origin == Origin::Upper {
        std::mem::swap(&mut y.low, &mut y.high);
    }
    frame.axes(&index_axis(subject, *column_axis, columns)?, &y);
    frame.title();
    notes.extend(frame.told());
    Ok(Some(Picture { scene: frame.scene, range: None, bins: None, notes }))
}

/// Sums of the colours in a block, each multiplied by its opacity.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sums: [f64; 3],
    opacity: f64,
    /// Number of colours that are finite.
    count: f64,
}

impl Mean {
    fn add(&mut self, color: [f64; 3], opacity: f64, count: f64) {
        for (sum, level) in self.sums.iter_mut().zip(color) {
            *sum += level;
        }
        self.opacity += opacity;
        self.count += count;
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
    fn color(&self, full: f64, nan: Rgba) -> Rgba {
        let byte = |level: f64| (level * 255.0).round().clamp(0.0, 255.0) as u8;
        if self.count == 0.0 {
            return nan;
        }
        if self.opacity <= 0.0 {
            return Rgba(255, 255, 255, 0);
        }
        let [r, g, b] = self.sums.map(|sum| byte(sum / self.opacity / full));
        Rgba(r, g, b, byte(self.opacity / self.count / full))
    }
}

/// Blocks of a region of colours.
struct Blocks {
    channels: u64,
    /// Colours in a row.
    columns: u64,
    /// Rows and columns of a block.
    block: (u64, u64),
    /// Blocks across and down.
    wide: u64,
    high: u64,
}

impl Blocks {
    /// The sums of each block, and the least and the greatest finite level. The order of additions does not depend on the number of threads.
    fn read(&self, subject: &PlotData<'_>, full: f64) -> Result<(Vec<Mean>, (f64, f64))> {
        let count = self.wide.saturating_mul(self.high);
        subject.read.limits.allocate(count.saturating_mul(size_of::<Mean>() as u64))?;
        let count = usize::try_from(count).map_err(|_| Error::usage("too many values for a picture"))?;
        let mut means = vec![Mean::default(); count];
        let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
        subject.pieces(
            0,
            Order::C,
            PIECE,
            |start, _, values| self.part(start, values, full),
            |part| {
                let part = part.ok_or_else(|| Error::usage("colours that are read in parts"))?;
                ends = (ends.0.min(part.ends.0), ends.1.max(part.ends.1));
                for (mean, more) in means.iter_mut().skip(part.first).zip(&part.means) {
                    mean.add(more.sums, more.opacity, more.count);
                }
                Ok(())
            },
        )?;
        Ok((means, ends))
    }

    /// The sums of a piece; `None` where it begins or ends within a colour, which pieces of whole rows of the last axis do not.
    fn part(&self, start: u64, values: &[f64], full: f64) -> Option<Part> {
        let colors = values.len() as u64 / self.channels;
        let is_whole = start.is_multiple_of(self.channels) && colors * self.channels == values.len() as u64;
        if !is_whole || colors == 0 {
            return values.is_empty().then(Part::default);
        }
        let first_color = start / self.channels;
        let row = |color: u64| color / self.columns.max(1) / self.block.0;
        let (first, last) = (row(first_color), row(first_color + colors - 1));
        let len = usize::try_from((last - first + 1).checked_mul(self.wide)?).ok()?;
        let first_block = first.checked_mul(self.wide)?;
        let mut part = Part { first: usize::try_from(first_block).ok()?, ..Part::default() };
        part.means = vec![Mean::default(); len];
        for (color, levels) in (first_color..).zip(values.chunks_exact(usize::try_from(self.channels).ok()?))
        {
            let (&[r, g, b], opacity) = (levels.first_chunk::<3>()?, levels.get(3).copied().unwrap_or(full));
            if levels.iter().any(|level| !level.is_finite()) {
                continue;
            }
            for level in levels {
                part.ends = (part.ends.0.min(*level), part.ends.1.max(*level));
            }
            let block = row(color) * self.wide + color % self.columns.max(1) / self.block.1;
            let mean = part.means.get_mut(usize::try_from(block - first_block).ok()?)?;
            mean.add([r, g, b].map(|level| level * opacity), opacity, 1.0);
        }
        Some(part)
    }
}

/// Sums of a piece, from block `first` on.
struct Part {
    first: usize,
    means: Vec<Mean>,
    ends: (f64, f64),
}

impl Default for Part {
    fn default() -> Self {
        Self { first: 0, means: Vec::new(), ends: (f64::INFINITY, f64::NEG_INFINITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy_data::with_plot_data;

    fn drawn(
        descr: &str,
        shape: &[u64],
        bytes: &[u8],
        is_asked: bool,
        size: Option<(u32, u32)>,
    ) -> Option<(Pixels, Vec<String>)> {
        let style = Style { size, bare: size.is_some(), ..Style::default() };
        let picture = with_plot_data(descr, shape, Order::C, bytes, |subject| {
            assert!(is_colored(subject.container, 0, subject.region).unwrap());
            rgb(subject, is_asked, Origin::Upper, Rgba(1, 2, 3, 255), &style).unwrap()
        })?;
        let image = picture.scene.items.iter().find_map(|item| match item {
            Item::Image { pixels, .. } => Some(pixels.clone()),
            _ => None,
        });
        Some((image.unwrap(), picture.notes))
    }

    #[test]
    fn bytes_stay_as_they_are() {
        let bytes: Vec<u8> = (0..=255).cycle().step_by(7).take(5 * 6 * 3).collect();
        let (pixels, _) = drawn("|u1", &[5, 6, 3], &bytes, false, None).unwrap();
        let rgba: Vec<u8> = bytes.chunks(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 255]).collect();
        assert_eq!((pixels.width, pixels.height, &pixels.rgba), (6, 5, &rgba));
        // The same as two bytes, and as parts of 1.
        let wide: Vec<u8> = bytes.iter().flat_map(|byte| (u16::from(*byte) * 257).to_be_bytes()).collect();
        assert_eq!(drawn(">u2", &[5, 6, 3], &wide, false, None).unwrap().0.rgba, rgba);
        for descr in ["<f4", "<f8"] {
            let parts: Vec<u8> = match descr {
                "<f4" => bytes.iter().flat_map(|byte| (f32::from(*byte) / 255.0).to_le_bytes()).collect(),
                _ => bytes.iter().flat_map(|byte| (f64::from(*byte) / 255.0).to_le_bytes()).collect(),
            };
            assert_eq!(drawn(descr, &[5, 6, 3], &parts, false, None).unwrap().0.rgba, rgba, "{descr}");
        }
        // Opacity, also none.
        let bytes: Vec<u8> = (0..2 * 3 * 4).map(|at| 255 - at * 9).collect();
        let (pixels, _) = drawn("|u1", &[2, 3, 4], &bytes, false, None).unwrap();
        assert_eq!(pixels.rgba, bytes);
    }

    #[test]
    fn floats_beyond_one_are_no_colours_unless_asked_for() {
        let values = [0.5_f32, 1.0, 2.0, -1.0, 0.0, f32::NAN, 0.2, 0.4, 0.6, 1.0, 1.0, 1.0];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert!(drawn("<f4", &[2, 2, 3], &bytes, false, None).is_none());
        let (pixels, notes) = drawn("<f4", &[2, 2, 3], &bytes, true, None).unwrap();
        assert_eq!(pixels.rgba, [128, 255, 255, 255, 1, 2, 3, 255, 51, 102, 153, 255, 255, 255, 255, 255]);
        // The pixel with NaN is left out whole.
        assert_eq!(
            notes[..2],
            ["values from 0.2 to 2.0 are clipped to 0 and 1.0", "1 of 4 points have no finite value"]
                .map(|note| note.replace("0.2", "0.20000000298023224"))
        );
    }

    /// The colour of what is transparent does not bleed into means.
    #[test]
    fn means_are_weighted_by_opacity() {
        let row: Vec<u8> = [[200, 100, 0, 255], [0, 0, 0, 0]].concat();
        let bytes: Vec<u8> = (0..32 * 16).flat_map(|_| row.clone()).collect();
        let (pixels, notes) = drawn("|u1", &[32, 32, 4], &bytes, false, Some((16, 16))).unwrap();
        assert_eq!((pixels.width, pixels.height), (16, 16));
        assert!(pixels.rgba.chunks(4).all(|pixel| pixel == [200, 100, 0, 128]), "{:?}", &pixels.rgba[..8]);
        assert_eq!(notes, ["means of blocks of 2 x 2 values"]);
    }
}
