//! Eight lanes to a register, and one such register or two in turn: one alone still waits for itself.
//!
//! Bytes and words come into registers and out of them by `bytemuck`, so that the only unsafe act is a call without AVX2.

use std::arch::x86_64::*;

use bytemuck::cast;

use crate::checksum::md5::steps::{BLOCK, SINES, places, steps};

/// Lanes of a register.
pub(super) const LANES: usize = 8;

/// Takes all blocks of each lane: as many of one as of the others, of twice [`LANES`] at most.
#[target_feature(enable = "avx2")]
pub(super) fn compress(states: &mut [[u32; 4]], inputs: &[&[[u8; BLOCK]]]) {
    if states.len() <= LANES {
        compress_registers::<1>(states, inputs);
    } else {
        compress_registers::<2>(states, inputs);
    }
}

#[target_feature(enable = "avx2")]
fn compress_registers<const COUNT: usize>(states: &mut [[u32; 4]], inputs: &[&[[u8; BLOCK]]]) {
    let Some(first) = inputs.first() else { return };
    // Unused lanes repeat the first, and their results are dropped.
    let inputs: [[_; LANES]; COUNT] = std::array::from_fn(|register| {
        std::array::from_fn(|lane| &inputs.get(register * LANES + lane).unwrap_or(first)[..first.len()])
    });
    let mut now = [[_mm256_setzero_si256(); 4]; COUNT];
    for (now, states) in now.iter_mut().zip(states.chunks(LANES)) {
        for (word, now) in now.iter_mut().enumerate() {
            let words: [u32; LANES] =
                std::array::from_fn(|lane| states.get(lane).map_or(0, |state| state[word]));
            *now = cast(words);
        }
    }
    for number in 0..first.len() {
        let mut words = [[_mm256_setzero_si256(); 16]; COUNT];
        for (words, inputs) in words.iter_mut().zip(&inputs) {
            let halves: [[__m256i; 2]; LANES] = inputs.map(|input| cast(input[number]));
            let (low, high) = words.split_at_mut(8);
            low.copy_from_slice(&transpose(halves.map(|[low, _]| low)));
            high.copy_from_slice(&transpose(halves.map(|[_, high]| high)));
        }
        let before = now;
        macro_rules! step {
            ($function:ident, $step:expr, $word:expr, $turn:expr) => {
                let [a, b, c, d] = const { places($step) };
                let sine = _mm256_set1_epi32(SINES[$step].cast_signed());
                for (now, words) in now.iter_mut().zip(&words) {
                    let early = _mm256_add_epi32(_mm256_add_epi32(now[a], sine), words[$word]);
                    let sum = $function(early, now[b], now[c], now[d]);
                    let turned = _mm256_or_si256(
                        _mm256_slli_epi32::<$turn>(sum),
                        _mm256_srli_epi32::<{ 32 - $turn }>(sum),
                    );
                    now[a] = _mm256_add_epi32(turned, now[b]);
                }
            };
        }
        steps!(step);
        for (now, before) in now.iter_mut().flatten().zip(before.iter().flatten()) {
            *now = _mm256_add_epi32(*now, *before);
        }
    }
    for (now, states) in now.iter().zip(states.chunks_mut(LANES)) {
        let words: [[u32; LANES]; 4] = now.map(cast);
        for (lane, state) in states.iter_mut().enumerate() {
            *state = words.map(|word| word[lane]);
        }
    }
}

/// Eight words of each lane, as eight lanes of each word.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
    let ab = [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
    let cd = [_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d)];
    let ef = [_mm256_unpacklo_epi32(e, f), _mm256_unpackhi_epi32(e, f)];
    let gh = [_mm256_unpacklo_epi32(g, h), _mm256_unpackhi_epi32(g, h)];
    let fours = |ab: [__m256i; 2], cd: [__m256i; 2]| {
        [
            _mm256_unpacklo_epi64(ab[0], cd[0]),
            _mm256_unpackhi_epi64(ab[0], cd[0]),
            _mm256_unpacklo_epi64(ab[1], cd[1]),
            _mm256_unpackhi_epi64(ab[1], cd[1]),
        ]
    };
    let (abcd, efgh) = (fours(ab, cd), fours(ef, gh));
    // Each has a word in its low half, and the fourth after it in its high one.
    [
        _mm256_permute2x128_si256::<0x20>(abcd[0], efgh[0]),
        _mm256_permute2x128_si256::<0x20>(abcd[1], efgh[1]),
        _mm256_permute2x128_si256::<0x20>(abcd[2], efgh[2]),
        _mm256_permute2x128_si256::<0x20>(abcd[3], efgh[3]),
        _mm256_permute2x128_si256::<0x31>(abcd[0], efgh[0]),
        _mm256_permute2x128_si256::<0x31>(abcd[1], efgh[1]),
        _mm256_permute2x128_si256::<0x31>(abcd[2], efgh[2]),
        _mm256_permute2x128_si256::<0x31>(abcd[3], efgh[3]),
    ]
}

// The functions of the specification, added to the summands that are available early.

#[target_feature(enable = "avx2")]
#[inline]
fn f(early: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    _mm256_add_epi32(early, _mm256_xor_si256(d, _mm256_and_si256(b, _mm256_xor_si256(c, d))))
}

/// Its two halves share no bits, so they can be added apart.
#[target_feature(enable = "avx2")]
#[inline]
fn g(early: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    _mm256_add_epi32(_mm256_add_epi32(early, _mm256_andnot_si256(d, c)), _mm256_and_si256(b, d))
}

#[target_feature(enable = "avx2")]
#[inline]
fn h(early: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    _mm256_add_epi32(early, _mm256_xor_si256(b, _mm256_xor_si256(c, d)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn i(early: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    let not_d = _mm256_xor_si256(d, _mm256_set1_epi32(-1));
    _mm256_add_epi32(early, _mm256_xor_si256(c, _mm256_or_si256(b, not_d)))
}
