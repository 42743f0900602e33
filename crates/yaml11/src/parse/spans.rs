//! Recovers spans that the YAML library does not report, and finds characters that YAML 1.1 forbids.

use std::ops::Range;

/// The first byte of a character outside YAML 1.1's printable ones (section 5.1). `bytes` are UTF-8.
pub(crate) fn control(bytes: &[u8]) -> Option<usize> {
    let mut from = 0_usize;
    loop {
        let rest = bytes.get(from..)?;
        let odd = |byte: &u8| {
            (*byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || matches!(byte, 0x7f | 0xc2 | 0xef)
        };
        let at = from.saturating_add(rest.iter().position(odd)?);
        let next = |more: usize| bytes.get(at.saturating_add(more)).copied().unwrap_or_default();
        let printable = match next(0) {
            0xc2 => next(1) >= 0xa0 || next(1) == 0x85,
            // U+FFFE and U+FFFF.
            0xef => next(1) != 0xbf || next(2) < 0xbe,
            _ => false,
        };
        if !printable {
            return Some(at);
        }
        from = at.saturating_add(1);
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The first byte of content after `from`: white space, comments, anchors and the tag, `:` and `?` are passed over, and with `dashes` those of items.
pub(crate) fn first_mark(text: &str, from: usize, tag: Option<&Range<usize>>, dashes: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            _ if tag.is_some_and(|tag| tag.contains(&at)) => tag.map_or(at, |tag| tag.end),
            byte if is_blank(byte) => at.saturating_add(1),
            b'#' => at.saturating_add(line_len(bytes, at)),
            b'&' => {
                let rest = bytes.get(at..).unwrap_or_default();
                at.saturating_add(rest.iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len()))
            }
            b':' | b'?' => at.saturating_add(1),
            b'-' if dashes => at.saturating_add(1),
            _ => return at,
        };
    }
    at.min(bytes.len())
}

/// The end of a literal or folded scalar: after its last line, without the end of that line. `range` is that of the library, `value` the text.
pub(crate) fn block_end(text: &str, start: usize, range: Range<usize>, value: &str) -> usize {
    let slice = text.get(start..range.end).unwrap_or_default();
    let header = slice.lines().next().unwrap_or_default();
    let keeps = header.bytes().take_while(|byte| !is_blank(*byte)).any(|byte| byte == b'+');
    let last_line = value.strip_suffix('\n').unwrap_or(value).rsplit('\n').next().unwrap_or_default();
    let blank_content = !last_line.is_empty() && last_line.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    let kept = if keeps || blank_content {
        let line = slice.strip_suffix('\n').unwrap_or(slice);
        line.strip_suffix('\r').unwrap_or(line)
    } else {
        slice.trim_end_matches([' ', '\t', '\r', '\n'])
    };
    start.saturating_add(kept.len()).max(start.saturating_add(header.trim_end().len()))
}

/// The first byte after `from` that is neither white space, comma nor comment.
pub(crate) fn mark(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b',' => at.saturating_add(1),
            byte if is_blank(byte) => at.saturating_add(1),
            b'#' => at.saturating_add(line_len(bytes, at)),
            _ => return at,
        };
    }
    at
}

/// Bytes to the end of the line.
fn line_len(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
}

/// The characters beyond ASCII that end lines in YAML 1.1 and do not in 1.2: next line, line separator, paragraph separator.
pub(crate) fn yaml11_breaks(text: &str) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    // Their first bytes are rare in other characters.
    memchr::memchr2_iter(0xc2, 0xe2, bytes).filter_map(move |at| {
        let character = text.get(at..)?.chars().next()?;
        matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}').then_some((at, character))
    })
}
