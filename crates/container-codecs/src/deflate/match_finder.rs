//! Match finder: hash tables of earlier sequences of bytes.
//!
//! Two tables give the last place of each three and six bytes: the nearest match costs least, and longer ones are found without walking chains of
//! shorter ones. The search has no branch that depends on its results: in arrays with noise, mispredicted branches would take most of the time.

use super::WINDOW;
use super::cost_model::Costs;
use super::tokens::{LONGEST, SHORTEST};

/// Number of bytes before the data, so that every stored place is within the buffer.
pub(super) const BEFORE: usize = 1 << 16;

/// Number of places that are searched together.
pub(super) const GROUP: usize = 64;

/// Size of the table of three bytes, usually the only one: a larger one would not stay in the nearest cache.
const SHORT_BITS: u32 = 14;

const LONG_BITS: u32 = 15;

/// Stores places by their lowest 16 bits. An older place aliases a newer one, and the bytes there are compared like any other.
pub(super) struct Finder {
    short: Box<[u16; 1 << SHORT_BITS]>,
    long: Box<[u16; 1 << LONG_BITS]>,
    /// Position of the first byte of the data.
    base: usize,
}

/// Matches that were found at some places of a group.
pub(super) struct Group {
    /// A bit for each place where there is something.
    pub(super) found: u64,
    /// Distances of short matches.
    short: [u16; GROUP],
    long: [u16; GROUP],
}

/// A match: the bits that it saves in the unit of [`Costs`], 0 without a match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    pub(super) gain: i32,
    pub(super) len: usize,
    pub(super) back: usize,
    /// Part of `gain` beyond that of the match of three bytes.
    pub(super) over: i32,
}

impl Finder {
    /// For data that begin at `base`.
    pub(super) fn new(base: usize) -> Self {
        Self { short: Box::new([0; 1 << SHORT_BITS]), long: Box::new([0; 1 << LONG_BITS]), base }
    }

    /// Takes notice of the places `from..to`.
    pub(super) fn insert(&mut self, src: &[u8], from: usize, to: usize) {
        for at in from..to.min(src.len().saturating_sub(7)) {
            let word = load(src, at);
            self.short[short_hash(word)] = low(at);
            self.long[long_hash(word)] = low(at);
        }
    }

    /// Searches for matches at `places` from `from` on, and enters these into the tables. Reads [`GROUP`] bytes and eight more.
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

    /// The match at `place` of `group`, which begins at `from`, that saves most.
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
