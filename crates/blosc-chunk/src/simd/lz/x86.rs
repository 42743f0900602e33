//! Decoding loops of LZ4 and BloscLZ for AVX2. Copies write whole registers, and the next operation overwrites the surplus.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_load_si128, _mm_loadl_epi64, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storel_epi64,
    _mm_storeu_si128, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_storeu_si256,
};

/// `[d][i]` is `i % d`: sixteen bytes of a pattern of `d`, out of its first `d`. Row 16 leaves bytes where they are.
#[repr(align(16))]
struct Patterns([[u8; 16]; 17]);

#[expect(clippy::cast_possible_truncation, reason = "under 16")]
static PATTERNS: Patterns = Patterns({
    let mut rows = [[0; 16]; 17];
    let mut distance = 1;
    while distance <= 16 {
        let mut i = 0;
        while i < 16 {
            rows[distance][i] = (i % distance) as u8;
            i += 1;
        }
        distance += 1;
    }
    rows
});

/// The largest multiple of a distance that is not over 16: patterns stored so far apart are one pattern.
static STEPS: [u8; 17] = [0, 16, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15, 16];

/// Bytes that [`copy_long`] may write past the end of a match.
const OVERSHOOT: usize = 32;

/// Runs the loop of LZ4; [`super::lz4`] describes arguments and result.
///
/// Each turn decodes one sequence. Literals and matches are copied in whole registers, which may go past their end. So the loop ends at a
/// margin before the end of `src` and `dst`, and the caller decodes the rest byte by byte. It also returns before any sequence that
/// is invalid or does not fit: the caller meets it again, and reports the fault.
///
/// # Safety
/// The machine has AVX2 and BMI2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn lz4(src: &[u8], dst: &mut [u8], at: usize, done: usize) -> (usize, usize) {
    /// Token, 14 literals, offset and a length byte; 16 bytes are read for the literals.
    const SRC_MARGIN: usize = 20;
    /// 14 literals, and 32 bytes of a short match.
    const DST_MARGIN: usize = 48;
    let (i0, o0) = (src.as_ptr(), dst.as_mut_ptr());
    let (i_len, o_len) = (src.len(), dst.len());
    if at > i_len || done > o_len || i_len < SRC_MARGIN || o_len < DST_MARGIN {
        return (at, done);
    }
    let (i_last, o_last) = (i_len - SRC_MARGIN, o_len - DST_MARGIN);
    let (mut at, mut done) = (at, done);
    while at <= i_last && done <= o_last {
        // SAFETY: each block below reads inside `src` and inside `dst`, and writes inside `dst`; see there.
        unsafe {
            let (mut i, mut o) = (at, done);
            let token = usize::from(*i0.add(i));
            i += 1;
            let mut literals = token >> 4;
            // Copies up to 14 literals at once. `i + 16 <= i_len` and `o + 16 <= o_len` by the margins.
            store16(o0.add(o), load16(i0.add(i)));
            if literals == 15 {
                loop {
                    if i >= i_last {
                        return (at, done);
                    }
                    let more = usize::from(*i0.add(i));
                    i += 1;
                    literals += more;
                    if more != 255 {
                        break;
                    }
                }
                if literals + 32 + SRC_MARGIN > i_len - i || literals + 32 + DST_MARGIN > o_len - o {
                    return (at, done);
                }
                // Copies up to 31 bytes more than the literals, which fit on both sides.
                let mut k = 0;
                while k < literals {
                    store32(o0.add(o + k), load32(i0.add(i + k)));
                    k += 32;
                }
            }
            i += literals;
            o += literals;
            // Margins: the offset is inside `src`, and 32 bytes are free in `dst`.
            let distance = usize::from(i0.add(i).cast::<u16>().read_unaligned().to_le());
            i += 2;
            if distance.wrapping_sub(1) >= o {
                return (at, done);
            }
            let mut len = token & 15;
            if len == 15 {
                loop {
                    if i >= i_last {
                        return (at, done);
                    }
                    let more = usize::from(*i0.add(i));
                    i += 1;
                    len += more;
                    if more != 255 {
                        break;
                    }
                }
                len += 4;
                if len + OVERSHOOT > o_len - o {
                    return (at, done);
                }
                copy_long(o0.add(o), distance, len);
            } else {
                len += 4;
                copy_18(o0.add(o), distance);
            }
            at = i;
            done = o + len;
        }
    }
    (at, done)
}

