//! Kernels that use the vector instructions of the machine: the only unsafe code of this crate.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(target_arch = "x86_64", has_avx512))]
mod avx512;
pub(crate) mod lz;
pub(crate) mod shuffle;

/// The first columns of groups of sixteen, the last of which reaches back if it must; 0 alone for fewer columns.
#[cfg(target_arch = "x86_64")]
fn columns(width: usize) -> impl Iterator<Item = usize> {
    (0..width).step_by(16).map(move |first| first.min(width.saturating_sub(16)))
}
