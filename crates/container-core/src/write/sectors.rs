//! States that a power cut can leave of a write: a disk writes a sector whole or not at all.

use std::ops::Range;

/// Bytes that a disk writes whole or not at all.
pub const SECTOR: u64 = 512;

/// The sector of a byte.
const fn sector(at: u64) -> u64 {
    at / SECTOR
}

/// Whether a range spans sectors, so that a disk may write only one part of it.
#[must_use]
pub fn spans_sectors(range: &Range<u64>) -> bool {
    sector(range.start) != sector(range.end.saturating_sub(1))
}

/// The range from the first byte that differs to the last; `None` where none does. Both slices have the same length.
#[must_use]
pub fn differing(old: &[u8], new: &[u8]) -> Option<Range<usize>> {
    let differs = |(old, new): (&u8, &u8)| old != new;
    let first = old.iter().zip(new).position(differs)?;
    let last = old.iter().zip(new).rposition(differs)?;
    Some(first..last.saturating_add(1))
}

/// Whether an interrupted write of `new` over `old`, at byte `at` of the file, may have left `now`: each sector is the old one, the new one,
/// or begins with the first bytes of the new one. False where the three differ in length.
#[must_use]
pub fn may_be_torn(at: u64, old: &[u8], new: &[u8], now: &[u8]) -> bool {
    if now.len() != new.len() {
        return false;
    }
    let mut start = 0_usize;
    while start < now.len() {
        let here = at.saturating_add(start as u64);
        let next = sector(here).saturating_add(1).saturating_mul(SECTOR);
        let end = usize::try_from(next.saturating_sub(at)).unwrap_or(usize::MAX).min(now.len());
        let (Some(now), Some(old), Some(new)) =
            (now.get(start..end), old.get(start..end), new.get(start..end))
        else {
            return false;
        };
        let same = now.iter().zip(new).take_while(|(now, new)| now == new).count();
        if now.get(same..) != old.get(same..) {
            return false;
        }
        start = end;
    }
    true
}
