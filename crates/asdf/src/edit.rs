//! Tree edits that preserve all unrelated bytes of the YAML text: those of [`yaml11::edit`], and edits by values as people type them.

use container_core::{Error, Result};

use crate::TAG_PREFIX;
use crate::ndarray::NdArray;
use crate::tree::short_tag;
use crate::yaml::{
    Document, Kind, Node, Scalar, ScalarStyle, YAML_TAG_PREFIX, Yaml, YamlLimits, resolve_tagged,
};

pub use yaml11::edit::{TreeEditor, replace_scalars};

/// Parses the text of a YAML 1.1 value, as in `meta --set PATH=VALUE`: `[1, two, !unit/unit-1.0.0 m]`. `!core/…` and `!unit/…` are short for tags of
/// the ASDF standard. An empty text is null.
///
/// # Errors
/// `Usage` for text that is not YAML; `Limit`.
pub fn parse_value(text: &str) -> Result<Yaml> {
    Yaml::from_node(typed_document(text)?.root()).map_err(of_typed_text)
}

/// The document of a value that was typed.
fn typed_document(text: &str) -> Result<Document> {
    // Indented, so that the first line cannot be a directive or the end of the document.
    let document = format!("%YAML 1.1\n%TAG ! {TAG_PREFIX}\n---\n {text}\n");
    Document::parse(document.as_bytes(), 0, &YamlLimits::default()).map_err(of_typed_text)
}

/// Turns the error into one about the typed text instead of a damaged file. Lines and bytes are left out, since they refer to the wrapped text.
fn of_typed_text(error: Error) -> Error {
    if !error.is_damage() {
        return Error::new(error.into_kind());
    }
    let message = error.kind().to_string();
    let placed = message.split_once(": ").filter(|(place, _)| place.starts_with("invalid YAML at line "));
    Error::usage(placed.map_or_else(|| message.clone(), |(_, why)| format!("invalid YAML: {why}")))
}

pub use container_core::format::Replace;

/// As [`TreeEditor::set`], for a value as people type it (see [`parse_value`](fn@parse_value)). The present tag stays, unless the value has one,
/// or is of another kind: a mapping in the place of a scalar. Returns notes on likely surprises: a tag that goes, and texts that YAML 1.1 reads
/// as another type.
///
/// # Errors
/// As [`TreeEditor::set`]; `Usage` for a mapping or an array that would go, unless `replace` permits it, and for a text that does not fit the
/// present tag.
pub fn set_typed(editor: &mut TreeEditor, path: &str, text: &str, replace: Replace) -> Result<Vec<String>> {
    let typed = typed_document(text)?;
    let mut value = parse_value(text)?;
    let mut notes = Vec::new();
    let mut kept = None;
    if let Some(node) = editor.document().find(path) {
        // An alias may be replaced, since its anchored node stays.
        if replace == Replace::Scalars
            && !node.is_alias()
            && let Some(what) = replaced_kind(node)
        {
            let error = Error::usage(format!("{path} {what}")).with_range(node.range());
            return Err(error.with_hint("--replace (Replace::Anything) replaces it with the value"));
        }
        let tag = node.tag().filter(|tag| *tag != "!" && typed.root().tag().is_none());
        match tag {
            Some(tag) if node.kind() == typed.root().kind() && is_compatible(tag, typed.root()) => {
                value = with_tag(tag, value, typed.root(), path)?;
                kept = Some(tag);
            }
            Some(tag) => {
                notes.push(format!(
                    "{path}: the tag {} is removed with the value that it was on",
                    short_tag(tag)
                ));
            }
            None => {}
        }
    }
    let is_scalar = typed.root().kind() == Kind::Scalar;
    if !(is_scalar && kept.is_some()) {
        surprises(&typed, path, &mut notes);
    }
    editor.set(path, &value)?;
    Ok(notes)
}

/// The value under the tag of the node at `path`, for [`TreeEditor::set`], which writes a value as it is. Both have to be of one kind, the value
/// without a tag and valid under that tag; otherwise the value is returned as it is.
#[must_use]
pub fn under_own_tag(editor: &TreeEditor, path: &str, value: Yaml) -> Yaml {
    let Some(node) = editor.document().find(path) else { return value };
    // YAML's own tags name the type of a value, and the new one has its own type.
    let tag =
        node.tag().filter(|tag| !tag.starts_with(YAML_TAG_PREFIX) && *tag != "!" && !NdArray::is_tag(tag));
    let kind = match &value {
        Yaml::Text(..) => Some(Kind::Scalar),
        Yaml::Sequence(..) => Some(Kind::Sequence),
        Yaml::Mapping(..) => Some(Kind::Mapping),
        _ => None,
    };
    match tag {
        Some(tag) if kind == Some(node.kind()) => value.tagged(tag),
        _ => value,
    }
}

