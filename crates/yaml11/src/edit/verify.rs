//! Verifies that an edit made exactly the planned changes: compares both documents node by node.

use std::collections::HashMap;

use super::plan::Outcome;
use crate::{Document, Kind, Node, NodeId, Scalar, YAML_TAG_PREFIX, Yaml, bare, scalar_text};

/// True where `new` is `old` except for the outcomes. Both are read in full.
pub(super) fn holds(old: &Document, new: &Document, outcomes: &HashMap<NodeId, Outcome<'_>>) -> bool {
    old.tag_handles() == new.tag_handles()
        && Comparison { outcomes, rest: vec![(old.root(), new.root())], met: 0 }.run()
}

struct Comparison<'p, 'o, 'n> {
    outcomes: &'p HashMap<NodeId, Outcome<'p>>,
    rest: Vec<(Node<'o>, Node<'n>)>,
    /// Outcomes that were found.
    met: usize,
}

impl<'o, 'n> Comparison<'_, 'o, 'n> {
    fn run(mut self) -> bool {
        while let Some((old, new)) = self.rest.pop() {
            let outcome = self.outcomes.get(&old.id());
            self.met = self.met.saturating_add(usize::from(outcome.is_some()));
            let same = match outcome {
                None => self.matches_unchanged(old, new),
                Some(outcome) => self.matches_outcome(old, new, outcome).unwrap_or(false),
            };
            if !same {
                return false;
            }
        }
        self.met == self.outcomes.len()
    }

    fn matches_unchanged(&mut self, old: Node<'o>, new: Node<'n>) -> bool {
        if old.is_alias() || new.is_alias() {
            // Names are unique, so that equal names are the same place.
            return old.is_alias() && new.is_alias() && old.target().anchor() == new.target().anchor();
        }
        let same = is_alike(old, new) && old.text() == new.text() && old.scalar_style() == new.scalar_style();
        if !same || old.len() != new.len() || old.collection_style() != new.collection_style() {
            return false;
        }
        self.rest.extend(old.items().zip(new.items()));
        let pairs = old.entries().zip(new.entries());
        self.rest.extend(pairs.flat_map(|((old_key, old), (new_key, new))| [(old_key, new_key), (old, new)]));
        true
    }

    /// Compares a node that the edit changes. The planned child is checked against the plan and taken out of the lists of children. The rest must be
    /// pairs of old and new children in the same order, which are queued for comparison. `None` where the new node lacks the planned child.
    fn matches_outcome(&mut self, old: Node<'o>, new: Node<'n>, outcome: &Outcome<'_>) -> Option<bool> {
        match outcome {
            Outcome::Value(value) => return Some(is_value(value, new)),
            Outcome::StartedMapping { key, value } => {
                let (new_key, new_value) = new.entries().next()?;
                let begins =
                    old.anchor() == new.anchor() && old.tag() == new.tag() && new.kind() == Kind::Mapping;
                return Some(
                    begins && new.len() == 1 && is_value(key, new_key) && is_value(value, new_value),
                );
            }
            _ => {}
        }
        if !is_alike(old, new) || old.is_alias() || new.is_alias() {
            return Some(false);
        }
        let (mut before, mut after) = (children(old), children(new));
        match outcome {
            Outcome::Added { index, key, value } => {
                if *index >= after.len() {
                    return Some(false);
                }
                let (new_key, new_value) = after.remove(*index);
                let is_key = match (key, new_key) {
                    (Some(key), Some(new_key)) => is_value(key, new_key),
                    (None, None) => true,
                    _ => false,
                };
                if !is_key || !is_value(value, new_value) {
                    return Some(false);
                }
            }
            Outcome::Removed(indices) => {
                for index in indices.iter().rev() {
                    if *index >= before.len() {
                        return Some(false);
                    }
                    before.remove(*index);
                }
            }
            Outcome::Renamed { index, key } => {
                let (old_pair, new_pair) = (before.get_mut(*index)?, after.get_mut(*index)?);
                if !is_value(key, new_pair.0?) {
                    return Some(false);
                }
                (old_pair.0, new_pair.0) = (None, None);
            }
            Outcome::Value(_) | Outcome::StartedMapping { .. } => {}
        }
        if before.len() != after.len() {
            return Some(false);
        }
        for ((old_key, old), (new_key, new)) in before.into_iter().zip(after) {
            match (old_key, new_key) {
                (Some(old), Some(new)) => self.rest.push((old, new)),
                (None, None) => {}
                _ => return Some(false),
            }
            self.rest.push((old, new));
        }
        Some(true)
    }
}

