//! Tokens of a block before it has codes: literals and matches, and how often each of their symbols occurs.
//!
//! Spec: RFC 1951 section 3.2.5

/// The shortest match.
pub(super) const SHORTEST: usize = 3;

/// The longest match.
pub(super) const LONGEST: usize = 258;

/// The symbol that ends a block.
pub(super) const END: usize = 256;

/// Symbols for literals, the end and lengths.
pub(super) const LITERALS: usize = 286;

/// Symbols for distances.
pub(super) const DISTANCES: usize = 30;

/// Literals, and the match after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) literals: u32,
    /// Bytes of the match; 0 for none.
    pub(super) len: u16,
    /// Distance of the match, less 1.
    pub(super) back: u16,
}

/// The symbol of each length, which has [`LENGTH_EXTRA`] bits more.
pub(super) const LENGTH_SYMBOL: [u16; LONGEST + 1] = {
    let mut symbols = [0; LONGEST + 1];
    let mut len = SHORTEST;
    while len <= LONGEST {
        let over = len as u32 - 3;
        symbols[len] = if len == LONGEST {
            285
        } else if over < 8 {
            257 + over as u16
        } else {
            // Four symbols for each power of two.
            let high = over.ilog2();
            (257 + 4 * (high - 1) + (over >> (high - 2) & 3)) as u16
        };
        len += 1;
    }
    symbols
};

/// Number of extra bits after the symbol of a length, from 257 on: the low ones of the length less 3.
pub(super) const LENGTH_EXTRA: [u8; LITERALS - END - 1] = {
    let mut extra = [0; LITERALS - END - 1];
    let mut at = 8;
    while at < 28 {
        extra[at] = (at / 4 - 1) as u8;
        at += 1;
    }
    extra
};

/// The symbol of a distance, less 1, and how many of its low bits follow.
#[inline(always)]
pub(super) const fn distance_symbol(back: u32) -> (usize, u32) {
    if back < 4 {
        return (back as usize, 0);
    }
    // Two symbols for each power of two.
    let high = back.ilog2();
    ((2 * high + (back >> (high - 1) & 1)) as usize, high - 1)
}

/// Number of occurrences of each symbol.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// All have 512 entries, so that no index needs a bounds check.
    pub(super) literals: [u32; 512],
    pub(super) distances: [u32; 32],
    /// Extra bits after the symbols.
    pub(super) extra: u64,
}

impl Counts {
    pub(super) const NONE: Self = Self { literals: [0; 512], distances: [0; 32], extra: 0 };

    /// Counts further literals.
    pub(super) fn add_literals(&mut self, literals: &[u8]) {
        // Several tables: to count the same byte twice in one takes a while.
        let mut tables = [[0_u32; 256]; 4];
        let (fours, rest) = literals.as_chunks::<4>();
        for four in fours {
            for (table, literal) in tables.iter_mut().zip(four) {
                table[usize::from(*literal)] += 1;
            }
        }
        for literal in rest {
            tables[0][usize::from(*literal)] += 1;
        }
        for (byte, count) in self.literals[..256].iter_mut().enumerate() {
            *count = count.wrapping_add(tables.iter().map(|table| table[byte]).sum());
        }
    }

    /// A match for what was counted as literals or will be.
    #[inline(always)]
    pub(super) fn add(&mut self, matched: &[u8], back: u32) {
        for literal in matched {
            let count = &mut self.literals[usize::from(*literal)];
            *count = count.wrapping_sub(1);
        }
        let symbol = usize::from(LENGTH_SYMBOL[matched.len()]);
        self.literals[symbol & 511] += 1;
        let (distance, extra) = distance_symbol(back);
        self.distances[distance & 31] += 1;
        self.extra += u64::from(extra) + u64::from(LENGTH_EXTRA[symbol - END - 1]);
    }

    /// All that `other` counts, too.
    pub(super) fn merge(&mut self, other: &Self) {
        self.literals.iter_mut().zip(&other.literals).for_each(|(sum, count)| *sum += count);
        self.distances.iter_mut().zip(&other.distances).for_each(|(sum, count)| *sum += count);
        self.extra += other.extra;
    }

    /// Number of literals and lengths.
    pub(super) fn used(&self) -> u64 {
        self.literals.iter().filter(|count| **count > 0).count() as u64
    }

    /// About as many bits as the symbols take, times [`UNIT`].
    pub(super) fn bits(&self) -> u64 {
        entropy(&self.literals[..LITERALS])
            + entropy(&self.distances[..DISTANCES])
            + self.extra * u64::from(UNIT)
    }
}

/// Unit of logarithms: 1 / 256.
pub(super) const UNIT: u32 = 256;

/// The logarithm of 1 + k / 256.
const FRACTIONS: [u16; 256] = {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 256 {
        // The number is squared again and again; each time it passes 2 there is a bit. Fixed point of 31 bits.
        let mut x = (256 + k as u64) << 23;
        let mut bits = 0_u32;
        let mut step = 0;
        while step < 9 {
            x = (x * x) >> 31;
            bits <<= 1;
            if x >= 1 << 32 {
                x >>= 1;
                bits |= 1;
            }
            step += 1;
        }
        // Rounded.
        table[k] = bits.div_ceil(2) as u16;
        k += 1;
    }
    table
};

/// The binary logarithm of `x`, which is not 0, times [`UNIT`].
pub(super) const fn log2(x: u32) -> u32 {
    let high = x.ilog2();
    let fraction = if high > 8 { x >> (high - 8) } else { x << (8 - high) } & 255;
    high * UNIT + FRACTIONS[fraction as usize] as u32
}

fn entropy(counts: &[u32]) -> u64 {
    let sum: u32 = counts.iter().sum();
    if sum == 0 {
        return 0;
    }
    let apart: u64 = counts
        .iter()
        .filter(|count| **count > 1)
        .map(|count| u64::from(*count) * u64::from(log2(*count)))
        .sum();
    (u64::from(sum) * u64::from(log2(sum))).saturating_sub(apart)
}
