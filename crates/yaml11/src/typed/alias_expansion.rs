//! Number of nodes of a tree in which every alias is a copy of its target, and the limit on it.

use crate::{Document, Kind, Node};

/// A collection of which some nodes are counted.
struct Open<'d> {
    node: Node<'d>,
    next: usize,
    count: u64,
}

/// The nodes at and below `node`, where each alias counts as all of its target; [`u64::MAX`] for more. An alias of an ancestor counts as one node:
/// following it ends at the depth. A merged mapping counts once.
///
/// Takes one step for each node of the document, however many the result is.
pub(crate) fn count(node: Node<'_>) -> u64 {
    let document = node.document();
    // By the place in the arena; 0 for nodes not yet counted.
    let mut known = vec![0_u64; document.len()];
    let mut open = vec![Open { node: document.root(), next: 0, count: 1 }];
    while let Some(last) = open.last_mut() {
        if let Some(child) = child(last.node, last.next) {
            last.next = last.next.saturating_add(1);
            if child.is_alias() || child.kind() == Kind::Scalar {
                let count = get(&known, child.target()).max(1);
                last.count = last.count.saturating_add(count);
            } else {
                open.push(Open { node: child, next: 0, count: 1 });
            }
            continue;
        }
        let (node, count) = (last.node, last.count);
        if let Some(place) = known.get_mut(node.id().0 as usize) {
            *place = count;
        }
        open.pop();
        if let Some(outer) = open.last_mut() {
            outer.count = outer.count.saturating_add(count);
        }
    }
    get(&known, node.target())
}

fn get(known: &[u64], node: Node<'_>) -> u64 {
    known.get(node.id().0 as usize).copied().unwrap_or(0)
}

/// A child of a collection as written. A merged mapping is not counted as one: pairs of the same key come once, however often they are merged.
fn child(node: Node<'_>, index: usize) -> Option<Node<'_>> {
    if node.kind() == Kind::Sequence {
        return node.item(index);
    }
    let (key, value) = node.entry(index / 2)?;
    let is_merged = key.text() == "<<" && value.is_alias();
    Some(if index.is_multiple_of(2) || is_merged { key } else { value })
}

impl Document {
    /// Maximum number of nodes that a value of a caller's type may come of: of a text of many nodes more than of one of few.
    #[must_use]
    pub fn max_expanded_nodes(&self) -> usize {
        /// Text that aliases repeat several times.
        const MAX_EXPANSION_FACTOR: usize = 16;
        const MIN_COUNTED_NODES: usize = 1_000_000;
        self.limits().expanded.min(self.len().saturating_mul(MAX_EXPANSION_FACTOR).max(MIN_COUNTED_NODES))
    }
}
