//! MD5 of one input, as fast as a core can follow its chain of steps.
//!
//! What is added in each step is all known early but for the function of the last result, which has to come last. Compilers put
//! constants last instead, and lengthen the chain by an addition in each of 64 steps. They cannot where they do not know the table
//! of constants: that alone is a fifth of the time.
//!
//! Spec: RFC 1321

use std::hint::black_box;

use super::md5_lanes::SINES;
use super::{Checksum, Digest};

/// Bytes that MD5 takes at a time.
const BLOCK: usize = 64;

/// A running MD5.
pub(super) struct Md5 {
    state: [u32; 4],
    /// Bytes that do not fill a block yet: the first `len % 64`.
    rest: [u8; BLOCK],
    /// All bytes so far.
    len: u64,
}

impl Md5 {
    /// That of nothing yet.
    pub(super) const fn new() -> Self {
        let state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
        Self { state, rest: [0; BLOCK], len: 0 }
    }

    /// Bytes in `rest`.
    fn held(&self) -> usize {
        usize::try_from(self.len % BLOCK as u64).unwrap_or_default()
    }

    fn take(&mut self, mut bytes: &[u8]) {
        let have = self.held();
        self.len = self.len.wrapping_add(bytes.len() as u64);
        if have > 0 {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - have));
            self.rest[have..have + now.len()].copy_from_slice(now);
            if have + now.len() < BLOCK {
                return;
            }
            compress(&mut self.state, &[self.rest]);
            bytes = later;
        }
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        compress(&mut self.state, blocks);
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    fn end(mut self) -> [u8; 16] {
        let bits = self.len.wrapping_mul(8).to_le_bytes();
        // A one, and zeros up to the last eight bytes of a block.
        let have = self.held();
        let zeros = if have < 56 { 56 - have } else { BLOCK + 56 - have };
        let mut padding = [0; BLOCK];
        padding[0] = 0x80;
        self.take(&padding[..zeros]);
        self.take(&bits);
        let mut digest = [0; 16];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        digest
    }
}

impl Checksum for Md5 {
    fn update(&mut self, bytes: &[u8]) {
        self.take(bytes);
    }

    fn finish(self: Box<Self>) -> Digest {
        super::algorithms::digest(&self.end())
    }
}

/// A step: the function of the last results is added last but one, before the turn.
macro_rules! step {
    ($early:expr, $late:expr, $a:ident, $b:ident, $turn:expr) => {
        $a = $early.wrapping_add($late).rotate_left($turn).wrapping_add($b);
    };
}

macro_rules! first {
    ($a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $sine:expr, $turn:expr) => {
        step!($a.wrapping_add($word).wrapping_add($sine), $d ^ ($b & ($c ^ $d)), $a, $b, $turn)
    };
}

/// The two halves of the function have no bit in common, so that they can be added apart: the one without `b` early.
macro_rules! second {
    ($a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $sine:expr, $turn:expr) => {
        step!($a.wrapping_add($word).wrapping_add($sine).wrapping_add($c & !$d), $b & $d, $a, $b, $turn)
    };
}

macro_rules! third {
    ($a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $sine:expr, $turn:expr) => {
        step!($a.wrapping_add($word).wrapping_add($sine), $b ^ ($c ^ $d), $a, $b, $turn)
    };
}

macro_rules! fourth {
    ($a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $sine:expr, $turn:expr) => {
        step!($a.wrapping_add($word).wrapping_add($sine), $c ^ ($b | !$d), $a, $b, $turn)
    };
}

