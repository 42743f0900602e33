//! Whether data are worth the search: a guess from a few windows of them.

use super::table::{emptied, hash};
use super::{FAR, MAX_DISTANCE};
use crate::simd::lz::Text;

/// Bits of an index into the table of a probe.
const LOG: u32 = 11;
/// Shorter data are searched right away.
const MIN_LEN: usize = 8 << 10;

/// Whether `level` would go on with data such as these. `entries` is a table to use.
pub(super) fn is_worth_it(text: Text<'_>, level: u8, entries: &mut Vec<u32>) -> bool {
    let len = text.bytes().len();
    if level >= 9 || len < MIN_LEN {
        return true;
    }
    let (windows, window_len) = if level == 1 { (4, 512) } else { (8, 512) };
    // Bytes of data for 64 bytes of stream, as C-Blosc asks of its levels, or less.
    let wanted = match level {
        1 => 88,
        2 => 74,
        // Streams of split blocks have more to gain than a window shows.
        3..=7 if len <= 1 << 16 => 70,
        3..=7 => 72,
        _ => 68,
    };
    let table: &mut [u32; 1 << LOG] = emptied(entries);
    let mut total = 0;
    for window in 0..windows {
        // Half of them all over the data, from the end on, and half in the last quarter, where shuffled data shrink.
        let part = if window % 2 == 0 { len - window_len } else { len / 4 };
        let start = len - window_len - part / (windows - 1) * window;
        let cost = cost(text, start, start + window_len, table);
        // One part that shrinks well will do: the others are passed over quickly.
        if cost * 3 < window_len {
            return true;
        }
        total += cost;
    }
    total * wanted < windows * window_len * 64
}

/// Bytes of stream for the window from `start` to `end`, about.
fn cost(text: Text<'_>, start: usize, end: usize, table: &mut [u32; 1 << LOG]) -> usize {
    let mut cost = 0;
    let mut pos = start;
    while let Some(word) = text.word(pos).filter(|_| pos + 8 < end) {
        #[expect(clippy::cast_possible_truncation, reason = "the data are shorter than 2^32")]
        let earlier = std::mem::replace(&mut table[hash::<LOG>(word)], pos as u32) as usize;
        if earlier >= pos
            || pos - earlier > MAX_DISTANCE
            || text.word(earlier).is_none_or(|other| (other ^ word) << 24 != 0)
        {
            cost += 1;
            pos += 1;
            continue;
        }
        let len = text.common(earlier, pos, end);
        // A match ends a run of literals, which have a byte of their own.
        cost += if pos - earlier < FAR { 3 } else { 5 };
        pos += len;
    }
    cost += end.saturating_sub(pos);
    cost + cost / 32
}
