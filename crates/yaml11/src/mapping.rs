//! Effective pairs of a mapping: duplicate keys and merge keys.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use container_core::{Error, Result};

use super::lookup::LookupResult;
use super::{Document, Int, Kind, Node, NodeId, Scalar};

/// A key, equal where Python's dictionaries take keys as equal: `1`, `true` and `1.0` are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'d> {
    Null,
    Number(Cow<'static, str>),
    Text(&'d str),
    Bytes(Vec<u8>),
    Time(super::Timestamp),
    /// A collection, or NaN, which are only equal to themselves.
    Node(NodeId),
}

impl<'d> Key<'d> {
    pub(super) fn of(node: Node<'d>) -> Self {
        let Some(scalar) = node.scalar() else { return Self::Node(node.target().id()) };
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Number(if value { "1" } else { "0" }.into()),
            Scalar::Int(Int::Small(value)) => Self::Number(value.to_string().into()),
            Scalar::Int(Int::Big(digits)) => Self::Number(digits.into()),
            Scalar::Float(value) if value.is_nan() => Self::Node(node.target().id()),
            // Display gives all digits of a whole number, so that those of floats and integers compare.
            Scalar::Float(value) => {
                Self::Number(if value == 0.0 { "0".into() } else { value.to_string().into() })
            }
            Scalar::Text(text) => Self::Text(text),
            Scalar::Merge => Self::Text("<<"),
            Scalar::Default => Self::Text("="),
            Scalar::Binary(bytes) => Self::Bytes(bytes),
            Scalar::Timestamp(time) => Self::Time(time),
        }
    }
}

/// The mappings that a pair merges, in descending priority; `None` for any other pair.
fn merged_mappings<'d>((key, value): (Node<'d>, Node<'d>)) -> Option<Vec<Node<'d>>> {
    // Nearly all keys are text, which is seen without resolving.
    let maybe = key.text() == "<<" || key.tag().is_some();
    if !maybe || key.scalar() != Some(Scalar::Merge) {
        return None;
    }
    match value.kind() {
        Kind::Mapping => Some(vec![value]),
        Kind::Sequence if value.items().all(|item| item.kind() == Kind::Mapping) => {
            Some(value.items().collect())
        }
        _ => None,
    }
}

/// Whether a pair merges other mappings.
pub(super) fn is_merge(pair: (Node<'_>, Node<'_>)) -> bool {
    merged_mappings(pair).is_some()
}

/// Mappings in descending priority: the mapping itself, then those it merges, those that they merge, and so on, each once.
struct MergeSources<'d> {
    next: Vec<Node<'d>>,
    seen: HashSet<NodeId>,
}

impl<'d> Iterator for MergeSources<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        loop {
            let mapping = self.next.pop()?.target();
            if self.seen.contains(&mapping.id()) {
                continue;
            }
            // The last one is taken first: of several merge keys the last one counts most.
            let before = self.next.len();
            for sources in mapping.entries().filter_map(merged_mappings) {
                self.next.extend(sources.into_iter().rev());
            }
            // Most mappings have no merge keys, and need no set.
            if self.next.len() > before || !self.seen.is_empty() {
                self.seen.insert(mapping.id());
            }
            return Some(mapping);
        }
    }
}

fn merge_sources(mapping: Node<'_>) -> MergeSources<'_> {
    MergeSources { next: vec![mapping], seen: HashSet::new() }
}

/// The effective pairs: those of the mapping itself in their order, then merged ones. For equal keys the last pair, at the place of the first one.
pub(super) fn effective_pairs(mapping: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    let mut found: Vec<(Node<'_>, Node<'_>)> = Vec::with_capacity(mapping.len());
    // For each key the place of its pair, and the number of its mapping: a mapping's own pairs come before those it merges.
    let mut places: HashMap<Key<'_>, (usize, usize)> = HashMap::with_capacity(mapping.len());
    for (number, source) in merge_sources(mapping).enumerate() {
        for pair in source.entries() {
            if merged_mappings(pair).is_some() {
                continue;
            }
            match places.entry(Key::of(pair.0)) {
                std::collections::hash_map::Entry::Vacant(vacant) => {
                    vacant.insert((found.len(), number));
                    found.push(pair);
                }
                std::collections::hash_map::Entry::Occupied(occupied) => {
                    let (place, of) = *occupied.get();
                    if of == number
                        && let Some(slot) = found.get_mut(place)
                    {
                        *slot = pair;
                    }
                }
            }
        }
    }
    found
}

/// Checks that merge keys make no more pairs than [`YamlLimits::merged`](super::YamlLimits::merged): a short text can make very many, and every walk
/// would visit them. The check itself merges no pairs.
///
/// # Errors
/// `Limit`.
pub(super) fn require_few_merged(document: &Document) -> Result<()> {
    if !document.text().contains("<<") && !document.text().contains("merge") {
        return Ok(());
    }
    let mut total = 0_u64;
    let allowed = document.limits().merged;
    for id in (0..document.len()).filter_map(|at| u32::try_from(at).ok()).map(NodeId) {
        let node = document.node(id);
        if node.is_alias() || !node.entries().any(|pair| merged_mappings(pair).is_some()) {
            continue;
        }
        for source in merge_sources(node) {
            let items = source
                .entries()
                .filter_map(merged_mappings)
                .map(|sources| sources.len())
                .fold(0, usize::saturating_add);
            total = total.saturating_add(source.len() as u64).saturating_add(items as u64);
            if total > allowed {
                break;
            }
        }
        if total > allowed {
            let error = Error::limit("pairs that merge keys make", total, allowed);
            return Err(document.origin().named(error.with_range(node.range())));
        }
    }
    Ok(())
}

/// As [`Document::refuse_duplicate_keys`].
pub(super) fn refuse_duplicate_keys(document: &Document) -> Result<()> {
    let mut seen = HashSet::new();
    for id in (0..document.len()).filter_map(|at| u32::try_from(at).ok()).map(NodeId) {
        let node = document.node(id);
        if node.is_alias() || node.kind() != Kind::Mapping {
            continue;
        }
        seen.clear();
        for pair in node.entries().filter(|pair| merged_mappings(*pair).is_none()) {
            let key = pair.0;
            if !seen.insert(Key::of(key)) {
                let shown: String = key.text().chars().take(40).collect();
                let what = format!("the key {shown:?} stands twice in one mapping");
                return Err(document.origin().malformed(&key.span(), what));
            }
        }
    }
    Ok(())
}

/// The value of a text key.
pub(super) fn find<'d>(mapping: Node<'d>, key: &str) -> Option<Node<'d>> {
    if mapping.kind() != Kind::Mapping {
        return None;
    }
    if let Some(keys) = mapping.document().lookup().keys(mapping) {
        match keys.find(mapping, key) {
            LookupResult::Pair(index) => return mapping.entry(index).map(|pair| pair.1),
            LookupResult::Absent if !keys.merges => return None,
            _ => {}
        }
    }
    merge_sources(mapping).find_map(|source| {
        let mut entries = source.entries().rev();
        entries
            .find(|pair| {
                pair.0.text() == key && Key::of(pair.0) == Key::Text(key) && merged_mappings(*pair).is_none()
            })
            .map(|pair| pair.1)
    })
}
