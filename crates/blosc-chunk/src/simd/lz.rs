//! Copies and comparisons for LZ4 and BloscLZ, and loops that run ahead of their decoders.
#![allow(unsafe_code)]

mod input;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

pub(crate) use input::Input;

/// A loop that runs ahead of a decoder.
///
/// Given stream, output, and how far each is, it decodes whole operations from there on, stops before the first one that is
/// wrong or too close to either end to be sure, and gives how far it came. It may have written past that.
pub(crate) type Ahead = fn(&[u8], &mut [u8], usize, usize) -> (usize, usize);

/// Returns the loop for LZ4 that this machine runs best.
pub(crate) fn lz4() -> Ahead {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if avx2() {
        // SAFETY: the features were just asked for.
        return |src, dst, at, done| unsafe { x86::lz4(src, dst, at, done) };
    }
    stay
}

/// Returns the loop for BloscLZ that this machine runs best.
pub(crate) fn blosclz() -> Ahead {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if avx2() {
        // SAFETY: the features were just asked for.
        return |src, dst, at, done| unsafe { x86::blosclz(src, dst, at, done) };
    }
    stay
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}

/// Does not run at all.
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
        // What is there repeats with the period, so that each round can copy all of it and double it.
        let mut copied = 0;
        while copied < len {
            let part = (distance + copied).min(len - copied);
            dst.copy_within(start..start + part, done + copied);
            copied += part;
        }
    }
}
