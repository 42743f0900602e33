//! A quick way through the part of YAML in which nearly all trees are written: block collections by indentation, and on their lines
//! scalars, flow collections and tags. Whatever else there is, an error above all, is left to the library: this gives `None` and is
//! forgotten. Both ways give the same arena, which tests hold them to.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod flow;
mod line;
#[cfg(test)]
mod tests;

use super::arena::{Arena, Builder, Shape};
use super::{Collection, ScalarStyle, YamlLimits, places};
use line::{Scalar, Tags};

/// A tag before its node: its number, and its bytes in the text.
#[derive(Clone, Copy)]
struct Tag {
    id: u32,
    start: usize,
    end: usize,
}

/// An open block collection.
struct Level {
    is_mapping: bool,
    indent: usize,
    /// An item or value is still to come: the place behind its mark, and its tag.
    wanted: Option<(usize, Option<Tag>)>,
}

struct Fast<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    builder: Builder<'t>,
    tags: Tags<'t>,
    levels: Vec<Level>,
    /// A root is still to come, with its tag.
    root: Option<Option<Tag>>,
}

/// The arena of a checked text, or `None` where it takes the library.
pub(super) fn compose(text: &str, base: u64, limits: &YamlLimits) -> Option<Arena> {
    let bytes = text.as_bytes();
    // Characters that are not the same to all readers, or that only few trees have.
    let odd = memchr::memchr2(b'\t', b'\r', bytes).is_some()
        || memchr::memmem::find(bytes, "\u{feff}".as_bytes()).is_some()
        || places::odd_breaks(text).next().is_some();
    if odd {
        return None;
    }
    let builder = Builder::new(text, base, limits);
    let mut fast =
        Fast { text, bytes, at: 0, builder, tags: Tags::default(), levels: Vec::new(), root: Some(None) };
    fast.prologue()?;
    while fast.line()? {}
    fast.end()?;
    fast.builder.is_complete().then(|| fast.builder.finish())
}

