//! Scalars on a single line.

use std::ops::Range;

use super::FastParser;
use crate::ScalarStyle;
use crate::parse::line_folding;

/// A scalar that was read.
pub(super) struct Scalar {
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
    pub(super) fn scalar(&mut self, in_flow: bool) -> Option<Scalar> {
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
    pub(super) fn plain(&mut self, in_flow: bool) -> Option<Scalar> {
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
        Some(Scalar {
            style: ScalarStyle::Plain,
            content: start..end,
            value: start..end,
            made: None,
            is_long: false,
        })
    }

    fn single_quoted(&mut self) -> Option<Scalar> {
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
        Some(Scalar { style, content: start..self.at, value: inner..at, made, is_long })
    }

    fn double_quoted(&mut self) -> Option<Scalar> {
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
        Some(Scalar { style, content: start..self.at, value: inner..at, made, is_long })
    }
}
