//! From values to text that PyYAML reads back as the same values.

use container_core::Result;

use super::{Collection, Yaml};

/// How text is laid out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmitOptions {
    /// Columns after which flow collections and plain text go on in the next line; 80 as PyYAML's.
    pub width: usize,
    /// `%TAG` handles with their marks and prefixes, for shorthand tags: `("!", "tag:stsci.edu:asdf/")`.
    pub tag_handles: Vec<(String, String)>,
    /// `\n` or `\r\n`.
    pub newline: &'static str,
}

impl Default for EmitOptions {
    fn default() -> Self {
        Self { width: 80, tag_handles: vec![("!".into(), "tag:stsci.edu:asdf/".into())], newline: "\n" }
    }
}

/// A whole document: `%YAML 1.1`, `%TAG` lines, `---`, the value, `...` and a newline.
///
/// # Errors
/// `Usage` for what no YAML can hold: an alias without its anchor, an anchor twice, a control character in a tag or anchor.
pub fn emit_document(value: &Yaml, options: &EmitOptions) -> Result<String> {
    let _ = (value, options);
    unimplemented!()
}

/// The text of a node as it stands behind `key:` or `-` at a place that is indented by `indent` columns: what is on the same line begins
/// with a space, what is on lines of its own with a newline. Within `Flow` all of it is in flow style.
///
/// # Errors
/// As [`emit_document`].
pub fn emit_node(value: &Yaml, indent: usize, within: Collection, options: &EmitOptions) -> Result<String> {
    let _ = (value, indent, within, options);
    unimplemented!()
}
