//! Finds the arrays of a tree and their paths.
//!
//! A tree may have millions of nodes and few arrays: only the ancestors of arrays are walked. Aliases may give an array several paths, and a small
//! tree more of them than can be listed.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use container_core::dtype::{DType, Field};
use container_core::json_pointer::escape;
use container_core::{Limits, Result};

use crate::fault::{Fault, FaultKind};
use crate::file::open_options::OpenOptions;
use crate::ndarray::NdArray;
use crate::yaml::{Document, Kind, Node, NodeId};

use super::ArrayEntry;

/// Maximum number of entries that aliases may make.
const MAX_ENTRIES: usize = 1 << 20;

/// Maximum depth of nodes on the way to an array, aliases followed.
const MAX_DEPTH: usize = 512;

/// The arrays of a tree, in its order.
#[derive(Default)]
pub(super) struct FoundArrays {
    /// Those that can be read.
    pub(super) entries: Vec<ArrayEntry>,
    /// The paths of the others, each with the reason.
    pub(super) unlisted: Vec<(String, Fault)>,
}

/// Finds the arrays of a tree.
pub(super) fn find(document: &Document, options: &OpenOptions) -> Result<FoundArrays> {
    let Some(ways) = ArrayAncestors::find(document, &options.limits)? else {
        return Ok(FoundArrays::default());
    };
    let few = if ways.has_aliases {
        options.limits.allocate((document.len() as u64).saturating_mul(size_of::<VisitCount>() as u64))?;
        visits(document, &ways).is_none_or(|count| count <= most_visits(document))
    } else {
        true
    };
    let all = few.then(|| Search::run(document, &ways, true, options.limits.memory)).flatten();
    let search =
        all.or_else(|| Search::run(document, &ways, false, options.limits.memory)).unwrap_or_default();
    options.limits.allocate(search.held).map_err(|error| error.with_context("asdf arrays"))?;
    Ok(FoundArrays { entries: search.entries, unlisted: search.unlisted })
}

/// Nodes that are arrays or contain one.
struct ArrayAncestors {
    leads_to_array: Vec<bool>,
    /// Without any, each node is visited once.
    has_aliases: bool,
}

impl ArrayAncestors {
    /// `None` without any array.
    fn find(document: &Document, limits: &Limits) -> Result<Option<Self>> {
        let is_array = |node: Node<'_>| !node.is_alias() && node.tag().is_some_and(NdArray::is_tag);
        let mut next: Vec<NodeId> = document.nodes().filter(|node| is_array(*node)).map(Node::id).collect();
        if next.is_empty() {
            return Ok(None);
        }
        limits.allocate((document.len() as u64).saturating_mul(16))?;
        // From each node to its parent; from an anchored node to its aliases.
        let mut holder: Vec<Option<NodeId>> = vec![None; document.len()];
        let mut aliases: Vec<(NodeId, NodeId)> = Vec::new();
        for node in document.nodes() {
            let id = node.id();
            if node.is_alias() {
                aliases.push((node.target().id(), id));
                continue;
            }
            let mut hold = |held: Node<'_>| {
                if let Some(place) = holder.get_mut(held.id().index()) {
                    *place = Some(id);
                }
            };
            match node.kind() {
                Kind::Scalar => {}
                Kind::Sequence => node.items().for_each(&mut hold),
                Kind::Mapping => node.entries().for_each(|(_, value)| hold(value)),
            }
        }
        aliases.sort_unstable();
        let mut leads_to_array = vec![false; document.len()];
        while let Some(id) = next.pop() {
            match leads_to_array.get_mut(id.index()) {
                Some(lead) if !*lead => *lead = true,
                _ => continue,
            }
            next.extend(holder.get(id.index()).copied().flatten());
            let from = aliases.partition_point(|(target, _)| *target < id);
            let named = aliases.get(from..).unwrap_or_default();
            next.extend(named.iter().take_while(|(target, _)| *target == id).map(|(_, alias)| *alias));
        }
        Ok(Some(Self { leads_to_array, has_aliases: !aliases.is_empty() }))
    }

    fn leads_to_array(&self, node: Node<'_>) -> bool {
        self.leads_to_array.get(node.id().index()).copied().unwrap_or(false)
    }
}

