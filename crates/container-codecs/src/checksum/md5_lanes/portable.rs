//! Four lanes in plain code.

use crate::checksum::md5::steps::{BLOCK, SINES, places, steps};

/// Lanes. Eight need more registers than machines without AVX2 have.
pub(super) const LANES: usize = 4;

/// Takes all blocks of each lane: as many of one as of the others, of [`LANES`] at most.
pub(super) fn compress(states: &mut [[u32; 4]], inputs: &[&[[u8; BLOCK]]]) {
    let Some(first) = inputs.first() else { return };
    // Unused lanes repeat the first, and their results are dropped.
    let inputs: [_; LANES] = std::array::from_fn(|lane| inputs.get(lane).unwrap_or(first));
    let mut now: [[u32; LANES]; 4] = std::array::from_fn(|word| {
        std::array::from_fn(|lane| states.get(lane).map_or(0, |state| state[word]))
    });
    for number in 0..first.len() {
        let mut words = [[0; LANES]; 16];
        for (lane, input) in inputs.iter().enumerate() {
            for (word, bytes) in words.iter_mut().zip(input[number].as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
        }
        let before = now;
        macro_rules! step {
            ($function:ident, $step:expr, $word:expr, $turn:expr) => {
                let [a, b, c, d] = const { places($step) };
                for lane in 0..LANES {
                    now[a][lane] = now[a][lane]
                        .wrapping_add($function(now[b][lane], now[c][lane], now[d][lane]))
                        .wrapping_add(words[$word][lane])
                        .wrapping_add(SINES[$step])
                        .rotate_left($turn)
                        .wrapping_add(now[b][lane]);
                }
            };
        }
        steps!(step);
        for (now, before) in now.iter_mut().flatten().zip(before.iter().flatten()) {
            *now = now.wrapping_add(*before);
        }
    }
    for (lane, state) in states.iter_mut().enumerate() {
        *state = now.map(|word| word[lane]);
    }
}

// The functions of the specification.

const fn f(b: u32, c: u32, d: u32) -> u32 {
    d ^ (b & (c ^ d))
}

const fn g(b: u32, c: u32, d: u32) -> u32 {
    c ^ (d & (b ^ c))
}

const fn h(b: u32, c: u32, d: u32) -> u32 {
    b ^ c ^ d
}

const fn i(b: u32, c: u32, d: u32) -> u32 {
    c ^ (b | !d)
}
