//! String tables: one string per row, UTF-8, padded with NUL to the width of the table.

use container_core::{Error, Result};

/// The strings of a table of `n` rows of `m` bytes. NULs at the end of a row are padding, and a row may be full; NULs within
/// a string belong to it, as for numpy.
///
/// # Errors
/// `Malformed` for invalid UTF-8, and for more than 2^24 rows of 0 bytes, which no table of names has.
pub(crate) fn rows(bytes: &[u8], n: u64, m: u32) -> Result<Vec<String>> {
    let width = usize::try_from(m).unwrap_or(usize::MAX);
    if width == 0 {
        // Rows of 0 bytes take no space in the file.
        let count = usize::try_from(n).ok().filter(|count| *count <= 1 << 24);
        let count = count.ok_or_else(|| Error::malformed(format!("{n} strings without a byte")))?;
        return Ok(vec![String::new(); count]);
    }
    let texts = bytes.chunks_exact(width).enumerate().map(|(row, bytes)| {
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default());
        text.map(str::to_owned).map_err(|_| Error::malformed(format!("string {row} is not UTF-8")))
    });
    texts.collect()
}

/// The table of some strings and its width: one byte more than the longest. With at least two columns: `gsd.hoomd` cannot read a
/// table of one.
pub(crate) fn bytes(texts: &[impl AsRef<str>]) -> (Vec<u8>, usize) {
    let longest = texts.iter().map(|text| text.as_ref().len()).max().unwrap_or(0);
    let width = longest.saturating_add(1).max(2);
    let mut bytes = Vec::new();
    for text in texts {
        let end = bytes.len().saturating_add(width);
        bytes.extend_from_slice(text.as_ref().as_bytes());
        bytes.resize(end, 0);
    }
    (bytes, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_be_padded_full_or_empty() {
        assert_eq!(rows(b"A\0\0bcd\0\0\0e\0f", 4, 3).unwrap(), ["A", "bcd", "", "e\0f"]);
        assert!(rows(b"", 0, 5).unwrap().is_empty());
        assert_eq!(rows(b"", 2, 0).unwrap(), ["", ""]);
        assert!(rows(b"\xFF\0", 1, 2).is_err() && rows(b"", u64::MAX, 0).is_err());
        assert_eq!(rows("é\0".as_bytes(), 1, 3).unwrap(), ["é"]);
    }

    #[test]
    fn tables_are_one_byte_wider_than_their_longest_string() {
        assert_eq!(bytes(&["A", "longer", ""]), (b"A\0\0\0\0\0\0longer\0\0\0\0\0\0\0\0".to_vec(), 7));
        assert_eq!(bytes(&["é"]), (b"\xC3\xA9\0".to_vec(), 3));
        assert_eq!(bytes(&[""; 0]), (Vec::new(), 2));
    }
}
