//! The original number of chunks, by the header, the shape of an array, or chunks that fill the file.

use super::{ChunkStatus, DamagedFile};
use crate::chunk_table::ChunkEntry;
use crate::layout::Layout;
use crate::offsets_index::ENTRY;

/// The count by the shape in the metadata and the sizes in the header, where these agree; otherwise the header's.
pub(super) fn by_header(layout: &Layout) -> Option<u64> {
    by_shape(layout).or_else(|| layout.count())
}

fn by_shape(layout: &Layout) -> Option<u64> {
    let (header, numpy) = (layout.header(), layout.numpy()?);
    let size = u64::try_from(header.chunk_size).ok().filter(|size| *size > 0)?;
    let last = u64::try_from(header.last_chunk).ok().filter(|last| *last > 0)?;
    let item = numpy.dtype.itemsize() as u64;
    let len = numpy.shape.iter().try_fold(item, |len, axis| len.checked_mul(*axis))?;
    let whole = len.checked_sub(last).filter(|_| last <= size)?;
    whole.is_multiple_of(size).then(|| (whole / size).saturating_add(1))
}

/// The same after a scan: the number of chunks found, if they fill the file from the end of the table to the end without a gap.
pub(super) fn by_chunks(
    damaged: &DamagedFile,
    statuses: &[ChunkStatus],
    found: &[ChunkEntry],
) -> Option<u64> {
    let layout = &damaged.layout;
    let good = damaged.chunks().iter().zip(statuses).filter(|(_, status)| **status == ChunkStatus::Intact);
    let mut all: Vec<ChunkEntry> = good.map(|(entry, _)| *entry).chain(found.iter().copied()).collect();
    all.sort_unstable_by_key(|entry| entry.range().start);
    let ends = |entry: &ChunkEntry| damaged.stored_range(entry).end;
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return damaged.count };
    let gapless = all.windows(2).all(|pair| match pair {
        [one, next] => {
            ends(one) == next.range().start && u32::try_from(layout.header().chunk_size) == Ok(one.nbytes())
        }
        _ => true,
    });
    let is_last =
        u32::try_from(layout.header().last_chunk) == Ok(last.nbytes()) && ends(last) == layout.file_len();
    let count = all.len() as u64;
    let table = match layout.header().has_offsets() {
        true => count.checked_add(u64::try_from(layout.header().max_app_chunks).ok()?)?.checked_mul(ENTRY)?,
        false => 0,
    };
    let begins = layout.offsets().start.checked_add(table) == Some(first.range().start);
    if by_shape(layout).is_none() && gapless && is_last && begins { Some(count) } else { damaged.count }
}
