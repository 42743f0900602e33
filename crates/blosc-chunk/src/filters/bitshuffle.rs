//! Bit shuffle: first the lowest bits of the first bytes of all elements, then the next bits, and so on.

use std::ops::Range;

use crate::simd::shuffle::{self as simd, Level};

/// Shuffles the bits of `src`, as elements of `typesize` bytes, into `dst`, as chunks of Blosc2 have it.
///
/// Of `q` whole elements the first `m = q - q % 8` become `8 * typesize` rows of `m / 8` bytes: bit `k` (from the lowest)
/// of byte `i` of row `8 * j + b` is bit `b` of byte `j` of element `8 * i + k`. All bytes after them are copied in
/// place. Typesize 0 is taken as 1.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let typesize = typesize.max(1);
    let octets = src.len() / typesize / 8;
    let (whole, tail) = src.split_at(octets * 8 * typesize);
    let (rows, rest) = dst.split_at_mut(whole.len());
    rest.copy_from_slice(tail);
    shuffle_rows(Level::best(), typesize, whole, rows);
}

/// Undoes [`bitshuffle`] of the same typesize.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let typesize = typesize.max(1);
    let octets = src.len() / typesize / 8;
    let (rows, tail) = src.split_at(octets * 8 * typesize);
    let (whole, rest) = dst.split_at_mut(rows.len());
    rest.copy_from_slice(tail);
    unshuffle_rows(Level::best(), typesize, rows, whole);
}

/// Shuffles as [`bitshuffle`], by the rule of Blosc1 (chunk versions 1 and 2): a block whose whole elements are not a
/// multiple of eight is copied as it is.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bitshuffle_blosc1(typesize: usize, src: &[u8], dst: &mut [u8]) {
    if is_left_alone(typesize, src) { dst.copy_from_slice(src) } else { bitshuffle(typesize, src, dst) }
}

/// Undoes [`bitshuffle_blosc1`] of the same typesize.
///
/// Releases before 1.17.2 and 1.18 wrote rubbish for the bytes that make no whole element; those are lost, and are read
/// as they are stored.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn bitunshuffle_blosc1(typesize: usize, src: &[u8], dst: &mut [u8]) {
    if is_left_alone(typesize, src) { dst.copy_from_slice(src) } else { bitunshuffle(typesize, src, dst) }
}

fn is_left_alone(typesize: usize, block: &[u8]) -> bool {
    !(block.len() / typesize.max(1)).is_multiple_of(8)
}

/// Largest size of a tile in bytes, so that it stays in the L1 cache together with its source and its result.
const TILE: usize = 32 << 10;

/// Elements whose bits fill a cache line in each row.
const LINE_ELEMENTS: usize = 512;

/// A tile that begins a cache line.
#[repr(align(64))]
struct Tile([u8; TILE]);

/// Elements of a tile: whole lines if they fit, else octets.
fn tile_elements(typesize: usize) -> usize {
    match TILE / typesize {
        elements @ LINE_ELEMENTS.. => (elements / 2 / LINE_ELEMENTS * LINE_ELEMENTS).max(LINE_ELEMENTS),
        elements => elements / 8 * 8,
    }
}

/// Returns the ranges of elements of each tile. With `lead` over 0, the tiles after the first begin at whole cache lines of
/// the rows, and the overlap of the first two is done twice.
fn tiles(count: usize, typesize: usize, lead: usize) -> impl Iterator<Item = Range<usize>> {
    let tile = tile_elements(typesize);
    let first = (lead > 0).then_some(0..LINE_ELEMENTS);
    let rest = (lead..count).step_by(tile).map(move |start| start..count.min(start + tile));
    first.into_iter().chain(rest)
}

/// Shuffles the bits of whole octets of elements, tile by tile: into planes of bytes, each 8 bytes of which are transposed
/// and then shuffled by bytes into 8 rows of bits.
pub(super) fn shuffle_rows(level: Level, typesize: usize, elements: &[u8], rows: &mut [u8]) {
    if typesize > TILE / 8 {
        return shuffle_long(typesize, elements, rows);
    }
    let count = elements.len() / typesize;
    let row_len = count / 8;
    let Tile(buffer) = &mut Tile([0; TILE]);
    let lead = match rows.as_ptr().align_offset(64) {
        lead @ 1..64
            if row_len.is_multiple_of(64)
                && count > LINE_ELEMENTS
                && tile_elements(typesize) >= LINE_ELEMENTS =>
        {
            8 * lead
        }
        _ => 0,
    };
    for range in tiles(count, typesize, lead) {
        let elements = &elements[range.start * typesize..range.end * typesize];
        let planes = &mut buffer[..elements.len()];
        simd::shuffle_planes(level, typesize, elements, planes, range.len());
        simd::transpose_bits(level, planes);
        for (j, plane) in planes.chunks_exact(range.len()).enumerate() {
            let eight = 8 * j * row_len + range.start / 8..(8 * j + 7) * row_len + range.end / 8;
            simd::shuffle_planes(level, 8, plane, &mut rows[eight], row_len);
        }
    }
}