/// Items, and values with their keys.
fn children(node: Node<'_>) -> Vec<(Option<Node<'_>>, Node<'_>)> {
    match node.kind() {
        Kind::Mapping => node.entries().map(|(key, value)| (Some(key), value)).collect(),
        _ => node.items().map(|item| (None, item)).collect(),
    }
}

/// Kind, tag and anchor.
fn is_alike(old: Node<'_>, new: Node<'_>) -> bool {
    old.kind() == new.kind() && old.tag() == new.tag() && old.anchor() == new.anchor()
}

/// True where the node reads as the value.
pub(crate) fn is_value(value: &Yaml, node: Node<'_>) -> bool {
    let mut rest = vec![(value, node)];
    while let Some((value, node)) = rest.pop() {
        let Ok((value, properties)) = bare(value) else { return false };
        if let Yaml::Alias(name) = value {
            if !node.is_alias() || node.target().anchor() != Some(name.as_str()) {
                return false;
            }
            continue;
        }
        if node.is_alias() || node.anchor() != properties.anchor {
            return false;
        }
        match value {
            Yaml::Sequence(items, _) => {
                if node.kind() != Kind::Sequence || node.tag() != properties.tag || node.len() != items.len()
                {
                    return false;
                }
                rest.extend(items.iter().zip(node.items()));
            }
            Yaml::Mapping(pairs, _) => {
                if node.kind() != Kind::Mapping || node.tag() != properties.tag || node.len() != pairs.len() {
                    return false;
                }
                let both = pairs.iter().zip(node.entries());
                rest.extend(both.flat_map(|((key, value), (new_key, new))| [(key, new_key), (value, new)]));
            }
            scalar => {
                if !is_scalar(scalar, properties.tag, node) {
                    return false;
                }
            }
        }
    }
    true
}

fn is_scalar(value: &Yaml, tag: Option<&str>, node: Node<'_>) -> bool {
    let Some(read) = node.scalar() else { return false };
    // `!` means the same as no tag.
    let tag = tag.filter(|tag| *tag != "!");
    let own = tag.and_then(|tag| tag.strip_prefix(YAML_TAG_PREFIX));
    let text = match value {
        Yaml::Text(text, _) => match (own, text.as_str()) {
            (Some("merge"), "<<") => return read == Scalar::Merge,
            (Some("value"), "=") => return read == Scalar::Default,
            (Some("str"), _) => return read == Scalar::Text(text),
            _ => text.clone(),
        },
        Yaml::Binary(bytes) if tag.is_none() || own == Some("binary") => {
            return read == Scalar::Binary(bytes.clone());
        }
        Yaml::Binary(bytes) => {
            let digits: String = node.text().chars().filter(|c| *c != '\n').collect();
            return node.tag() == tag && digits == scalar_text::base64(bytes);
        }
        Yaml::Null => "null".to_owned(),
        Yaml::Bool(value) => value.to_string(),
        Yaml::Int(value) => scalar_text::int(value).unwrap_or_default(),
        Yaml::Float(value) => scalar_text::float(*value),
        Yaml::Timestamp(value) => scalar_text::timestamp(value).unwrap_or_default(),
        _ => return false,
    };
    if tag.is_some() {
        return node.tag() == tag && node.text() == text;
    }
    match (value, &read) {
        (Yaml::Text(..), Scalar::Text(read)) => *read == text,
        (Yaml::Null, Scalar::Null) => true,
        (Yaml::Bool(value), Scalar::Bool(read)) => value == read,
        (Yaml::Int(value), Scalar::Int(read)) => value == read,
        (Yaml::Float(value), Scalar::Float(read)) => {
            value.to_bits() == read.to_bits() || (value.is_nan() && read.is_nan())
        }
        (Yaml::Timestamp(value), Scalar::Timestamp(read)) => value == read,
        _ => false,
    }
}
