//! Text that is stored as bytes: as text.

use std::io::Write;

use container_core::Result;
use container_core::dtype::Order;

use super::iterate::{Gathered, Walk};

/// Writes the characters, and a line feed if the last is missing. Line feeds and tabs pass; other control characters, and those that
/// reorder a line, are escaped; invalid UTF-8 becomes U+FFFD.
pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let mut gathered = Gathered::new(out);
    let mut cut = Vec::new();
    let mut last = None;
    walk.runs(Order::C, |run| {
        cut.extend_from_slice(run);
        let taken = push(&cut, &mut gathered.text);
        last = cut[..taken].last().copied().or(last);
        cut.drain(..taken);
        gathered.pass()
    })?;
    if !cut.is_empty() {
        gathered.text.push(char::REPLACEMENT_CHARACTER);
        last = cut.last().copied();
    }
    if last.is_some_and(|byte| byte != b'\n') {
        gathered.text.push('\n');
    }
    gathered.finish()
}

/// Appends all but a character that the end cuts, and returns the number of bytes.
fn push(bytes: &[u8], text: &mut String) -> usize {
    let mut taken = 0;
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push_safely(c, text));
        taken += chunk.valid().len();
        let invalid = chunk.invalid();
        let rest = taken + invalid.len() == bytes.len();
        let cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if invalid.is_empty() || (rest && cut) {
            continue;
        }
        text.push(char::REPLACEMENT_CHARACTER);
        taken += invalid.len();
    }
    taken
}

pub(super) fn push_safely(c: char, text: &mut String) {
    let reorders =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if reorders || (c.is_control() && !matches!(c, '\n' | '\t')) {
        text.extend(c.escape_default());
    } else {
        text.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(bytes: &[u8]) -> (String, usize) {
        let mut text = String::new();
        let taken = push(bytes, &mut text);
        (text, taken)
    }

    #[test]
    fn a_character_that_is_cut_waits_for_its_rest() {
        assert_eq!(pushed("aé".as_bytes()), ("aé".into(), 3));
        assert_eq!(pushed(b"a\xc3"), ("a".into(), 1));
        assert_eq!(pushed(b"\xf0\x9f\x98"), (String::new(), 0));
        assert_eq!(pushed(b"a\xffb\xc3(\xe2\x82"), ("a\u{fffd}b\u{fffd}(".into(), 5));
    }

    #[test]
    fn text_cannot_steer_a_terminal() {
        let (text, _) = pushed("a\x1b[2J\r\n\tb\u{202e}".as_bytes());
        assert_eq!(text, "a\\u{1b}[2J\\r\n\tb\\u{202e}");
    }
}
