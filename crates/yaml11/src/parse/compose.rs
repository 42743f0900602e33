//! Builds the arena of nodes from a text: checks its characters, then takes the parser's events and finds the range of each node.

use std::borrow::Cow;
use std::ops::Range;

use container_core::{Error, Result};

use super::arena::{Arena, Builder, Shape};
use super::events::{Event, Events, Failure, Tag};
use super::line_folding::{self, BlockScalarHeader};
use super::spans;
use super::to_yaml12::Yaml12Text;
use crate::{Collection, Kind, Origin, ScalarStyle, YamlLimits};

/// Checks that the text of a tree has only characters of YAML 1.1, and returns it.
///
/// # Errors
/// `Limit` for its length; `Malformed` for invalid UTF-8 and for control characters.
pub(crate) fn check_text<'t>(bytes: &'t [u8], origin: Origin, limits: &YamlLimits) -> Result<&'t str> {
    let len = bytes.len() as u64;
    // Places in the text are held in 32 bits.
    let allowed = limits.bytes.min(u64::from(u32::MAX) / 2);
    if len > allowed {
        return Err(origin.named(Error::limit("bytes of the tree", len, allowed)));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let range = at..at.saturating_add(error.error_len().unwrap_or(1));
        origin.malformed(&range, "a byte that is not UTF-8")
    })?;
    if let Some(at) = spans::control(bytes) {
        let character = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
        let what =
            format!("the control character {character:?}, which YAML allows only as an escape in quotes");
        return Err(origin.malformed(&(at..at.saturating_add(character.len_utf8())), what));
    }
    Ok(text)
}

/// Reads a checked text.
///
/// # Errors
/// As [`Document::parse`](super::Document::parse).
pub(crate) fn compose(text: &str, origin: Origin, limits: &YamlLimits) -> Result<Arena> {
    let yaml12 = Yaml12Text::replace_line_breaks(text);
    match read(text, &yaml12, origin, limits) {
        Err(Failure::Dash(error)) => match yaml12.replace_dashes() {
            Some(yaml12) => read(text, &yaml12, origin, limits).map_err(Failure::error),
            None => Err(error),
        },
        done => done.map_err(Failure::error),
    }
}

fn read(
    text: &str,
    yaml12: &Yaml12Text<'_>,
    origin: Origin,
    limits: &YamlLimits,
) -> std::result::Result<Arena, Failure> {
    let mut events = Events::new(&yaml12.text, origin, limits);
    let builder = Builder::new(text, origin, limits);
    let mut composer = Composer { builder, text, yaml12, origin, seen: 0, tag: String::new() };
    while let Some((event, range)) = events.next()? {
        composer.take(&event, range).map_err(Failure::Other)?;
    }
    if !composer.builder.is_complete() {
        // Only comments and directives: a root of null at the end.
        let end = text.len();
        let root = composer.builder.scalar_in_text(ScalarStyle::Plain, end, end..end, end..end, 0);
        root.map_err(Failure::Other)?;
    }
    Ok(composer.builder.finish())
}

struct Composer<'t> {
    builder: Builder<'t>,
    text: &'t str,
    /// The text that the library parses, of the same length.
    yaml12: &'t Yaml12Text<'t>,
    origin: Origin,
    /// End of the parts that are consumed: scalars, marks of flow collections, tags and anchors.
    seen: usize,
    tag: String,
}

