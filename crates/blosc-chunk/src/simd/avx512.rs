//! Shuffles and bit transposition for AVX-512 with VBMI and GFNI: as in `avx2`, but across whole registers.
//!
//! `64 / N` elements are loaded at once. One byte permutation sorts them into planes, then `log2 N` stages turn the
//! pieces of `64 / N` bytes. Unshuffling does the same the other way round.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// Elements of one step.
const STEP: usize = 64;

/// Orders of bytes by width, up to 16: `SORT` puts the bytes of `64 / N` elements in order of their planes, `MERGE` back.
static SORT: [[u8; 64]; 17] = orders(false);
static MERGE: [[u8; 64]; 17] = orders(true);

/// Returns the number of registers for elements of `width` bytes.
const fn registers(width: usize) -> usize {
    if width <= 2 { 2 } else { width.next_power_of_two() }
}

#[expect(clippy::cast_possible_truncation, reason = "all numbers are below 64")]
const fn orders(back: bool) -> [[u8; 64]; 17] {
    let mut orders = [[0; 64]; 17];
    let mut width = 1;
    while width <= 16 {
        let together = 64 / registers(width);
        let mut at = 0;
        while at < width * together {
            let (sorted, merged) = (at % width * together + at / width, at);
            let (to, from) = if back { (merged, sorted) } else { (sorted, merged) };
            orders[width][to] = from as u8;
            at += 1;
        }
        width += 1;
    }
    orders
}

/// Shuffles as many elements as whole steps take, and returns their number. Plane `j` begins at `dst[j * stride]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    match width {
        0 | 1 => 0,
        2 => shuffle_narrow::<2>(width, src, dst, stride),
        3 | 4 => shuffle_narrow::<4>(width, src, dst, stride),
        5..=8 => shuffle_narrow::<8>(width, src, dst, stride),
        9..=16 => shuffle_narrow::<16>(width, src, dst, stride),
        _ => shuffle_wide(width, src, dst, stride),
    }
}

/// Undoes [`shuffle`]: plane `j` begins at `src[j * stride]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unshuffle(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    match width {
        0 | 1 => 0,
        2 => unshuffle_narrow::<2>(width, src, stride, dst),
        3 | 4 => unshuffle_narrow::<4>(width, src, stride, dst),
        5..=8 => unshuffle_narrow::<8>(width, src, stride, dst),
        9..=16 => unshuffle_narrow::<16>(width, src, stride, dst),
        _ => unshuffle_wide(width, src, stride, dst),
    }
}

/// Transposes each 8 bytes of 8 bits of `bytes` in place, as many as whole registers take; returns the number of bytes.
///
/// The affine instruction multiplies a matrix of bits with vectors. Here the data are the matrix and the vectors those of
/// the identity, so that columns come out; it counts rows from the last byte, hence the reversal.
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) fn transpose_bits(bytes: &mut [u8]) -> usize {
    let identity = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let reversed: [u8; 64] =
        std::array::from_fn(|at| [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8][at % 16]);
    let reversed = load(&reversed, 0);
    let whole = bytes.len() / 64 * 64;
    for at in (0..whole).step_by(64) {
        let matrix = _mm512_shuffle_epi8(load(bytes, at), reversed);
        store(bytes, at, _mm512_gf2p8affine_epi64_epi8::<0>(identity, matrix));
    }
    whole
}

/// Elements of up to `N` bytes, `N` at most 16.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shuffle_narrow<const N: usize>(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let together = 64 / N;
    let order = load(&SORT[width], 0);
    let count = src.len() / width;
    let mut i = 0;
    // The last load takes 64 bytes, which may be more than its elements have.
    while i + STEP <= count && (i + STEP - together) * width + 64 <= src.len() {
        let mut rows = [_mm512_setzero_si512(); N];
        for (k, row) in rows.iter_mut().enumerate() {
            *row = _mm512_permutexvar_epi8(order, load(src, (i + k * together) * width));
        }
        for (j, plane) in turn::<N>(rows).into_iter().enumerate() {
            if j < width {
                store(dst, j * stride + i, plane);
            }
        }
        i += STEP;
    }
    i
}

