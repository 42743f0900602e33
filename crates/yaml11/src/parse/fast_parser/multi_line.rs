//! Multi-line scalars.

use super::FastParser;
use super::single_line::Scalar;
use crate::ScalarStyle;
use crate::parse::line_folding::{self, Chomp, Header};
use crate::parse::spans;

impl FastParser<'_> {
    /// Minimum indentation of the lines of a text within the innermost collection.
    fn least(&self) -> usize {
        self.levels.last().map_or(0, |level| level.indent.saturating_add(1))
    }

    /// Whether the text in quotes from byte `from` to `to` has several lines; `None` for lines with less indentation than the collection requires,
    /// which not all readers accept.
    pub(super) fn is_long(&self, from: usize, to: usize) -> Option<bool> {
        let text = self.bytes.get(from..to)?;
        let mut is_long = false;
        for at in memchr::memchr_iter(b'\n', text) {
            is_long = true;
            let line = text.get(at.saturating_add(1)..)?;
            let indent = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
            let is_empty = line.get(indent) == Some(&b'\n');
            // A root has its lines in the first column, as marks of the document have.
            if !is_empty && indent < self.least().max(1) {
                return None;
            }
        }
        Some(is_long)
    }

    /// The plain text that was read, with the lines on which it continues. Afterwards this is after its last character.
    pub(super) fn goes_on(&mut self, first: Scalar, in_flow: bool) -> Option<Scalar> {
        if first.style != ScalarStyle::Plain {
            return Some(first);
        }
        let mut all = first;
        while let Some(start) = self.next_line(in_flow)? {
            self.at = start;
            let line = self.plain(in_flow)?;
            if line.content.is_empty() {
                // After a colon, all lines would be a key.
                return None;
            }
            all.is_long = true;
            all.content.end = line.content.end;
        }
        if all.is_long {
            all.value = all.content.clone();
            all.made = Some(line_folding::plain(self.text.get(all.content.clone())?));
        }
        Some(all)
    }

    /// The first byte of the next line of a plain text of which a line ends here, if there is one. `None` for cases that are left to the library.
    fn next_line(&self, in_flow: bool) -> Option<Option<usize>> {
        let mut at = self.at;
        let mut line = None;
        let byte = loop {
            match self.byte(at) {
                None => return Some(None),
                Some(b' ') => {}
                Some(b'\n') => line = Some(at.saturating_add(1)),
                Some(byte) => break byte,
            }
            at = at.saturating_add(1);
        };
        let Some(line) = line else { return Some(None) };
        let indent = at.saturating_sub(line);
        match byte {
            b'#' => Some(None),
            b',' | b'[' | b']' | b'{' | b'}' if in_flow => Some(None),
            _ if !in_flow && indent < self.least() => Some(None),
            // Marks of the document, roots of several lines, and texts that the versions of YAML read differently.
            b'-' | b'.' if indent == 0 => None,
            b'?' if in_flow => None,
            _ if self.levels.is_empty() && !in_flow => None,
            _ => Some(Some(at)),
        }
    }

    /// The literal or folded text that begins here. Afterwards this is at the end of its last line.
    pub(super) fn lines(&mut self) -> Option<Scalar> {
        let start = self.at;
        let level = self.levels.last()?;
        let (least, parent) = (self.least(), level.indent);
        let header = Header::of(self.text.get(start..)?)?;
        self.at = start.saturating_add(header.len);
        let end_of_header = self.at;
        if !self.at_line_end() {
            return None;
        }
        let body = self.at.saturating_add(1);
        let lines = self.text.get(body..)?;
        let indent = match header.given {
            Some(given) => parent.saturating_add(given),
            None => line_folding::indentation(lines)?,
        };
        if indent < least {
            return None;
        }
        // The lines that are indented so far, and empty ones.
        let (mut end, mut last, mut has_content) = (body, 0..0, false);
        loop {
            let rest = self.bytes.get(end..)?;
            let blanks = rest.iter().position(|byte| *byte != b' ').unwrap_or(rest.len());
            let is_empty = rest.get(blanks) == Some(&b'\n');
            if rest.is_empty() || (!is_empty && blanks < indent) {
                break;
            }
            // Without an end of the line, readers differ in the value of the last one.
            let len = memchr::memchr(b'\n', rest)?;
            if !is_empty || blanks > indent {
                has_content = true;
                last = end.saturating_add(indent)..end.saturating_add(len);
            }
            end = end.saturating_add(len).saturating_add(1);
        }
        // With a last line of blanks alone, they differ in where the text ends.
        let last = self.text.get(last)?;
        if !has_content || last.bytes().all(|byte| byte == b' ') {
            return None;
        }
        let value = line_folding::block(self.text.get(body..end)?, indent, &header);
        let style = if header.folded { ScalarStyle::Folded } else { ScalarStyle::Literal };
        self.at = end.saturating_sub(1);
        let content_end = if header.chomp == Chomp::Keep {
            self.at
        } else {
            spans::block_end(self.text, start, start..end, &value)
        };
        let content = start..content_end.max(end_of_header);
        let made = self.text.get(content.clone()) != Some(&*value);
        Some(Scalar { style, value: content.clone(), content, made: made.then_some(value), is_long: true })
    }
}
