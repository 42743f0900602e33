//! Shuffles for AVX2: sixteen elements in each half of a register.
//!
//! Both directions rest on one *stage*: of `N` registers, the first half and the second half are interleaved, pair by
//! pair. `log2 N` such stages turn rows into columns. Shuffling first puts the bytes of the few elements of a register
//! in order of their planes, and then turns pieces of `16 / N` bytes; unshuffling turns single bytes, after which elements are
//! together, and closes the gaps where an element is shorter than `N` bytes.
//!
//! The two halves of a register never meet: the lower one holds elements `i..i + 16`, the upper one `i + 16..i + 32`.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// Elements of one step.
const STEP: usize = 32;

/// Shuffles as many elements as whole steps take, and returns their number. Plane `j` begins at `dst[j * stride]`.
#[target_feature(enable = "avx2")]
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    match width {
        0 | 1 => 0,
        2 => shuffle_narrow::<2>(width, src, dst, stride),
        3 | 4 => shuffle_narrow::<4>(width, src, dst, stride),
        5..=8 => shuffle_narrow::<8>(width, src, dst, stride),
        _ => shuffle_wide(width, src, dst, stride),
    }
}

/// Undoes [`shuffle`]: plane `j` begins at `src[j * stride]`.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    match width {
        0 | 1 => 0,
        2 => unshuffle_narrow::<2>(width, src, stride, dst),
        3 | 4 => unshuffle_narrow::<4>(width, src, stride, dst),
        5..=8 => unshuffle_narrow::<8>(width, src, stride, dst),
        16 => unshuffle_narrow::<16>(width, src, stride, dst),
        _ => unshuffle_wide(width, src, stride, dst),
    }
}

/// Transposes each 8 bytes of 8 bits of `bytes` in place, but a shorter rest; returns the number of bytes.
#[target_feature(enable = "avx2")]
pub(super) fn transpose_bits(bytes: &mut [u8]) -> usize {
    // Plain code, which the compiler makes into vector code here.
    let whole = bytes.len() / 8 * 8;
    super::shuffle::transpose_words(&mut bytes[..whole]);
    whole
}

/// Replaces each word by the sum of all words up to it, XOR or modulo 256 (for words of one byte), as far as whole registers
/// take; returns the number of bytes.
#[target_feature(enable = "avx2")]
pub(super) fn scan<const WORD: usize, const XOR: bool>(bytes: &mut [u8]) -> usize {
    let plus = |a, b| if XOR { _mm256_xor_si256(a, b) } else { _mm256_add_epi8(a, b) };
    // The last word of each half, all over the half.
    let last = both(&std::array::from_fn(|at| 16 - WORD + at % WORD));
    let mut carry = _mm256_setzero_si256();
    let whole = bytes.len() / 32 * 32;
    for at in (0..whole).step_by(32) {
        let mut sums = load(bytes, at);
        if WORD <= 1 {
            sums = plus(sums, _mm256_bslli_epi128::<1>(sums));
        }
        if WORD <= 2 {
            sums = plus(sums, _mm256_bslli_epi128::<2>(sums));
        }
        if WORD <= 4 {
            sums = plus(sums, _mm256_bslli_epi128::<4>(sums));
        }
        sums = plus(sums, _mm256_bslli_epi128::<8>(sums));
        // The total of the lower half goes into the upper one only.
        let totals = _mm256_shuffle_epi8(sums, last);
        sums = plus(sums, _mm256_permute2x128_si256::<0x08>(totals, totals));
        store(bytes, at, plus(sums, carry));
        // The carry does not wait for the sums with the carry before.
        let totals = _mm256_shuffle_epi8(sums, last);
        carry = plus(carry, _mm256_permute2x128_si256::<0x11>(totals, totals));
    }
    whole
}

/// Elements of up to `N` bytes, `N` at most 8: `16 / N` of them in each half of a register.
#[target_feature(enable = "avx2")]
fn shuffle_narrow<const N: usize>(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let together = 16 / N;
    let order = both(&std::array::from_fn(|at| {
        let (plane, element) = (at / together, at % together);
        if plane < width { element * width + plane } else { 0x80 }
    }));
    let count = src.len() / width;
    let mut i = 0;
    // The last load takes 16 bytes, which may be more than its elements have.
    while i + STEP <= count && (i + STEP - together) * width + 16 <= src.len() {
        let mut rows = [_mm256_setzero_si256(); N];
        for (k, row) in rows.iter_mut().enumerate() {
            let at = (i + k * together) * width;
            *row = _mm256_shuffle_epi8(load_halves(src, at, at + 16 * width), order);
        }
        let planes = turn::<N>(rows, together);
        for (j, plane) in planes.into_iter().enumerate() {
            if j < width {
                store(dst, j * stride + i, plane);
            }
        }
        i += STEP;
    }
    i
}

