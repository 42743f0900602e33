//! Text from files, made safe for terminals: control characters, and those that reorder a line, are escaped.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// True of a character that can steer a terminal, break a row or reorder a line.
fn is_risky(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text from a file, safe to show: no name can steer a terminal or break a row.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_risky) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_risky(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// The same JSON without a risky character: within its strings each can be written as an escape.
pub fn safe_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_risky) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 8);
    json.chars().for_each(|c| push(c, Escapes::Json, &mut safe));
    Cow::Owned(safe)
}

/// The spelling of an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// `\u{1b}`, for people.
    Text,
    /// `\u001b`, which JSON reads.
    Json,
}

/// Appends a character, or its escape. Line feeds and tabs pass.
fn push(c: char, escapes: Escapes, text: &mut String) {
    if !is_risky(c) || matches!(c, '\n' | '\t') {
        text.push(c);
        return;
    }
    match escapes {
        Escapes::Text => text.extend(c.escape_default()),
        // All of them are in the first plane.
        Escapes::Json => {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        }
    }
}

/// A writer to a terminal that escapes its input, piece by piece. Bytes that are not UTF-8 become `\xff`.
pub struct Safe<W: Write> {
    out: W,
    escapes: Escapes,
    /// The beginning of a character that the last piece cut.
    cut: Vec<u8>,
}

impl<W: Write> Safe<W> {
    pub const fn new(out: W, escapes: Escapes) -> Self {
        Self { out, escapes, cut: Vec::new() }
    }

    /// Writes the rest of an incomplete character.
    pub fn finish(mut self) -> io::Result<()> {
        let text = hexadecimal(&self.cut);
        self.out.write_all(text.as_bytes())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

impl<W: Write> Write for Safe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.cut.extend_from_slice(bytes);
        let (mut text, mut taken) = (String::with_capacity(self.cut.len()), 0);
        for chunk in self.cut.utf8_chunks() {
            chunk.valid().chars().for_each(|c| push(c, self.escapes, &mut text));
            taken += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = taken + invalid.len() == self.cut.len();
            if is_last && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none()) {
                break;
            }
            text.push_str(&hexadecimal(invalid));
            taken += invalid.len();
        }
        self.cut.drain(..taken);
        self.out.write_all(text.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_a_file_cannot_steer_the_terminal() {
        assert_eq!(printable("plain ü"), "plain ü");
        assert_eq!(
            printable("a\x1b[2Jb\tc\n\u{202e}d\u{9b}\u{61c}"),
            "a\\u{1b}[2Jb\\tc\\n\\u{202e}d\\u{9b}\\u{61c}"
        );
    }

    #[test]
    fn json_with_escapes_reads_as_it_was() {
        let value = serde_json::json!({ "a\u{9b}\u{7f}": ["\u{202e}x", "ü\n\u{2069}\"", 1] });
        let json = value.to_string();
        let text = safe_json(&json);
        assert!(!text.contains(is_risky) && text.contains("\\u009b\\u007f") && text.contains('ü'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn text_is_escaped_wherever_it_is_cut() {
        let text = "é\x1b[2J\u{9b}\r\n\t\u{202e}€".as_bytes();
        let mut whole = [text, b"\xff\xe2\x82"].concat();
        whole.extend_from_slice(b"a\xe2\x82");
        for (escapes, wanted) in [
            (Escapes::Text, "é\\u{1b}[2J\\u{9b}\\r\n\t\\u{202e}€\\xff\\xe2\\x82a\\xe2\\x82"),
            (Escapes::Json, "é\\u001b[2J\\u009b\\u000d\n\t\\u202e€\\xff\\xe2\\x82a\\xe2\\x82"),
        ] {
            for at in 0..whole.len() {
                let mut out = Vec::new();
                let mut safe = Safe::new(&mut out, escapes);
                safe.write_all(&whole[..at]).unwrap();
                safe.write_all(&whole[at..]).unwrap();
                safe.finish().unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), wanted, "{at}");
            }
        }
    }
}
