//! New text for a place in a document: in its style of line breaks, tags and indentation.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use container_core::{Error, Result};

use super::spans;
use crate::{
    Document, EmitOptions, IndentStyle, MAX_DEPTH, Node, NodeContext, NodePosition, Piece, ScalarStyle,
    YAML_TAG_PREFIX, Yaml, emit_at, emit_item, emit_key, emit_pair, scalar_text,
};

fn options(document: &Document) -> EmitOptions {
    EmitOptions {
        tag_handles: document.tag_handles().to_vec(),
        newline: spans::newline(document.text()),
        ..EmitOptions::default()
    }
}

/// A key for a place before a colon.
pub(super) fn key(document: &Document, key: &Yaml, flow: bool) -> Result<String> {
    let options = EmitOptions { width: usize::MAX, ..options(document) };
    emit_key(key, flow, &options)?.ok_or_else(|| {
        Error::usage("the key has line breaks or more than 128 characters (expected a simple key)")
    })
}

/// A value within a flow collection, on one line, beginning with a blank.
pub(super) fn in_flow(document: &Document, value: &Yaml) -> Result<String> {
    let options = EmitOptions { width: usize::MAX, ..options(document) };
    let context = NodeContext { indent: Some(0), place: NodePosition::Item, flow: true };
    let indent_style = IndentStyle { column: 0, sequence_step: 0, compact: false };
    Ok(emit_at(value, context, indent_style, &options)?.head)
}

/// A value in a block collection or at the root.
pub(super) fn in_block(
    document: &Document,
    value: &Yaml,
    context: NodeContext,
    column: usize,
    compact: bool,
) -> Result<Piece> {
    let indent_style = IndentStyle { column, sequence_step: spans::sequence_step(document), compact };
    emit_at(value, context, indent_style, &options(document))
}

/// A pair of a block mapping at these columns.
pub(super) fn pair(document: &Document, key: &Yaml, value: &Yaml, indent: usize) -> Result<String> {
    let indent_style =
        IndentStyle { column: indent, sequence_step: spans::sequence_step(document), compact: false };
    emit_pair(key, value, indent, indent_style, &options(document))
}

/// An item of a block sequence at these columns.
pub(super) fn item(document: &Document, value: &Yaml, indent: usize) -> Result<String> {
    let indent_style =
        IndentStyle { column: indent, sequence_step: spans::sequence_step(document), compact: false };
    emit_item(value, indent, indent_style, &options(document))
}

/// The value with other names for anchors that the document has, since a name must be unique.
pub(super) fn own_anchors<'y>(document: &Document, value: &'y Yaml) -> Result<Cow<'y, Yaml>> {
    let mut names = Vec::new();
    collect(value, 0, &mut names)?;
    if names.is_empty() {
        return Ok(Cow::Borrowed(value));
    }
    let mut taken: HashSet<&str> = document.nodes().filter_map(Node::anchor).collect();
    let clashing: Vec<&str> = names.iter().copied().filter(|name| taken.contains(name)).collect();
    if clashing.is_empty() {
        return Ok(Cow::Borrowed(value));
    }
    taken.extend(names.iter().copied());
    let mut fresh =
        (1_usize..).map(|number| format!("id{number:03}")).filter(|name| !taken.contains(name.as_str()));
    let new: HashMap<&str, String> =
        clashing.into_iter().filter_map(|name| Some((name, fresh.next()?))).collect();
    Ok(Cow::Owned(renamed(value, &new)))
}

fn collect<'y>(value: &'y Yaml, depth: usize, names: &mut Vec<&'y str>) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::limit("collections within one another", depth as u64, MAX_DEPTH as u64));
    }
    let depth = depth.saturating_add(1);
    match value {
        Yaml::Anchored(name, inner) => {
            names.push(name);
            collect(inner, depth, names)
        }
        Yaml::Tagged(_, inner) => collect(inner, depth, names),
        Yaml::Sequence(items, _) => items.iter().try_for_each(|item| collect(item, depth, names)),
        Yaml::Mapping(pairs, _) => {
            let mut both = pairs.iter().flat_map(|(key, value)| [key, value]);
            both.try_for_each(|value| collect(value, depth, names))
        }
        _ => Ok(()),
    }
}

/// Recurses as deep as [`collect`].
fn renamed(value: &Yaml, new: &HashMap<&str, String>) -> Yaml {
    let name = |name: &String| new.get(name.as_str()).unwrap_or(name).clone();
    match value {
        Yaml::Anchored(anchor, inner) => Yaml::Anchored(name(anchor), Box::new(renamed(inner, new))),
        Yaml::Alias(anchor) => Yaml::Alias(name(anchor)),
        Yaml::Tagged(tag, inner) => Yaml::Tagged(tag.clone(), Box::new(renamed(inner, new))),
        Yaml::Sequence(items, style) => {
            Yaml::Sequence(items.iter().map(|item| renamed(item, new)).collect(), *style)
        }
        Yaml::Mapping(pairs, style) => {
            let pairs = pairs.iter().map(|(key, value)| (renamed(key, new), renamed(value, new)));
            Yaml::Mapping(pairs.collect(), *style)
        }
        other => other.clone(),
    }
}

/// The value with quotes around all text of several lines, which then does not depend on the lines around it; `None` without such text.
pub(super) fn quoted(value: &Yaml) -> Option<Yaml> {
    has_lines(value).then(|| in_quotes(value))
}

fn has_lines(value: &Yaml) -> bool {
    match value {
        Yaml::Text(text, _) => text.contains('\n'),
        Yaml::Binary(bytes) => !bytes.is_empty(),
        Yaml::Anchored(_, inner) | Yaml::Tagged(_, inner) => has_lines(inner),
        Yaml::Sequence(items, _) => items.iter().any(has_lines),
        Yaml::Mapping(pairs, _) => pairs.iter().any(|(key, value)| has_lines(key) || has_lines(value)),
        _ => false,
    }
}

fn in_quotes(value: &Yaml) -> Yaml {
    match value {
        Yaml::Text(text, _) if text.contains('\n') => {
            Yaml::Text(text.clone(), Some(ScalarStyle::DoubleQuoted))
        }
        Yaml::Binary(bytes) => digits(bytes).tagged(format!("{YAML_TAG_PREFIX}binary")),
        Yaml::Anchored(name, inner) => Yaml::Anchored(name.clone(), Box::new(in_quotes(inner))),
        Yaml::Tagged(tag, inner) => match &**inner {
            Yaml::Binary(bytes) => digits(bytes),
            inner => in_quotes(inner),
        }
        .tagged(tag.clone()),
        Yaml::Sequence(items, style) => Yaml::Sequence(items.iter().map(in_quotes).collect(), *style),
        Yaml::Mapping(pairs, style) => Yaml::Mapping(
            pairs.iter().map(|(key, value)| (in_quotes(key), in_quotes(value))).collect(),
            *style,
        ),
        other => other.clone(),
    }
}

fn digits(bytes: &[u8]) -> Yaml {
    Yaml::Text(scalar_text::base64(bytes), Some(ScalarStyle::DoubleQuoted))
}