/// Limit of visited nodes on the ways to arrays, repeated visits included.
fn most_visits(document: &Document) -> u64 {
    (MAX_ENTRIES as u64).saturating_add(document.len() as u64)
}

/// State of the count of a collection.
#[derive(Clone, Copy)]
enum VisitCount {
    Unknown,
    /// It contains the collection that is being counted.
    Open,
    /// Visits within it, aliases followed, and the depth of its nodes.
    Known(u64, usize),
}

/// Counts the nodes that [`Search::run`] visits when it follows aliases, without visiting them: a small tree may have more than can be listed. `None`
/// where it would stop early, at a collection within itself or too deep.
fn visits(document: &Document, ways: &ArrayAncestors) -> Option<u64> {
    let root = document.root().target();
    let mut known = vec![VisitCount::Unknown; document.len()];
    *known.get_mut(root.id().index())? = VisitCount::Open;
    let mut steps = vec![(root.id(), children(root, ways), 0_u64, 0_usize)];
    loop {
        let (id, left, count, depth) = steps.last_mut()?;
        if let Some((_, node)) = left.next() {
            let node = node.target();
            match *known.get(node.id().index())? {
                VisitCount::Open => return None,
                VisitCount::Known(within, levels) => {
                    *count = count.saturating_add(within).saturating_add(1);
                    *depth = levels.saturating_add(1).max(*depth);
                }
                VisitCount::Unknown => {
                    *known.get_mut(node.id().index())? = VisitCount::Open;
                    steps.push((node.id(), children(node, ways), 0, 0));
                }
            }
            continue;
        }
        let (id, count, depth) = (*id, *count, *depth);
        *known.get_mut(id.index())? = VisitCount::Known(count, depth);
        steps.pop();
        match steps.last_mut() {
            None => return (depth < MAX_DEPTH).then_some(count),
            Some((_, _, whole, levels)) => {
                *whole = whole.saturating_add(count).saturating_add(1);
                *levels = depth.saturating_add(1).max(*levels);
            }
        }
    }
}

#[derive(Default)]
struct Search {
    entries: Vec<ArrayEntry>,
    unlisted: Vec<(String, Fault)>,
    /// Place and hash of the message of each of the faults.
    told: HashSet<(u64, u64)>,
    /// Bytes of memory that the entries take. The search ends at `most`: by aliases many arrays share one record of many fields, and each entry has
    /// its own.
    held: u64,
    most: u64,
}

/// One collection on the way, and its children that are left to visit.
struct Step<'d> {
    id: NodeId,
    /// Bytes of the path up to and with it.
    len: usize,
    left: std::vec::IntoIter<(String, Node<'d>)>,
}

impl Search {
    /// `None` where there are too many.
    fn run(document: &Document, ways: &ArrayAncestors, follow: bool, most: u64) -> Option<Self> {
        let mut search = Self { most, ..Self::default() };
        let mut path = String::new();
        let mut steps: Vec<Step<'_>> = Vec::new();
        let mut visited = 0_usize;
        let root = document.root();
        search.visit(root, ".");
        steps.push(Step { id: root.target().id(), len: 0, left: children(root, ways) });
        while let Some(step) = steps.last_mut() {
            let Some((name, node)) = step.left.next() else {
                steps.pop();
                continue;
            };
            path.truncate(step.len);
            visited = visited.saturating_add(1);
            if follow && visited as u64 > most_visits(document) {
                return None;
            }
            if node.is_alias() && !follow {
                continue;
            }
            if steps.len() > 1 {
                path.push('/');
            }
            path.push_str(&name);
            search.visit(node, &path);
            let id = node.target().id();
            // A collection within itself has been listed.
            if steps.len() < MAX_DEPTH && !steps.iter().any(|step| step.id == id) {
                steps.push(Step { id, len: path.len(), left: children(node, ways) });
            }
        }
        Some(search)
    }