impl Fast<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// True where a mark before `at` is one: a blank or an end follows.
    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\n'))
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) == Some(b' ') {
            self.at = self.at.saturating_add(1);
        }
    }

    /// At the end of the line, or at a comment behind a blank, after which this is at the end of the line. No other thing may follow a node.
    fn at_line_end(&mut self) -> bool {
        let before = self.at;
        self.skip_spaces();
        match self.byte(self.at) {
            None | Some(b'\n') => true,
            Some(b'#') if self.at > before => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                self.at = self.at.saturating_add(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
                true
            }
            _ => false,
        }
    }

    /// Directives and `---`, with the tag of the root.
    fn prologue(&mut self) -> Option<()> {
        let mut has_directives = false;
        while self.byte(self.at) == Some(b'%') {
            let rest = self.bytes.get(self.at..)?;
            let line = self.text.get(self.at..self.at.saturating_add(memchr::memchr(b'\n', rest)?))?;
            if line != "%YAML 1.1" && line != "%YAML 1.2" {
                self.tags.directive(line)?;
            } else if has_directives {
                return None;
            }
            has_directives = true;
            self.at = self.at.saturating_add(line.len()).saturating_add(1);
        }
        if self.text.get(self.at..)?.starts_with("---") {
            self.at = self.at.saturating_add(3);
            let before = self.at;
            self.skip_spaces();
            if self.byte(self.at) == Some(b'!') && self.at > before {
                self.root = Some(Some(self.tag()?));
            }
            if !self.at_line_end() {
                return None;
            }
        } else if has_directives {
            return None;
        }
        Some(())
    }

    /// One line, or several if a flow collection goes on; false at the end of the document.
    fn line(&mut self) -> Option<bool> {
        if self.byte(self.at) == Some(b'\n') {
            self.at = self.at.saturating_add(1);
        }
        let start = self.at;
        self.skip_spaces();
        let indent = self.at.saturating_sub(start);
        match self.byte(self.at) {
            None => return Some(false),
            Some(b'\n') => return Some(true),
            Some(b'#') => {
                let rest = self.bytes.get(self.at..)?;
                self.at = self.at.saturating_add(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
                return Some(true);
            }
            Some(b'-' | b'.') if indent == 0 => {
                let rest = self.text.get(self.at..)?;
                if let Some(rest) = rest.strip_prefix("...") {
                    // What follows the document is the library's to judge.
                    return rest.bytes().all(|byte| byte == b'\n').then_some(false);
                }
                if rest.starts_with("---") {
                    return None;
                }
            }
            _ => {}
        }
        let is_item = self.byte(self.at) == Some(b'-') && self.is_blank(self.at.saturating_add(1));
        self.settle(indent, is_item)?;
        self.node(indent, true)?;
        Some(true)
    }

    /// Closes what the indentation of a line ends.
    fn settle(&mut self, indent: usize, is_item: bool) -> Option<()> {
        loop {
            let Some(level) = self.levels.last_mut() else { return self.root.is_some().then_some(()) };
            if let Some((at, tag)) = level.wanted {
                if indent > level.indent || (level.is_mapping && is_item && indent == level.indent) {
                    return Some(());
                }
                level.wanted = None;
                self.nothing(at, tag)?;
            } else if indent > level.indent {
                // Plain text that goes on, or an error.
                return None;
            } else if indent == level.indent && level.is_mapping != is_item {
                return Some(());
            } else {
                if indent == level.indent && level.is_mapping {
                    return None;
                }
                self.builder.close(None);
                self.levels.pop();
            }
        }
    }

    fn end(&mut self) -> Option<()> {
        while let Some(level) = self.levels.pop() {
            if let Some((at, tag)) = level.wanted {
                self.nothing(at, tag)?;
            }
            self.builder.close(None);
        }
        Some(())
    }

    /// A node of which nothing but perhaps a tag is written.
    fn nothing(&mut self, at: usize, tag: Option<Tag>) -> Option<()> {
        let at = tag.map_or(at, |tag| tag.end);
        let (head, id) = tag.map_or((at, 0), |tag| (tag.start, tag.id));
        self.builder.scalar_in_text(ScalarStyle::Plain, head, at..at, at..at, id).ok()
    }

    /// The tag that waits for the node which begins now.
    fn claim(&mut self) -> Option<Option<Tag>> {
        match self.levels.last_mut() {
            Some(level) => level.wanted.take().map(|(_, tag)| tag),
            None => self.root.take(),
        }
    }

    fn open(&mut self, is_mapping: bool, indent: usize, tag: Option<Tag>) -> Option<()> {
        let style = Collection::Block;
        let shape = if is_mapping { Shape::Mapping(style) } else { Shape::Sequence(style) };
        let (head, id) = tag.map_or((self.at, 0), |tag| (tag.start, tag.id));
        self.builder.open(shape, head, self.at, id).ok()?;
        self.levels.push(Level { is_mapping, indent, wanted: None });
        Some(())
    }

    /// A node, or a pair or item of the innermost collection, from column `column` on. Only at the beginning of a line (and behind the
    /// dash of an item) can block collections begin.
    fn node(&mut self, mut column: usize, mut block: bool) -> Option<()> {
        loop {
            let wanted = self.levels.last().map_or(self.root.is_some(), |level| level.wanted.is_some());
            match self.byte(self.at)? {
                b'-' if self.is_blank(self.at.saturating_add(1)) => {
                    if !block {
                        return None;
                    }
                    if wanted {
                        let tag = self.claim()?;
                        self.open(false, column, tag)?;
                    }
                    let dash = self.at;
                    self.at = dash.saturating_add(1);
                    let level = self.levels.last_mut().filter(|level| !level.is_mapping)?;
                    level.wanted = Some((self.at, None));
                    if self.at_line_end() {
                        return Some(());
                    }
                    column = column.saturating_add(self.at.saturating_sub(dash));
                }
                b'!' if wanted => {
                    let tag = self.tag()?;
                    let slot = match self.levels.last_mut() {
                        Some(level) => level.wanted.as_mut().map(|(_, tag)| tag),
                        None => self.root.as_mut(),
                    };
                    if slot?.replace(tag).is_some() {
                        return None;
                    }
                    if self.at_line_end() {
                        return Some(());
                    }
                    // A tag on the line of a key is the key's.
                    block = false;
                }
                b'[' | b'{' => {
                    let tag = self.claim()?;
                    self.flow(tag)?;
                    return self.at_line_end().then_some(());
                }
                _ => {
                    let scalar = self.scalar(false)?;
                    let end = self.at;
                    self.skip_spaces();
                    if self.byte(self.at) == Some(b':') && self.is_blank(self.at.saturating_add(1)) {
                        if !block || self.at.saturating_sub(scalar.content.start) > 1000 {
                            return None;
                        }
                        self.key(scalar, column, wanted)?;
                        if self.at_line_end() {
                            return Some(());
                        }
                        block = false;
                        continue;
                    }
                    self.at = end;
                    let tag = self.claim()?;
                    self.push(scalar, tag)?;
                    return self.at_line_end().then_some(());
                }
            }
        }
    }

    /// The key that was read, which begins a mapping where a node is wanted.
    fn key(&mut self, scalar: Scalar<'_>, column: usize, wanted: bool) -> Option<()> {
        let colon = self.at;
        if wanted {
            let tag = self.claim()?;
            self.at = scalar.content.start;
            self.open(true, column, tag)?;
        }
        self.push(scalar, None)?;
        self.at = colon.saturating_add(1);
        let level = self.levels.last_mut().filter(|level| level.is_mapping)?;
        level.wanted = Some((self.at, None));
        Some(())
    }

    fn push(&mut self, scalar: Scalar<'_>, tag: Option<Tag>) -> Option<()> {
        let (head, id) = tag.map_or((scalar.content.start, 0), |tag| (tag.start, tag.id));
        match scalar.made {
            Some(made) => self.builder.scalar_made(scalar.style, head, scalar.content, &made, id),
            None => self.builder.scalar_in_text(scalar.style, head, scalar.content, scalar.value, id),
        }
        .ok()
    }
}
