//! Writes values as text that PyYAML reads back as the same values. The layout is that of libyaml.

use std::collections::{HashMap, HashSet};

use container_core::{Error, Result};

use super::{Collection, Yaml};

mod node;
mod quote;
mod scalar;
pub(crate) mod scalar_text;
pub(crate) mod tag;

pub(crate) use node::bare;

/// Maximum depth of collections that are written, and that [`Yaml::from_node`] makes.
pub(crate) const MAX_DEPTH: usize = 300;

/// Layout options for text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmitOptions {
    /// Columns after which flow collections, plain and quoted text continue on the next line; 80 as PyYAML's.
    pub width: usize,
    /// `%TAG` handles with their marks and prefixes, for shorthand tags: `("!", "tag:example.org,2026:")`.
    pub tag_handles: Vec<(String, String)>,
    /// `\n` or `\r\n`.
    pub newline: &'static str,
}

impl Default for EmitOptions {
    fn default() -> Self {
        Self { width: 80, tag_handles: Vec::new(), newline: "\n" }
    }
}

impl EmitOptions {
    /// Adds a `%TAG` directive: a handle with its marks, and the prefix that it stands for.
    #[must_use]
    pub fn with_tag_handle(mut self, handle: impl Into<String>, prefix: impl Into<String>) -> Self {
        self.tag_handles.push((handle.into(), prefix.into()));
        self
    }
}

/// Position of a node, which decides what may be on the same line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodePosition {
    /// After `---`.
    Root,
    /// After `-`.
    Item,
    /// Before `:` on one line.
    SimpleKey,
    /// After `key:`.
    Value,
    /// After `?`, or after `:` on a line of its own.
    Complex,
}

/// Context of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeContext {
    /// Column of the parent collection; `None` for the root.
    pub(crate) indent: Option<usize>,
    /// Position in the collection.
    pub(crate) place: NodePosition,
    /// Whether the collection is in flow style.
    pub(crate) flow: bool,
}

impl NodeContext {
    pub(crate) const ROOT: Self = Self { indent: None, place: NodePosition::Root, flow: false };

    /// Indentation of the nodes within it.
    const fn deeper(self) -> usize {
        match self.indent {
            Some(indent) => indent.saturating_add(2),
            None if self.flow => 2,
            None => 0,
        }
    }
}

/// A whole document: `%YAML 1.1`, `%TAG` lines, `---`, the value, `...` and a newline.
///
/// # Errors
/// `Usage` for values that YAML cannot hold: an alias without its anchor before it, an anchor twice, a tag with control characters, an anchor whose
/// name is more than letters, digits, `-` and `_`, an invalid date; `Limit` for collections within one another more than 300 deep.
pub fn emit_document(value: &Yaml, options: &EmitOptions) -> Result<String> {
    let mut emitter = Emitter::new(options, 0);
    emitter.out.push_str("%YAML 1.1");
    emitter.newline();
    for (handle, prefix) in &options.tag_handles {
        if [handle, prefix]
            .iter()
            .any(|text| text.is_empty() || text.contains(|c: char| c.is_control() || c == ' '))
        {
            return Err(Error::usage(format!("invalid directive %TAG {handle:?} {prefix:?}")));
        }
        emitter.write("%TAG ");
        emitter.write(handle);
        emitter.write(" ");
        emitter.write(prefix);
        emitter.newline();
    }
    emitter.write("---");
    emitter.node(value, NodeContext::ROOT)?;
    if emitter.column > 0 {
        emitter.newline();
    }
    emitter.write("...");
    emitter.newline();
    Ok(emitter.out)
}

/// The text of a node after `key:` or `-` at a place that is indented by `indent` columns. On the same line it begins with a space, on lines of its
/// own with a newline, and it does not end with one. Collections on lines of their own are indented by `indent + 2`. Within `Flow` all of it is in
/// flow style.
///
/// # Errors
/// As [`emit_document`].
pub fn emit_node(value: &Yaml, indent: usize, within: Collection, options: &EmitOptions) -> Result<String> {
    let context =
        NodeContext { indent: Some(indent), place: NodePosition::Value, flow: within == Collection::Flow };
    let mut emitter = Emitter::new(options, indent.saturating_add(8));
    emitter.sequence_step = 2;
    emitter.node(value, context)?;
    emitter.end_line();
    Ok(emitter.out)
}

/// Text for a place in a document, as it is spliced in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Text on the line of the place, beginning with a blank. It has several lines if text or a flow collection does.
    pub(crate) head: String,
    /// Text on lines of its own, beginning with a newline: block collections, literal and folded text.
    pub(crate) tail: String,
}

/// Indentation style of the surrounding text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndentStyle {
    /// Columns of the line before the place.
    pub(crate) column: usize,
    /// Columns by which sequences that are values of a block mapping are indented more than the key.
    pub(crate) sequence_step: usize,
    /// Whether a block collection may begin on the line of the place, after a `-`, `?` or `:` that begins the line.
    pub(crate) compact: bool,
}

/// A node at a spot of a document. Errors as [`emit_node`].
pub(crate) fn emit_at(
    value: &Yaml,
    context: NodeContext,
    indent_style: IndentStyle,
    options: &EmitOptions,
) -> Result<Piece> {
    let mut emitter = Emitter::with_indent_style(indent_style, options);
    emitter.node(value, context)?;
    Ok(emitter.piece())
}

