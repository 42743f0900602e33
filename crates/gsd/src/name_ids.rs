//! Hash table of ids by name.
//!
//! The standard hasher takes longer for a short name than the rest of the search for its chunk. This one multiplies 8 bytes at a
//! time. It starts from an unpredictable number, so that a file cannot choose names that collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Ids by the bytes of names.
pub(crate) type NameMap = HashMap<Box<[u8]>, u16, Seed>;

#[derive(Clone, Debug)]
pub(crate) struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for Seed {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(self.0)
    }
}

pub(crate) struct NameHasher(u64);

impl NameHasher {
    fn mix(&mut self, word: u64) {
        // Digits of pi: a number without a pattern.
        let product = u128::from(self.0 ^ word).wrapping_mul(0x243f_6a88_85a3_08d3);
        let [low, high] = bytemuck::cast::<u128, [u64; 2]>(product);
        self.0 = low ^ high;
    }
}

/// At most 7 bytes as a number, distinct for each string of the same length: by overlapping loads, because a call to copy so few
/// bytes takes longer than the rest.
fn last(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => match *bytes {
            [] => 0,
            [one] => one.into(),
            [one, two] => u16::from_le_bytes([one, two]).into(),
            [one, two, three, ..] => u32::from_le_bytes([one, two, three, 0]).into(),
        },
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        self.mix(last(rest));
    }

    fn write_usize(&mut self, len: usize) {
        // The length is hashed before the bytes: names that consist of zeros differ only in length.
        self.0 = self.0.wrapping_add(len as u64).rotate_left(23);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_a_byte_or_in_length_spread_over_the_table() {
        let seed = Seed::default();
        let names = (0..65_535_u32).map(|at| format!("log/particles/name{at}").into_bytes());
        let zeros = (0..200).map(|len| vec![0; len]);
        let mut places = vec![0_u32; 1 << 16];
        let mut tops = [0_u32; 128];
        for name in names.chain(zeros) {
            let hash = seed.hash_one(&name[..]);
            places[usize::from(hash as u16)] += 1;
            tops[usize::from((hash >> 57) as u8)] += 1;
        }
        // One in each slot on average: by Poisson's law fewer than one slot of the table has 9 or more, and none has 700 of 512.
        assert!(places.iter().all(|count| *count < 16), "{:?}", places.iter().max());
        assert!(tops.iter().all(|count| (350..700).contains(count)), "{tops:?}");
    }
}