/// Runs the loop of BloscLZ, in the same way as [`lz4`]; [`super::blosclz`] describes arguments and result.
///
/// # Safety
/// The machine has AVX2 and BMI2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn blosclz(src: &[u8], dst: &mut [u8], at: usize, done: usize) -> (usize, usize) {
    /// A control byte and 32 literals.
    const SRC_MARGIN: usize = 34;
    /// 32 literals; 16 bytes of a short match.
    const DST_MARGIN: usize = 32;
    let (i0, o0) = (src.as_ptr(), dst.as_mut_ptr());
    let (i_len, o_len) = (src.len(), dst.len());
    if at > i_len || done > o_len || i_len < SRC_MARGIN || o_len < DST_MARGIN {
        return (at, done);
    }
    let (i_last, o_last) = (i_len - SRC_MARGIN, o_len - DST_MARGIN);
    let (mut at, mut done) = (at, done);
    while at <= i_last && done <= o_last {
        // SAFETY: each block below reads inside `src` and inside `dst`, and writes inside `dst`; see there.
        unsafe {
            let mut i = at;
            let control = usize::from(*i0.add(i));
            i += 1;
            if control < 32 {
                store32(o0.add(done), load32(i0.add(i)));
                at = i + control + 1;
                done += control + 1;
                continue;
            }
            let mut len = (control >> 5) + 2;
            if len == 9 {
                loop {
                    if i >= i_last {
                        return (at, done);
                    }
                    let more = usize::from(*i0.add(i));
                    i += 1;
                    len += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let mut distance = ((control & 31) << 8) + usize::from(*i0.add(i)) + 1;
            i += 1;
            if distance == 8192 {
                distance += usize::from(i0.add(i).cast::<u16>().read_unaligned().to_be());
                i += 2;
            }
            if distance > done {
                return (at, done);
            }
            if len < 9 {
                copy_8(o0.add(done), distance);
            } else {
                if len + OVERSHOOT > o_len - done {
                    return (at, done);
                }
                copy_long(o0.add(done), distance, len);
            }
            at = i;
            done += len;
        }
    }
    (at, done)
}

/// Copies a match of up to 8 bytes.
///
/// # Safety
/// `distance` bytes before `to` and 8 from it on are of one slice, and `distance` is not 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn copy_8(to: *mut u8, distance: usize) {
    // SAFETY: the caller's; reading stays before `to + 8`.
    unsafe {
        let bytes = _mm_loadl_epi64(to.sub(distance).cast());
        let pattern = _mm_shuffle_epi8(bytes, pattern(distance));
        _mm_storel_epi64(to.cast(), pattern);
    }
}

/// Copies a match of up to 18 bytes.
///
/// # Safety
/// `distance` bytes before `to` and 32 from it on are of one slice, and `distance` is not 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn copy_18(to: *mut u8, distance: usize) {
    // SAFETY: the caller's; reading and writing stay before `to + 32`.
    unsafe {
        let from = to.sub(distance);
        if distance >= 16 {
            store16(to, load16(from));
            to.add(16).cast::<u16>().write_unaligned(from.add(16).cast::<u16>().read_unaligned());
        } else {
            let pattern = _mm_shuffle_epi8(load16(from), pattern(distance));
            store16(to, pattern);
            store16(to.add(usize::from(STEPS[distance & 15])), pattern);
        }
    }
}

/// Copies a match of `len` bytes, and up to [`OVERSHOOT`] bytes more.
///
/// # Safety
/// `distance` bytes before `to` and `len + OVERSHOOT` from it on are of one slice, and `distance` is not 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn copy_long(to: *mut u8, distance: usize, len: usize) {
    // SAFETY: the caller's. Each loop writes 32 bytes from each step before `len`.
    unsafe {
        let from = to.sub(distance);
        let mut k = 0;
        if distance >= 32 {
            while k < len {
                store32(to.add(k), load32(from.add(k)));
                k += 32;
            }
        } else if distance >= 16 {
            while k < len {
                store16(to.add(k), load16(from.add(k)));
                k += 16;
            }
        } else {
            let one = _mm_shuffle_epi8(load16(from), pattern(distance));
            let step = usize::from(STEPS[distance & 15]);
            if step == 16 {
                let two = _mm256_broadcastsi128_si256(one);
                while k < len {
                    store32(to.add(k), two);
                    k += 32;
                }
            } else {
                while k < len {
                    store16(to.add(k), one);
                    k += step;
                }
            }
        }
    }
}

/// Returns the row of [`PATTERNS`] for a distance.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn pattern(distance: usize) -> __m128i {
    // SAFETY: rows are 16 bytes and aligned.
    unsafe { _mm_load_si128(PATTERNS.0[distance.min(16)].as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn load16(from: *const u8) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_loadu_si128(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn store16(to: *mut u8, bytes: __m128i) {
    // SAFETY: the caller's.
    unsafe { _mm_storeu_si128(to.cast(), bytes) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn load32(from: *const u8) -> __m256i {
    // SAFETY: the caller's.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn store32(to: *mut u8, bytes: __m256i) {
    // SAFETY: the caller's.
    unsafe { _mm256_storeu_si256(to.cast(), bytes) }
}