/// An item of a block sequence whose dashes are at `indent` columns, from the dash on. Errors as [`emit_node`].
pub(crate) fn emit_item(
    value: &Yaml,
    indent: usize,
    indent_style: IndentStyle,
    options: &EmitOptions,
) -> Result<String> {
    let mut emitter = Emitter::with_indent_style(indent_style, options);
    emitter.is_apart = true;
    emitter.is_indentation = true;
    emitter.item(value, indent)?;
    emitter.end_line();
    Ok(emitter.out)
}

/// A pair of a block mapping whose keys are at `indent` columns, from the key on. Errors as [`emit_node`].
pub(crate) fn emit_pair(
    key: &Yaml,
    value: &Yaml,
    indent: usize,
    indent_style: IndentStyle,
    options: &EmitOptions,
) -> Result<String> {
    let mut emitter = Emitter::with_indent_style(indent_style, options);
    emitter.is_apart = true;
    emitter.is_indentation = true;
    emitter.pair(
        key,
        value,
        NodeContext { indent: Some(indent), place: NodePosition::Value, flow: false },
    )?;
    emitter.end_line();
    Ok(emitter.out)
}

/// A key for a place before a colon. `None` where it must have a `?` before it.
pub(crate) fn emit_key(key: &Yaml, flow: bool, options: &EmitOptions) -> Result<Option<String>> {
    if !node::is_simple(key)? {
        return Ok(None);
    }
    let mut emitter = Emitter::new(options, 0);
    emitter.is_apart = true;
    emitter.node(key, NodeContext { indent: Some(0), place: NodePosition::SimpleKey, flow })?;
    Ok(Some(emitter.out))
}

struct Emitter<'o> {
    out: String,
    options: &'o EmitOptions,
    /// Characters in the line so far.
    column: usize,
    /// True where the next token needs no blank before it.
    is_apart: bool,
    /// True where the line has only indentation and `-`, `?` or `:`.
    is_indentation: bool,
    sequence_step: usize,
    depth: usize,
    anchors: HashSet<String>,
    /// Tags as they are written.
    tags: HashMap<String, String>,
    /// Bytes before the first line that a block collection, literal or folded text begins, if that is the first line break.
    head_len: Option<usize>,
}

impl<'o> Emitter<'o> {
    fn new(options: &'o EmitOptions, column: usize) -> Self {
        Self {
            out: String::new(),
            options,
            column,
            is_apart: false,
            is_indentation: false,
            sequence_step: 0,
            depth: 0,
            anchors: HashSet::new(),
            tags: HashMap::new(),
            head_len: None,
        }
    }

    fn with_indent_style(indent_style: IndentStyle, options: &'o EmitOptions) -> Self {
        Self {
            sequence_step: indent_style.sequence_step,
            is_indentation: indent_style.compact,
            ..Self::new(options, indent_style.column)
        }
    }

    fn piece(mut self) -> Piece {
        self.end_line();
        let tail = self.head_len.map(|len| self.out.split_off(len.min(self.out.len()))).unwrap_or_default();
        Piece { head: self.out, tail }
    }

    /// Begins the first line of a block collection, literal or folded text.
    fn block_newline(&mut self) {
        if self.head_len.is_none() && !self.out.contains('\n') {
            self.head_len = Some(self.out.len());
        }
        self.newline();
    }

    fn newline(&mut self) {
        self.out.push_str(self.options.newline);
        self.column = 0;
        self.is_apart = true;
        self.is_indentation = true;
    }

    /// Removes the newline at the end of a literal or folded text.
    fn end_line(&mut self) {
        if let Some(rest) = self.out.strip_suffix(self.options.newline) {
            let len = rest.len();
            self.out.truncate(len);
        }
    }

    /// Text without line breaks, as it is.
    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        let columns = if text.is_ascii() { text.len() } else { text.chars().count() };
        self.column = self.column.saturating_add(columns);
        self.is_apart = false;
        self.is_indentation = false;
    }

    /// Text with a blank before it if it needs one.
    fn token(&mut self, text: &str) {
        if !self.is_apart {
            self.write(" ");
        }
        self.write(text);
    }

    /// A `-`, `?` or `:` at the start of a line, after which more may be on the same line.
    fn indicator(&mut self, text: &str) {
        let was_indentation = self.is_indentation;
        self.token(text);
        self.is_indentation = was_indentation;
    }

    /// A `,`, `[` or `{`: right after the text so far.
    fn mark(&mut self, text: &str) {
        self.write(text);
    }

    /// Goes to `indent` columns, in a new line unless this one has only indentation of less.
    fn line(&mut self, indent: usize) {
        let is_before = self.column < indent || (self.column == indent && self.is_apart);
        if !(self.is_indentation && is_before) {
            self.newline();
        }
        self.indentation(indent);
    }

    /// As [`Emitter::line`], for items and pairs of block collections.
    fn block_line(&mut self, indent: usize) {
        let is_before = self.column < indent || (self.column == indent && self.is_apart);
        if !(self.is_indentation && is_before) {
            self.block_newline();
        }
        self.indentation(indent);
    }

    fn indentation(&mut self, indent: usize) {
        self.pad(indent);
        self.is_apart = true;
        self.is_indentation = true;
    }

    fn pad(&mut self, indent: usize) {
        let blanks = indent.saturating_sub(self.column);
        self.out.extend(std::iter::repeat_n(' ', blanks));
        self.column = self.column.saturating_add(blanks);
    }
}

#[cfg(test)]
mod tests;
