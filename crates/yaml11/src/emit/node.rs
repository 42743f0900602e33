//! Nodes: anchors and tags, sequences and mappings in both styles, aliases.

use container_core::{Error, Result};

use super::quote::is_printable;
use super::{Emitter, MAX_DEPTH, NodeContext, NodePosition, tag};
use crate::{Collection, Int, Yaml};

/// Maximum number of characters of a key that is on one line with its value, as libyaml has it; readers take up to 1024.
const MAX_SIMPLE: usize = 128;

/// Maximum number of characters of such a key after escapes.
const MAX_ESCAPED: usize = 800;

/// Properties of a node: its anchor and tag.
#[derive(Clone, Copy, Default)]
pub(crate) struct Properties<'v> {
    pub(crate) anchor: Option<&'v str>,
    pub(crate) tag: Option<&'v str>,
}

/// A value without its anchor and tag, and both of these.
pub(crate) fn bare(value: &Yaml) -> Result<(&Yaml, Properties<'_>)> {
    let mut properties = Properties::default();
    let mut value = value;
    loop {
        let (place, name, inner) = match value {
            Yaml::Anchored(name, inner) => (&mut properties.anchor, name, inner),
            Yaml::Tagged(name, inner) => (&mut properties.tag, name, inner),
            _ => break,
        };
        if let Some(first) = place.replace(name) {
            return Err(Error::usage(format!(
                "two anchors or tags of one node: {first:?} and {name:?} (expected one)"
            )));
        }
        value = inner;
    }
    if matches!(value, Yaml::Alias(_)) && (properties.anchor.is_some() || properties.tag.is_some()) {
        return Err(Error::usage("an alias can have neither anchor nor tag"));
    }
    Ok((value, properties))
}

impl Emitter<'_> {
    pub(super) fn node(&mut self, value: &Yaml, context: NodeContext) -> Result<()> {
        let (value, properties) = bare(value)?;
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(Error::limit("collections within one another", self.depth as u64, MAX_DEPTH as u64));
        }
        if let Some(name) = properties.anchor {
            if !tag::is_anchor(name) {
                let message = format!("invalid anchor {name:?} (expected letters, digits, `-` and `_`)");
                return Err(Error::usage(message));
            }
            if !self.anchors.insert(name.to_owned()) {
                return Err(Error::usage(format!("duplicate anchor {name:?}")));
            }
            self.token("&");
            self.write(name);
        }
        match value {
            Yaml::Sequence(items, style) => {
                self.tag(properties.tag)?;
                let flow = context.flow || items.is_empty() || is_flow_sequence(items, *style);
                if flow { self.flow_sequence(items, context)? } else { self.block_sequence(items, context)? }
            }
            Yaml::Mapping(pairs, style) => {
                self.tag(properties.tag)?;
                let flow = context.flow || pairs.is_empty() || *style == Some(Collection::Flow);
                if flow { self.flow_mapping(pairs, context)? } else { self.block_mapping(pairs, context)? }
            }
            Yaml::Alias(name) => {
                if !self.anchors.contains(name) {
                    return Err(Error::usage(format!(
                        "unknown alias {name:?} (expected an anchor before it)"
                    )));
                }
                self.token("*");
                self.write(name);
            }
            scalar => self.scalar(scalar, properties.tag, context)?,
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    pub(super) fn tag(&mut self, tag: Option<&str>) -> Result<()> {
        if let Some(tag) = tag {
            let text = match self.tags.get(tag) {
                Some(text) => text.clone(),
                None => {
                    let text = tag::spell(tag, &self.options.tag_handles)?;
                    self.tags.insert(tag.to_owned(), text.clone());
                    text
                }
            };
            self.token(&text);
        }
        Ok(())
    }

    fn block_sequence(&mut self, items: &[Yaml], context: NodeContext) -> Result<()> {
        // As PyYAML: below its key, not indented, because the dashes set it apart.
        let is_value =
            matches!(context.place, NodePosition::Value | NodePosition::Complex) && !self.is_indentation;
        let indent = match context.indent {
            Some(indent) if is_value => indent.saturating_add(self.sequence_step),
            _ => context.deeper(),
        };
        for item in items {
            self.block_line(indent);
            self.item(item, indent)?;
        }
        Ok(())
    }

    pub(super) fn item(&mut self, item: &Yaml, indent: usize) -> Result<()> {
        self.indicator("-");
        self.node(item, NodeContext { indent: Some(indent), place: NodePosition::Item, flow: false })
    }

    fn block_mapping(&mut self, pairs: &[(Yaml, Yaml)], context: NodeContext) -> Result<()> {
        let context = NodeContext { indent: Some(context.deeper()), place: NodePosition::Value, flow: false };
        for (key, value) in pairs {
            self.block_line(context.indent.unwrap_or(0));
            self.pair(key, value, context)?;
        }
        Ok(())
    }

    pub(super) fn pair(&mut self, key: &Yaml, value: &Yaml, context: NodeContext) -> Result<()> {
        if is_simple(key)? {
            self.simple_key(key, context)?;
            return self.node(value, context);
        }
        self.indicator("?");
        let context = NodeContext { place: NodePosition::Complex, ..context };
        self.node(key, context)?;
        self.block_line(context.indent.unwrap_or(0));
        self.indicator(":");
        self.node(value, context)
    }

    fn simple_key(&mut self, key: &Yaml, context: NodeContext) -> Result<()> {
        self.node(key, NodeContext { place: NodePosition::SimpleKey, ..context })?;
        // YAML 1.2 takes a colon for a part of the alias.
        self.write(if is_alias(key) { " :" } else { ":" });
        Ok(())
    }

    fn flow_sequence(&mut self, items: &[Yaml], context: NodeContext) -> Result<()> {
        let context = NodeContext { flow: true, ..context };
        let within = NodeContext { indent: Some(context.deeper()), place: NodePosition::Item, flow: true };
        self.token("[");
        self.is_apart = true;
        for (at, item) in items.iter().enumerate() {
            self.flow_line(at, within);
            self.node(item, within)?;
        }
        self.mark("]");
        Ok(())
    }

    fn flow_mapping(&mut self, pairs: &[(Yaml, Yaml)], context: NodeContext) -> Result<()> {
        let context = NodeContext { flow: true, ..context };
        let within = NodeContext { indent: Some(context.deeper()), place: NodePosition::Value, flow: true };
        self.token("{");
        self.is_apart = true;
        for (at, (key, value)) in pairs.iter().enumerate() {
            self.flow_line(at, within);
            if is_simple(key)? {
                self.simple_key(key, within)?;
            } else {
                self.token("?");
                self.node(key, NodeContext { place: NodePosition::Complex, ..within })?;
                if self.column > self.options.width {
                    self.line(within.indent.unwrap_or(0));
                }
                self.token(":");
            }
            self.node(value, within)?;
        }
        self.mark("}");
        Ok(())
    }

    /// Writes the separator before the item `at` of a flow collection: a comma, and a line break where the line is full.
    fn flow_line(&mut self, at: usize, within: NodeContext) {
        if at > 0 {
            self.mark(",");
        }
        if self.column > self.options.width {
            self.line(within.indent.unwrap_or(0));
        }
    }
}