/// As [`TreeEditor::push`], for a value as people type it; notes as [`set_typed`].
///
/// # Errors
/// As [`TreeEditor::push`].
pub fn push_typed(editor: &mut TreeEditor, path: &str, text: &str) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    surprises(&typed_document(text)?, &format!("{path}/-"), &mut notes);
    editor.push(path, &parse_value(text)?)?;
    Ok(notes)
}

/// The value under the present tag: for a scalar its text as it was typed, since the tag gives it its meaning.
fn with_tag(tag: &str, value: Yaml, typed: Node<'_>, path: &str) -> Result<Yaml> {
    if typed.kind() != Kind::Scalar {
        return Ok(value.tagged(tag));
    }
    let text = typed.text();
    if let Some(name) = tag.strip_prefix(YAML_TAG_PREFIX)
        && ["int", "float", "bool", "binary", "timestamp"].contains(&name)
        && matches!(resolve_tagged(name, text), Scalar::Text(_))
    {
        let problem = format!("{path}: {text:?} does not match the tag !!{name}");
        return Err(Error::usage(problem).with_hint("a value with another tag, such as '!!str text'"));
    }
    let style = typed.scalar_style().filter(|style| *style != ScalarStyle::Plain);
    Ok(Yaml::Text(text.to_owned(), style).tagged(tag))
}

/// False for a mapping that is not an array, in the place of one.
fn is_compatible(tag: &str, typed: Node<'_>) -> bool {
    let has = |key: &str| typed.get(key).is_some();
    !NdArray::is_tag(tag) || typed.kind() == Kind::Sequence || has("source") || has("data")
}

/// Names the array or the mapping that would be lost with a node.
fn replaced_kind(node: Node<'_>) -> Option<&'static str> {
    let mut rest = vec![node];
    while let Some(node) = rest.pop() {
        if node.is_alias() {
            continue;
        }
        if node.tag().is_some_and(NdArray::is_tag) {
            return Some("contains an array, which would be removed");
        }
        if node.kind() == Kind::Mapping && !node.is_empty() {
            let is_array = node.entries().any(|(_, value)| value.tag().is_some_and(NdArray::is_tag));
            return Some(if is_array {
                "contains an array, which would be removed"
            } else {
                "contains a mapping, which would be removed"
            });
        }
        rest.extend(node.items());
    }
    None
}

/// Limit of reported texts: a list may have very many.
const MAX_NOTES: usize = 10;

/// Reports plain texts that YAML 1.1 reads as another type than they seem to have.
fn surprises(typed: &Document, path: &str, notes: &mut Vec<String>) {
    let mut rest = vec![typed.root()];
    while let Some(node) = rest.pop() {
        if node.is_alias() || notes.len() >= MAX_NOTES {
            continue;
        }
        rest.extend(node.items().rev());
        rest.extend(node.entries().rev().flat_map(|(key, value)| [value, key]));
        let is_plain = node.scalar_style() == Some(ScalarStyle::Plain) && node.tag().is_none();
        if let Some(what) = node.scalar().filter(|_| is_plain).and_then(|read| surprise(node.text(), &read)) {
            let text = node.text();
            notes.push(if text.is_empty() {
                format!("{path}: an empty value is {what} (two quotes, \"\", are an empty text)")
            } else if matches!(node.scalar(), Some(Scalar::Text(_))) {
                format!("{path}: {text} is {what} in YAML 1.1")
            } else {
                format!("{path}: {text} is {what} in YAML 1.1 (in quotes, \"{text}\", it is a text)")
            });
        }
    }
}

/// Describes the value of a plain text that YAML 1.1 reads as another type than it seems to have.
fn surprise(text: &str, read: &Scalar<'_>) -> Option<String> {
    let digits = text.trim_start_matches(['+', '-']);
    match read {
        Scalar::Bool(value) if !text.eq_ignore_ascii_case(&value.to_string()) => {
            Some(format!("the truth value {value}"))
        }
        Scalar::Int(number) if digits.len() > 1 && digits.starts_with('0') || text.contains([':', '_']) => {
            Some(format!("the number {number}"))
        }
        Scalar::Float(number) if text.contains([':', '_']) => Some(format!("the number {number}")),
        Scalar::Timestamp(_) => Some("a date".to_owned()),
        Scalar::Null if text.is_empty() => Some("null".to_owned()),
        Scalar::Text(text) if looks_like_number(text) => Some("a text, not a number,".to_owned()),
        _ => None,
    }
}

/// Whether other languages read a number: `1e5`, `08`, `0o17`, `nan`.
fn looks_like_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let is_octal =
        digits.strip_prefix("0o").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    is_octal || text.parse::<f64>().is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
