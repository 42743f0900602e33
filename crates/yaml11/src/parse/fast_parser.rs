//! Fast path parser for the part of YAML in which nearly all trees are written: block collections by indentation, with scalars of every
//! style, flow collections, tags, anchors and aliases. On any other syntax, and on every error, it returns `None`, and the library parses the text
//! from its start. Tests check that both ways give the same arena.
//!
//! The parser goes line by line. `levels` is the stack of open block collections with their indentation. A line that is indented less closes levels,
//! and each level records whether an item or value is still to come.

mod flow;
mod properties;
mod scalars;
#[cfg(test)]
mod tests;

use super::arena::{Arena, Builder, Shape};
use super::spans;
use crate::{Collection, Origin, ScalarStyle, YamlLimits};
use properties::{ParsedProperties, Tags};
use scalars::ParsedScalar;

/// An open block collection.
struct Level {
    is_mapping: bool,
    indent: usize,
    /// An item or value is still to come: the place after its mark, and the properties before it.
    wanted: Option<(usize, ParsedProperties)>,
}

struct FastParser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    builder: Builder<'t>,
    tags: Tags<'t>,
    levels: Vec<Level>,
    /// A root is still to come, with the properties before it.
    root: Option<ParsedProperties>,
}

/// The arena of a checked text, or `None` where the library has to parse it.
pub(crate) fn compose(text: &str, origin: Origin, limits: &YamlLimits) -> Option<Arena> {
    let bytes = text.as_bytes();
    // Characters that readers treat differently, or that only few trees have.
    let odd = memchr::memchr2(b'\t', b'\r', bytes).is_some()
        || memchr::memmem::find(bytes, "\u{feff}".as_bytes()).is_some()
        || spans::yaml11_breaks(text).next().is_some();
    if odd {
        return None;
    }
    let builder = Builder::new(text, origin, limits);
    let (tags, levels, root) = (Tags::default(), Vec::new(), Some(ParsedProperties::default()));
    let mut parser = FastParser { text, bytes, at: 0, builder, tags, levels, root };
    parser.prologue()?;
    while parser.line()? {}
    parser.end()?;
    parser.builder.is_complete().then(|| parser.builder.finish())
}

