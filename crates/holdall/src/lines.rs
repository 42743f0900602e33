//! Text, line by line: split by `pack --items lines` and joined again by `extract`, byte for byte.
//!
//! A line is the text between line feeds; the line feed is not part of it, a carriage return before it is. The presence of the last line
//! feed is stored next to the items ([`Ending`]), because the items do not record it.

use std::ops::Range;

use container_core::format::ItemKind;
use container_core::source::{PIECE_LEN, Source};
use container_core::{Error, Limits, Result, Value};

/// The note that items are the lines of a text.
const LINES: &str = "lines";

/// The note that the last of them had no line end.
const UNENDED: &str = "no line end after the last";

/// End of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a line feed, or an empty text.
    LineFeed,
    /// In the middle of a line.
    Open,
}

/// The lines of a text, found in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The bytes of each line, without its end.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Its end.
    pub(crate) ending: Ending,
    /// `Text` where every line is UTF-8.
    pub(crate) kind: ItemKind,
}

impl Lines {
    /// Finds the lines of all of `source`, in pieces.
    ///
    /// # Errors
    /// Those of the source; `Limit` where the list of lines exceeds the limit on memory.
    pub(crate) fn find(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let most = limits.memory / size_of::<Range<u64>>() as u64;
        let (mut ranges, mut start, mut at) = (Vec::new(), 0, 0);
        let mut utf8 = Utf8::default();
        while at < source.len() {
            let piece = source.read(at..source.len().min(at + PIECE_LEN as u64))?;
            utf8.push(&piece);
            for (place, _) in piece.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                let end = at + place as u64;
                ranges.push(start..end);
                start = end + 1;
            }
            let count = ranges.len() as u64;
            if count > most {
                let asked = count.saturating_mul(size_of::<Range<u64>>() as u64);
                return Err(Error::limit("memory in bytes (places of lines)", asked, limits.memory));
            }
            at += piece.len() as u64;
        }
        let ending = if start < source.len() { Ending::Open } else { Ending::LineFeed };
        if ending == Ending::Open {
            ranges.push(start..source.len());
        }
        Ok(Self { ranges, ending, kind: if utf8.ended_well() { ItemKind::Text } else { ItemKind::Bytes } })
    }

    /// Notes that are stored next to the items, so that the text can be restored.
    pub(crate) fn notes(&self) -> Vec<Value> {
        let mut notes = vec![Value::from(LINES)];
        if self.ending == Ending::Open {
            notes.push(UNENDED.into());
        }
        notes
    }
}

/// The end of a text from the notes of a file: `None` where its items were not the lines of a text.
pub(crate) fn ending_of(notes: Option<&Value>) -> Option<Ending> {
    let Some(Value::List(notes)) = notes else { return None };
    let has = |word: &str| notes.iter().any(|note| *note == Value::from(word));
    match (has(LINES), has(UNENDED)) {
        (false, _) => None,
        (true, false) => Some(Ending::LineFeed),
        (true, true) => Some(Ending::Open),
    }
}

/// Validation of UTF-8 that comes in pieces.
#[derive(Default)]
struct Utf8 {
    /// The start of a character that the last piece cut.
    cut: Vec<u8>,
    bad: bool,
}

impl Utf8 {
    fn push(&mut self, mut piece: &[u8]) {
        while !self.bad && !self.cut.is_empty() {
            let Some((first, rest)) = piece.split_first() else { return };
            self.cut.push(*first);
            piece = rest;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => self.cut.clear(),
                Err(error) => self.bad = error.error_len().is_some(),
            }
        }
        if let (false, Err(error)) = (self.bad, std::str::from_utf8(piece)) {
            match error.error_len() {
                Some(_) => self.bad = true,
                None => self.cut = piece.get(error.valid_up_to()..).unwrap_or_default().to_vec(),
            }
        }
    }

    fn ended_well(&self) -> bool {
        !self.bad && self.cut.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> (Vec<&[u8]>, Ending) {
        let found = Lines::find(&text, &Limits::default()).unwrap();
        let of = |range: &Range<u64>| {
            &text[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
        };
        (found.ranges.iter().map(of).collect(), found.ending)
    }

    #[test]
    fn lines_are_split_at_line_feeds_only() {
        assert_eq!(lines(b""), (vec![], Ending::LineFeed));
        assert_eq!(lines(b"\n"), (vec![&b""[..]], Ending::LineFeed));
        assert_eq!(lines(b"a"), (vec![&b"a"[..]], Ending::Open));
        assert_eq!(lines(b"a\r\n\nb\n"), (vec![&b"a\r"[..], b"", b"b"], Ending::LineFeed));
        assert_eq!(lines(b"a\n\nb"), (vec![&b"a"[..], b"", b"b"], Ending::Open));
    }

    #[test]
    fn lines_and_characters_cross_pieces() {
        let mut text = "é\n".repeat(PIECE_LEN / 3 + 5);
        text.insert(0, 'x');
        let found = Lines::find(&text.as_bytes().to_vec(), &Limits::default()).unwrap();
        assert_eq!((found.ranges.len(), found.kind), (PIECE_LEN / 3 + 5, ItemKind::Text));
        let mut bytes = text.into_bytes();
        bytes.push(0xc3);
        assert_eq!(Lines::find(&bytes, &Limits::default()).unwrap().kind, ItemKind::Bytes);
    }

    #[test]
    fn more_lines_than_memory_are_refused() {
        let text = vec![b'\n'; 4096];
        let error = Lines::find(&text, &Limits::default().with_memory(4096)).unwrap_err();
        assert!(matches!(error.kind(), container_core::ErrorKind::Limit { .. }));
    }

    #[test]
    fn notes_record_the_final_line_ending() {
        for text in [&b"a\n"[..], b"a"] {
            let found = Lines::find(&text, &Limits::default()).unwrap();
            assert_eq!(ending_of(Some(&found.notes().into())), Some(found.ending));
        }
        assert_eq!(ending_of(None), None);
        assert_eq!(ending_of(Some(&Value::List(vec![]))), None);
    }
}
