//! Scalars on one line, and those that go on over several.

use std::ops::Range;

use super::FastParser;
use crate::ScalarStyle;
use crate::parse::line_folding::{self, BlockScalarHeader, Chomp};
use crate::parse::spans;

/// A scalar that was read.
pub(super) struct ParsedScalar {
    pub(super) style: ScalarStyle,
    pub(super) content: Range<usize>,
    /// Its text within the text of the document, unless it had to be made.
    pub(super) value: Range<usize>,
    pub(super) made: Option<String>,
    /// Whether it goes over several lines.
    pub(super) is_long: bool,
}

impl FastParser<'_> {
    /// The scalar that begins here; the caller checks the text after it.
    pub(super) fn scalar(&mut self, in_flow: bool) -> Option<ParsedScalar> {
        match self.byte(self.at)? {
            b'\'' => self.single_quoted(),
            b'"' => self.double_quoted(),
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>'
            | b'%' | b'@' | b'`' => None,
            b'-' if self.is_blank(self.at.saturating_add(1)) => None,
            // Before other marks of flow collections it is plain text.
            b'-' if in_flow && matches!(self.byte(self.at.saturating_add(1)), Some(b'[' | b'{')) => None,
            _ => self.plain(in_flow),
        }
    }

    /// One line of plain text.
    pub(super) fn plain(&mut self, in_flow: bool) -> Option<ParsedScalar> {
        let start = self.at;
        let mut end = start;
        let mut rest = self.bytes.get(start..)?.iter();
        let mut at = start;
        let mut after_blank = false;
        while let Some(&byte) = rest.next() {
            match byte {
                b' ' => {
                    after_blank = true;
                    at = at.saturating_add(1);
                    continue;
                }
                b'\n' => break,
                b'#' if after_blank => break,
                b':' => match rest.as_slice().first() {
                    None | Some(b' ' | b'\n') => break,
                    Some(b',' | b'[' | b']' | b'{' | b'}' | b'?') if in_flow => return None,
                    _ => {}
                },
                b',' | b'[' | b']' | b'{' | b'}' if in_flow => break,
                _ => {}
            }
            after_blank = false;
            at = at.saturating_add(1);
            end = at;
        }
        self.at = end;
        Some(ParsedScalar {
            style: ScalarStyle::Plain,
            content: start..end,
            value: start..end,
            made: None,
            is_long: false,
        })
    }

    fn single_quoted(&mut self) -> Option<ParsedScalar> {
        let start = self.at;
        let inner = start.saturating_add(1);
        let mut at = inner;
        let mut doubled = false;
        loop {
            at = at.saturating_add(memchr::memchr(b'\'', self.bytes.get(at..)?)?);
            if self.byte(at.saturating_add(1)) != Some(b'\'') {
                break;
            }
            doubled = true;
            at = at.saturating_add(2);
        }
        self.at = at.saturating_add(1);
        let text = self.text.get(inner..at)?;
        let is_long = self.is_long(inner, at)?;
        let made = (is_long || doubled).then(|| line_folding::single(text));
        let style = ScalarStyle::SingleQuoted;
        Some(ParsedScalar { style, content: start..self.at, value: inner..at, made, is_long })
    }

    fn double_quoted(&mut self) -> Option<ParsedScalar> {
        let start = self.at;
        let inner = start.saturating_add(1);
        let mut at = inner;
        let mut escaped = false;
        loop {
            at = at.saturating_add(memchr::memchr2(b'"', b'\\', self.bytes.get(at..)?)?);
            if self.byte(at) == Some(b'"') {
                break;
            }
            escaped = true;
            at = at.saturating_add(2);
        }
        self.at = at.saturating_add(1);
        let text = self.text.get(inner..at)?;
        let is_long = self.is_long(inner, at)?;
        let made = if is_long || escaped { Some(line_folding::double(text)?) } else { None };
        let style = ScalarStyle::DoubleQuoted;
        Some(ParsedScalar { style, content: start..self.at, value: inner..at, made, is_long })
    }
}

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
    pub(super) fn goes_on(&mut self, first: ParsedScalar, in_flow: bool) -> Option<ParsedScalar> {
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
    pub(super) fn lines(&mut self) -> Option<ParsedScalar> {
        let start = self.at;
        let level = self.levels.last()?;
        let (least, parent) = (self.least(), level.indent);
        let header = BlockScalarHeader::of(self.text.get(start..)?)?;
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
        Some(ParsedScalar {
            style,
            value: content.clone(),
            content,
            made: made.then_some(value),
            is_long: true,
        })
    }
}