/// Elements of more than 16 bytes, sixteen columns at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shuffle_wide(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let (sixteen, eight) = (load(&SORT[16], 0), load(&SORT[8], 0));
    let whole = src.len() / width / STEP * STEP;
    for i in (0..whole).step_by(STEP) {
        for first in super::columns(width) {
            let mut rows = [_mm512_setzero_si512(); 16];
            for (k, row) in rows.iter_mut().enumerate() {
                *row =
                    _mm512_permutexvar_epi8(sixteen, load_quarters(src, (i + 4 * k) * width + first, width));
            }
            for (j, plane) in turn::<16>(rows).into_iter().enumerate() {
                store(dst, (first + j) * stride + i, plane);
            }
        }
        if super::has_last_eight(width) {
            let mut rows = [_mm512_setzero_si512(); 8];
            for (k, row) in rows.iter_mut().enumerate() {
                let at = (i + 8 * k + 1) * width - 16;
                let (even, odd) =
                    (load_quarters(src, at, 2 * width), load_quarters(src, at + width, 2 * width));
                *row = _mm512_permutexvar_epi8(eight, _mm512_unpackhi_epi64(even, odd));
            }
            for (j, plane) in turn::<8>(rows).into_iter().enumerate() {
                store(dst, (width - 8 + j) * stride + i, plane);
            }
        }
    }
    whole
}

/// Undoes [`shuffle_narrow`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unshuffle_narrow<const N: usize>(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let together = 64 / N;
    let order = load(&MERGE[width], 0);
    let count = dst.len() / width;
    let mut i = 0;
    // The last store writes 64 bytes, which may be more than its elements have.
    while i + STEP <= count && (i + STEP - together) * width + 64 <= dst.len() {
        let mut planes = [_mm512_setzero_si512(); N];
        for (j, plane) in planes.iter_mut().enumerate() {
            if j < width {
                *plane = load(src, j * stride + i);
            }
        }
        // In order, as each store writes over what the one before wrote too much.
        for (k, row) in turn::<N>(planes).into_iter().enumerate() {
            store(dst, (i + k * together) * width, _mm512_permutexvar_epi8(order, row));
        }
        i += STEP;
    }
    i
}

/// Undoes [`shuffle_wide`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unshuffle_wide(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let (sixteen, eight) = (load(&MERGE[16], 0), load(&MERGE[8], 0));
    let whole = dst.len() / width / STEP * STEP;
    for i in (0..whole).step_by(STEP) {
        for first in super::columns(width) {
            let mut planes = [_mm512_setzero_si512(); 16];
            for (j, plane) in planes.iter_mut().enumerate() {
                *plane = load(src, (first + j) * stride + i);
            }
            for (k, row) in turn::<16>(planes).into_iter().enumerate() {
                let row = _mm512_permutexvar_epi8(sixteen, row);
                store_quarters(dst, (i + 4 * k) * width + first, width, row);
            }
        }
        if super::has_last_eight(width) {
            let mut planes = [_mm512_setzero_si512(); 8];
            for (j, plane) in planes.iter_mut().enumerate() {
                *plane = load(src, (width - 8 + j) * stride + i);
            }
            for (k, row) in turn::<8>(planes).into_iter().enumerate() {
                let row = _mm512_permutexvar_epi8(eight, row);
                store_eighths(dst, (i + 8 * k + 1) * width - 8, width, row);
            }
        }
    }
    whole
}

