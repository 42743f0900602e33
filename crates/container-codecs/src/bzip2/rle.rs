//! The outermost layer of bzip2: runs of equal bytes, and the checksum of the expanded bytes.

use crate::shared::make_room;

/// Appends the expansion of `bytes`: four equal ones are followed by the number of further ones. `None` where that number is missing, where
/// the result exceeds `most`, and when memory runs out.
pub(super) fn expand(bytes: &[u8], most: u64, out: &mut Vec<u8>) -> Option<()> {
    let mut rest = bytes;
    make_room(out, rest.len()).ok()?;
    while let Some(at) = four(rest) {
        let (head, after) = rest.split_at_checked(at.checked_add(4)?)?;
        let (count, after) = after.split_first()?;
        let len = head.len().checked_add(usize::from(*count))?.checked_add(out.len())?;
        if len as u64 > most {
            return None;
        }
        make_room(out, len.checked_sub(out.len())?).ok()?;
        out.extend_from_slice(head);
        out.resize(len, *head.last()?);
        rest = after;
    }
    make_room(out, rest.len()).ok()?;
    out.extend_from_slice(rest);
    (out.len() as u64 <= most).then_some(())
}

/// Position of the first four equal bytes.
fn four(bytes: &[u8]) -> Option<usize> {
    /// Number of places that are checked together.
    const TOGETHER: usize = 32;
    let mut at = 0_usize;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ TOGETHER + 3 }>) {
        let [_, second @ ..] = chunk;
        let [_, third @ ..] = second;
        let [_, fourth @ ..] = third;
        let places = chunk.iter().zip(second).zip(third).zip(fourth);
        let found =
            places.fold(0_u8, |found, (((a, b), c), d)| found | u8::from(((a ^ b) | (b ^ c) | (c ^ d)) == 0));
        if found != 0 {
            break;
        }
        at = at.saturating_add(TOGETHER);
    }
    let is_run = |window: &[u8]| matches!(window, [a, b, c, d] if a == b && b == c && c == d);
    let found = bytes.get(at..)?.windows(4).position(is_run)?;
    at.checked_add(found)
}

/// The checksum of a block: the CRC-32 of everybody else, but from the highest bit of each byte on.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut running = crc32fast::Hasher::new();
    let mut turned = [0; 4096];
    for piece in bytes.chunks(turned.len()) {
        for (to, from) in turned.iter_mut().zip(piece) {
            *to = from.reverse_bits();
        }
        running.update(turned.get(..piece.len()).unwrap_or_default());
    }
    running.finalize().reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_catalogue() {
        // CRC-32/BZIP2 of the catalogue of parametrised CRC algorithms.
        assert_eq!(crc(b"123456789"), 0xfc89_1918);
        assert_eq!(crc(b""), 0);
    }

    #[test]
    fn runs_expand() {
        let expanded = |bytes: &[u8], most| {
            let mut out = Vec::new();
            expand(bytes, most, &mut out).map(|()| out)
        };
        for before in 0..70_u8 {
            let head: Vec<u8> = (0..before).collect();
            let mut stored = head.clone();
            stored.extend(b"zzzz\x03zzzz\x00zzz");
            let mut plain = head;
            plain.extend([b'z'; 14]);
            assert_eq!(expanded(&stored, 84), Some(plain.clone()));
            assert_eq!(expanded(&stored, plain.len() as u64 - 1), None);
        }
        assert_eq!(expanded(b"aaaa", 100), None);
        assert_eq!(expanded(b"aaaa\xff", 258), None);
        assert_eq!(expanded(b"", 0), Some(Vec::new()));
    }
}
