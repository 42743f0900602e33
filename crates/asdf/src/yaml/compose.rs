//! From text to the arena of its nodes: text that is checked, then events, then places.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::borrow::Cow;
use std::ops::Range;

use container_core::{Error, Result};

use super::arena::{Arena, Builder, Shape};
use super::events::{Event, Events, Tag, place};
use super::{Collection, Kind, ScalarStyle, YamlLimits, places};

/// The text of a tree, once it is known to hold only what YAML 1.1 allows.
///
/// # Errors
/// `Limit` for its length; `Malformed` for bytes that are no UTF-8 and for control characters.
pub(super) fn check_text<'t>(bytes: &'t [u8], base: u64, limits: &YamlLimits) -> Result<&'t str> {
    let len = bytes.len() as u64;
    // Places in the text are held in 32 bits.
    let allowed = limits.bytes.min(u64::from(u32::MAX) / 2);
    if len > allowed {
        return Err(Error::limit("bytes of the tree", len, allowed).context("asdf tree"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        malformed("a byte that is no UTF-8", base, at..at.saturating_add(error.error_len().unwrap_or(1)))
    })?;
    if let Some(at) = places::control(bytes) {
        let character = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
        let what = format!("the control character {character:?}, which YAML has only as an escape in quotes");
        return Err(malformed(what, base, at..at.saturating_add(character.len_utf8())));
    }
    Ok(text)
}

fn malformed(what: impl Into<Cow<'static, str>>, base: u64, range: Range<usize>) -> Error {
    Error::malformed(what).at(place(base, &range)).context("asdf tree")
}

/// Reads a checked text.
///
/// # Errors
/// As [`Document::parse`](super::Document::parse).
pub(super) fn compose(text: &str, base: u64, limits: &YamlLimits) -> Result<Arena> {
    let mut events = Events::new(text, base, limits);
    let mut composer =
        Composer { builder: Builder::new(text, base, limits), text, base, seen: 0, tag: String::new() };
    while let Some((event, range)) = events.next().map_err(|error| error.context("asdf tree"))? {
        composer.take(event, range)?;
    }
    if !composer.builder.is_complete() {
        // Nothing but comments and directives: a root of null at the end.
        let end = text.len();
        composer.builder.scalar_in_text(ScalarStyle::Plain, end, end..end, end..end, 0)?;
    }
    let arena = composer.builder.finish();
    odd_breaks(text, base, &arena)?;
    Ok(arena)
}

/// YAML 1.1 ends lines at three characters at which 1.2, which the library reads, does not. One that stands alone in
/// quotes is read as 1.1 has it ([`without_blanks`]); elsewhere they differ in values or even structure.
fn odd_breaks(text: &str, base: u64, arena: &Arena) -> Result<()> {
    for (at, character) in places::odd_breaks(text) {
        let end = at.saturating_add(character.len_utf8());
        // Another end of a line beside it, blanks left out, changes what both mean; separators may follow one another.
        let ends = |beside: Option<char>| {
            beside.is_none_or(|beside| {
                matches!(beside, '\n' | '\r' | '\u{85}')
                    || (character == '\u{85}' && SEPARATORS.contains(&beside))
            })
        };
        let before = text.get(..at).unwrap_or_default().trim_end_matches(BLANKS).chars().next_back();
        let after = text.get(end..).unwrap_or_default().trim_start_matches(BLANKS).chars().next();
        let alone = !ends(before) && !ends(after);
        let quoted = || {
            // Nodes are in the order of the text, but for collections, which begin before what they hold.
            let next = arena.items.partition_point(|item| (item.start as usize) <= at);
            let item = next.checked_sub(1).and_then(|place| arena.items.get(place));
            item.is_some_and(|item| {
                let style = match item.shape {
                    Shape::InText(style) | Shape::Made(style) => style,
                    _ => return false,
                };
                // Among escapes it cannot be told which separator of the value stood in the text.
                let escapes = || {
                    text.get(item.start as usize..item.end as usize).is_some_and(|text| text.contains('\\'))
                };
                (item.end as usize) > at
                    && (style == ScalarStyle::SingleQuoted || !escapes())
                    && matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted)
            })
        };
        if !alone || !quoted() {
            let what = format!(
                "the character {character:?}, which ends a line in YAML 1.1 and does not in YAML 1.2"
            );
            let hint = "write it as an escape in double quotes";
            let place = place(base, &(at..end));
            return Err(Error::unsupported(what).at(place).context("asdf tree").hint(hint));
        }
    }
    Ok(())
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Next line, line separator and paragraph separator.
const SEPARATORS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A quoted text without the blanks around separators, and with a space for a next line, as libyaml folds it. None of them is an escape: [`odd_breaks`] refuses both in
/// one scalar.
fn without_blanks(value: &str) -> Cow<'_, str> {
    let mut kept = String::with_capacity(value.len());
    for part in value.split_inclusive(SEPARATORS) {
        let is_first = kept.is_empty();
        let part = if is_first { part } else { part.trim_start_matches(BLANKS) };
        match part.char_indices().next_back().filter(|(_, last)| SEPARATORS.contains(last)) {
            Some((at, last)) => {
                kept.push_str(part.get(..at).unwrap_or_default().trim_end_matches(BLANKS));
                kept.push(if last == '\u{85}' { ' ' } else { last });
            }
            None => kept.push_str(part),
        }
    }
    Cow::Owned(kept)
}

