//! Files made from fixtures: flipped, cut, spliced, and with false values in their fields.

use super::seeds::Seed;

/// Pseudo-random numbers, the same everywhere: Marsaglia's xorshift64 with the shifts 13, 7, 17.
pub struct Numbers(u64);

impl Numbers {
    /// Those of one mutant of a campaign.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut mixed = Self((seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number).max(1));
        // Neighbours begin alike.
        for _ in 0..16 {
            mixed.next();
        }
        mixed
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // Spread, since only the numbers that are divided by small ones are used.
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % (count as u64).max(1)).unwrap()
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, several: &'t [T]) -> &'t T {
        &several[self.below(several.len())]
    }
}

/// Numbers at which sizes, counts, and their sums and products break.
const LIES: [u64; 20] = [
    0,
    1,
    2,
    3,
    7,
    48,
    64,
    255,
    256,
    65_537,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 60,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Extreme numbers as text, and words in their places.
const WORDS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2147483648",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    ".nan",
    "null",
    "*",
    "[]",
    "{}",
    "\u{1b}[31m",
];

/// One to four changes to the bytes of a seed, some of them out of another.
pub fn mutant(seed: &Seed, other: &Seed, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seed.bytes.clone();
    for _ in 0..=numbers.below(4) {
        change(&mut bytes, seed, other, numbers);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seed: &Seed, other: &Seed, numbers: &mut Numbers) {
    let at = place(bytes, seed, numbers);
    match numbers.below(12) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << numbers.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = *numbers.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff, b' ', b'\n', 0x1b]);
            }
        }
        3 => bytes.truncate(at),
        4 => {
            let end = (at + 1 + numbers.below(64)).min(bytes.len());
            bytes.drain(at..end);
        }
        5 => {
            let end = (at + 1 + numbers.below(256)).min(bytes.len());
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        6 => {
            let from = numbers.below(other.bytes.len());
            let end = (from + 1 + numbers.below(512)).min(other.bytes.len());
            let over = if numbers.below(2) == 0 { at } else { (at + end - from).min(bytes.len()) };
            bytes.splice(at..over, other.bytes[from..end].iter().copied());
        }
        7 => {
            let end = (at + 1 + numbers.below(64)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        8 => number_in_text(bytes, at, numbers),
        _ => lie(bytes, at, numbers),
    }
}

/// Somewhere, and more often where fields are.
fn place(bytes: &[u8], seed: &Seed, numbers: &mut Numbers) -> usize {
    let at = match numbers.below(4) {
        0 => numbers.below(bytes.len()),
        1 => numbers.below(bytes.len().min(256)),
        2 if !seed.fields.is_empty() => *numbers.pick(&seed.fields) + numbers.below(3) * 4,
        2 => bytes.len() - numbers.below(bytes.len().min(256)),
        _ if !seed.fields.is_empty() => *numbers.pick(&seed.fields),
        _ => numbers.below(bytes.len()) & !7,
    };
    at.min(bytes.len())
}

/// Another number in a field of one, two, four or eight bytes, in either byte order: a bad one, or one near the old one.
fn lie(bytes: &mut [u8], at: usize, numbers: &mut Numbers) {
    let width = *numbers.pick(&[1, 2, 4, 4, 8, 8]);
    let Some(field) = bytes.get_mut(at..at + width) else { return };
    let little = numbers.below(2) == 0;
    let mut word = [0; 8];
    word[..width].copy_from_slice(field);
    if !little {
        word[..width].reverse();
    }
    let was = u64::from_le_bytes(word);
    let lie = match numbers.below(6) {
        0 => was.wrapping_add(1),
        1 => was.wrapping_sub(1),
        2 => was.wrapping_mul(2),
        3 => was.wrapping_neg(),
        _ => *numbers.pick(&LIES),
    };
    let mut word = lie.to_le_bytes();
    if !little {
        word[..width].reverse();
    }
    field.copy_from_slice(&word[..width]);
}

/// Another number in the place of the next one that is written out.
fn number_in_text(bytes: &mut Vec<u8>, at: usize, numbers: &mut Numbers) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let end = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..end, numbers.pick(&WORDS).bytes());
}
