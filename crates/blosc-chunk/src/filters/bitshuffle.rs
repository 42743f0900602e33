//! Bit shuffle: first the lowest bits of the first bytes of all elements, then the next bits, and so on.

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
    for (i, elements) in whole.chunks_exact(8 * typesize).enumerate() {
        for j in 0..typesize {
            let bytes = std::array::from_fn(|k| elements[k * typesize + j]);
            let bits = transpose(u64::from_le_bytes(bytes)).to_le_bytes();
            for (b, bits) in bits.into_iter().enumerate() {
                rows[(8 * j + b) * octets + i] = bits;
            }
        }
    }
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
    for (i, elements) in whole.chunks_exact_mut(8 * typesize).enumerate() {
        for j in 0..typesize {
            let bits = std::array::from_fn(|b| rows[(8 * j + b) * octets + i]);
            let bytes = transpose(u64::from_le_bytes(bits)).to_le_bytes();
            for (k, byte) in bytes.into_iter().enumerate() {
                elements[k * typesize + j] = byte;
            }
        }
    }
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

/// Transposes 8 bytes of 8 bits: bit `k` of byte `b` becomes bit `b` of byte `k`. Its own inverse.
///
/// Swaps ever larger squares across the diagonal: 1 bit, 2 bits, 4 bits wide (Warren, Hacker's Delight, 7-3).
const fn transpose(x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    let x = x ^ t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    let x = x ^ t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}
