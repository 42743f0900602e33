//! Blocks: symbols as bits, with the codes that cost least.
//!
//! Spec: RFC 1951 sections 3.2.3 to 3.2.7

use super::bits::Bits;
use super::huffman::{codes, lengths};
use super::tokens::{
    Counts, DISTANCES, END, LENGTH_EXTRA, LENGTH_SYMBOL, LITERALS, LONGEST, SHORTEST, Step, distance_symbol,
};

/// Longest codes of literals and lengths: one less than allowed, so that four of them fit between two flushes.
const LONGEST_LITERAL: usize = 14;
const LONGEST_DISTANCE: usize = 15;

/// Most bytes of a stored block.
const STORED: usize = 65_535;

/// The order in which lengths of the codes for lengths come.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Appends one block, or several where it is stored: the bytes `src` with their tokens `steps` and symbol counts `counts`.
pub(super) fn write(bits: &mut Bits<'_>, src: &[u8], steps: &[Step], counts: &mut Counts, is_last: bool) {
    counts.literals[END] = 1;
    let dynamic = Lens::of(counts);
    let head = Head::of(&dynamic);
    let dynamic_bits = head.bits + dynamic.bits(counts);
    let fixed_bits = Lens::FIXED.bits(counts);
    let pieces = src.len().div_ceil(STORED).max(1) as u64;
    let stored_bits = src.len() as u64 * 8 + pieces * 40 + 8;
    let least = stored_bits.min(dynamic_bits).min(fixed_bits);
    bits.reserve(least + 64);
    if stored_bits == least {
        return write_stored(bits, src, is_last);
    }
    bits.put(u64::from(is_last), 1);
    let lens = if fixed_bits == least {
        bits.put(1, 2);
        &Lens::FIXED
    } else {
        bits.put(2, 2);
        head.write(bits);
        &dynamic
    };
    bits.flush();
    Symbols::of(lens).write(bits, src, steps);
}

/// Appends stored blocks.
pub(super) fn write_stored(bits: &mut Bits<'_>, src: &[u8], is_last: bool) {
    let mut rest = src;
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(STORED));
        bits.put(u64::from(is_last && behind.is_empty()), 3);
        bits.align();
        let len = piece.len() as u64;
        bits.put(len | (len ^ 0xffff) << 16, 32);
        bits.flush();
        bits.bytes(piece);
        rest = behind;
        if rest.is_empty() {
            return;
        }
    }
}

/// The lengths of the codes of a block: literals, lengths and the end, then distances.
struct Lens {
    literals: [u8; 288],
    distances: [u8; 32],
}

impl Lens {
    const FIXED: Self = {
        let mut literals = [8; 288];
        let mut at = 144;
        while at < 280 {
            literals[at] = if at < 256 { 9 } else { 7 };
            at += 1;
        }
        Self { literals, distances: [5; 32] }
    };

    /// Code lengths for symbols with the frequencies `counts`.
    fn of(counts: &Counts) -> Self {
        let mut this = Self { literals: [0; 288], distances: [0; 32] };
        lengths(&counts.literals[..LITERALS], LONGEST_LITERAL, &mut this.literals[..LITERALS]);
        lengths(&counts.distances[..DISTANCES], LONGEST_DISTANCE, &mut this.distances[..DISTANCES]);
        this
    }

    /// Bits of the block without its head.
    fn bits(&self, counts: &Counts) -> u64 {
        let sum = |lens: &[u8], counts: &[u32]| -> u64 {
            lens.iter().zip(counts).map(|(len, count)| u64::from(*len) * u64::from(*count)).sum()
        };
        3 + sum(&self.literals, &counts.literals) + sum(&self.distances, &counts.distances) + counts.extra
    }
}

/// The head of a block with codes of its own.
struct Head {
    literals: usize,
    distances: usize,
    /// Symbols of the code for lengths, each with the number and value of its extra bits.
    symbols: [(u8, u8, u8); LITERALS + DISTANCES],
    used: usize,
    lens: [u8; 19],
    /// Number of `lens` that are written.
    told: usize,
    bits: u64,
}

impl Head {
    fn of(lens: &Lens) -> Self {
        let used = |lens: &[u8], least: usize| {
            lens.iter().rposition(|len| *len > 0).map_or(least, |last| least.max(last + 1))
        };
        let (literals, distances) =
            (used(&lens.literals[..LITERALS], END + 1), used(&lens.distances[..DISTANCES], 1));
        let mut this = Self {
            literals,
            distances,
            symbols: [(0, 0, 0); LITERALS + DISTANCES],
            used: 0,
            lens: [0; 19],
            told: 0,
            bits: 0,
        };
        let mut all = [0; LITERALS + DISTANCES];
        all[..literals].copy_from_slice(&lens.literals[..literals]);
        all[literals..literals + distances].copy_from_slice(&lens.distances[..distances]);
        let mut counts = [0; 19];
        for run in all[..literals + distances].chunk_by(|a, b| a == b) {
            this.push_run(run[0], run.len(), &mut counts);
        }
        lengths(&counts, 7, &mut this.lens);
        let told = ORDER.iter().rposition(|symbol| this.lens[usize::from(*symbol)] > 0);
        this.told = told.map_or(4, |last| last + 1).max(4);
        let body: u64 = this.symbols[..this.used]
            .iter()
            .map(|(symbol, extra, _)| u64::from(this.lens[usize::from(*symbol)]) + u64::from(*extra))
            .sum();
        this.bits = 14 + 3 * this.told as u64 + body;
        this
    }