struct Composer<'t> {
    builder: Builder<'t>,
    text: &'t str,
    base: u64,
    /// Byte behind what is accounted for: scalars, marks of flow collections, tags and anchors.
    seen: usize,
    tag: String,
}

impl<'t> Composer<'t> {
    fn take(&mut self, event: Event<'t>, range: Range<usize>) -> Result<()> {
        match event {
            Event::Document => {
                self.seen = range.end;
                Ok(())
            }
            Event::Scalar(value, style, tag) => self.scalar(&value, style, tag.as_ref(), range),
            Event::Open(kind, style, tag) => {
                let in_mapping = matches!(self.builder.parent(), Some(Shape::Mapping(_)));
                let (shape, start) = match (kind, style) {
                    // The library says where the first item is of a sequence that is not indented deeper than its key.
                    (Kind::Sequence, Collection::Block) if in_mapping => {
                        let start = places::first_mark(
                            self.text,
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
                let start = places::first_mark(self.text, self.seen, tag.map(|tag| &tag.range), true);
                let start = start.min(range.start);
                start..places::block_end(self.text, start, range, value)
            }
            ScalarStyle::Plain if value.starts_with('?') && self.in_flow() => {
                // libyaml takes the mark as that of a key even without a blank behind it.
                let what = "a plain text that begins with ? in a flow collection, which YAML 1.1 and 1.2 read differently";
                let place = place(self.base, &range);
                return Err(Error::unsupported(what)
                    .at(place)
                    .context("asdf tree")
                    .hint("write it in quotes"));
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
        let separated = || self.text.get(inner.clone()).is_some_and(|text| text.contains(SEPARATORS));
        let value = if quoted && separated() { without_blanks(value) } else { Cow::Borrowed(value) };
        if self.text.get(inner.clone()) == Some(&*value) {
            self.builder.scalar_in_text(style, head, content, inner, tag)
        } else {
            self.builder.scalar_made(style, head, content, &value, tag)
        }
    }

    /// The place of a node without text, for which the library has the place of what comes next: behind the mark that asks for it.
    fn empty(&self, at: usize) -> usize {
        let (marks, inside): (&[u8], _) = match (self.builder.parent(), self.builder.is_key()) {
            (Some(Shape::Sequence(_)), _) => (b"-", false),
            (Some(Shape::Mapping(_)), true) => (b"?:", true),
            (Some(Shape::Mapping(_)), false) => (b":", false),
            _ => return at,
        };
        let mark = places::mark(self.text, self.seen);
        match self.text.as_bytes().get(mark) {
            // An empty key stands before its colon.
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
