//! Pseudo-random numbers that are the same everywhere, and inputs made from others with them.

/// Marsaglia's xorshift64 with the shifts 13, 7, 17.
#[derive(Clone, Debug)]
pub struct XorShift(u64);

impl XorShift {
    /// Starts from a number; 0, which would stay 0, is replaced.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(if seed == 0 { 0x9e37_79b9_7f4a_7c15 } else { seed })
    }

    /// Starts from all of `data`, through FNV-1a.
    #[must_use]
    pub fn seeded(data: &[u8]) -> Self {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self::new(data.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    /// The next number, never 0.
    #[allow(clippy::should_implement_trait, reason = "it has no end, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `count`, or 0.
    pub fn below(&mut self, count: usize) -> usize {
        // The high bits, which are the better ones.
        ((self.next() >> 16) as usize) % count.max(1)
    }
}

/// Bytes at the edges of ranges, of signs and of ASCII.
const BYTES: [u8; 12] = [0, 1, 2, 0x0f, 0x20, 0x2d, 0x3a, 0x7f, 0x80, 0xf0, 0xfe, 0xff];

/// Words at which sizes, counts and their products break.
const WORDS: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    16,
    47,
    48,
    49,
    64,
    65,
    255,
    256,
    (1 << 16) + 1,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    1 << 60,
    1 << 61,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 7,
    u64::MAX,
];

/// Longest mutant, so that splicing mutants of mutants comes to an end.
const MAX_MUTANT_LEN: usize = 1 << 16;

/// A mutant of `seed`: one to four changes, of which some bring in parts of `other`.
#[must_use]
pub fn mutant(seed: &[u8], other: &[u8], numbers: &mut XorShift) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        change(&mut data, other, numbers);
        data.truncate(MAX_MUTANT_LEN);
    }
    data
}

fn change(data: &mut Vec<u8>, other: &[u8], numbers: &mut XorShift) {
    let len = data.len();
    match numbers.below(12) {
        0 | 1 if len > 0 => data[numbers.below(len)] ^= 1 << numbers.below(8),
        2 if len > 0 => data[numbers.below(len)] = BYTES[numbers.below(BYTES.len())],
        3 if len > 0 => data[numbers.below(len)] = numbers.next().to_le_bytes()[3],
        4 | 5 if len >= 8 => {
            // Most headers are made of aligned words, and the interesting ones come first.
            let words = if numbers.below(4) == 0 { len / 8 } else { (len / 8).min(9) };
            let at = numbers.below(words) * 8;
            let word = WORDS[numbers.below(WORDS.len())];
            let bytes = if numbers.below(4) == 0 { word.to_be_bytes() } else { word.to_le_bytes() };
            data[at..at + 8].copy_from_slice(&bytes);
        }
        6 if len >= 8 => {
            let at = numbers.below(len / 8) * 8;
            let word = u64::from_le_bytes(data[at..at + 8].try_into().unwrap_or_default());
            let word = if numbers.below(2) == 0 { word.wrapping_add(1) } else { word.wrapping_sub(1) };
            data[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        7 => data.truncate(numbers.below(len + 1)),
        8 => {
            let (start, end) = span(len, numbers);
            let piece = data[start..end].to_vec();
            data.splice(end..end, piece);
        }
        9 => {
            let (start, end) = span(len, numbers);
            data.drain(start..end);
        }
        10 => {
            let (start, end) = span(other.len(), numbers);
            let at = numbers.below(len + 1);
            data.splice(at..at, other[start..end].iter().copied());
        }
        11 => {
            data.truncate(numbers.below(len + 1));
            data.extend(&other[data.len().min(other.len())..]);
        }
        _ => data.push(numbers.next().to_le_bytes()[3]),
    }
}

/// A short range within `len`.
fn span(len: usize, numbers: &mut XorShift) -> (usize, usize) {
    let start = numbers.below(len + 1);
    (start, start + numbers.below((len - start).min(64) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_the_same_every_time_and_stay_short() {
        let make = || {
            let mut numbers = XorShift::new(7);
            let mut all = vec![(0..200).collect::<Vec<u8>>()];
            for at in 0..2000 {
                let next = mutant(&all[at], b"other", &mut numbers);
                all.push(next);
            }
            all
        };
        let all = make();
        assert_eq!(all, make());
        assert!(all.iter().all(|data| data.len() <= MAX_MUTANT_LEN));
        assert!(all.windows(2).filter(|pair| pair[0] != pair[1]).count() > 1500);
    }
}