impl FastParser<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// True where a mark before `at` is valid: a blank or an end follows.
    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\n'))
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) == Some(b' ') {
            self.at = self.at.saturating_add(1);
        }
    }

    /// At the end of the line, or at a comment after a blank, after which this is at the end of the line. No other token may follow a node.
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

    /// Directives and `---`, with the tag and anchor of the root.
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
            if self.at > before {
                self.root = Some(self.properties(ParsedProperties::default())?);
            }
            if !self.at_line_end() {
                return None;
            }
        } else if has_directives {
            return None;
        }
        Some(())
    }

    /// One line, or several if a flow collection continues; false at the end of the document.
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
                    // The library checks the text after the document.
                    return rest.bytes().all(|byte| byte == b'\n').then_some(false);
                }
                if rest.starts_with("---") {
                    return None;
                }
            }
            _ => {}
        }
        let is_item = self.byte(self.at) == Some(b'-') && self.is_blank(self.at.saturating_add(1));
        self.close_levels(indent, is_item)?;
        self.node(indent, true)?;
        Some(true)
    }

    /// Closes the levels that the indentation of a line ends.
    fn close_levels(&mut self, indent: usize, is_item: bool) -> Option<()> {
        loop {
            let Some(level) = self.levels.last_mut() else { return self.root.is_some().then_some(()) };
            if let Some((at, before)) = level.wanted {
                if indent > level.indent || (level.is_mapping && is_item && indent == level.indent) {
                    return Some(());
                }
                level.wanted = None;
                self.empty_node(at, before)?;
            } else if indent > level.indent {
                // Plain text that continues, or an error.
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
            if let Some((at, before)) = level.wanted {
                self.empty_node(at, before)?;
            }
            self.builder.close(None);
        }
        Some(())
    }

    /// A node without text, which may have a tag or an anchor.
    fn empty_node(&mut self, at: usize, before: ParsedProperties) -> Option<()> {
        let at = before.end.max(at);
        let head = before.head(at);
        self.builder.scalar_in_text(ScalarStyle::Plain, head, at..at, at..at, before.tag).ok()?;
        self.anchor(before)
    }

    /// Takes the properties before the node that begins now.
    fn take_properties(&mut self) -> Option<ParsedProperties> {
        match self.levels.last_mut() {
            Some(level) => level.wanted.take().map(|(_, before)| before),
            None => self.root.take(),
        }
    }

    fn open(&mut self, is_mapping: bool, indent: usize, before: ParsedProperties) -> Option<()> {
        let style = Collection::Block;
        let shape = if is_mapping { Shape::Mapping(style) } else { Shape::Sequence(style) };
        self.builder.open(shape, before.head(self.at), self.at, before.tag).ok()?;
        self.levels.push(Level { is_mapping, indent, wanted: None });
        self.anchor(before)
    }

    /// A node, or a pair or item of the innermost collection, from column `column` on. Only at the beginning of a line (and after the dash of an
    /// item) can block collections begin.
    fn node(&mut self, mut column: usize, mut block: bool) -> Option<()> {
        loop {
            // Each turn takes a dash, the properties, or a key, after which a node may follow on the same line. Any other node ends the function.
            let wanted = self.levels.last().map_or(self.root.is_some(), |level| level.wanted.is_some());
            match self.byte(self.at)? {
                b'-' if self.is_blank(self.at.saturating_add(1)) => {
                    if !block {
                        return None;
                    }
                    if wanted {
                        let before = self.take_properties()?;
                        self.open(false, column, before)?;
                    }
                    let dash = self.at;
                    self.at = dash.saturating_add(1);
                    let level = self.levels.last_mut().filter(|level| !level.is_mapping)?;
                    level.wanted = Some((self.at, ParsedProperties::default()));
                    if self.at_line_end() {
                        return Some(());
                    }
                    column = column.saturating_add(self.at.saturating_sub(dash));
                }
                b'!' | b'&' if wanted => {
                    let before = match self.levels.last() {
                        Some(level) => level.wanted.map(|(_, before)| before),
                        None => self.root,
                    };
                    let before = self.properties(before?)?;
                    match self.levels.last_mut() {
                        Some(level) => level.wanted.as_mut()?.1 = before,
                        None => self.root = Some(before),
                    }
                    if self.at_line_end() {
                        return Some(());
                    }
                    // Properties on the line of a key are the key's.
                    block = false;
                }
                b'*' if wanted => {
                    self.alias(false)?;
                    if !self.take_properties()?.is_empty() {
                        return None;
                    }
                    return self.at_line_end().then_some(());
                }
                b'|' | b'>' if wanted => {
                    let scalar = self.lines()?;
                    let before = self.take_properties()?;
                    return self.push(scalar, before);
                }
                b'[' | b'{' => {
                    let before = self.take_properties()?;
                    self.flow(before)?;
                    return self.at_line_end().then_some(());
                }
                _ => {
                    let scalar = self.scalar(false)?;
                    let end = self.at;
                    self.skip_spaces();
                    if self.byte(self.at) == Some(b':') && self.is_blank(self.at.saturating_add(1)) {
                        let len = self.at.saturating_sub(scalar.content.start);
                        if !block || len > 1000 || scalar.is_long {
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
                    let scalar = self.goes_on(scalar, false)?;
                    let before = self.take_properties()?;
                    self.push(scalar, before)?;
                    return self.at_line_end().then_some(());
                }
            }
        }
    }

    /// Adds the key that was read, which begins a mapping where a node is wanted.
    fn key(&mut self, scalar: ParsedScalar, column: usize, wanted: bool) -> Option<()> {
        let colon = self.at;
        if wanted {
            let before = self.take_properties()?;
            self.at = scalar.content.start;
            self.open(true, column, before)?;
        }
        self.push(scalar, ParsedProperties::default())?;
        self.at = colon.saturating_add(1);
        let level = self.levels.last_mut().filter(|level| level.is_mapping)?;
        level.wanted = Some((self.at, ParsedProperties::default()));
        Some(())
    }

    fn push(&mut self, scalar: ParsedScalar, before: ParsedProperties) -> Option<()> {
        let head = before.head(scalar.content.start);
        match scalar.made {
            Some(made) => self.builder.scalar_made(scalar.style, head, scalar.content, &made, before.tag),
            None => self.builder.scalar_in_text(scalar.style, head, scalar.content, scalar.value, before.tag),
        }
        .ok()?;
        self.anchor(before)
    }
}
