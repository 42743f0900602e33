//! MD5 of several inputs at once.
//!
//! One MD5 is a chain of dependent steps, which keeps a core waiting for itself most of the time. Inputs that do not depend on each other fill
//! that time, step by step in turn, each in a lane of its own: with AVX2 eight lanes to a register, and two such registers in turn. Other
//! machines take four lanes in plain code, which compilers vectorise; for AVX2 they reach a third of the speed of intrinsics.
//!
//! Spec: RFC 1321

use super::md5::steps::BLOCK;
use super::md5::{self, Md5};

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

/// Implementation of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    /// Four lanes, on any machine.
    Portable,
    /// Eight lanes or sixteen.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Kernel {
    /// Those that this machine has, the fastest first.
    fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = is_x86_feature_detected!("avx2").then_some(Self::Avx2);
        #[cfg(not(target_arch = "x86_64"))]
        let vectors: Option<Self> = None;
        vectors.into_iter().chain([Self::Portable])
    }

    /// The most lanes at a time.
    const fn width(self) -> usize {
        match self {
            Self::Portable => portable::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 2 * avx2::LANES,
        }
    }

    /// The fewest inputs that are faster side by side than one after the other.
    const fn least(self) -> usize {
        match self {
            Self::Portable => 3,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 2,
        }
    }

    /// Takes all blocks of each lane: as many of one as of the others, of [`Kernel::width`] lanes at most.
    #[cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
    fn compress(self, states: &mut [[u32; 4]], inputs: &[&[[u8; BLOCK]]]) {
        match self {
            Self::Portable => portable::compress(states, inputs),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if is_x86_feature_detected!("avx2") => {
                // SAFETY: the machine was just checked for the instructions, which is the callee's only condition.
                unsafe { avx2::compress(states, inputs) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                for (states, inputs) in states.chunks_mut(portable::LANES).zip(inputs.chunks(portable::LANES))
                {
                    portable::compress(states, inputs);
                }
            }
        }
    }
}

/// Running digests of several inputs.
///
/// ```
/// let mut lanes = container_codecs::checksum::Md5Lanes::new(3);
/// lanes.update(&[b"", b"a", b"abc"]);
/// lanes.update(&[b"", b"", b"def"]);
/// let digests = lanes.finish();
/// assert_eq!(digests[0][..4], [0xd4, 0x1d, 0x8c, 0xd9]);
/// assert_eq!(digests[1][..4], [0x0c, 0xc1, 0x75, 0xb9]);
/// assert_eq!(digests[2][..4], [0xe8, 0x0b, 0x50, 0x17]);
/// ```
#[derive(Clone, Debug)]
pub struct Md5Lanes {
    kernel: Kernel,
    inputs: Vec<Md5>,
}

impl Md5Lanes {
    /// Starts the digests of `count` inputs: of any number, but more than [`Md5Lanes::width`] are no faster.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self::with(Kernel::all().next().unwrap_or(Kernel::Portable), count)
    }

    fn with(kernel: Kernel, count: usize) -> Self {
        Self { kernel, inputs: vec![Md5::new(); count] }
    }

    /// The most inputs that this machine takes at a time.
    #[must_use]
    pub fn width() -> usize {
        Kernel::all().map(Kernel::width).next().unwrap_or(1)
    }

    /// The fewest inputs that this machine takes faster side by side than one after the other.
    #[must_use]
    pub fn least() -> usize {
        Kernel::all().map(Kernel::least).next().unwrap_or(1)
    }

    /// Takes the next bytes of each input, in the order of the inputs: of those that have ended, none. Inputs without a piece have ended too.
    pub fn update(&mut self, pieces: &[&[u8]]) {
        let mut blocks: Vec<&[[u8; BLOCK]]> =
            self.inputs.iter_mut().zip(pieces).map(|(input, piece)| input.whole(piece)).collect();
        self.blocks(&mut blocks);
    }

    /// The digests.
    #[must_use]
    pub fn finish(mut self) -> Vec<[u8; 16]> {
        let ends: Vec<_> = self.inputs.iter().map(Md5::padding).collect();
        let mut blocks: Vec<_> =
            ends.iter().map(|(end, count)| end.get(..*count).unwrap_or_default()).collect();
        self.blocks(&mut blocks);
        self.inputs.iter().map(Md5::digest).collect()
    }

    /// Takes the blocks of each input: of as many side by side as have some left, until none has.
    fn blocks(&mut self, blocks: &mut [&[[u8; BLOCK]]]) {
        let mut running: Vec<usize> = (0..blocks.len()).collect();
        loop {
            running.retain(|input| !blocks[*input].is_empty());
            let group = &running[..running.len().min(self.kernel.width())];
            if group.len() < self.kernel.least() {
                for input in group {
                    md5::compress(&mut self.inputs[*input].state, std::mem::take(&mut blocks[*input]));
                }
                if group.is_empty() {
                    return;
                }
                continue;
            }
            let count = group.iter().map(|input| blocks[*input].len()).min().unwrap_or(0);
            let mut now = [&[][..]; MAX_LANES];
            let mut states = [[0; 4]; MAX_LANES];
            for ((input, now), state) in group.iter().zip(&mut now).zip(&mut states) {
                (*now, blocks[*input]) = blocks[*input].split_at(count);
                *state = self.inputs[*input].state;
            }
            self.kernel.compress(&mut states[..group.len()], &now[..group.len()]);
            for (input, state) in group.iter().zip(states) {
                self.inputs[*input].state = state;
            }
        }
    }
}

/// Maximum number of lanes of any implementation.
const MAX_LANES: usize = 16;

#[cfg(test)]
mod tests;
