//! Copies and comparisons for LZ4 and BloscLZ, and loops that run ahead of their decoders.
#![allow(unsafe_code)]

mod input;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

pub(crate) use input::Input;

/// A loop that runs ahead of a decoder.
///
/// Arguments are stream and output, and the offset in each. It decodes whole operations from there on. It stops before the first one
/// that is invalid or too close to either end, and returns the offsets there. It may have written past that.
pub(crate) type Ahead = fn(&[u8], &mut [u8], usize, usize) -> (usize, usize);

/// Returns the loop for LZ4 that this machine runs best.
pub(crate) fn lz4() -> Ahead {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if avx2() {
        // SAFETY: the features were just detected.
        return |src, dst, at, done| unsafe { x86::lz4(src, dst, at, done) };
    }
    stay
}

/// Returns the loop for BloscLZ that this machine runs best.
pub(crate) fn blosclz() -> Ahead {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if avx2() {
        // SAFETY: the features were just detected.
        return |src, dst, at, done| unsafe { x86::blosclz(src, dst, at, done) };
    }
    stay
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}

/// Returns at once: the loop of machines without a faster one.
pub(crate) fn stay(_src: &[u8], _dst: &mut [u8], at: usize, done: usize) -> (usize, usize) {
    (at, done)
}

/// Writes `len` bytes at `done`, each a copy of the byte `distance` before it.
///
/// # Panics
/// When `distance` is 0 or larger than `done`, or the bytes do not fit.
pub(crate) fn repeat(dst: &mut [u8], done: usize, distance: usize, len: usize) {
    let start = done - distance;
    if distance >= len {
        dst.copy_within(start..start + len, done);
    } else if distance == 1 {
        let byte = dst[start];
        dst[done..done + len].fill(byte);
    } else {
        // The part that is written repeats with the period, so that each round can copy all of it and double it.
        let mut copied = 0;
        while copied < len {
            let part = (distance + copied).min(len - copied);
            dst.copy_within(start..start + part, done + copied);
            copied += part;
        }
    }
}
