//! Byte shuffle: first the first bytes of all elements, then the second bytes, and so on.

use crate::simd::shuffle::{self as simd, Level};

/// Shuffles the bytes of `src`, as elements of `width` bytes, into `dst`.
///
/// With `q` whole elements, `dst[j * q + i] = src[i * width + j]`; the bytes after them are copied in place. Width 0
/// is taken as 1, which copies. (C-Blosc2 `SHUFFLE`, the same in Blosc1.)
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn shuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let width = width.max(1);
    let count = src.len() / width;
    let (whole, tail) = src.split_at(count * width);
    let (planes, rest) = dst.split_at_mut(whole.len());
    rest.copy_from_slice(tail);
    if width == 1 || count == 0 {
        planes.copy_from_slice(whole);
        return;
    }
    simd::shuffle(Level::best(), width, whole, planes);
}

/// Undoes [`shuffle`] of the same width.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn unshuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let width = width.max(1);
    let count = src.len() / width;
    let (planes, tail) = src.split_at(count * width);
    let (whole, rest) = dst.split_at_mut(planes.len());
    rest.copy_from_slice(tail);
    if width == 1 || count == 0 {
        whole.copy_from_slice(planes);
        return;
    }
    simd::unshuffle(Level::best(), width, planes, whole);
}
