//! Tables of a document that are made on first use: the keys of large mappings, and the aliases of each anchor. Without them a lookup takes time
//! proportional to the size of the mapping, and the lookup of all keys its square.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::mapping::is_merge;
use super::{Document, Node, NodeId, Scalar};

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
            let ids = (0..document.len()).filter_map(|id| u32::try_from(id).ok()).map(NodeId);
            let aliases = ids.map(|id| document.node(id)).filter(|node| node.is_alias());
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
