//! Bit shuffle: first the lowest bits of the first bytes of all elements, then the next bits, and so on.

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

/// [`bitshuffle`] by the rule of Blosc1 (chunk versions 1 and 2): a block whose whole elements are not a multiple of eight
/// is copied as it is.
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
    block.len() / typesize.max(1) % 8 != 0
}

/// Bytes of a tile, small enough to stay in the first cache together with what it is made of and into.
const TILE: usize = 16 << 10;

/// Elements of a tile: a multiple of eight, and of 512 where that fits, so that each row of it has whole vectors.
fn tile_elements(typesize: usize) -> usize {
    match TILE / typesize {
        elements @ 512.. => elements / 512 * 512,
        elements => elements / 8 * 8,
    }
}

/// Shuffles the bits of whole octets of elements, tile by tile: into planes of bytes, each 8 bytes of which are transposed
/// and then shuffled by bytes into 8 rows of bits.
pub(super) fn shuffle_rows(level: Level, typesize: usize, elements: &[u8], rows: &mut [u8]) {
    let row_len = elements.len() / typesize / 8;
    if typesize > TILE / 8 {
        return shuffle_long(typesize, elements, rows);
    }
    let tile = tile_elements(typesize);
    let mut buffer = [0; TILE];
    for (number, elements) in elements.chunks(tile * typesize).enumerate() {
        let planes = &mut buffer[..elements.len()];
        let count = elements.len() / typesize;
        simd::shuffle(level, typesize, elements, planes, count);
        simd::transpose_bits(level, planes);
        for (j, plane) in planes.chunks_exact(count).enumerate() {
            let start = 8 * j * row_len + number * tile / 8;
            let end = (8 * j + 7) * row_len + number * tile / 8 + count / 8;
            simd::shuffle(level, 8, plane, &mut rows[start..end], row_len);
        }
    }
}

/// Undoes [`shuffle_rows`].
pub(super) fn unshuffle_rows(level: Level, typesize: usize, rows: &[u8], elements: &mut [u8]) {
    let row_len = elements.len() / typesize / 8;
    if typesize > TILE / 8 {
        return unshuffle_long(typesize, rows, elements);
    }
    let tile = tile_elements(typesize);
    let mut buffer = [0; TILE];
    for (number, elements) in elements.chunks_mut(tile * typesize).enumerate() {
        let planes = &mut buffer[..elements.len()];
        let count = elements.len() / typesize;
        for (j, plane) in planes.chunks_exact_mut(count).enumerate() {
            let start = 8 * j * row_len + number * tile / 8;
            let end = (8 * j + 7) * row_len + number * tile / 8 + count / 8;
            simd::unshuffle(level, 8, &rows[start..end], row_len, plane);
        }
        simd::transpose_bits(level, planes);
        simd::unshuffle(level, typesize, planes, count, elements);
    }
}

/// The same for elements of which not even eight fill a tile.
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
