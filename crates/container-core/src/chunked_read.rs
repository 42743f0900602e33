//! Passing a dataset through in pieces, within bounded memory.

use crate::array::byte_len;
use crate::container::{Container, ReadOptions, require};
use crate::dtype::Order;
use crate::mask::Hidden;
use crate::region::{AxisSelection, Region};
use crate::{Error, Limits, Progress, Result};

/// Bytes of a piece in stored order: as much as stays in the cache.
const PIECE: u64 = 1 << 20;

/// Bytes of a piece that is decoded: blocks that two pieces share are few, and several threads have enough to do.
const DECODED_PIECE: u64 = 16 << 20;

/// Bytes of a piece that has to be transposed: the longer it is, the longer the runs that are read for it.
const TRANSPOSED_PIECE: u64 = 64 << 20;

/// Makes sure that `region` can be read, before anything is written on the strength of it: that no element is absent, and by
/// [`Container::check_readable`].
///
/// # Errors
/// Those of [`Container::absence`] and [`Container::read`].
pub fn check_readable(
    container: &dyn Container,
    index: usize,
    region: &Region,
    options: &ReadOptions,
) -> Result<()> {
    require_present(container, index, region)?;
    if region.is_empty() {
        return container.read(index, region, options).map(|_| ());
    }
    container.check_readable(index, region, options)
}

/// Reads the element of `region` with the largest offset in the file.
///
/// # Errors
/// Those of [`Container::read`].
pub fn check_furthest_readable<C: Container + ?Sized>(
    container: &C,
    index: usize,
    region: &Region,
    options: &ReadOptions,
) -> Result<()> {
    let dataset = &*require(container, index)?;
    let furthest = region.axes().iter().map(|axis| {
        let last = i128::from(axis.start) + i128::from(axis.step) * (i128::from(axis.count) - 1);
        let start = axis.start.max(u64::try_from(last).unwrap_or(0));
        AxisSelection { start, step: 1, count: 1, kept: axis.kept }
    });
    let furthest = Region::new(furthest.collect(), &dataset.shape)?;
    container.read(index, &furthest, options).map(|_| ())
}

/// Refuses a region with elements that are not in the file, as a whole and before its first element.
///
/// # Errors
/// Those of [`Container::absence`].
pub fn require_present(container: &dyn Container, index: usize, region: &Region) -> Result<()> {
    container.absence(index, region).map_or(Ok(()), Err)
}

/// Maximum number of bytes of a piece: the best constant, or a share of the limit on memory, which also has to hold the piece's
/// transposition and result.
#[must_use]
pub fn chunk_len(same_order: bool, limits: &Limits) -> u64 {
    let best = if same_order { PIECE } else { TRANSPOSED_PIECE };
    best.min(limits.memory / 4)
}

/// Passes the elements of `region` to `sink` in `order`, as stored (byte order included), piece by piece: `sink` is given
/// the bytes of whole elements. Memory is bounded by the piece, not by the dataset, unless the dataset is one compressed block.
///
/// # Errors
/// Those of [`Container::absence`], before the first piece, of [`Container::read`] and of `sink`; `Cancelled`.
pub fn for_each_chunk(
    container: &dyn Container,
    index: usize,
    region: &Region,
    order: Order,
    options: &ReadOptions,
    progress: Progress<'_>,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for_each_piece(container, index, region, order, options, progress, |_, bytes| sink(bytes))
}

/// As [`for_each_chunk`], with the mask of each piece; `None` for a dataset without a mask.
///
/// # Errors
/// As [`for_each_chunk`]; those of [`Container::mask`].
pub fn for_each_masked_chunk(
    container: &dyn Container,
    index: usize,
    region: &Region,
    order: Order,
    options: &ReadOptions,
    progress: Progress<'_>,
    mut sink: impl FnMut(&[u8], Option<&Hidden>) -> Result<()>,
) -> Result<()> {
    let dtype = container.require(index)?.dtype.clone();
    for_each_piece(container, index, region, order, options, progress, |piece, bytes| {
        let mask = container.mask(index, piece, options)?;
        let hidden = mask.map(|mask| Hidden::new(&mask, &dtype, order, &options.limits)).transpose()?;
        sink(bytes, hidden.as_ref())
    })
}

fn for_each_piece(
    container: &dyn Container,
    index: usize,
    region: &Region,
    order: Order,
    options: &ReadOptions,
    progress: Progress<'_>,
    mut sink: impl FnMut(&Region, &[u8]) -> Result<()>,
) -> Result<()> {
    let dataset = &*container.require(index)?;
    require_present(container, index, region)?;
    let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
    let total = byte_len(&dataset.dtype, &counts)
        .ok_or_else(|| Error::malformed(format!("{} reaches past 2^64 bytes", dataset.path)))?;
    // Elements without bytes: a file may claim any number of them. Errors of the file are still reported.
    if total == 0 {
        container.read(index, region, options)?;
        return progress.tick(0, 0);
    }
    let mut most = chunk_len(order == dataset.order, &options.limits);
    if dataset.codec != "none" {
        most = most.max(DECODED_PIECE.min(options.limits.memory / 4));
    }
    let most = most / (dataset.dtype.itemsize() as u64).max(1);
    let mut done = 0;
    for piece in region.chunks(order, most) {
        options.limits.stop.check()?;
        let array = container.read(index, &piece, options)?;
        let bytes = array.bytes(order, &options.limits)?;
        touch(&bytes);
        sink(&piece, &bytes)?;
        done += bytes.len() as u64;
        progress.tick(done, total)?;
    }
    Ok(())
}

/// Loads the pages of a map before their bytes are written to a file. Linux does not wait for them inside a write: at a missing page it
/// continues in ever smaller pieces, down to a page, five times slower (seen with 6.18 on ext4).
fn touch(bytes: &[u8]) {
    const PAGE: usize = 4096;
    std::hint::black_box(bytes.iter().step_by(PAGE).fold(0, |all, byte| all ^ byte));
}

#[cfg(test)]
mod tests;
