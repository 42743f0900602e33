//! Values for people: aligned columns, and of large arrays the first and last of each axis, as numpy prints them.

use std::io::Write;

use container_core::Result;
use container_core::chunked_read::check_readable;
use container_core::container::{Container, ReadOptions};
use container_core::region::Region;
use container_core::{Error, Progress};

use super::iterate::{Odometer, Walk};
use super::{char_arrays, text_bytes, text_table};
use crate::extract::is_text;

mod cells;
mod layout;

use layout::{Axis, Gap};

/// Number of values beyond which an array is shortened: `threshold` of `numpy.set_printoptions`.
const THRESHOLD: u64 = 1000;

/// Indices that remain at each end of a shortened axis: `edgeitems` of `numpy.set_printoptions`.
const EDGE_ITEMS: u64 = 3;

/// Maximum number of cells that are aligned together; more are written as through a pipe.
const MAX_CELLS: u64 = 100_000;

/// Maximum number of bytes of those cells.
const MAX_CELL_BYTES: u64 = 16 << 20;

/// Place for values.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Characters in a line.
    pub width: usize,
    /// Amount of values shown.
    pub values: Shown,
}

/// Amount of the values of a large array that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The first and last along each axis, if there are more than 1000.
    Edges,
    /// All of them.
    All,
}

/// Writes the elements of `region` of a dataset to `out` in aligned columns. Texts, and arrays too large to be aligned, are written as by
/// [`export`](super::export).
///
/// # Errors
/// As [`export`](super::export).
pub fn export_aligned(
    container: &dyn Container,
    index: usize,
    region: &Region,
    page: Page,
    read: &ReadOptions,
    progress: Progress<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let read = &read.for_region(region, &container.require(index)?.shape);
    let walk = Walk::new(container, index, region, read, progress)?;
    let count = region.len().unwrap_or(u64::MAX);
    let edges = page.values == Shown::Edges && count > THRESHOLD;
    let axes: Vec<Axis> = walk.shape.iter().map(|len| Axis::new(*len, edges.then_some(EDGE_ITEMS))).collect();
    let cells = axes.iter().map(Axis::shown).fold(1, u64::saturating_mul);
    let bytes = cells.saturating_mul(walk.dataset.dtype.itemsize() as u64);
    let is_other = is_text(&walk.dataset) || char_arrays::are_characters(&walk.dataset);
    if is_other || walk.shape.is_empty() || cells > MAX_CELLS || bytes > MAX_CELL_BYTES {
        check_readable(container, index, region, read)?;
        match () {
            () if is_text(&walk.dataset) => text_bytes::write(&walk, out)?,
            () if is_other => char_arrays::write(&walk, out)?,
            () => text_table::write(&walk, out)?,
        }
        return Ok(out.flush()?);
    }
    let grid = match edges {
        true => read_edges(container, index, region, &axes, read)?,
        false => {
            check_readable(container, index, region, read)?;
            let mut grid = Vec::new();
            walk.items(|bytes, mask| {
                grid.push(cells::Cell::new(bytes, mask));
                Ok(())
            })?;
            grid
        }
    };
    let texts = cells::aligned(&walk.dataset.dtype, &grid);
    let gap = if page.values == Shown::All { Gap::Never } else { Gap::ToFit(page.width) };
    let is_record = walk.dataset.dtype.as_scalar().is_none();
    out.write_all(layout::text(&axes, &texts, is_record, page.width, gap).as_bytes())?;
    Ok(out.flush()?)
}

/// The cells of the shown indices, in C order: each combination of ends of the axes is read on its own.
fn read_edges(
    container: &dyn Container,
    index: usize,
    region: &Region,
    axes: &[Axis],
    read: &ReadOptions,
) -> Result<Vec<cells::Cell>> {
    let lens: Vec<u64> = axes.iter().map(Axis::shown).collect();
    let total = usize::try_from(lens.iter().product::<u64>()).unwrap_or(0);
    let mut grid = vec![cells::Cell::default(); total];
    let runs: Vec<Vec<layout::Run>> = axes.iter().map(Axis::runs).collect();
    let counts: Vec<u64> = runs.iter().map(|runs| runs.len() as u64).collect();
    let mut combination = Odometer::new(&counts);
    loop {
        let part: Vec<layout::Run> = runs
            .iter()
            .zip(&combination.at)
            .filter_map(|(runs, at)| runs.get(usize::try_from(*at).ok()?).copied())
            .collect();
        let bounds: Vec<(u64, u64)> = part.iter().map(|run| (run.start, run.count)).collect();
        let sub = region.sub_region(&bounds)?;
        check_readable(container, index, &sub, read)?;
        let walk = Walk::new(container, index, &sub, read, Progress::none())?;
        let mut at = Odometer::new(&walk.shape);
        walk.items(|bytes, mask| {
            let place = at.at.iter().zip(&part).zip(&lens).fold(0_u64, |place, ((at, run), len)| {
                place.saturating_mul(*len).saturating_add(run.place).saturating_add(*at)
            });
            let cell = usize::try_from(place).ok().and_then(|place| grid.get_mut(place));
            *cell.ok_or_else(|| Error::usage("more values than the region has"))? =
                cells::Cell::new(bytes, mask);
            at.step();
            Ok(())
        })?;
        if combination.step() == counts.len() {
            return Ok(grid);
        }
    }
}

#[cfg(test)]
mod tests;