/// Indices of the 4-byte words of two registers that one stage takes: the pieces of the lower halves in turn, or of the upper ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "all numbers are below 32")]
const fn interleaved(registers: usize, upper: bool) -> [i32; 16] {
    let piece = 16 / registers;
    let mut words = [0; 16];
    let mut at = 0;
    while at < 16 {
        let (number, word) = (at / piece, at % piece);
        let from = number / 2 * piece + word + if upper { 8 } else { 0 };
        words[at] = (from + number % 2 * 16) as i32;
        at += 1;
    }
    words
}

/// Turns `N` rows of pieces of `64 / N` bytes into columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn turn<const N: usize>(mut rows: [__m512i; N]) -> [__m512i; N] {
    let lower = words(const { &interleaved(N, false) });
    let upper = words(const { &interleaved(N, true) });
    let mut stage = 1;
    while stage < N {
        let before = rows;
        for k in 0..N / 2 {
            let (a, b) = (before[k], before[k + N / 2]);
            rows[2 * k] = _mm512_permutex2var_epi32(a, lower, b);
            rows[2 * k + 1] = _mm512_permutex2var_epi32(a, upper, b);
        }
        stage *= 2;
    }
    rows
}

/// Makes a register of words.
#[inline]
#[target_feature(enable = "avx512f")]
fn words(words: &[i32; 16]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read; unaligned loads take any address.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Loads the 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let bytes = &bytes[at..at + 64];
    // SAFETY: the slice has the 64 bytes that are read; unaligned loads take any address.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Loads four times 16 bytes, the first at `at`, each `step` after the one before.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_quarters(bytes: &[u8], at: usize, step: usize) -> __m512i {
    let start = bytes[at..at + 3 * step + 16].as_ptr();
    // SAFETY: the slice has the first and the last 16 bytes that are read, and so those between; unaligned loads take any
    // address.
    let quarter = |number: usize| unsafe { _mm_loadu_si128(start.add(number * step).cast()) };
    let quarters = _mm512_castsi128_si512(quarter(0));
    let quarters = _mm512_inserti32x4::<1>(quarters, quarter(1));
    let quarters = _mm512_inserti32x4::<2>(quarters, quarter(2));
    _mm512_inserti32x4::<3>(quarters, quarter(3))
}

/// Stores 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8], at: usize, value: __m512i) {
    let bytes = &mut bytes[at..at + 64];
    // SAFETY: the slice has the 64 bytes that are written; unaligned stores take any address.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}

/// Stores four times 16 bytes, the first at `at`, each `step` after the one before.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_quarters(bytes: &mut [u8], at: usize, step: usize, value: __m512i) {
    let start = bytes[at..at + 3 * step + 16].as_mut_ptr();
    // SAFETY: the slice has the first and the last 16 bytes that are written, and so those between; unaligned stores take
    // any address.
    let store =
        |number: usize, quarter| unsafe { _mm_storeu_si128(start.add(number * step).cast(), quarter) };
    store(0, _mm512_extracti32x4_epi32::<0>(value));
    store(1, _mm512_extracti32x4_epi32::<1>(value));
    store(2, _mm512_extracti32x4_epi32::<2>(value));
    store(3, _mm512_extracti32x4_epi32::<3>(value));
}

/// Stores eight times 8 bytes, the first at `at`, each `step` after the one before.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_eighths(bytes: &mut [u8], at: usize, step: usize, value: __m512i) {
    let start = bytes[at..at + 7 * step + 8].as_mut_ptr();
    let quarters = [
        _mm512_extracti32x4_epi32::<0>(value),
        _mm512_extracti32x4_epi32::<1>(value),
        _mm512_extracti32x4_epi32::<2>(value),
        _mm512_extracti32x4_epi32::<3>(value),
    ];
    for (number, quarter) in quarters.into_iter().enumerate() {
        // SAFETY: the slice has the first and the last 8 bytes that are written, and so those between; these stores take any
        // address.
        unsafe {
            _mm_storel_epi64(start.add(2 * number * step).cast(), quarter);
            _mm_storeh_pd(start.add((2 * number + 1) * step).cast(), _mm_castsi128_pd(quarter));
        }
    }
}
