//! MD5 of one input, as fast as a core can follow its chain of steps.
//!
//! Every summand of a step is available early except the function of the last result, which therefore has to be added last. Compilers that
//! see the table of constants add the constants last instead, which lengthens the chain of each of 64 steps by an addition: a fifth of the
//! time. So the table is hidden from them.
//!
//! Spec: RFC 1321

use std::hint::black_box;

use container_core::checksum::{Checksum, Digest};

pub(super) mod steps;

use steps::{BLOCK, SINES, START, places, steps};

/// A running MD5.
#[derive(Clone, Debug)]
pub(super) struct Md5 {
    /// A, B, C and D.
    pub(super) state: [u32; 4],
    /// Bytes that do not fill a block yet: the first `len % 64`.
    rest: [u8; BLOCK],
    /// All bytes so far.
    len: u64,
}

impl Md5 {
    /// State before the first byte.
    pub(super) const fn new() -> Self {
        Self { state: START, rest: [0; BLOCK], len: 0 }
    }

    /// Buffers bytes up to a block boundary, returns the whole blocks, and keeps the rest. The caller compresses the blocks first.
    #[must_use]
    pub(super) fn whole<'b>(&mut self, bytes: &'b [u8]) -> &'b [[u8; BLOCK]] {
        let have = usize::try_from(self.len % BLOCK as u64).unwrap_or_default();
        self.len = self.len.wrapping_add(bytes.len() as u64);
        let (now, later) =
            if have > 0 { bytes.split_at(bytes.len().min(BLOCK - have)) } else { (&[][..], bytes) };
        if have > 0 {
            self.rest[have..have + now.len()].copy_from_slice(now);
            if have + now.len() < BLOCK {
                return &[];
            }
            compress(&mut self.state, &[self.rest]);
        }
        let (blocks, rest) = later.as_chunks::<BLOCK>();
        self.rest[..rest.len()].copy_from_slice(rest);
        blocks
    }

    /// The end of the input: the bytes that are left, a one, zeros, and the length in bits. One block, or two where that does not fit.
    pub(super) fn padding(&self) -> ([[u8; BLOCK]; 2], usize) {
        let have = usize::try_from(self.len % BLOCK as u64).unwrap_or_default();
        let count = if have < BLOCK - 8 { 1 } else { 2 };
        let mut end = [[0; BLOCK]; 2];
        let bytes = end.as_flattened_mut();
        bytes[..have].copy_from_slice(&self.rest[..have]);
        bytes[have] = 0x80;
        bytes[count * BLOCK - 8..count * BLOCK].copy_from_slice(&self.len.wrapping_mul(8).to_le_bytes());
        (end, count)
    }

    /// The digest, when the padding is compressed.
    pub(super) fn digest(&self) -> [u8; 16] {
        let mut digest = [0; 16];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.state) {
            *bytes = word.to_le_bytes();
        }
        digest
    }
}

impl Checksum for Md5 {
    fn update(&mut self, bytes: &[u8]) {
        let blocks = self.whole(bytes);
        compress(&mut self.state, blocks);
    }

    fn fork(&self) -> Box<dyn Checksum> {
        Box::new(self.clone())
    }

    fn finish(mut self: Box<Self>) -> Digest {
        let (end, count) = self.padding();
        compress(&mut self.state, &end[..count]);
        super::algorithms::digest(&self.digest())
    }
}

/// Takes `blocks`.
pub(super) fn compress(state: &mut [u32; 4], blocks: &[[u8; BLOCK]]) {
    let sines: &[u32; 64] = black_box(&SINES);
    let mut now = *state;
    for block in blocks {
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let before = now;
        macro_rules! step {
            ($function:ident, $step:expr, $word:expr, $turn:expr) => {
                let [a, b, c, d] = const { places($step) };
                let early = now[a].wrapping_add(words[$word]).wrapping_add(sines[$step]);
                let sum = $function(early, now[b], now[c], now[d]);
                now[a] = sum.rotate_left($turn).wrapping_add(now[b]);
            };
        }
        steps!(step);
        for (now, before) in now.iter_mut().zip(before) {
            *now = now.wrapping_add(before);
        }
    }
    *state = now;
}

// The functions of the specification, added to the summands that are available early.

const fn f(early: u32, b: u32, c: u32, d: u32) -> u32 {
    early.wrapping_add(d ^ (b & (c ^ d)))
}

/// Its two halves share no bits, so they can be added apart: the one without `b` early.
const fn g(early: u32, b: u32, c: u32, d: u32) -> u32 {
    early.wrapping_add(c & !d).wrapping_add(b & d)
}

const fn h(early: u32, b: u32, c: u32, d: u32) -> u32 {
    early.wrapping_add(b ^ (c ^ d))
}

const fn i(early: u32, b: u32, c: u32, d: u32) -> u32 {
    early.wrapping_add(c ^ (b | !d))
}
