//! XOR with what came before: the previous word in block 0, the same place of block 0 in the others.

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
    dst.copy_from_slice(src);
    match reference {
        Some(reference) => xor_whole_words(word, reference, dst),
        None if !src.is_empty() => {
            let whole = src.len() / word * word;
            xor(dst.get_mut(word..whole).unwrap_or_default(), src);
        }
        None => {}
    }
}

/// Undoes [`delta_encode`] in place: `reference` is the decoded block 0, `None` for block 0 itself.
pub fn delta_decode(typesize: usize, reference: Option<&[u8]>, block: &mut [u8]) {
    let word = word_len(typesize);
    match (reference, word) {
        (Some(reference), _) => xor_whole_words(word, reference, block),
        (None, 1) => running_xor::<1>(block),
        (None, 2) => running_xor::<2>(block),
        (None, 4) => running_xor::<4>(block),
        (None, _) => running_xor::<8>(block),
    }
}

/// XORs as many whole words of `block` as `reference` has too.
fn xor_whole_words(word: usize, reference: &[u8], block: &mut [u8]) {
    let whole = block.len().min(reference.len()) / word * word;
    xor(&mut block[..whole], reference);
}

/// `dst ^= src`, as far as `dst` reaches.
fn xor(dst: &mut [u8], src: &[u8]) {
    for (to, from) in dst.iter_mut().zip(src) {
        *to ^= from;
    }
}

/// Each word becomes the XOR of all words up to it.
fn running_xor<const WORD: usize>(block: &mut [u8]) {
    let mut last = [0; WORD];
    for word in block.as_chunks_mut::<WORD>().0 {
        for (byte, before) in word.iter_mut().zip(last) {
            *byte ^= before;
        }
        last = *word;
    }
}
