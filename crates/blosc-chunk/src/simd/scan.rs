//! Running sums and running XORs: each word of a block becomes the sum of all words up to it.
#![allow(unsafe_code)]

use super::shuffle::Level;

/// Replaces each byte by the sum (modulo 256) of all bytes up to it.
pub(crate) fn running_sum(level: Level, bytes: &mut [u8]) {
    let done = with_vectors::<1, false>(level, bytes);
    let (before, rest) = bytes.split_at_mut(done);
    let mut sum = before.last().copied().unwrap_or(0);
    for byte in rest {
        sum = sum.wrapping_add(*byte);
        *byte = sum;
    }
}

/// Replaces each word of `WORD` bytes (1, 2, 4 or 8) by the XOR of all words up to it. A shorter rest is left as it is.
pub(crate) fn running_xor<const WORD: usize>(level: Level, bytes: &mut [u8]) {
    let done = with_vectors::<WORD, true>(level, bytes);
    let (before, rest) = bytes.split_at_mut(done);
    let mut last = before.last_chunk().copied().unwrap_or([0; WORD]);
    for word in rest.as_chunks_mut::<WORD>().0 {
        for (byte, last) in word.iter_mut().zip(last) {
            *byte ^= last;
        }
        last = *word;
    }
}

/// Sums as many bytes as whole vectors take, and returns their number.
fn with_vectors<const WORD: usize, const XOR: bool>(level: Level, bytes: &mut [u8]) -> usize {
    #[cfg(target_arch = "aarch64")]
    if level.has_vectors() {
        // SAFETY: this level is only chosen on machines that have the instructions.
        return unsafe { super::neon::scan::<WORD, XOR>(bytes) };
    }
    #[cfg(target_arch = "x86_64")]
    if level.has_vectors() {
        // SAFETY: this level is only chosen on machines that have the instructions.
        return unsafe { super::avx2::scan::<WORD, XOR>(bytes) };
    }
    let (_, _) = (level, bytes);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_runs_the_same() {
        let longer = if cfg!(miri) { 0..0 } else { 20..150 };
        for len in (0..20).chain(longer) {
            let src: Vec<u8> =
                (0..len as u64).map(|at| (at + 3).wrapping_pow(5).to_le_bytes()[0] ^ 0x9d).collect();
            let sums: Vec<u8> =
                (0..len).map(|at| src[..=at].iter().fold(0, |sum, byte| sum ^ byte)).collect();
            for level in [Level::best(), Level::second_best(), Level::PLAIN] {
                let mut bytes = src.clone();
                running_xor::<1>(level, &mut bytes);
                assert!(bytes == sums, "{level:?}, {len} bytes");
                let mut bytes = src.clone();
                running_sum(level, &mut bytes);
                for at in 0..len {
                    assert_eq!(bytes[at], src[..=at].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
                }
                words::<2>(level, &src);
                words::<4>(level, &src);
                words::<8>(level, &src);
            }
        }
    }

    fn words<const WORD: usize>(level: Level, src: &[u8]) {
        let mut bytes = src.to_vec();
        running_xor::<WORD>(level, &mut bytes);
        let whole = src.len() / WORD * WORD;
        for at in 0..whole {
            let expected = src[..=at].iter().skip(at % WORD).step_by(WORD).fold(0, |sum, byte| sum ^ byte);
            assert_eq!(bytes[at], expected, "{level:?}, words of {WORD}, byte {at} of {}", src.len());
        }
        assert_eq!(bytes[whole..], src[whole..]);
    }
}
