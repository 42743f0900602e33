//! Kernels that use the vector instructions of the machine: the only unsafe code of this crate.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod lz;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod scan;
pub(crate) mod shuffle;

/// Returns the first columns of groups of sixteen; the last of them reaches back if it must. What [`has_last_eight`] is left
/// out.
#[cfg(target_arch = "x86_64")]
fn columns(width: usize) -> impl Iterator<Item = usize> {
    let end = if has_last_eight(width) { width - 8 } else { width };
    (0..end).step_by(16).map(move |first| first.min(width.saturating_sub(16)))
}

/// Whether the columns after whole groups of sixteen are so few that eight will do.
#[cfg(target_arch = "x86_64")]
fn has_last_eight(width: usize) -> bool {
    width > 16 && (1..=8).contains(&(width % 16))
}