/// Undoes [`shuffle_rows`].
pub(super) fn unshuffle_rows(level: Level, typesize: usize, rows: &[u8], elements: &mut [u8]) {
    if typesize > TILE / 8 {
        return unshuffle_long(typesize, rows, elements);
    }
    let count = elements.len() / typesize;
    let row_len = count / 8;
    let Tile(buffer) = &mut Tile([0; TILE]);
    for range in tiles(count, typesize, 0) {
        let elements = &mut elements[range.start * typesize..range.end * typesize];
        let planes = &mut buffer[..elements.len()];
        for (j, plane) in planes.chunks_exact_mut(range.len()).enumerate() {
            let eight = 8 * j * row_len + range.start / 8..(8 * j + 7) * row_len + range.end / 8;
            simd::unshuffle_planes(level, 8, &rows[eight], row_len, plane);
        }
        simd::transpose_bits(level, planes);
        simd::unshuffle(level, typesize, planes, elements);
    }
}

/// Shuffles elements so long that eight do not fit in a tile.
fn shuffle_long(typesize: usize, elements: &[u8], rows: &mut [u8]) {
    let row_len = elements.len() / typesize / 8;
    for (i, octet) in elements.chunks_exact(8 * typesize).enumerate() {
        for j in 0..typesize {
            let mut bits = std::array::from_fn::<u8, 8, _>(|k| octet[k * typesize + j]);
            simd::transpose_bits(Level::PLAIN, &mut bits);
            for (b, bits) in bits.into_iter().enumerate() {
                rows[(8 * j + b) * row_len + i] = bits;
            }
        }
    }
}

/// Undoes [`shuffle_long`].
fn unshuffle_long(typesize: usize, rows: &[u8], elements: &mut [u8]) {
    let row_len = elements.len() / typesize / 8;
    for (i, octet) in elements.chunks_exact_mut(8 * typesize).enumerate() {
        for j in 0..typesize {
            let mut bytes = std::array::from_fn::<u8, 8, _>(|b| rows[(8 * j + b) * row_len + i]);
            simd::transpose_bits(Level::PLAIN, &mut bytes);
            for (k, byte) in bytes.into_iter().enumerate() {
                octet[k * typesize + j] = byte;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that do not repeat soon.
    fn noise(len: usize) -> Vec<u8> {
        (0..len as u64).map(|at| (at ^ 0x5a5a).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[7]).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
    fn every_level_shuffles_bits_wherever_the_rows_begin() {
        for typesize in [1, 2, 3, 4, 8, 12, 16, 48, 64, 65, 255] {
            for octets in [1, 63, 64, 65, 128, 192, 640] {
                let src = noise(octets * 8 * typesize);
                let (mut expected, mut back) = (vec![0; src.len()], vec![0; src.len()]);
                shuffle_long(typesize, &src, &mut expected);
                unshuffle_long(typesize, &expected, &mut back);
                assert!(back == src);
                for level in [Level::best(), Level::second_best(), Level::PLAIN] {
                    for start in [0, 5, 16, 63] {
                        let mut room = vec![0xee; start + src.len()];
                        shuffle_rows(level, typesize, &src, &mut room[start..]);
                        assert!(room[start..] == expected, "{level:?} {typesize} {octets} {start}");
                        unshuffle_rows(level, typesize, &expected, &mut room[start..]);
                        assert!(room[start..] == src, "back: {level:?} {typesize} {octets} {start}");
                    }
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
    fn elements_too_long_for_a_tile_are_shuffled_too() {
        for typesize in [4095, 4096, 4097] {
            let src = noise(16 * typesize + 5);
            let (mut dst, mut back) = (vec![0; src.len()], vec![0; src.len()]);
            bitshuffle(typesize, &src, &mut dst);
            // Bit 3 of byte 7 of elements 8 to 15.
            let expected = (0..8).fold(0, |bits, k| bits | (src[(8 + k) * typesize + 7] >> 3 & 1) << k);
            assert_eq!(dst[(8 * 7 + 3) * 2 + 1], expected);
            bitunshuffle(typesize, &dst, &mut back);
            assert!(back == src);
        }
    }
}
