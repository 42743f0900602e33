//! Correction of damaged magic bytes.

use crate::Result;
use crate::report::{Evidence, RepairItem, RepairReport};
use crate::source::{Overlay, Source};

/// Bytes of a magic for each one that may be wrong: two of `rawarray`, one of `blpk`.
const BYTES_PER_WRONG_BYTE: usize = 4;

/// Finds the only one of `magics` from which `head` differs in a quarter of its bytes at most. `None` where `head` begins with one of them, or
/// where one begins a few bytes later: the file starts there.
#[must_use]
pub fn closest_magic<'m>(head: &[u8], magics: &[&'m [u8]]) -> Option<&'m [u8]> {
    let wrong = |magic: &[u8]| match head.get(..magic.len()) {
        Some(head) => head.iter().zip(magic).filter(|(is, was)| is != was).count(),
        None => magic.len(),
    };
    let least = magics.iter().map(|magic| wrong(magic)).min().filter(|least| *least > 0)?;
    let longest = magics.iter().map(|&magic| magic.len()).max().unwrap_or(0);
    let is_whole =
        |at: usize| magics.iter().any(|magic| head.get(at..).is_some_and(|rest| rest.starts_with(magic)));
    if (1..longest).any(is_whole) {
        return None;
    }
    let mut near =
        magics.iter().filter(|&&magic| wrong(magic) == least && least <= magic.len() / BYTES_PER_WRONG_BYTE);
    near.next().copied().filter(|_| near.next().is_none())
}

/// Returns the source with its closest magic in place of a damaged one.
///
/// A magic proves nothing beyond the format. The evidence is the rest of the file: the caller fails where that is not valid.
///
/// # Errors
/// Those of the source.
pub fn with_corrected_magic<'s>(
    source: impl Source + 's,
    magics: &[&[u8]],
    report: &mut RepairReport,
) -> Result<Box<dyn Source + 's>> {
    let longest = magics.iter().map(|&magic| magic.len() as u64).max().unwrap_or(0);
    let head = source.read(0..longest.saturating_mul(2).min(source.len()))?.into_owned();
    let Some(magic) = closest_magic(&head, magics) else { return Ok(Box::new(source)) };
    let was = head.get(..magic.len()).unwrap_or_default().escape_ascii();
    let what = format!("the magic, which was \"{was}\"");
    report.guessed.push(RepairItem::new(0..magic.len() as u64, what).with_evidence(Evidence::Walk));
    Ok(Box::new(Overlay::new(source, magic.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_bytes_may_be_wrong() {
        let magics: [&[u8]; 3] = [b"rawarray", b"yarrawar", b"blpk"];
        for (head, expected) in [
            (&b"rawarray and more"[..], None),
            (b"rawarraz and more", Some(magics[0])),
            (b"r..array", Some(magics[0])),
            (b"r..arra.", None),
            (b"yarrawa\xFF", Some(magics[1])),
            (b"bl\0k\x03", Some(magics[2])),
            (b"b..k\x03", None),
            (b"blpk", None),
            (b"rawarr", None),
            (b"", None),
        ] {
            assert_eq!(closest_magic(head, &magics), expected, "{}", head.escape_ascii());
        }
        assert_eq!(closest_magic(b"acde", &[b"abde", b"aCde"]), None);
        assert_eq!(closest_magic(b"anything", &[]), None);
    }

    #[test]
    fn a_magic_behind_a_few_bytes_is_whole() {
        let magics: [&[u8]; 2] = [b"abababab", b"babababa"];
        for (head, expected) in [
            (&b"\nabababab\0"[..], None),
            (b"\r\nabababab\0", None),
            (b"\nbabababa\0", None),
            (b"1234567abababab\0", None),
            (b"\nbababab\0\0", Some(magics[0])),
            (b"\r\nababab\0\0", Some(magics[0])),
        ] {
            assert_eq!(closest_magic(head, &magics), expected, "{}", head.escape_ascii());
        }
        let mut report = RepairReport::default();
        let source = with_corrected_magic(b"\r\nabababab\0".to_vec(), &magics, &mut report).unwrap();
        assert_eq!((&*source.read(0..3).unwrap(), report.guessed.len()), (&b"\r\na"[..], 0));
    }

    #[test]
    fn corrected_magic_is_reported_with_its_original_bytes() {
        let mut report = RepairReport::default();
        let magics: [&[u8]; 1] = [b"rawarray"];
        let source = with_corrected_magic(b"rawar\0ay12".to_vec(), &magics, &mut report).unwrap();
        assert_eq!(&*source.read(0..10).unwrap(), b"rawarray12");
        let item = RepairItem::new(0..8, "the magic, which was \"rawar\\x00ay\"");
        assert_eq!(report.guessed, [item.with_evidence(Evidence::Walk)]);
        let mut report = RepairReport::default();
        let source = with_corrected_magic(b"raw".to_vec(), &magics, &mut report).unwrap();
        assert_eq!((source.len(), report.guessed.len()), (3, 0));
    }
}