impl<'t> Composer<'t> {
    fn take(&mut self, event: &Event<'_>, range: Range<usize>) -> Result<()> {
        match event {
            Event::Document => {
                self.seen = range.end;
                Ok(())
            }
            Event::Scalar(value, style, tag, indent) => {
                let lines = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // The line break at the end is a part of the value, though not of the span.
                let value = if lines && self.yaml12.is_changed(&(self.seen..range.end)) {
                    self.lines(value, tag.as_ref(), range.start, *indent)?
                } else {
                    Cow::Borrowed(&**value)
                };
                self.scalar(&value, *style, tag.as_ref(), range)
            }
            Event::Open(kind, style, tag) => {
                let in_mapping = matches!(self.builder.parent(), Some(Shape::Mapping(_)));
                let (kind, style) = (*kind, *style);
                let (shape, start) = match (kind, style) {
                    // For a sequence that is not indented deeper than its key, the library gives the place of the first item.
                    (Kind::Sequence, Collection::Block) if in_mapping => {
                        let start = spans::first_mark(
                            &self.yaml12.text,
                            self.seen,
                            tag.as_ref().map(|tag| &tag.range),
                            false,
                        );
                        (Shape::Sequence(style), start.min(range.start))
                    }
                    (Kind::Sequence, _) => (Shape::Sequence(style), range.start),
                    _ => (Shape::Mapping(style), range.start),
                };
                let head = self.head(tag.as_ref(), start);
                let tag = self.intern(tag.as_ref());
                let mark = if style == Collection::Flow { range.end } else { start };
                self.seen = self.seen.max(mark);
                self.builder.open(shape, head, start, tag)
            }
            Event::Close => {
                let end = self.builder.close((self.in_flow() && !range.is_empty()).then_some(range.end));
                self.seen = self.seen.max(end);
                Ok(())
            }
            Event::Alias => {
                self.seen = self.seen.max(range.end);
                self.builder.alias(range)
            }
            Event::Anchor => {
                self.seen = self.seen.max(range.end);
                self.builder.anchor(range)
            }
        }
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) -> Result<()> {
        let content = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let start = spans::first_mark(&self.yaml12.text, self.seen, tag.map(|tag| &tag.range), true);
                let start = start.min(range.start);
                start..spans::block_end(&self.yaml12.text, start, range, value)
            }
            ScalarStyle::Plain if value.starts_with('?') && self.in_flow() => {
                // libyaml takes the mark as that of a key even without a blank after it.
                let what = "a plain text that begins with ? in a flow collection, which YAML 1.1 and 1.2 read differently";
                return Err(self.origin.at(&range, Error::unsupported(what)).with_hint("write it in quotes"));
            }
            ScalarStyle::Plain if range.is_empty() => {
                let at = tag.map_or_else(|| self.empty(range.start), |tag| tag.range.end);
                at..at
            }
            _ => range,
        };
        let head = self.head(tag, content.start);
        let tag_end = tag.map_or(0, |tag| tag.range.end);
        let tag = self.intern(tag);
        self.seen = self.seen.max(content.end).max(tag_end);
        let quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        let inner = if quoted {
            content.start.saturating_add(1)..content.end.saturating_sub(1)
        } else {
            content.clone()
        };
        let value =
            if self.yaml12.is_changed(&content) { self.folded(value, style, &inner)? } else { value.into() };
        if self.text.get(inner.clone()) == Some(&*value) {
            self.builder.scalar_in_text(style, head, content, inner, tag)
        } else {
            self.builder.scalar_made(style, head, content, &value, tag)
        }
    }

    /// The value of a scalar that the library has read otherwise than YAML 1.1 does.
    fn folded(&self, value: &str, style: ScalarStyle, inner: &Range<usize>) -> Result<Cow<'t, str>> {
        let text = self.text.get(inner.clone()).unwrap_or_default();
        Ok(Cow::Owned(match style {
            ScalarStyle::Plain => line_folding::plain(text),
            ScalarStyle::SingleQuoted => line_folding::single(text),
            ScalarStyle::DoubleQuoted => line_folding::double(text).ok_or_else(|| self.unread(inner))?,
            // Read as they are, before.
            ScalarStyle::Literal | ScalarStyle::Folded => value.to_owned(),
        }))
    }

    /// The value of a literal or folded text that the library has read otherwise than YAML 1.1 does.
    fn lines(
        &self,
        value: &str,
        tag: Option<&Tag>,
        start: usize,
        indent: Option<usize>,
    ) -> Result<Cow<'t, str>> {
        if value.is_empty() {
            return Ok(Cow::Borrowed(""));
        }
        let mark = spans::first_mark(&self.yaml12.text, self.seen, tag.map(|tag| &tag.range), true);
        let start = start.min(mark);
        let text = self.text.get(start..).unwrap_or_default();
        match (BlockScalarHeader::of(text), indent) {
            (Some(header), Some(indent)) => {
                Ok(Cow::Owned(line_folding::block(line_folding::after_first_line(text), indent, &header)))
            }
            _ => Err(self.unread(&(start..start.saturating_add(1)))),
        }
    }

    fn unread(&self, range: &Range<usize>) -> Error {
        let what = "a text with U+0085, U+2028 or U+2029 that has syntax of YAML 1.2 or only empty lines";
        let hint = "write it in double quotes";
        self.origin.at(range, Error::unsupported(what)).with_hint(hint)
    }

    /// The place of a node without text: after the mark that requires it. The library gives the place of the next token instead.
    fn empty(&self, at: usize) -> usize {
        let (marks, inside): (&[u8], _) = match (self.builder.parent(), self.builder.is_key()) {
            (Some(Shape::Sequence(_)), _) => (b"-", false),
            (Some(Shape::Mapping(_)), true) => (b"?:", true),
            (Some(Shape::Mapping(_)), false) => (b":", false),
            _ => return at,
        };
        let mark = spans::mark(&self.yaml12.text, self.seen);
        match self.text.as_bytes().get(mark) {
            // An empty key comes before its colon.
            Some(b':') if inside => mark,
            Some(byte) if marks.contains(byte) => mark.saturating_add(1),
            _ => self.seen,
        }
    }

    fn in_flow(&self) -> bool {
        let parent = self.builder.parent();
        matches!(parent, Some(Shape::Sequence(Collection::Flow) | Shape::Mapping(Collection::Flow)))
    }

    fn head(&self, tag: Option<&Tag>, start: usize) -> usize {
        tag.map_or(start, |tag| tag.range.start.min(start))
    }

    fn intern(&mut self, tag: Option<&Tag>) -> u32 {
        let Some(tag) = tag else { return 0 };
        tag.write(&mut self.tag);
        self.builder.tag(&self.tag)
    }
}
