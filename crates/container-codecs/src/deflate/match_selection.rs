//! Selection of matches, made for arrays, whose items have a few bytes of which some are noise.
//!
//! Most places of such arrays have no match, or one of three bytes, so that its cost decides whether it saves bits. Matches begin at the same offsets
//! in all items. From time to time a chunk is searched at all places to find these offsets; elsewhere only they are searched.

use super::cost_model::Costs;
use super::match_finder::{Finder, GROUP, Group};
use super::tokens::{Counts, Step, UNIT};

/// Bytes after which the places of items repeat, of whatever length they are: of three as well as can be.
const RECORD: usize = 8;

/// Number of chunks of which one is explored.
const EXPLORED: usize = 8;

/// Bytes of such a chunk that are searched at all places.
const PART: usize = 4 << 10;

/// Bits that a place of a record has to save for each search, in the unit of [`Costs`]: a tenth.
const MIN_RECORD_GAIN: i64 = UNIT as i64 / 10;

/// Bits that a match has to save, in the unit of [`Costs`]: it takes time, and costs are estimates.
const MIN_MATCH_GAIN: i32 = UNIT as i32;

/// Matches of this length and longer are taken at once.
const LAZY: usize = 16;

/// Parses data chunk by chunk.
pub(super) struct Parser {
    finder: Finder,
    /// Chunks up to now.
    chunks: usize,
    /// Places of a record that are searched, a bit for each.
    phases: u8,
    /// Whether matches of six bytes are searched for, too.
    is_long: bool,
    /// Groups without a match, since the last that had one.
    missed: usize,
}

/// A chunk, and its parsed steps.
pub(super) struct Chunk<'a> {
    pub(super) src: &'a [u8],
    pub(super) from: usize,
    pub(super) until: usize,
    pub(super) costs: &'a Costs,
    pub(super) steps: &'a mut Vec<Step>,
    pub(super) counts: &'a mut Counts,
}

/// Bits that matches save.
#[derive(Default)]
struct Gains {
    phases: [i64; RECORD],
    /// Part of these that the table of six bytes found.
    long: i64,
}

impl Parser {
    pub(super) const fn new(finder: Finder) -> Self {
        Self { finder, chunks: 0, phases: u8::MAX, is_long: true, missed: 0 }
    }

    /// Parses `chunk` into steps, and counts their symbols; returns the end of its last match, which may be past the chunk.
    pub(super) fn parse(&mut self, chunk: Chunk<'_>) -> usize {
        let is_explored = self.chunks.is_multiple_of(EXPLORED);
        self.chunks += 1;
        if !is_explored {
            return self.walk_chosen(chunk);
        }
        let Chunk { src, from, until, costs, steps, counts } = chunk;
        let part = if until - from > 2 * PART { from + PART } else { until };
        self.phases = u8::MAX;
        let (to, gains) = self.walk::<true>(Chunk { src, from, until: part, costs, steps, counts });
        self.choose(&gains, part - from);
        if to >= until {
            return to;
        }
        self.walk_chosen(Chunk { src, from: to, until, costs, steps, counts })
    }

    fn walk_chosen(&mut self, chunk: Chunk<'_>) -> usize {
        if self.is_long { self.walk::<true>(chunk).0 } else { self.walk::<false>(chunk).0 }
    }

    /// Whether the gain of matches depends on their offset in a record.
    pub(super) const fn has_records(&self) -> bool {
        self.phases.count_ones() <= 5
    }

    /// Chooses where to look.
    fn choose(&mut self, gains: &Gains, len: usize) {
        let mut order: [usize; RECORD] = std::array::from_fn(|phase| phase);
        order.sort_unstable_by_key(|phase| (-gains.phases[*phase], *phase));
        let least = (gains.phases[order[0]] / 4).max((len / RECORD) as i64 * MIN_RECORD_GAIN);
        self.phases = 0;
        for (number, phase) in order.into_iter().enumerate() {
            // Two at least: long runs are found at any offset.
            if number < 2 || gains.phases[phase] >= least {
                self.phases |= 1 << phase;
            }
        }
        self.is_long = gains.long * 16 > gains.phases.iter().sum();
    }

    /// Selects the places to search in a group that begins at `from`.
    fn places(&self, from: usize, places: &mut [u8; GROUP]) -> usize {
        let mut used = 0;
        for place in 0..GROUP {
            if self.phases >> ((from + place) % RECORD) & 1 == 1 {
                places[used] = place as u8;
                used += 1;
            }
        }
        used
    }

    /// Parses `chunk`, and returns the end of its last match and the gains by phase.
    ///
    /// All bytes are counted as literals first; a match then moves its own from literals to a length and a distance. The finder searches one group
    /// of places at a time. Of the candidates in a group, the first with enough gain is taken, unless the place after it has a better one. Places
    /// within a taken match are skipped.
    fn walk<const LONG: bool>(&mut self, chunk: Chunk<'_>) -> (usize, Gains) {
        let Chunk { src, from, until, costs, steps, counts } = chunk;
        counts.add_literals(&src[from..until]);
        let mut places = [0; GROUP];
        let used = self.places(from, &mut places);
        // The last bytes are too few for a group.
        let end = until.min(src.len().saturating_sub(GROUP + 8));
        let (mut at, mut literals_from, mut start) = (from, from, from);
        let (mut group, mut gains, mut is_run) = (Group::NONE, Gains::default(), false);
        while start < end {
            let to = start + GROUP;
            if at >= to {
                // Within a long match: of its places the last ones are enough.
                self.finder.insert(src, to - 4, to);
                start = to;
                continue;
            }
            self.finder.look::<LONG>(src, start, &places[..used], costs, &mut group);
            if at > start && is_run && self.phases >> (at % RECORD) & 1 == 0 {
                // Where a long match ended there may be more of the same.
                let found = group.found;
                self.finder.look::<LONG>(src, start, &[(at - start) as u8], costs, &mut group);
                group.found |= found;
            }
            if group.found == 0 {
                // After many misses the search is reduced.
                self.missed += 1;
                start = to + GROUP * (self.missed / 4).min(7);
                continue;
            }
            self.missed = 0;
            let mut found = group.found & (u64::MAX << at.saturating_sub(start));
            while found != 0 {
                let mut place = found.trailing_zeros() as usize;
                found &= found - 1;
                let mut best = self.finder.best::<LONG>(src, &group, start, place, costs);
                if best.gain < MIN_MATCH_GAIN {
                    continue;
                }
                // One place further there may be a better one.
                while best.len < LAZY && found >> place >> 1 & 1 == 1 {
                    let next = self.finder.best::<LONG>(src, &group, start, place + 1, costs);
                    if next.gain <= best.gain {
                        break;
                    }
                    found &= found - 1;
                    place += 1;
                    best = next;
                }
                let here = start + place;
                gains.phases[here % RECORD] += i64::from(best.gain);
                gains.long += i64::from(best.over);
                counts.add(&src[here..here + best.len], best.back as u32 - 1);
                steps.push(Step {
                    literals: (here - literals_from) as u32,
                    len: best.len as u16,
                    back: (best.back - 1) as u16,
                });
                at = here + best.len;
                is_run = best.len > GROUP;
                literals_from = at;
                let over = place + best.len;
                found = if over < GROUP { found & (u64::MAX << over) } else { 0 };
            }
            start = to;
        }
        let to = at.max(until);
        counts.add_literals(&src[until..to]);
        if to > literals_from {
            steps.push(Step { literals: (to - literals_from) as u32, len: 0, back: 0 });
        }
        (to, gains)
    }
}
