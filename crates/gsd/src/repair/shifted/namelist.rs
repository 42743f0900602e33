//! Bytes inserted or deleted between the index and the names: everything after them is shifted.

use container_core::Result;
use container_core::report::RepairItem;

use crate::header;
use crate::index::IndexEntry;
use crate::namelist::NameList;
use crate::repair::damaged_file::DamagedFile;
use crate::repair::name_recovery::are_plausible;

/// Greatest shift in bytes that is searched: text editors and transfers add or drop no more.
pub(in crate::repair) const MAX_SHIFT: i64 = 4096;

/// Moves the places of chunks where the names lie off their place by as many bytes as the file is too long or too short for its chunks. What
/// it did is a guess: values carry no digest.
pub(in crate::repair) fn shift_chunks(
    damaged: &mut DamagedFile<'_>,
    entries: &mut [IndexEntry],
    needed: usize,
) -> Result<Option<RepairItem>> {
    let place = damaged.header.namelist_location;
    let behind = |entry: &IndexEntry| u64::try_from(entry.location).is_ok_and(|at| at >= place);
    if needed == 0 || damaged.header.is_v1() || !entries.iter().all(behind) {
        return Ok(None);
    }
    let Some(end) = claimed_end(damaged)? else { return Ok(None) };
    let signed = |at: u64| i64::try_from(at).ok();
    let shift = signed(damaged.len).zip(signed(end)).and_then(|(len, end)| len.checked_sub(end));
    let shift = shift.filter(|shift| *shift != 0 && shift.abs() <= MAX_SHIFT);
    let Some(shift) = shift else { return Ok(None) };
    let (Some(moved), Some(size)) = (
        place.checked_add_signed(shift),
        damaged.header.namelist_range().map(|range| range.end - range.start),
    ) else {
        return Ok(None);
    };
    if moved <= header::LEN || size > MAX_SHIFT.unsigned_abs() * 16 || !is_list(damaged, moved, size, needed)?
    {
        return Ok(None);
    }
    if shift > 0 && damaged.read(damaged.clip(Some(place..moved)))?.iter().any(|byte| *byte != 0) {
        return Ok(None);
    }
    damaged.header.namelist_location = moved;
    for entry in entries.iter_mut() {
        entry.location = entry.location.saturating_add(shift);
    }
    let (len, where_to) = (shift.abs(), if shift > 0 { "behind" } else { "before" });
    let what = format!(
        "names and chunks lie {len} bytes {where_to} their place, as many as the file is too {}: {} chunks are read there",
        if shift > 0 { "long" } else { "short" },
        entries.len()
    );
    Ok(Some(RepairItem::new(place.min(moved)..damaged.len, what)))
}

/// True where the list of names begins at `at`, with all that are needed, behind a byte that is no part of it.
fn is_list(damaged: &DamagedFile<'_>, at: u64, size: u64, needed: usize) -> Result<bool> {
    let bytes = damaged.read(damaged.clip(Some(at - 1..at.saturating_add(size))))?;
    let Some((0, list)) = bytes.split_first().map(|(first, rest)| (*first, rest)) else { return Ok(false) };
    let end = list.windows(2).position(|pair| pair == [0, 0]).map_or(list.len(), |end| end + 1);
    let names = NameList::parse(list.get(..end).unwrap_or_default(), false);
    Ok(names.len() >= needed && are_plausible(&names))
}

/// Returns the end of the chunks in the index at its place, including those past the end of the file.
pub(in crate::repair) fn claimed_end(damaged: &DamagedFile<'_>) -> Result<Option<u64>> {
    let most = damaged.len.saturating_add(MAX_SHIFT.unsigned_abs());
    let mut last = damaged.known.iter().map(|range| range.end).max();
    for window in damaged.windows(damaged.clip(damaged.header.index_range()), 0) {
        let (_, bytes) = window?;
        for slot in bytes.as_chunks::<32>().0 {
            let entry = IndexEntry::from_bytes(slot, damaged.order());
            let range = entry.byte_range().filter(|range| range.start > 0 && range.end <= most);
            last = last.max(range.filter(|range| !range.is_empty()).map(|range| range.end));
        }
    }
    Ok(last)
}
