//! Shuffles for NEON, which every 64-bit ARM has: sixteen elements a step, in the manner of `avx2`.
//!
//! Unshuffling interleaves the first and the second half of the registers, byte by byte, `log2 N` times. ARM has the
//! opposite of that as an instruction, so that shuffling is the same the other way round.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

/// Elements of one step.
const STEP: usize = 16;

/// Shuffles as many elements as whole steps take, and returns their number. Plane `j` begins at `dst[j * stride]`.
#[target_feature(enable = "neon")]
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    match width {
        2 => shuffle_narrow::<2>(src, dst, stride),
        4 => shuffle_narrow::<4>(src, dst, stride),
        8 => shuffle_narrow::<8>(src, dst, stride),
        16 => shuffle_narrow::<16>(src, dst, stride),
        9.. => shuffle_wide(width, src, dst, stride),
        _ => 0,
    }
}

/// Undoes [`shuffle`]: plane `j` begins at `src[j * stride]`.
#[target_feature(enable = "neon")]
pub(super) fn unshuffle(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    match width {
        2 => unshuffle_narrow::<2>(src, stride, dst),
        4 => unshuffle_narrow::<4>(src, stride, dst),
        8 => unshuffle_narrow::<8>(src, stride, dst),
        16 => unshuffle_narrow::<16>(src, stride, dst),
        9.. => unshuffle_wide(width, src, stride, dst),
        _ => 0,
    }
}

/// Replaces each word of `WORD` bytes by the sum of all words up to it, XOR or modulo 256 (for words of one byte), as far as
/// whole registers take; returns the number of bytes.
#[target_feature(enable = "neon")]
pub(super) fn scan<const WORD: usize, const XOR: bool>(bytes: &mut [u8]) -> usize {
    let plus = |a, b| if XOR { veorq_u8(a, b) } else { vaddq_u8(a, b) };
    let zero = vdupq_n_u8(0);
    // The last word, all over the register.
    let places: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let last: [u8; 16] = std::array::from_fn(|at| places[16 - WORD + at % WORD]);
    let last = load(&last, 0);
    let mut carry = zero;
    let whole = bytes.len() / 16 * 16;
    for at in (0..whole).step_by(16) {
        let mut sums = load(bytes, at);
        if WORD <= 1 {
            sums = plus(sums, vextq_u8::<15>(zero, sums));
        }
        if WORD <= 2 {
            sums = plus(sums, vextq_u8::<14>(zero, sums));
        }
        if WORD <= 4 {
            sums = plus(sums, vextq_u8::<12>(zero, sums));
        }
        sums = plus(sums, vextq_u8::<8>(zero, sums));
        store(bytes, at, plus(sums, carry));
        // The carry does not wait for the sums with the carry before.
        carry = plus(carry, vqtbl1q_u8(sums, last));
    }
    whole
}

/// Elements of `N` bytes.
#[target_feature(enable = "neon")]
fn shuffle_narrow<const N: usize>(src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let whole = src.len() / N / STEP * STEP;
    for i in (0..whole).step_by(STEP) {
        let mut rows = [vdupq_n_u8(0); N];
        for (k, row) in rows.iter_mut().enumerate() {
            *row = load(src, i * N + 16 * k);
        }
        for (j, plane) in part::<N>(rows).into_iter().enumerate() {
            store(dst, j * stride + i, plane);
        }
    }
    whole
}

/// Undoes [`shuffle_narrow`].
#[target_feature(enable = "neon")]
fn unshuffle_narrow<const N: usize>(src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let whole = dst.len() / N / STEP * STEP;
    for i in (0..whole).step_by(STEP) {
        let mut planes = [vdupq_n_u8(0); N];
        for (j, plane) in planes.iter_mut().enumerate() {
            *plane = load(src, j * stride + i);
        }
        for (k, row) in join::<N>(planes).into_iter().enumerate() {
            store(dst, i * N + 16 * k, row);
        }
    }
    whole
}

/// Elements of more than 8 bytes, sixteen columns at a time.
#[target_feature(enable = "neon")]
fn shuffle_wide(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let count = src.len() / width;
    let mut i = 0;
    // The last load takes 16 bytes, which may be more than its element has.
    while i + STEP <= count && (i + STEP - 1) * width + 16 <= src.len() {
        for first in columns(width) {
            let mut rows = [vdupq_n_u8(0); 16];
            for (k, row) in rows.iter_mut().enumerate() {
                *row = load(src, (i + k) * width + first);
            }
            for (j, plane) in join::<16>(rows).into_iter().enumerate().take(width) {
                store(dst, (first + j) * stride + i, plane);
            }
        }
        i += STEP;
    }
    i
}

/// Undoes [`shuffle_wide`].
#[target_feature(enable = "neon")]
fn unshuffle_wide(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let count = dst.len() / width;
    let mut i = 0;
    while i + STEP <= count && (i + STEP - 1) * width + 16 <= dst.len() {
        for first in columns(width) {
            let mut planes = [vdupq_n_u8(0); 16];
            for (j, plane) in planes.iter_mut().enumerate().take(width) {
                *plane = load(src, (first + j) * stride + i);
            }
            // In order, as each store writes over what the one before wrote too much.
            for (k, row) in join::<16>(planes).into_iter().enumerate() {
                store(dst, (i + k) * width + first, row);
            }
        }
        i += STEP;
    }
    i
}

/// Returns the first columns of groups of sixteen, the last of which reaches back if it must; 0 alone for fewer columns.
fn columns(width: usize) -> impl Iterator<Item = usize> {
    (0..width).step_by(16).map(move |first| first.min(width.saturating_sub(16)))
}

/// Turns `N` planes of 16 bytes into elements of `N` bytes; for 16 planes that is its own inverse.
#[inline]
#[target_feature(enable = "neon")]
fn join<const N: usize>(mut rows: [uint8x16_t; N]) -> [uint8x16_t; N] {
    let mut stage = 1;
    while stage < N {
        let before = rows;
        for k in 0..N / 2 {
            let (a, b) = (before[k], before[k + N / 2]);
            (rows[2 * k], rows[2 * k + 1]) = (vzip1q_u8(a, b), vzip2q_u8(a, b));
        }
        stage *= 2;
    }
    rows
}

/// Undoes [`join`].
#[inline]
#[target_feature(enable = "neon")]
fn part<const N: usize>(mut rows: [uint8x16_t; N]) -> [uint8x16_t; N] {
    let mut stage = 1;
    while stage < N {
        let before = rows;
        for k in 0..N / 2 {
            let (a, b) = (before[2 * k], before[2 * k + 1]);
            (rows[k], rows[k + N / 2]) = (vuzp1q_u8(a, b), vuzp2q_u8(a, b));
        }
        stage *= 2;
    }
    rows
}

/// Loads the 16 bytes at `at`.
#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8], at: usize) -> uint8x16_t {
    let bytes = &bytes[at..at + 16];
    // SAFETY: the slice has the 16 bytes that are read; these loads take any address.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Stores 16 bytes at `at`.
#[inline]
#[target_feature(enable = "neon")]
fn store(bytes: &mut [u8], at: usize, value: uint8x16_t) {
    let bytes = &mut bytes[at..at + 16];
    // SAFETY: the slice has the 16 bytes that are written; these stores take any address.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), value) }
}
