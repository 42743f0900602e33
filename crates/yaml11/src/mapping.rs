//! Effective pairs of a mapping: duplicate keys and merge keys; and tables of a document that are made on first use: the keys of large mappings, and
//! the aliases of each anchor. Without them a lookup takes time proportional to the size of the mapping, and the lookup of all keys its square.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use container_core::{Error, Result};

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
    for node in document.nodes() {
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
            let error = Error::limit("pairs from merge keys", total, allowed);
            return Err(document.origin().named(error.with_range(node.range())));
        }
    }
    Ok(())
}

/// As [`Document::refuse_duplicate_keys`].
pub(super) fn refuse_duplicate_keys(document: &Document) -> Result<()> {
    let mut seen = HashSet::new();
    for node in document.nodes() {
        if node.is_alias() || node.kind() != Kind::Mapping {
            continue;
        }
        seen.clear();
        for pair in node.entries().filter(|pair| merged_mappings(*pair).is_none()) {
            let key = pair.0;
            if !seen.insert(Key::of(key)) {
                let shown: String = key.text().chars().take(40).collect();
                let what = format!("duplicate key {shown:?} in a mapping");
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

/// Minimum number of pairs of a mapping that gets a table at its second lookup.
const MIN_PAIRS: usize = 32;

/// The keys of a mapping, by the hash of their text.
#[derive(Debug)]
pub(super) struct Keys {
    hasher: RandomState,
    /// The last pair of those whose key is a text with this hash.
    texts: HashMap<u64, u32>,
    /// Hashes of the texts by which paths name keys that are not text.
    others: HashSet<u64>,
    /// Whether a pair merges another mapping.
    pub(super) merges: bool,
}

/// A pair as a table answers for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupResult {
    /// The last pair that has the key as text.
    Pair(usize),
    /// No key is this text, and no other key is named by it.
    Absent,
    /// The pairs have to be compared.
    Unclear,
}

impl Keys {
    fn of(mapping: Node<'_>) -> Self {
        let hasher = RandomState::new();
        let mut keys = Self {
            hasher,
            texts: HashMap::with_capacity(mapping.len()),
            others: HashSet::new(),
            merges: false,
        };
        for (index, pair) in mapping.entries().enumerate() {
            keys.merges |= is_merge(pair);
            match (pair.0.scalar(), u32::try_from(index)) {
                (Some(Scalar::Text(text)), Ok(index)) => {
                    keys.texts.insert(keys.hasher.hash_one(text), index);
                }
                _ => {
                    keys.others.extend(pair.0.key_text().map(|text| keys.hasher.hash_one(&*text)));
                }
            }
        }
        keys
    }

    /// The pair of `mapping`, of which these are the keys, that has `key`.
    pub(super) fn find(&self, mapping: Node<'_>, key: &str) -> LookupResult {
        let hash = self.hasher.hash_one(key);
        match self.texts.get(&hash) {
            _ if self.others.contains(&hash) => LookupResult::Unclear,
            Some(index) => {
                let index = *index as usize;
                let pair = mapping.entry(index);
                let is_it = pair.is_some_and(|(found, _)| found.scalar() == Some(Scalar::Text(key)));
                // Texts with equal hashes are very rare: the pairs are compared.
                if is_it { LookupResult::Pair(index) } else { LookupResult::Unclear }
            }
            None => LookupResult::Absent,
        }
    }
}

/// The tables that were made. A copy of a document begins without any.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// Keys of mappings that were searched; `None` after the first time.
    keys: Mutex<HashMap<NodeId, Option<Arc<Keys>>>>,
    /// The first byte of an anchored node, and an alias of it, in this order.
    aliases: OnceLock<Vec<(usize, NodeId)>>,
    /// Columns by which sequences in mappings are indented.
    step: OnceLock<usize>,
    /// Nodes that were looked up.
    #[cfg(test)]
    pub(super) steps: std::sync::atomic::AtomicU64,
}

impl Clone for Lookup {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Lookup {
    /// The keys of a large mapping from its second lookup on.
    pub(super) fn keys(&self, mapping: Node<'_>) -> Option<Arc<Keys>> {
        if mapping.len() < MIN_PAIRS {
            return None;
        }
        let id = mapping.target().id();
        let mut tables = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        match tables.get_mut(&id) {
            None => {
                tables.insert(id, None);
                None
            }
            Some(table) => Some(Arc::clone(table.get_or_insert_with(|| Arc::new(Keys::of(mapping))))),
        }
    }

    /// The result of `find`, found once.
    pub(super) fn sequence_step(&self, find: impl FnOnce() -> usize) -> usize {
        *self.step.get_or_init(find)
    }

    /// The aliases of anchors that begin within `range`, each with its anchored node.
    pub(super) fn aliases_of<'d>(
        &self,
        document: &'d Document,
        range: &Range<usize>,
    ) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
        let all = self.aliases.get_or_init(|| {
            let aliases = document.nodes().filter(|node| node.is_alias());
            let mut all: Vec<_> = aliases.map(|alias| (alias.target().span().start, alias.id())).collect();
            all.sort_unstable();
            all
        });
        let from = all.partition_point(|(start, _)| *start < range.start);
        let to = all.partition_point(|(start, _)| *start < range.end);
        let found: Vec<_> = all.get(from..to.max(from)).unwrap_or_default().to_vec();
        found.into_iter().map(|(_, id)| {
            let alias = document.node(id);
            (alias.target(), alias)
        })
    }
}

#[cfg(test)]
mod tests;
