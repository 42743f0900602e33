//! Passing a dataset through in pieces, within bounded memory.

use crate::array::byte_len;
use crate::container::{Container, ReadOptions};
use crate::dtype::Order;
use crate::region::Region;
use crate::{Error, Limits, Progress, Result};

/// Bytes of a piece in stored order: a few huge pages.
const PIECE: u64 = 8 << 20;

/// Bytes of a piece that has to be transposed: the longer it is, the longer the runs that are read for it.
const TRANSPOSED_PIECE: u64 = 64 << 20;

/// Passes the elements of `region` to `sink` in `order`, as stored (byte order included), piece by piece: `sink` is given
/// the bytes of whole elements. Memory is bounded by the piece, not by the dataset, unless the dataset is one compressed block.
///
/// # Errors
/// Those of [`Container::read`] and of `sink`; `Cancelled`.
pub fn for_each_run(
    container: &dyn Container,
    index: usize,
    region: &Region,
    order: Order,
    options: &ReadOptions,
    progress: Progress<'_>,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let dataset = container.datasets().get(index).ok_or_else(|| Error::usage("no such dataset"))?;
    let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
    let total = byte_len(&dataset.dtype, &counts)
        .ok_or_else(|| Error::malformed(format!("{} reaches past 2^64 bytes", dataset.path)))?;
    // Elements without bytes: a file may claim any number of them.
    if total == 0 {
        return progress.tick(0, 0);
    }
    let budget = if order == dataset.order { PIECE } else { TRANSPOSED_PIECE };
    let most = budget / (dataset.dtype.itemsize() as u64).max(1);
    let mut done = 0;
    for piece in region.pieces(order, most) {
        let array = container.read(index, &piece, options)?;
        // A piece is at most one element over the budget, so no further limit applies.
        let bytes = array.bytes(order, &Limits::default())?;
        touch(&bytes);
        sink(&bytes)?;
        done += bytes.len() as u64;
        progress.tick(done, total)?;
    }
    Ok(())
}

/// Has the pages of a map brought in before their bytes are written to a file. Linux does not wait for them inside a write: when it
/// meets one that is not there it goes on in ever smaller pieces, down to a page, five times slower (seen with 6.18 on ext4).
fn touch(bytes: &[u8]) {
    const PAGE: usize = 4096;
    std::hint::black_box(bytes.iter().step_by(PAGE).fold(0, |all, byte| all ^ byte));
}
