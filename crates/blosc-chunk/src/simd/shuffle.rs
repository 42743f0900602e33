//! Shuffles of tiles by the best instructions of the machine, and the plain code that is always right.
#![allow(unsafe_code)]

/// Set of instructions to use. Only created for those that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(miri, allow(dead_code, reason = "Miri is given plain code"))]
enum Instructions {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// With byte permutations (VBMI) and bit matrices (GFNI).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// Plain code.
    pub(crate) const PLAIN: Self = Self(Instructions::Plain);

    /// Returns the best that the machine has. The standard library remembers what it detects.
    #[inline]
    pub(crate) fn best() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni")
        {
            return Self(Instructions::Avx512);
        }
        Self::second_best()
    }

    /// Returns the level of machines without AVX-512.
    #[inline]
    pub(crate) fn second_best() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx2") {
            return Self(Instructions::Avx2);
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon", not(miri)))]
        return Self(Instructions::Neon);
        #[allow(unreachable_code, reason = "where the target always has vectors")]
        Self(Instructions::Plain)
    }

    /// Whether there are vectors of any kind; on x86 that is AVX2 at least.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline]
    pub(super) fn has_vectors(self) -> bool {
        self.0 != Instructions::Plain
    }
}

/// Elements that every kernel takes in whole steps, and bytes of a cache line.
const STEP: usize = 64;

/// Shuffles the elements of `src`, `width` bytes each, into planes of `dst` without gaps.
///
/// Stores across two cache lines cost up to half of the speed. So the first step is done from the start of the planes, and
/// the next ones from the start of cache lines; the overlap is stored twice.
///
/// # Panics
/// When `src` is not whole elements, or as long as `dst`.
pub(crate) fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let count = src.len() / width;
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let lead = dst.as_ptr().align_offset(STEP);
    if count >= 4 * STEP && count.is_multiple_of(STEP) && (1..STEP).contains(&lead) {
        shuffle_planes(level, width, &src[..STEP * width], dst, count);
        shuffle_planes(level, width, &src[lead * width..], &mut dst[lead..], count);
    } else {
        shuffle_planes(level, width, src, dst, count);
    }
}

/// Undoes [`shuffle`].
///
/// # Panics
/// When `dst` is not whole elements, or as long as `src`.
pub(crate) fn unshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let count = dst.len() / width;
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let lead = dst.as_ptr().align_offset(STEP);
    if count >= 4 * STEP
        && STEP.is_multiple_of(width)
        && lead.is_multiple_of(width)
        && (1..STEP).contains(&lead)
    {
        unshuffle_planes(level, width, src, count, &mut dst[..STEP * width]);
        unshuffle_planes(level, width, &src[lead / width..], count, &mut dst[lead..]);
    } else {
        unshuffle_planes(level, width, src, count, dst);
    }
}

/// Shuffles the elements of `src`, `width` bytes each, into planes; plane `j` begins at `dst[j * stride]`.
///
/// # Panics
/// When `src` is not whole elements, or a plane does not fit.
#[inline]
pub(crate) fn shuffle_planes(level: Level, width: usize, src: &[u8], dst: &mut [u8], stride: usize) {
    let count = checked_count(width, src.len(), stride, dst.len());
    let done = match level.0 {
        Instructions::Plain => 0,
        // SAFETY: this level is only chosen on machines that have the instructions.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { super::avx2::shuffle(width, src, dst, stride) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { super::avx512::shuffle(width, src, dst, stride) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => unsafe { super::neon::shuffle(width, src, dst, stride) },
    };
    if done == count {
        return;
    }
    for j in 0..width {
        let plane = &mut dst[j * stride + done..j * stride + count];
        for (to, element) in plane.iter_mut().zip(src[done * width..].chunks_exact(width)) {
            *to = element[j];
        }
    }
}

/// Undoes [`shuffle_planes`]: plane `j` begins at `src[j * stride]`.
///
/// # Panics
/// When `dst` is not whole elements, or a plane is not there.
#[inline]
pub(crate) fn unshuffle_planes(level: Level, width: usize, src: &[u8], stride: usize, dst: &mut [u8]) {
    let count = checked_count(width, dst.len(), stride, src.len());
    let done = match level.0 {
        Instructions::Plain => 0,
        // SAFETY: this level is only chosen on machines that have the instructions.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { super::avx2::unshuffle(width, src, stride, dst) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { super::avx512::unshuffle(width, src, stride, dst) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => unsafe { super::neon::unshuffle(width, src, stride, dst) },
    };
    if done == count {
        return;
    }
    for j in 0..width {
        let plane = &src[j * stride + done..j * stride + count];
        for (from, element) in plane.iter().zip(dst[done * width..].chunks_exact_mut(width)) {
            element[j] = *from;
        }
    }
}

/// Transposes each 8 bytes of 8 bits of `bytes`; a shorter rest is left as it is.
#[inline]
pub(crate) fn transpose_bits(level: Level, bytes: &mut [u8]) {
    let done = match level.0 {
        Instructions::Plain => 0,
        // SAFETY: this level is only chosen on machines that have the instructions.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { super::avx2::transpose_bits(bytes) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { super::avx512::transpose_bits(bytes) },
        // The compiler makes vector code of the plain form.
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => 0,
    };
    transpose_words(&mut bytes[done..]);
}

/// Transposes as [`transpose_bits`], without vectors.
#[inline(always)]
pub(super) fn transpose_words(bytes: &mut [u8]) {
    for word in bytes.as_chunks_mut::<8>().0 {
        *word = transpose(u64::from_le_bytes(*word)).to_le_bytes();
    }
}

/// Transposes 8 bytes of 8 bits: bit `k` of byte `b` becomes bit `b` of byte `k`. Its own inverse.
///
/// Swaps ever larger squares across the diagonal: 1 bit, 2 bits, 4 bits wide (Warren, Hacker's Delight, 7-3).
#[inline(always)]
const fn transpose(x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    let x = x ^ t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    let x = x ^ t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

/// Returns the number of elements, and checks that planes and elements fit.
fn checked_count(width: usize, elements_len: usize, stride: usize, planes_len: usize) -> usize {
    let count = elements_len.checked_div(width).unwrap_or(0);
    assert!(count * width == elements_len, "whole elements");
    if count > 0 {
        assert!(stride >= count && (width - 1) * stride + count <= planes_len, "planes that fit");
    }
    count
}

#[cfg(test)]
mod tests;