/// Elements of more than 8 bytes, sixteen columns at a time.
#[target_feature(enable = "avx2")]
fn shuffle_wide(width: usize, src: &[u8], dst: &mut [u8], stride: usize) -> usize {
    let count = src.len() / width;
    let mut i = 0;
    while i + STEP <= count && (i + STEP - 1) * width + 16 <= src.len() {
        for first in super::columns(width) {
            let mut rows = [_mm256_setzero_si256(); 16];
            for (k, row) in rows.iter_mut().enumerate() {
                let at = (i + k) * width + first;
                *row = load_halves(src, at, at + 16 * width);
            }
            for (j, plane) in turn::<16>(rows, 1).into_iter().enumerate() {
                if j < width {
                    store(dst, (first + j) * stride + i, plane);
                }
            }
        }
        if super::has_last_eight(width) {
            shuffle_last_eight(width, src, i, dst, stride);
        }
        i += STEP;
    }
    i
}

/// Shuffles the last eight columns of one step.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffle_last_eight(width: usize, src: &[u8], i: usize, dst: &mut [u8], stride: usize) {
    let mut rows = [_mm256_setzero_si256(); 8];
    for (k, row) in rows.iter_mut().enumerate() {
        let at = (i + 2 * k + 1) * width - 16;
        let even = load_halves(src, at, at + 16 * width);
        let odd = load_halves(src, at + width, at + 17 * width);
        // The eight bytes of two elements, in order of their planes.
        *row = _mm256_unpackhi_epi8(even, odd);
    }
    for (j, plane) in turn::<8>(rows, 2).into_iter().enumerate() {
        store(dst, (width - 8 + j) * stride + i, plane);
    }
}

/// Undoes [`shuffle_narrow`], and [`shuffle_wide`] of 16 columns.
#[target_feature(enable = "avx2")]
fn unshuffle_narrow<const N: usize>(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let together = 16 / N;
    // Closes the gaps between elements shorter than N.
    let order = both(&std::array::from_fn(|at| {
        let (element, byte) = (at / width, at % width);
        if element < together { element * N + byte } else { 0x80 }
    }));
    let count = dst.len() / width;
    let mut i = 0;
    // The last store writes 16 bytes, which may be more than its elements have.
    while i + STEP <= count && (i + STEP - together) * width + 16 <= dst.len() {
        let mut planes = [_mm256_setzero_si256(); N];
        for (j, plane) in planes.iter_mut().enumerate() {
            if j < width {
                *plane = load(src, j * stride + i);
            }
        }
        let rows = turn::<N>(planes, 1);
        if width == N {
            for (k, pair) in rows.as_chunks::<2>().0.iter().enumerate() {
                let at = (i + 2 * k * together) * width;
                store(dst, at, _mm256_permute2x128_si256::<0x20>(pair[0], pair[1]));
                store(dst, at + 16 * width, _mm256_permute2x128_si256::<0x31>(pair[0], pair[1]));
            }
        } else {
            // In order, as each store writes over what the one before wrote too much.
            let rows = rows.map(|row| _mm256_shuffle_epi8(row, order));
            for (k, row) in rows.into_iter().enumerate() {
                store_half(dst, (i + k * together) * width, _mm256_castsi256_si128(row));
            }
            for (k, row) in rows.into_iter().enumerate() {
                store_half(dst, (i + 16 + k * together) * width, _mm256_extracti128_si256::<1>(row));
            }
        }
        i += STEP;
    }
    i
}

