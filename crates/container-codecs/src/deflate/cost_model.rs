//! Cost model: expected bits of each symbol, from those before.

use super::tokens::{
    Counts, DISTANCES, END, LENGTH_EXTRA, LENGTH_SYMBOL, LITERALS, LONGEST, SHORTEST, UNIT, log2,
};

/// Bits, times [`UNIT`].
pub(super) struct Costs {
    literals: [i32; 256],
    /// Cost of each match length, with its extra bits.
    lengths: [i32; 512],
    /// Cost of each distance symbol, with its extra bits.
    distances: [i32; 32],
    /// Mean cost of a literal.
    mean: i32,
    /// Maximum distance at which a match saves bits, by its length.
    reach: [u16; 8],
}

/// The shortest distance of a symbol, less 1.
fn distance_base(symbol: usize) -> u16 {
    let base = if symbol < 4 { symbol } else { (2 + (symbol & 1)) << (symbol / 2 - 1) };
    base as u16
}

impl Costs {
    /// Initial costs, estimated from the bytes alone.
    pub(super) fn of_bytes(src: &[u8]) -> Self {
        let mut counts = Counts::NONE;
        for byte in src {
            counts.literals[usize::from(*byte)] += 1;
        }
        for (symbol, count) in counts.literals[END + 1..LITERALS].iter_mut().enumerate() {
            *count = src.len() as u32 >> (4 + symbol / 2).min(12);
        }
        Self::of(&counts)
    }

    /// Costs of symbols with the frequencies `counts`. Matches that did not occur get a cost low enough to be chosen when they save bits.
    pub(super) fn of(counts: &Counts) -> Self {
        let cost = |count: u32, sum: u32| (log2(sum) - log2(count.clamp(1, sum))) as i32;
        let sum = counts.literals[..LITERALS].iter().sum::<u32>().max(1);
        let mut this =
            Self { literals: [0; 256], lengths: [0; 512], distances: [0; 32], mean: 0, reach: [0; 8] };
        let mut spent = 0;
        for (slot, count) in this.literals.iter_mut().zip(&counts.literals) {
            *slot = cost(*count, sum).clamp(UNIT as i32 / 2, 12 * UNIT as i32);
            spent += i64::from(*slot) * i64::from(*count);
        }
        let literals = counts.literals[..END].iter().sum::<u32>();
        this.mean = if literals > 0 { (spent / i64::from(literals)) as i32 } else { 8 * UNIT as i32 };
        for (len, slot) in this.lengths[..=LONGEST].iter_mut().enumerate().skip(SHORTEST) {
            let symbol = usize::from(LENGTH_SYMBOL[len]);
            let extra = u32::from(LENGTH_EXTRA[symbol - END - 1]);
            *slot = cost(counts.literals[symbol] + sum / 128, sum) + (extra * UNIT) as i32;
        }
        let sum = counts.distances[..DISTANCES].iter().sum::<u32>();
        for (symbol, slot) in this.distances[..DISTANCES].iter_mut().enumerate() {
            let extra = (symbol as u32 / 2).saturating_sub(1);
            let symbol =
                if sum > 0 { cost(counts.distances[symbol] + sum / 64, sum) } else { 4 * UNIT as i32 };
            *slot = symbol + (extra * UNIT) as i32;
        }
        for len in SHORTEST..8 {
            let saved = this.mean * len as i32 - this.lengths[len];
            let mut reach = 0;
            for symbol in 0..DISTANCES {
                if this.distances[symbol] < saved {
                    reach = distance_base(symbol + 1);
                }
            }
            this.reach[len] = reach;
        }
        // Eight bytes and more count as seven, and may be many.
        this.reach[7] = distance_base(DISTANCES);
        this
    }

    /// Maximum distance at which a match of `len` bytes (7 for more) saves bits.
    #[inline(always)]
    pub(super) const fn reach(&self) -> [u16; 8] {
        self.reach
    }

    /// Bits that a match saves. `word` are the bytes that it begins with; of all but three of them the mean is taken.
    #[inline(always)]
    pub(super) fn gain(&self, word: u64, len: usize, back: usize) -> i32 {
        let literal = |at: u32| self.literals[(word >> (8 * at)) as usize & 255];
        let (symbol, _) = super::tokens::distance_symbol(back as u32 - 1);
        let instead = literal(0) + literal(1) + literal(2) + self.mean * (len - SHORTEST) as i32;
        instead - self.lengths[len & 511] - self.distances[symbol & 31]
    }
}