fn is_alias(value: &Yaml) -> bool {
    matches!(value, Yaml::Alias(_))
}

/// Whether a sequence is in flow style. One without a style is, if all its items are scalars of one line.
fn is_flow_sequence(items: &[Yaml], style: Option<Collection>) -> bool {
    match style {
        Some(style) => style == Collection::Flow,
        None => items.iter().all(|item| match bare(item) {
            Ok((Yaml::Text(text, _), _)) => !text.contains('\n'),
            Ok((Yaml::Sequence(..) | Yaml::Mapping(..) | Yaml::Binary(_), _)) | Err(_) => false,
            Ok(_) => true,
        }),
    }
}

/// True for keys that readers find without a `?` before them.
pub(super) fn is_simple(key: &Yaml) -> Result<bool> {
    // A text of so few bytes has few characters, even with escapes.
    if let Yaml::Text(text, _) = key
        && text.len() <= MAX_SIMPLE / 2
        && !text.contains('\n')
    {
        return Ok(true);
    }
    let (value, properties) = bare(key)?;
    let len = |text: &str| text.chars().count();
    let before = properties.anchor.map_or(0, len).saturating_add(properties.tag.map_or(0, len));
    let content = match value {
        Yaml::Text(text, _) if text.contains('\n') => return Ok(false),
        Yaml::Text(text, _) if escaped_len(text) > MAX_ESCAPED => return Ok(false),
        Yaml::Text(text, _) => len(text),
        Yaml::Sequence(items, _) if !items.is_empty() => return Ok(false),
        Yaml::Mapping(pairs, _) if !pairs.is_empty() => return Ok(false),
        Yaml::Binary(bytes) => bytes.len().saturating_mul(2).saturating_add(10),
        Yaml::Int(Int::Big(digits)) => digits.len(),
        _ => 0,
    };
    Ok(before.saturating_add(content) <= MAX_SIMPLE)
}

fn escaped_len(text: &str) -> usize {
    text.chars().map(|c| if is_printable(c) { 1 } else { 10 }).sum()
}
