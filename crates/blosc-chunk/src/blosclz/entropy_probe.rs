//! Estimates from a sample whether data are compressible.

use super::hash_table::{Short, Table, emptied};
use crate::simd::lz::Input;

/// Shorter data are searched right away.
const MIN_LEN: usize = 1 << 10;
/// Bytes at the end that are sampled, too.
const MAX_TAIL_LEN: usize = 1 << 10;
/// The shortest match that counts.
const MIN_MATCH: usize = 5;

/// Whether `text` shrinks enough for `level`. `entries` is room for a hash table.
///
/// C-Blosc tests a part of the same size against the same ratio for each level, but finds slightly fewer matches. So data that
/// it would compress are hardly ever refused.
pub(super) fn is_compressible(text: Input<'_>, level: u8, entries: &mut Vec<u16>) -> bool {
    // The sampled share, and bytes of data for 64 bytes of stream.
    let (share, most, wanted) = match level {
        1 => (8, 1 << 12, 128),
        2 => (4, 1 << 13, 96),
        // A little more than C-Blosc, which counts its own, longer streams.
        3 => (4, 1 << 14, 79),
        4..=6 => (2, 1 << 14, 79),
        // C-Blosc1 makes of this level, which is the default of bloscpack, what it makes of level 5.
        7 => (1, 1 << 14, 79),
        8 => (1, 1 << 14, 70),
        _ => (1, 1 << 14, 64),
    };
    let data = text.bytes();
    if data.len() < MIN_LEN {
        return true;
    }
    let first = data.len() - data.len() / share;
    let end = data.len().min(first + most);
    let mut shrinks = |part: &[u8]| {
        Input::new(part).is_some_and(|part| cost_is_under(part, part.bytes().len() * 64 / wanted, entries))
    };
    // Bits of numbers that hardly change come last.
    (end < data.len() && shrinks(&data[data.len() - MAX_TAIL_LEN..])) || shrinks(&data[first..end])
}

/// Whether a stream for `text` would take fewer bytes than about `limit`.
fn cost_is_under(text: Input<'_>, limit: usize, entries: &mut Vec<u16>) -> bool {
    let table: &mut Short = emptied(entries);
    let len = text.bytes().len();
    let (mut cost, mut anchor, mut pos) = (0, 0, 1);
    let literals = |count: usize| count + count.div_ceil(32);
    while let Some(word) = text.word(pos) {
        let earlier = table.swap(word, pos);
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        if text.half(earlier) != word as u32 {
            pos += 1;
            continue;
        }
        let same = text.common(earlier, pos, len);
        if same < MIN_MATCH {
            pos += 1;
            continue;
        }
        cost += literals(pos - anchor) + if same < 9 { 2 } else { 3 + same / 255 };
        pos += same;
        anchor = pos;
        // Whatever the rest holds.
        if cost + literals(len - pos) < limit {
            return true;
        }
        if cost >= limit {
            return false;
        }
    }
    cost + literals(len - anchor) < limit
}