/// Undoes [`shuffle_wide`].
#[target_feature(enable = "avx2")]
fn unshuffle_wide(width: usize, src: &[u8], stride: usize, dst: &mut [u8]) -> usize {
    let count = dst.len() / width;
    let mut i = 0;
    while i + STEP <= count && (i + STEP - 1) * width + 16 <= dst.len() {
        for first in super::columns(width) {
            let mut planes = [_mm256_setzero_si256(); 16];
            for (j, plane) in planes.iter_mut().enumerate() {
                if j < width {
                    *plane = load(src, (first + j) * stride + i);
                }
            }
            let rows = turn::<16>(planes, 1);
            // In order, as each store writes over what the one before wrote too much.
            for (k, row) in rows.into_iter().enumerate() {
                store_half(dst, (i + k) * width + first, _mm256_castsi256_si128(row));
            }
            for (k, row) in rows.into_iter().enumerate() {
                store_half(dst, (i + 16 + k) * width + first, _mm256_extracti128_si256::<1>(row));
            }
        }
        if super::has_last_eight(width) {
            unshuffle_last_eight(width, src, stride, dst, i);
        }
        i += STEP;
    }
    i
}

/// Unshuffles the last eight columns of one step.
#[inline]
#[target_feature(enable = "avx2")]
fn unshuffle_last_eight(width: usize, src: &[u8], stride: usize, dst: &mut [u8], i: usize) {
    let mut planes = [_mm256_setzero_si256(); 8];
    for (j, plane) in planes.iter_mut().enumerate() {
        *plane = load(src, (width - 8 + j) * stride + i);
    }
    for (k, row) in turn::<8>(planes, 1).into_iter().enumerate() {
        let at = (i + 2 * k + 1) * width - 8;
        store_two_quarters(dst, at, at + width, _mm256_castsi256_si128(row));
        store_two_quarters(dst, at + 16 * width, at + 17 * width, _mm256_extracti128_si256::<1>(row));
    }
}

/// Turns `N` rows of pieces of `piece` bytes (1, 2, 4, 8) into columns, in each half of the registers.
#[inline]
#[target_feature(enable = "avx2")]
fn turn<const N: usize>(mut rows: [__m256i; N], piece: usize) -> [__m256i; N] {
    let mut stage = 1;
    while stage < N {
        let before = rows;
        for k in 0..N / 2 {
            let (a, b) = (before[k], before[k + N / 2]);
            (rows[2 * k], rows[2 * k + 1]) = match piece {
                1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            };
        }
        stage *= 2;
    }
    rows
}

/// Returns the order of bytes for both halves.
#[target_feature(enable = "avx2")]
fn both(order: &[usize; 16]) -> __m256i {
    let order = order.map(|at| u8::try_from(at).unwrap_or(0x80));
    load_halves(&order, 0, 0)
}

/// Loads the 32 bytes at `at`.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m256i {
    let bytes: &[u8] = &bytes[at..at + 32];
    // SAFETY: the slice has the 32 bytes that are read; unaligned loads take any address.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Loads the 16 bytes at `low` and those at `high`, which is not before it.
#[inline]
#[target_feature(enable = "avx2")]
fn load_halves(bytes: &[u8], low: usize, high: usize) -> __m256i {
    let bytes = &bytes[low..high + 16];
    let distance = bytes.len() - 16;
    // SAFETY: the slice begins with the first 16 bytes that are read and ends with the others, `distance` further; unaligned
    // loads take any address.
    let (low, high) = unsafe {
        let start = bytes.as_ptr();
        (_mm_loadu_si128(start.cast()), _mm_loadu_si128(start.add(distance).cast()))
    };
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
}

/// Stores 32 bytes at `at`.
#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8], at: usize, value: __m256i) {
    let bytes = &mut bytes[at..at + 32];
    // SAFETY: the slice has the 32 bytes that are written; unaligned stores take any address.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

/// Stores 16 bytes at `at`.
#[inline]
#[target_feature(enable = "avx2")]
fn store_half(bytes: &mut [u8], at: usize, value: __m128i) {
    let bytes = &mut bytes[at..at + 16];
    // SAFETY: the slice has the 16 bytes that are written; unaligned stores take any address.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), value) }
}

/// Stores the lower 8 bytes at `low` and the upper ones at `high`, which is not before it.
#[inline]
#[target_feature(enable = "avx2")]
fn store_two_quarters(bytes: &mut [u8], low: usize, high: usize, value: __m128i) {
    let bytes = &mut bytes[low..high + 8];
    let distance = bytes.len() - 8;
    // SAFETY: the slice begins with the first 8 bytes that are written and ends with the others, `distance` further; these
    // stores take any address.
    unsafe {
        let start = bytes.as_mut_ptr();
        _mm_storel_epi64(start.cast(), value);
        _mm_storeh_pd(start.add(distance).cast(), _mm_castsi128_pd(value));
    }
}