fn compress(state: &mut [u32; 4], blocks: &[[u8; BLOCK]]) {
    let sines: &[u32; 64] = black_box(&SINES);
    let [mut a, mut b, mut c, mut d] = *state;
    for block in blocks {
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let before = [a, b, c, d];
        first!(a, b, c, d, words[0], sines[0], 7);
        first!(d, a, b, c, words[1], sines[1], 12);
        first!(c, d, a, b, words[2], sines[2], 17);
        first!(b, c, d, a, words[3], sines[3], 22);
        first!(a, b, c, d, words[4], sines[4], 7);
        first!(d, a, b, c, words[5], sines[5], 12);
        first!(c, d, a, b, words[6], sines[6], 17);
        first!(b, c, d, a, words[7], sines[7], 22);
        first!(a, b, c, d, words[8], sines[8], 7);
        first!(d, a, b, c, words[9], sines[9], 12);
        first!(c, d, a, b, words[10], sines[10], 17);
        first!(b, c, d, a, words[11], sines[11], 22);
        first!(a, b, c, d, words[12], sines[12], 7);
        first!(d, a, b, c, words[13], sines[13], 12);
        first!(c, d, a, b, words[14], sines[14], 17);
        first!(b, c, d, a, words[15], sines[15], 22);
        second!(a, b, c, d, words[1], sines[16], 5);
        second!(d, a, b, c, words[6], sines[17], 9);
        second!(c, d, a, b, words[11], sines[18], 14);
        second!(b, c, d, a, words[0], sines[19], 20);
        second!(a, b, c, d, words[5], sines[20], 5);
        second!(d, a, b, c, words[10], sines[21], 9);
        second!(c, d, a, b, words[15], sines[22], 14);
        second!(b, c, d, a, words[4], sines[23], 20);
        second!(a, b, c, d, words[9], sines[24], 5);
        second!(d, a, b, c, words[14], sines[25], 9);
        second!(c, d, a, b, words[3], sines[26], 14);
        second!(b, c, d, a, words[8], sines[27], 20);
        second!(a, b, c, d, words[13], sines[28], 5);
        second!(d, a, b, c, words[2], sines[29], 9);
        second!(c, d, a, b, words[7], sines[30], 14);
        second!(b, c, d, a, words[12], sines[31], 20);
        third!(a, b, c, d, words[5], sines[32], 4);
        third!(d, a, b, c, words[8], sines[33], 11);
        third!(c, d, a, b, words[11], sines[34], 16);
        third!(b, c, d, a, words[14], sines[35], 23);
        third!(a, b, c, d, words[1], sines[36], 4);
        third!(d, a, b, c, words[4], sines[37], 11);
        third!(c, d, a, b, words[7], sines[38], 16);
        third!(b, c, d, a, words[10], sines[39], 23);
        third!(a, b, c, d, words[13], sines[40], 4);
        third!(d, a, b, c, words[0], sines[41], 11);
        third!(c, d, a, b, words[3], sines[42], 16);
        third!(b, c, d, a, words[6], sines[43], 23);
        third!(a, b, c, d, words[9], sines[44], 4);
        third!(d, a, b, c, words[12], sines[45], 11);
        third!(c, d, a, b, words[15], sines[46], 16);
        third!(b, c, d, a, words[2], sines[47], 23);
        fourth!(a, b, c, d, words[0], sines[48], 6);
        fourth!(d, a, b, c, words[7], sines[49], 10);
        fourth!(c, d, a, b, words[14], sines[50], 15);
        fourth!(b, c, d, a, words[5], sines[51], 21);
        fourth!(a, b, c, d, words[12], sines[52], 6);
        fourth!(d, a, b, c, words[3], sines[53], 10);
        fourth!(c, d, a, b, words[10], sines[54], 15);
        fourth!(b, c, d, a, words[1], sines[55], 21);
        fourth!(a, b, c, d, words[8], sines[56], 6);
        fourth!(d, a, b, c, words[15], sines[57], 10);
        fourth!(c, d, a, b, words[6], sines[58], 15);
        fourth!(b, c, d, a, words[13], sines[59], 21);
        fourth!(a, b, c, d, words[4], sines[60], 6);
        fourth!(d, a, b, c, words[11], sines[61], 10);
        fourth!(c, d, a, b, words[2], sines[62], 15);
        fourth!(b, c, d, a, words[9], sines[63], 21);
        a = a.wrapping_add(before[0]);
        b = b.wrapping_add(before[1]);
        c = c.wrapping_add(before[2]);
        d = d.wrapping_add(before[3]);
    }
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_crate_whatever_the_pieces() {
        let bytes: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(at) >> 5).to_le_bytes()[0]).collect();
        for len in (0..200).chain([4095, 4096, 4097, 5000]) {
            let expected: [u8; 16] = <::md5::Md5 as ::md5::Digest>::digest(&bytes[..len]).into();
            for piece in [1, 3, 63, 64, 65, 1000, 5000] {
                let mut running = Md5::new();
                bytes[..len].chunks(piece).for_each(|piece| running.take(piece));
                assert_eq!(running.end(), expected, "{len} bytes in pieces of {piece}");
            }
        }
    }
}
