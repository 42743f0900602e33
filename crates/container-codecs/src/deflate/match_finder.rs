//! Match finder: hash tables of earlier sequences of bytes.
//!
//! Two hash tables map each sequence of 3 and of 6 bytes to its last position. The nearest match costs the fewest bits; the table of 6 finds long
//! matches without a walk along a chain of short ones. The search has no branch that depends on its results: in arrays with noise, mispredicted branches would take most of the time.

use super::WINDOW;
use super::cost_model::Costs;
use super::tokens::{LONGEST, SHORTEST};

/// Bytes of padding before the data: no distance of 16 bits goes past the start of the buffer.
pub(super) const BEFORE: usize = 1 << 16;

/// Number of places that are searched together.
pub(super) const GROUP: usize = 64;

/// Number of slots of the table of 3 bytes, usually the only one, as a power of two: its 32 KiB stay in the first level of cache.
const SHORT_BITS: u32 = 14;

const LONG_BITS: u32 = 15;

/// Positions by their lowest 16 bits. An older position may alias a newer one; bytes of a candidate are always compared.
pub(super) struct Finder {
    short: Box<[u16; 1 << SHORT_BITS]>,
    long: Box<[u16; 1 << LONG_BITS]>,
    /// Position of the first byte of the data.
    base: usize,
}

/// Matches that were found at some places of a group.
pub(super) struct Group {
    /// Bit mask of the positions with a candidate.
    pub(super) found: u64,
    /// Distance to the candidate of the table of 3 bytes, by position.
    short: [u16; GROUP],
    long: [u16; GROUP],
}

/// A match and the bits that it saves, in the unit of [`Costs`]; `gain` is 0 without a match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    pub(super) gain: i32,
    pub(super) len: usize,
    pub(super) back: usize,
    /// Gain over the match from the table of 3 bytes.
    pub(super) over: i32,
}

impl Finder {
    /// For data that begin at `base`.
    pub(super) fn new(base: usize) -> Self {
        Self { short: Box::new([0; 1 << SHORT_BITS]), long: Box::new([0; 1 << LONG_BITS]), base }
    }

    /// Inserts the positions `from..to` into both tables.
    pub(super) fn insert(&mut self, src: &[u8], from: usize, to: usize) {
        for at in from..to.min(src.len().saturating_sub(7)) {
            let word = load(src, at);
            self.short[short_hash(word)] = low(at);
            self.long[long_hash(word)] = low(at);
        }
    }

    /// Searches for matches at the positions `from + place`, and inserts them. Reads [`GROUP`] bytes and eight more from `from` on.
    #[inline(always)]
    pub(super) fn look<const LONG: bool>(
        &mut self,
        src: &[u8],
        from: usize,
        places: &[u8],
        costs: &Costs,
        group: &mut Group,
    ) {
        let mut found = 0;
        let (bytes, reach) = (&src[..from + GROUP + 8], costs.reach());
        for place in places {
            let place = usize::from(*place) % GROUP;
            let at = from + place;
            let word = load(bytes, at);
            let slot = &mut self.short[short_hash(word)];
            let back = low(at).wrapping_sub(*slot);
            *slot = low(at);
            group.short[place] = back;
            let mut is_found = is_worth(bytes, word, at, back, &reach);
            if LONG {
                let slot = &mut self.long[long_hash(word)];
                let back = low(at).wrapping_sub(*slot);
                *slot = low(at);
                group.long[place] = back;
                is_found |= is_worth(bytes, word, at, back, &reach);
            }
            found |= u64::from(is_found) << place;
        }
        group.found = found;
    }

    /// The match at position `from + place` that saves the most bits.
    #[inline(always)]
    pub(super) fn best<const LONG: bool>(
        &self,
        src: &[u8],
        group: &Group,
        from: usize,
        place: usize,
        costs: &Costs,
    ) -> Match {
        let at = from + place;
        let word = load(src, at);
        let most = WINDOW.min(at - self.base);
        let found = |back: u16| {
            let back = usize::from(back);
            if back.wrapping_sub(1) >= most {
                return Match::default();
            }
            let differ = load(src, at - back) ^ word;
            let len =
                if differ != 0 { differ.trailing_zeros() as usize / 8 } else { extended(src, at, back) };
            if len < SHORTEST {
                return Match::default();
            }
            Match { gain: costs.gain(word, len, back), len, back, over: 0 }
        };
        let short = found(group.short[place % GROUP]);
        if LONG {
            let long = found(group.long[place % GROUP]);
            if long.gain > short.gain {
                return Match { over: long.gain - short.gain.max(0), ..long };
            }
        }
        short
    }
}

impl Group {
    pub(super) const NONE: Self = Self { found: 0, short: [0; GROUP], long: [0; GROUP] };
}

/// Whether the bytes `back` before `at` qualify as a candidate.
#[inline(always)]
fn is_worth(src: &[u8], word: u64, at: usize, back: u16, reach: &[u16; 8]) -> bool {
    let differ = load(src, at - usize::from(back)) ^ word;
    let len = (differ | 1 << 63).trailing_zeros() / 8;
    back <= reach[len as usize % 8]
}

/// The length of a match of eight bytes and more.
#[inline(never)]
fn extended(src: &[u8], at: usize, back: usize) -> usize {
    let most = LONGEST.min(src.len() - at);
    let mut len = 8;
    while len + 8 <= most {
        let differ = load(src, at + len) ^ load(src, at + len - back);
        if differ != 0 {
            return len + differ.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    while len < most && src[at + len] == src[at + len - back] {
        len += 1;
    }
    len
}

const fn low(at: usize) -> u16 {
    at as u16
}

#[inline(always)]
fn load(src: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&src[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Hash of the first three bytes.
#[inline(always)]
const fn short_hash(word: u64) -> usize {
    (((word as u32) << 8).wrapping_mul(0x9e37_79b1) >> (32 - SHORT_BITS)) as usize
}

/// Hash of the first six bytes.
#[inline(always)]
const fn long_hash(word: u64) -> usize {
    ((word << 16).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LONG_BITS)) as usize
}
