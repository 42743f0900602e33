//! The block index: the offset of each block (ASDF standard 1.6.0, file layout, "Block index").

use container_core::{Error, Result};
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::{IResult, Parser};

/// Marker at the start of the block index, without its newline.
pub const MARKER: &[u8] = b"#ASDF BLOCK INDEX";

/// The offsets of the blocks' magics, absolute in the file, as the index lists them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BlockIndex {
    /// One offset for each block, in the order of the file in a valid index.
    pub offsets: Vec<u64>,
}

impl BlockIndex {
    /// Reads an index from bytes that begin with its marker, and returns its length too. Bytes after its `...` are ignored.
    ///
    /// # Errors
    /// `Malformed`, with a range that counts from the marker.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize)> {
        let wrong = |what: String| {
            Error::malformed(what).with_context("asdf block index").with_range(0..bytes.len() as u64)
        };
        let (rest, _) = marker(bytes).map_err(|_| wrong("missing line \"#ASDF BLOCK INDEX\"".into()))?;
        let from = bytes.len().saturating_sub(rest.len());
        let end = end_of_document(bytes, from)
            .ok_or_else(|| wrong("missing end (expected a line of three dots)".into()))?;
        let text = bytes.get(from..end).unwrap_or_default();
        if let Some(offsets) = as_written(text) {
            return Ok((Self { offsets }, end));
        }
        // The directive declares YAML 1.1; plain decimal numbers are the same in 1.2, which serde_yaml reads.
        let offsets: Vec<u64> =
            serde_yaml::from_slice(text).map_err(|error| wrong(format!("not a list of offsets: {error}")))?;
        Ok((Self { offsets }, end))
    }

    /// The text of the index, as Python asdf writes it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.offsets.len().saturating_mul(12).saturating_add(40));
        text.push_str("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n");
        for offset in &self.offsets {
            text.push_str("- ");
            text.push_str(&offset.to_string());
            text.push('\n');
        }
        text.push_str("...\n");
        text
    }
}

fn marker(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let (rest, (marker, _)) = (tag(MARKER), alt((tag("\n"), tag("\r\n")))).parse(input)?;
    Ok((rest, marker))
}

/// The offsets in an index as libraries write it, a line for each, from its directive to its three dots. `None` for any other text, which is left to
/// a YAML library. For a file of many blocks that library takes longer than finding the blocks.
fn as_written(text: &[u8]) -> Option<Vec<u64>> {
    let text = text.strip_prefix(b"%YAML 1.1\n")?.strip_prefix(b"---\n")?;
    let mut lines = text.strip_suffix(b"...\n")?;
    let mut offsets = Vec::with_capacity(lines.len() / 8);
    while !lines.is_empty() {
        let (offset, rest) = entry(lines)?;
        offsets.push(offset);
        lines = rest;
    }
    // An empty document is not a list.
    (!offsets.is_empty()).then_some(offsets)
}

/// A line `- 664`. Numbers with a leading zero are octal in YAML 1.1.
fn entry(line: &[u8]) -> Option<(u64, &[u8])> {
    let digits = line.strip_prefix(b"- ")?;
    let mut value: u64 = 0;
    let mut rest = digits;
    while let Some((digit, later)) = rest.split_first().filter(|(digit, _)| digit.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0')))?;
        rest = later;
    }
    let has_zero = digits.starts_with(b"0") && digits.len() > rest.len().saturating_add(1);
    let is_number = digits.len() > rest.len() && !has_zero;
    Some((value, rest.strip_prefix(b"\n")?)).filter(|_| is_number)
}

/// The end of the line of three dots that follows `from`.
fn end_of_document(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len)?;
        let next = at.saturating_add(len).saturating_add(1).min(bytes.len());
        if let Some(after) = line.strip_prefix(b"...")
            && after.iter().all(|byte| matches!(byte, b'\r' | 0))
        {
            // NULs may follow at once where the file ends without a newline.
            let nuls = after.iter().filter(|byte| **byte == 0).count();
            return Some(if nuls > 0 { at.saturating_add(3) } else { next });
        }
        at = next;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn block_and_flow_lists_are_read() {
        for (text, offsets) in [
            ("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- 664\n- 800\n...\n", vec![664, 800]),
            ("#ASDF BLOCK INDEX\r\n%YAML 1.1\r\n---\r\n- 664\r\n...", vec![664]),
            ("#ASDF BLOCK INDEX\n%YAML 1.1\n--- [1, 2,]\n...\n", vec![1, 2]),
            ("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n[1, 2]\n...\n\0\0", vec![1, 2]),
            ("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n[]\n...\0\0", vec![]),
        ] {
            let (index, len) = BlockIndex::parse(text.as_bytes()).unwrap();
            assert_eq!(index.offsets, offsets, "{text:?}");
            assert_eq!(text[len..].trim_matches('\0'), "", "{text:?}");
        }
    }

    /// Checks that the line parser gives the same result as YAML, and leaves all other text to YAML.
    #[test]
    fn lines_are_read_as_yaml_reads_them() {
        let text = |lines: &str| format!("%YAML 1.1\n---\n{lines}...\n");
        for (lines, offsets) in [
            ("- 0\n", Some(vec![0])),
            ("- 664\n- 18446744073709551615\n", Some(vec![664, u64::MAX])),
            ("- 18446744073709551616\n", None),
            ("- 0664\n", None),
            ("- 00\n", None),
            ("- \n", None),
            ("- 1_000\n", None),
            ("- 1:30\n", None),
            ("- +1\n", None),
            ("- 1 \n", None),
            ("- 1\r\n", None),
            ("- 1 # one\n", None),
            ("-  1\n", None),
            (" - 1\n", None),
            ("- 0x10\n", None),
            ("- 1\n...\n", None),
            ("[1]\n", None),
        ] {
            assert_eq!(as_written(text(lines).as_bytes()), offsets, "{lines:?}");
            if let Some(offsets) = offsets {
                assert_eq!(serde_yaml::from_str::<Vec<u64>>(&text(lines)).unwrap(), offsets);
            }
        }
        assert_eq!(as_written(text("").as_bytes()), None);
        for cut in
            ["", "%YAML 1.1\n", "---\n- 1\n...\n", "%YAML 1.1\n---\n- 1\n...", "%YAML 1.2\n---\n- 1\n...\n"]
        {
            assert_eq!(as_written(cut.as_bytes()), None, "{cut:?}");
        }
    }

    #[test]
    fn invalid_block_indexes_are_refused() {
        for text in [
            "#ASDF BLOCK INDEX\n--- [1]\n",
            "#ASDF BLOCK INDEX\n--- [-1]\n...\n",
            "#ASDF BLOCK INDEX\n--- {a: 1}\n...\n",
            "#ASDF BLOCK INDEX\n--- [a]\n...\n",
            "#ASDF BLOCK INDICES\n--- [1]\n...\n",
            "#ASDF BLOCK INDEX\n--- [&a 1, *a, *b]\n...\n",
            "",
        ] {
            assert!(BlockIndex::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_text_is_that_of_python() {
        let index = BlockIndex { offsets: vec![664, 1 << 40] };
        let text = index.to_text();
        assert_eq!(text, "#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- 664\n- 1099511627776\n...\n");
        assert_eq!(BlockIndex::parse(text.as_bytes()).unwrap(), (index, text.len()));
    }
}
