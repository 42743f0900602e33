//! XOR with what came before: the previous word in block 0, the same place of block 0 in the others.

use crate::simd::scan::running_xor;
use crate::simd::shuffle::Level;

/// Bytes of the words that DELTA takes for elements of `typesize` bytes.
const fn word_len(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize != 0 && typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// XORs each word of `src` with a word before it, into `dst`.
///
/// Words have `typesize` bytes if that is 1, 2, 4 or 8, else 8 if it is a multiple of eight, else 1. In block 0
/// (`reference` is `None`) each is combined with the previous one, the first with zero; in other blocks with the same
/// place of `reference`, block 0 before any filter. What makes no whole word, or is longer than `reference`, is copied:
/// C-Blosc2 (3.3.5) does not store the bytes after the last word at all, and still reads ours.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn delta_encode(typesize: usize, reference: Option<&[u8]>, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    let word = word_len(typesize);
    let whole = match reference {
        Some(reference) => src.len().min(reference.len()) / word * word,
        None => src.len() / word * word,
    };
    // The first word of block 0 has none before it.
    let first = if reference.is_none() { word.min(whole) } else { 0 };
    for ((to, from), before) in dst[first..whole].iter_mut().zip(&src[first..]).zip(reference.unwrap_or(src))
    {
        *to = from ^ before;
    }
    dst[..first].copy_from_slice(&src[..first]);
    dst[whole..].copy_from_slice(&src[whole..]);
}

/// Undoes [`delta_encode`] in place: `reference` is the decoded block 0, `None` for block 0 itself.
pub fn delta_decode(typesize: usize, reference: Option<&[u8]>, block: &mut [u8]) {
    let word = word_len(typesize);
    match (reference, word) {
        (Some(reference), _) => {
            let whole = block.len().min(reference.len()) / word * word;
            block[..whole].iter_mut().zip(reference).for_each(|(byte, reference)| *byte ^= reference);
        }
        (None, 1) => running_xor::<1>(Level::best(), block),
        (None, 2) => running_xor::<2>(Level::best(), block),
        (None, 4) => running_xor::<4>(Level::best(), block),
        (None, _) => running_xor::<8>(Level::best(), block),
    }
}