    fn visit(&mut self, node: Node<'_>, path: &str) {
        if !node.tag().is_some_and(NdArray::is_tag) || self.held > self.most {
            return;
        }
        match NdArray::parse(node) {
            Ok(array) => {
                let fields = array.datatype.as_ref().map_or(1, |datatype| fields(&datatype.dtype));
                let entry = size_of::<ArrayEntry>().saturating_add(path.len()) as u64;
                let of_fields = fields.saturating_mul(size_of::<Field>() as u64);
                self.held = self.held.saturating_add(entry).saturating_add(of_fields);
                self.entries.push(ArrayEntry { path: path.to_owned(), array });
            }
            Err(error) => {
                let place = error.range().unwrap_or_else(|| node.range());
                let message = format!("{path} cannot be read: {}", error.kind());
                // There may be as many as nodes, with long paths.
                if self.told.insert((place.start, hash(&message))) {
                    let len = path.len().saturating_add(message.len()).saturating_add(UNLISTED_LEN);
                    self.held = self.held.saturating_add(len as u64);
                    self.unlisted.push((path.to_owned(), Fault::new(FaultKind::Array, place, message)));
                }
            }
        }
    }
}

/// Bytes that an array takes that cannot be read, without its path and its message.
const UNLISTED_LEN: usize = size_of::<(String, Fault)>() + 2 * size_of::<(u64, u64)>();

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Fields of a type, those within others counted.
fn fields(dtype: &DType) -> u64 {
    match dtype {
        DType::Record(record) => {
            record.fields.iter().fold(1, |count, field| fields(&field.dtype).saturating_add(count))
        }
        _ => 1,
    }
}

/// Lists the children of a collection that are arrays or contain one, each with its part of a path.
fn children<'d>(node: Node<'d>, ways: &ArrayAncestors) -> std::vec::IntoIter<(String, Node<'d>)> {
    let found: Vec<(String, Node<'d>)> = match node.kind() {
        Kind::Scalar => Vec::new(),
        Kind::Sequence => {
            let items = node.items().enumerate().filter(|(_, item)| ways.leads_to_array(*item));
            items.map(|(at, item)| (at.to_string(), item)).collect()
        }
        Kind::Mapping => {
            let pairs = node.pairs().into_iter().filter(|(_, value)| ways.leads_to_array(*value));
            pairs.filter_map(|(key, value)| Some((escape(&key.key_text()?).into_owned(), value))).collect()
        }
    };
    found.into_iter()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::yaml::YamlLimits;

    const ARRAY: &str = "!<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [1]}";

    fn visits_of(tree: &str) -> Option<u64> {
        let document = Document::parse(tree.as_bytes(), 0, &YamlLimits::default()).unwrap();
        let ways = ArrayAncestors::find(&document, &Limits::default()).unwrap().unwrap();
        visits(&document, &ways)
    }

    #[test]
    fn visits_are_counted_without_them() {
        // Each list, then each alias and the nodes within it.
        assert_eq!(visits_of(&format!("a0: &a0 [{ARRAY}, 1]\n")), Some(2));
        assert_eq!(
            visits_of(&format!("a0: &a0 [{ARRAY}]\na1: [*a0, *a0, {{b: *a0}}]\n")),
            Some(2 + 1 + 2 + 2 + 3)
        );
        let mut tree = format!("a0: &a0 [{ARRAY}]\n");
        let (mut count, mut within) = (2, 1);
        for level in 1..100 {
            writeln!(tree, "a{level}: &a{level} [*a{0}, *a{0}, *a{0}]", level - 1).unwrap();
            within = 3_u64.saturating_mul(within).saturating_add(3);
            count = within.saturating_add(1).saturating_add(count);
            assert_eq!(visits_of(&tree), Some(count), "{level}");
        }
        assert_eq!(count, u64::MAX);
    }

    #[test]
    fn a_search_that_would_stop_early_is_not_counted() {
        assert_eq!(visits_of(&format!("a: &a [{ARRAY}, *a]\n")), None);
        let deep = |levels: usize| format!("{}{ARRAY}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(visits_of(&deep(200)), Some(200));
        let mut tree = format!("a0: &a0 [{ARRAY}]\n");
        for level in 1..MAX_DEPTH {
            writeln!(tree, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
        }
        assert_eq!(visits_of(&tree), None);
    }
}
