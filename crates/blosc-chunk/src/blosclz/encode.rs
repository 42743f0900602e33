//! Encodes BloscLZ streams.

use super::hash_table::{Long, Short, Table, emptied};
use super::output::Output;
use super::{MAX_DISTANCE, MIN_FAR_DISTANCE, entropy_probe};
use crate::simd::lz::Input;

/// Data shorter than this do not get smaller.
const MIN_LEN: usize = 16;
/// Matches start at least this far from the end.
const LAST_START: usize = 12;
/// Bytes that a match must save: one near by is of five bytes or more, a far one of seven.
const MIN_GAIN: usize = 3;
/// A match that goes on where another ends is taken when it is so long.
const MIN_ADJOINING_LEN: usize = 16;
/// The longest data that the table of short ones can count.
const MAX_SHORT_LEN: usize = 1 << 16;

/// Encodes streams. Keeps its tables between calls; the bytes never depend on earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    short: Vec<u16>,
    long: Vec<u32>,
}

/// Search effort.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Places tried before each longer step, as a power of two.
    patience: u32,
    /// Matches shorter than this are compared with those at the next positions first.
    lazy: usize,
}

impl Effort {
    const fn of(level: u8) -> Self {
        match level {
            0 | 1 => Self { patience: 7, lazy: 0 },
            2..=7 => Self { patience: 7, lazy: 8 },
            8 => Self { patience: 7, lazy: 16 },
            _ => Self { patience: 9, lazy: usize::MAX },
        }
    }
}

impl Encoder {
    /// Encodes `src` into the start of `dst` and returns the length, or `None` as soon as it cannot fit.
    ///
    /// `level`: 1 to 9, more searches longer; 0 counts as 1 and more than 9 as 9. A sample of the data is tried first, and
    /// data that would hardly shrink are refused; lower levels require a better ratio.
    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        // Tables hold 32-bit positions. A chunk is shorter than 2^31 bytes.
        u32::try_from(src.len()).ok()?;
        let text = Input::new(src).filter(|_| src.len() >= MIN_LEN)?;
        let level = level.clamp(1, 9);
        if !entropy_probe::is_compressible(text, level, &mut self.short) {
            return None;
        }
        let mut output = Output::new(dst);
        let effort = Effort::of(level);
        let anchor = if src.len() <= MAX_SHORT_LEN {
            let table: &mut Short = emptied(&mut self.short);
            operations(text, table, &mut output, effort)?
        } else {
            let table: &mut Long = emptied(&mut self.long);
            operations(text, table, &mut output, effort)?
        };
        output.literals(text, anchor, src.len())?;
        Some(output.finish())
    }
}

/// A match: where, of what, how long.
#[derive(Clone, Copy, Debug)]
struct Match {
    pos: usize,
    earlier: usize,
    len: usize,
}

impl Match {
    /// Bytes that it saves, about.
    #[inline(always)]
    fn gain(self) -> usize {
        self.len.saturating_sub(if self.pos - self.earlier < MIN_FAR_DISTANCE { 2 } else { 4 })
    }
}

/// Match finder: the text, and the table of earlier positions.
struct Search<'a, T> {
    text: Input<'a>,
    /// The part of the text in which matches may start: its last word is the last such place.
    starts: Input<'a>,
    table: &'a mut T,
}

impl<T: Table> Search<'_, T> {
    /// Returns the last position of the word at `pos`, if there is one within reach, and stores `pos` in its place.
    #[inline(always)]
    fn swap(&mut self, word: u64, pos: usize) -> Option<usize> {
        let earlier = self.table.swap(word, pos);
        (self.starts.half(earlier) == low(word) && pos - earlier <= MAX_DISTANCE).then_some(earlier)
    }

    /// Returns the match of `pos` and `earlier`, whose first four bytes are equal.
    #[inline(always)]
    fn found(&self, pos: usize, earlier: usize) -> Match {
        // A stream ends in a literal.
        Match { pos, earlier, len: 4 + self.text.common(earlier + 4, pos + 4, self.text.bytes().len() - 1) }
    }

    /// Finds a match at `pos`, where a match ends, that continues as after the last occurrence of the byte before it and those at `pos`.
    ///
    /// Periodic data repeat this way: matches then end where they ended a period before, so that the table needs no position
    /// within them.
    #[inline(always)]
    fn going_on(&mut self, pos: usize) -> Option<Match> {
        let earlier = self.swap(self.starts.word(pos - 1)?, pos - 1)? + 1;
        let next = Match { pos, earlier, len: self.text.common(earlier, pos, self.text.bytes().len() - 1) };
        if next.len < MIN_ADJOINING_LEN {
            return None;
        }
        let here = self.swap(self.starts.word(pos)?, pos).map(|earlier| self.found(pos, earlier));
        Some(here.filter(|here| here.gain() > next.gain()).unwrap_or(next))
    }

    /// Returns the best match at `found` or at the positions after it, and the last position that was tried.
    #[inline(always)]
    fn better(&mut self, mut found: Match, lazy: usize) -> (Match, usize) {
        let mut pos = found.pos;
        while let Some(word) = self.starts.word(found.pos + 1).filter(|_| found.len < lazy) {
            pos = found.pos + 1;
            let next = self.swap(word, pos).map(|earlier| self.found(pos, earlier));
            match next.filter(|next| next.gain() > found.gain() + 1) {
                Some(next) => found = next,
                None => break,
            }
        }
        (found, pos)
    }
}

/// Writes all operations but the last literals, and returns the start of these.
///
/// Each turn takes a match: the one that continues at the end of the last match, or the next one in the table. The match is compared with
/// those at the following positions, extended backwards, and written if it saves enough bytes. The longer no match is found, the more
/// positions are skipped: `tries` grows with each one.
fn operations<T: Table>(
    text: Input<'_>,
    table: &mut T,
    output: &mut Output<'_>,
    effort: Effort,
) -> Option<usize> {
    let data = text.bytes();
    let starts = Input::new(&data[..data.len() - (LAST_START - 8)])?;
    let mut search = Search { text, starts, table };
    // A stream begins with a literal, and 0 is the only position before 1.
    let (mut anchor, mut first, mut pos) = (0, 1, 1);
    let mut tries = 1 << effort.patience;
    let mut next = None;
    loop {
        let found = match next {
            Some(next) => next,
            None => loop {
                let Some(word) = starts.word(pos) else {
                    return Some(anchor);
                };
                if let Some(earlier) = search.swap(word, pos) {
                    break search.found(pos, earlier);
                }
                pos += tries >> effort.patience;
                tries += 1;
            },
        };
        let (mut found, last) = search.better(found, effort.lazy);
        while found.pos > first && found.earlier > 0 && data[found.pos - 1] == data[found.earlier - 1] {
            found.pos -= 1;
            found.earlier -= 1;
            found.len += 1;
        }
        if found.gain() < MIN_GAIN {
            (pos, next) = (last + 1, None);
            continue;
        }
        tries = 1 << effort.patience;
        output.literals(text, anchor, found.pos)?;
        output.copy(found.len, found.pos - found.earlier)?;
        pos = found.pos + found.len;
        (anchor, first) = (pos, pos);
        next = search.going_on(pos);
    }
}

/// Returns the low half.
#[expect(clippy::cast_possible_truncation, reason = "what is meant")]
fn low(word: u64) -> u32 {
    word as u32
}
