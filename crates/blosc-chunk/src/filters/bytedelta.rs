//! Differences of neighbouring bytes, for planes that a shuffle has made.

use crate::simd::scan::running_sum;
use crate::simd::shuffle::Level;

/// Bytes after which old SIMD writers began anew; see [`bytedelta_buggy_decode`].
const BUGGY_LANE: usize = 16;

/// Stores in `dst`, for each of `streams` equal parts of `src`, the difference (modulo 256) of each byte to the one
/// before it in the part; the first is kept. Bytes that do not fill the parts are copied in place. 0 streams are taken as 1.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bytedelta_encode(streams: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let streams = streams.max(1);
    let part = src.len() / streams;
    let whole = part * streams;
    dst[whole..].copy_from_slice(&src[whole..]);
    for (from, to) in src[..whole].chunks_exact(part.max(1)).zip(dst.chunks_exact_mut(part.max(1))) {
        to[0] = from[0];
        for ((to, from), before) in to[1..].iter_mut().zip(&from[1..]).zip(from) {
            *to = from.wrapping_sub(*before);
        }
    }
}

/// Undoes [`bytedelta_encode`] in place.
pub fn bytedelta_decode(streams: usize, block: &mut [u8]) {
    for part in parts(streams, block) {
        running_sum(Level::best(), part);
    }
}

/// Reverses, in place, the filter number 34 of C-Blosc2 2.8.0 to 2.9.3.
///
/// As [`bytedelta_decode`], but the sum restarts at the last multiple of 16 of each part. The vector code of those releases
/// did not pass the last byte on to the loop for the rest. Builds without vector code did not restart. Chunks do not record
/// the build, and such builds were rare.
pub fn bytedelta_buggy_decode(streams: usize, block: &mut [u8]) {
    for part in parts(streams, block) {
        let (vectors, rest) = part.split_at_mut(part.len() / BUGGY_LANE * BUGGY_LANE);
        running_sum(Level::best(), vectors);
        running_sum(Level::best(), rest);
    }
}

/// Returns the `streams` equal parts of `block`.
fn parts(streams: usize, block: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let streams = streams.max(1);
    let part = block.len() / streams;
    let count = if part == 0 { 0 } else { streams };
    block.chunks_exact_mut(part.max(1)).take(count)
}
