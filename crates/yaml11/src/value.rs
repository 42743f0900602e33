//! A tree to be written, and the values of nodes as one.

use std::collections::{HashMap, HashSet};

use container_core::{Error, Result};

use crate::emit::MAX_DEPTH;
use crate::emit::tag::{YAML_TAG_PREFIX, is_anchor};
use crate::{Collection, Int, Kind, Node, NodeId, Scalar, ScalarStyle, Timestamp};

/// A value to be written, with an optional style.
#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(Int),
    /// Shortest text that reads back as the same number; `.inf`, `-.inf`, `.nan`.
    Float(f64),
    /// Text, in quotes where it would be read as something else. The style is a wish.
    Text(String, Option<ScalarStyle>),
    /// A date, or date and time.
    Timestamp(Timestamp),
    /// `!!binary`
    Binary(Vec<u8>),
    /// Items. Without a style: flow where all items are scalars, else block.
    Sequence(Vec<Yaml>, Option<Collection>),
    /// Pairs in order. Without a style: block, unless in a flow collection.
    Mapping(Vec<(Yaml, Yaml)>, Option<Collection>),
    /// A value under a tag, whole (`tag:example.org,2026:camera`) or local (`!name`).
    Tagged(String, Box<Yaml>),
    /// A value with an anchor, for [`Yaml::Alias`].
    Anchored(String, Box<Yaml>),
    /// The value of that anchor again.
    Alias(String),
}

impl Yaml {
    /// The node as a value, with tags, styles and anchors, and pairs as they are written: duplicate keys and `<<` among them. A node that an alias
    /// within it names is anchored at its first occurrence, or, if it is outside, at the first alias. So shared nodes stay shared, and cycles close.
    /// Numbers and dates are values, without the spelling they had.
    ///
    /// Untagged `<<` and `=` come as text under the tags that YAML 1.1 gives them, `tag:yaml.org,2002:merge` and `…:value`, and are written back
    /// as they were.
    ///
    /// # Errors
    /// `Limit` for collections within one another more than 300 deep.
    pub fn from_node(node: Node<'_>) -> Result<Self> {
        node_value(node)
    }

    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into(), None)
    }

    /// A whole number.
    #[must_use]
    pub fn int(value: impl Into<i128>) -> Self {
        Self::Int(Int::Small(value.into()))
    }

    /// A block mapping with text keys.
    #[must_use]
    pub fn mapping<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Mapping(pairs.into_iter().map(|(key, value)| (Self::text(key), value)).collect(), None)
    }

    /// A sequence.
    #[must_use]
    pub fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Sequence(items.into_iter().collect(), None)
    }

    /// The same under a tag.
    #[must_use]
    pub fn tagged(self, tag: impl Into<String>) -> Self {
        Self::Tagged(tag.into(), Box::new(self))
    }
}

/// As [`Yaml::from_node`].
fn node_value(node: Node<'_>) -> Result<Yaml> {
    let names = Names::of(node);
    Values { names, done: HashSet::new() }.value(node, 0)
}

/// The names of anchored nodes.
struct Names(HashMap<NodeId, String>);

impl Names {
    /// Collects names for the nodes within `node` that have an anchor or that aliases within it name.
    fn of(node: Node<'_>) -> Self {
        let mut named = Vec::new();
        let mut seen = HashSet::new();
        let mut aliased = HashSet::new();
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            if node.is_alias() && !aliased.insert(node.target().id()) {
                continue;
            }
            let is_known = node.is_alias() || node.anchor().is_some();
            let node = node.target();
            if is_known {
                named.push(node);
            }
            // A node without an anchor is visited once.
            if is_known && !seen.insert(node.id()) {
                continue;
            }
            match node.kind() {
                Kind::Scalar => {}
                Kind::Sequence => rest.extend(node.items()),
                Kind::Mapping => rest.extend(node.entries().flat_map(|(key, value)| [key, value])),
            }
        }
        // The root of the walk may be reached again, as may a node that an alias from outside named.
        let mut names = HashMap::with_capacity(named.len());
        let mut taken = HashSet::new();
        named.retain(|node| names.insert(node.id(), String::new()).is_none());
        for node in &named {
            if let Some(name) =
                node.anchor().filter(|name| is_anchor(name) && taken.insert((*name).to_owned()))
            {
                names.insert(node.id(), name.to_owned());
            }
        }
        let mut fresh = (1_usize..).map(|number| format!("id{number:03}"));
        for node in &named {
            let name = names.entry(node.id()).or_default();
            if name.is_empty() {
                *name = fresh.by_ref().find(|name| taken.insert(name.clone())).unwrap_or_default();
            }
        }
        Self(names)
    }
}

struct Values {
    names: Names,
    done: HashSet<NodeId>,
}

impl Values {
    fn value(&mut self, node: Node<'_>, depth: usize) -> Result<Yaml> {
        if depth >= MAX_DEPTH {
            return Err(Error::limit("collections within one another", depth as u64, MAX_DEPTH as u64));
        }
        let node = node.target();
        // Most trees have no aliases.
        let name = if self.names.0.is_empty() { None } else { self.names.0.get(&node.id()).cloned() };
        if let Some(name) = &name
            && !self.done.insert(node.id())
        {
            return Ok(Yaml::Alias(name.clone()));
        }
        let depth = depth.saturating_add(1);
        let value = match node.kind() {
            Kind::Scalar => scalar(node),
            Kind::Sequence => {
                let items = node.items().map(|item| self.value(item, depth)).collect::<Result<_>>()?;
                tagged(node.tag(), Yaml::Sequence(items, node.collection_style()))
            }
            Kind::Mapping => {
                let pairs = node
                    .entries()
                    .map(|(key, value)| Ok((self.value(key, depth)?, self.value(value, depth)?)));
                tagged(node.tag(), Yaml::Mapping(pairs.collect::<Result<_>>()?, node.collection_style()))
            }
        };
        Ok(match name {
            Some(name) => Yaml::Anchored(name, Box::new(value)),
            None => value,
        })
    }
}

fn tagged(tag: Option<&str>, value: Yaml) -> Yaml {
    match tag {
        // `!` has no effect on a collection.
        Some(tag) if tag != "!" => value.tagged(tag),
        _ => value,
    }
}

fn scalar(node: Node<'_>) -> Yaml {
    let text = |text: &str| Yaml::Text(text.to_owned(), node.scalar_style());
    let tag = node.tag().filter(|tag| *tag != "!");
    let own = tag.and_then(|tag| tag.strip_prefix(YAML_TAG_PREFIX));
    let Some(value) = node.scalar() else { return Yaml::Null };
    // A tag that the value implies is left out.
    let (said, value) = match value {
        Scalar::Null => ("null", Yaml::Null),
        Scalar::Bool(value) => ("bool", Yaml::Bool(value)),
        Scalar::Int(value) => ("int", Yaml::Int(value)),
        Scalar::Float(value) => ("float", Yaml::Float(value)),
        Scalar::Timestamp(value) => ("timestamp", Yaml::Timestamp(value)),
        Scalar::Binary(bytes) => ("binary", Yaml::Binary(bytes)),
        Scalar::Text(value) => ("str", text(value)),
        Scalar::Merge => return text("<<").tagged(format!("{YAML_TAG_PREFIX}merge")),
        Scalar::Default => return text("=").tagged(format!("{YAML_TAG_PREFIX}value")),
    };
    match tag {
        Some(tag) if own != Some(said) => value.tagged(tag),
        _ => value,
    }
}

#[cfg(test)]
mod tests;