    /// Takes `count` equal lengths.
    fn push_run(&mut self, len: u8, count: usize, counts: &mut [u32; 19]) {
        let mut push = |symbol: u8, extra: u8, value: usize| {
            self.symbols[self.used] = (symbol, extra, value as u8);
            self.used += 1;
            counts[usize::from(symbol)] += 1;
        };
        let mut left = count;
        if len > 0 {
            push(len, 0, 0);
            left -= 1;
        }
        while left > 0 {
            // The same again, 3 to 6 times, or 0, 3 to 10 times or 11 to 138.
            let taken = match (len, left) {
                (_, ..3) => {
                    push(len, 0, 0);
                    1
                }
                (0, ..11) => {
                    push(17, 3, left - 3);
                    left
                }
                (0, _) => {
                    push(18, 7, left.min(138) - 11);
                    left.min(138)
                }
                (_, _) => {
                    push(16, 2, left.min(6) - 3);
                    left.min(6)
                }
            };
            left -= taken;
        }
    }

    fn write(&self, bits: &mut Bits<'_>) {
        bits.put(self.literals as u64 - 257, 5);
        bits.put(self.distances as u64 - 1, 5);
        bits.put(self.told as u64 - 4, 4);
        for symbol in &ORDER[..self.told] {
            bits.flush();
            bits.put(u64::from(self.lens[usize::from(*symbol)]), 3);
        }
        let mut of = [0; 19];
        codes(&self.lens, &mut of);
        for (symbol, extra, value) in &self.symbols[..self.used] {
            bits.flush();
            let code = of[usize::from(*symbol)];
            bits.put(u64::from(code & 0xffff), code >> 16);
            bits.put(u64::from(*value), u32::from(*extra));
        }
    }
}

/// All bits of a code.
const ALL: u32 = u32::MAX;

/// Symbols as bits: codes with their extra bits, and from bit 16 on (24 for lengths) the number of bits.
struct Symbols {
    literals: [u32; 256],
    end: u32,
    /// Code of each match length, with its extra bits.
    lengths: [u32; 512],
    distances: [u32; 32],
}

impl Symbols {
    fn of(lens: &Lens) -> Self {
        let mut all = [0; 288];
        codes(&lens.literals, &mut all);
        let mut this = Self { literals: [0; 256], end: all[END], lengths: [0; 512], distances: [0; 32] };
        this.literals.copy_from_slice(&all[..256]);
        codes(&lens.distances, &mut this.distances);
        for (len, entry) in this.lengths[..=LONGEST].iter_mut().enumerate().skip(SHORTEST) {
            let symbol = usize::from(LENGTH_SYMBOL[len]);
            let (code, count) = (all[symbol] & 0xffff, all[symbol] >> 16);
            let extra = u32::from(LENGTH_EXTRA[symbol - END - 1]);
            let low = (len - SHORTEST) as u32 & ((1 << extra) - 1);
            *entry = code | low << count | (count + extra) << 24;
        }
        this
    }

    fn write(&self, bits: &mut Bits<'_>, src: &[u8], steps: &[Step]) {
        let mut rest = src;
        for step in steps {
            let (literals, behind) = rest.split_at(step.literals as usize);
            let (fours, few) = literals.as_chunks::<4>();
            for four in fours {
                four.iter().for_each(|literal| self.put(bits, *literal, ALL));
                bits.flush();
            }
            match rest[fours.len() * 4..].first_chunk::<3>() {
                // Branch-free in the number of literals, which cannot be predicted: superfluous ones add no bits.
                Some(three) => three.iter().enumerate().for_each(|(at, literal)| {
                    self.put(bits, *literal, if at < few.len() { ALL } else { 0 });
                }),
                None => few.iter().for_each(|literal| self.put(bits, *literal, ALL)),
            }
            bits.flush();
            if step.len > 0 {
                let entry = self.lengths[usize::from(step.len) & 511];
                bits.put(u64::from(entry & 0xff_ffff), entry >> 24);
                let (symbol, extra) = distance_symbol(step.back.into());
                let code = self.distances[symbol & 31];
                bits.put(u64::from(code & 0xffff), code >> 16);
                bits.put(u64::from(step.back) & ((1 << extra) - 1), extra);
                bits.flush();
            }
            rest = &behind[usize::from(step.len)..];
        }
        bits.put(u64::from(self.end & 0xffff), self.end >> 16);
        bits.flush();
    }

    /// Appends the code of a literal, or no bits where `kept` is 0.
    #[inline(always)]
    fn put(&self, bits: &mut Bits<'_>, literal: u8, kept: u32) {
        let code = self.literals[usize::from(literal)] & kept;
        bits.put(u64::from(code & 0xffff), code >> 16);
    }
}
