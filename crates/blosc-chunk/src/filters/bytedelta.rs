//! Differences of neighbouring bytes, for planes that a shuffle has made.

/// Bytes after which old SIMD writers began anew; see [`bytedelta_buggy_decode`].
const BUGGY_LANE: usize = 16;

/// Stores in `dst`, for each of `streams` equal parts of `src`, the difference (modulo 256) of each byte to the one
/// before it in the part; the first is kept. Bytes that do not fill the parts are copied in place. 0 streams are taken as 1.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bytedelta_encode(streams: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    dst.copy_from_slice(src);
    let part = src.len() / streams.max(1);
    if part == 0 {
        return;
    }
    for (from, to) in src.chunks_exact(part).zip(dst.chunks_exact_mut(part)).take(streams.max(1)) {
        for (to, before) in to.iter_mut().skip(1).zip(from) {
            *to = to.wrapping_sub(*before);
        }
    }
}

/// Undoes [`bytedelta_encode`] in place.
pub fn bytedelta_decode(streams: usize, block: &mut [u8]) {
    for part in parts(streams, block) {
        running_sum(part);
    }
}

/// Undoes, in place, what the filter number 34 of C-Blosc2 2.8.0 to 2.9.3 did.
///
/// As [`bytedelta_decode`], but the sum begins anew at the last multiple of 16 of each part: the vector code of those
/// releases did not hand the last byte on to the loop for the rest. Builds without vector code did not begin anew; chunks do
/// not tell, and such builds were rare.
pub fn bytedelta_buggy_decode(streams: usize, block: &mut [u8]) {
    for part in parts(streams, block) {
        let (vectors, rest) = part.split_at_mut(part.len() / BUGGY_LANE * BUGGY_LANE);
        running_sum(vectors);
        running_sum(rest);
    }
}

/// The `streams` equal parts of `block`.
fn parts(streams: usize, block: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let streams = streams.max(1);
    let part = block.len() / streams;
    let count = if part == 0 { 0 } else { streams };
    block.chunks_exact_mut(part.max(1)).take(count)
}

/// Each byte becomes the sum of all bytes up to it.
fn running_sum(part: &mut [u8]) {
    let mut sum = 0_u8;
    for byte in part {
        sum = sum.wrapping_add(*byte);
        *byte = sum;
    }
}
