//! The decoded size of a lost chunk. Its own header may be damaged, too: a wrong size would move all data after it.

use container_core::Result;
use container_core::array::byte_len;

use super::{ChunkStatus, DamagedFile};
use crate::chunk_table::ChunkEntry;
use crate::header::{Dialect, MAX_CHUNK};

/// Gives unproved chunks the size of the proved ones, and the last one the size by the shape and the header. Where the
/// proved ones are not of one size, all stay as they are.
///
/// # Errors
/// `Limit`.
pub(super) fn set_sizes(damaged: &mut DamagedFile, statuses: &[ChunkStatus]) -> Result<()> {
    let is_fixed = !damaged.layout.header().dialect.is_variable_length();
    if !is_fixed || statuses.iter().all(|status| *status == ChunkStatus::Intact) {
        return Ok(());
    }
    let entries = damaged.chunks();
    let count = entries.len() as u64;
    let last = if damaged.count.unwrap_or(count) <= count { entries.len().checked_sub(1) } else { None };
    let is_last = |index: usize| Some(index) == last;
    let Some(usual) = most_common_size(damaged, entries, statuses, last) else { return Ok(()) };
    damaged.limits.allocate(count.saturating_mul(size_of::<ChunkEntry>() as u64))?;
    let mut settled = entries.to_vec();
    let mut resized = Vec::new();
    for (index, (entry, status)) in settled.iter_mut().zip(statuses).enumerate() {
        if *status != ChunkStatus::Intact && !is_last(index) && entry.nbytes() != usual {
            entry.place(0, usual);
            resized.push(entry.range().start);
        }
    }
    if let (Some((last, others)), Some(status)) = (settled.split_last_mut(), statuses.last())
        && *status != ChunkStatus::Intact
        && is_last(others.len())
    {
        let nbytes = size_of_last(damaged, last, others, usual);
        if nbytes != last.nbytes() {
            last.place(0, nbytes);
            resized.push(last.range().start);
        }
    }
    if !resized.is_empty() {
        (damaged.placed, damaged.resized) = (Some(settled), resized);
    }
    Ok(())
}

/// The size of all chunks but the last.
fn most_common_size(
    damaged: &DamagedFile,
    entries: &[ChunkEntry],
    statuses: &[ChunkStatus],
    last: Option<usize>,
) -> Option<u32> {
    let proved = entries.iter().zip(statuses).enumerate();
    let proved =
        proved.filter(|(index, (_, status))| Some(*index) != last && **status == ChunkStatus::Intact);
    let mut sizes = proved.map(|(_, (entry, _))| entry.nbytes());
    let told = || u32::try_from(damaged.layout.header().chunk_size).ok();
    let usual = match sizes.next() {
        Some(first) => sizes.all(|size| size == first).then_some(first),
        None => told(),
    };
    usual.filter(|size| (1..=MAX_CHUNK).contains(size))
}

fn size_of_last(damaged: &DamagedFile, last: &ChunkEntry, others: &[ChunkEntry], usual: u32) -> u32 {
    let layout = &damaged.layout;
    // Version 2 has a last chunk that is larger.
    let most = if layout.header().dialect == Dialect::V2 { MAX_CHUNK } else { usual };
    let before = others.iter().map(|entry| u64::from(entry.nbytes())).fold(0, u64::saturating_add);
    let by_shape = layout.numpy().and_then(|array| byte_len(&array.dtype, &array.shape)?.checked_sub(before));
    let by_shape = by_shape.and_then(|len| u32::try_from(len).ok());
    let by_header = u32::try_from(layout.header().last_chunk).ok();
    let mut said = [by_shape, by_header, Some(last.nbytes())].into_iter().flatten();
    said.find(|size| (1..=most).contains(size)).unwrap_or(usual)
}
