//! Nodes by path, and all nodes with their paths.

use std::borrow::Cow;
use std::collections::HashSet;

use container_core::json_pointer::{escape, unescape};
use container_core::{Error, Limits, Result};

use super::mapping::LookupResult;
use super::{Document, Int, Kind, Node, NodeId, Scalar};

impl<'d> Node<'d> {
    /// The text by which a path names a key: the text itself, a number's digits, `true`, `null`; `None` for collections.
    #[must_use]
    pub fn key_text(self) -> Option<Cow<'d, str>> {
        Some(match self.scalar()? {
            Scalar::Text(text) => text.into(),
            Scalar::Null => "null".into(),
            Scalar::Bool(value) => if value { "true" } else { "false" }.into(),
            Scalar::Int(Int::Small(value)) => value.to_string().into(),
            Scalar::Int(Int::Big(digits)) => digits.into(),
            // The others are named as they are written.
            Scalar::Float(_) | Scalar::Timestamp(_) | Scalar::Binary(_) | Scalar::Merge | Scalar::Default => {
                self.text().into()
            }
        })
    }

    /// The child that one step of a path names.
    #[must_use]
    pub fn child(self, step: &str) -> Option<Self> {
        match self.kind() {
            Kind::Scalar => None,
            Kind::Sequence => {
                let decimal = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
                if decimal { self.item(step.parse().ok()?) } else { None }
            }
            Kind::Mapping => self.get(step).or_else(|| {
                if self
                    .document()
                    .lookup()
                    .keys(self)
                    .is_some_and(|keys| !keys.merges && keys.find(self, step) == LookupResult::Absent)
                {
                    return None;
                }
                let mut pairs = self.pairs().into_iter().rev();
                pairs.find(|(key, _)| key.key_text().as_deref() == Some(step)).map(|(_, value)| value)
            }),
        }
    }
}

impl Document {
    /// The node at a path as in the command line: keys and indices with slashes between, `~1` and `~0` for slash and tilde. With a leading slash,
    /// which only an empty first key needs, it is a JSON pointer (RFC 6901): `/` is the empty key of the root. Follows aliases and merge keys. The
    /// empty path is the root. Keys that are not text are named by their canonical text.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Node<'_>> {
        let mut node = self.root();
        if path.is_empty() {
            return Some(node);
        }
        for step in path.strip_prefix('/').unwrap_or(path).split('/') {
            node = node.child(&unescape(step))?;
        }
        Some(node)
    }

    /// Visits every node with its path, in order. Each collection is visited once however many aliases name it, or with `expand` at each alias
    /// (except in a cycle). `look` returns whether to visit the children. Keys have no paths and are not visited, nor are pairs without effect;
    /// merged ones come after the others.
    ///
    /// # Errors
    /// Those of `look`, and `Limit` for [`YamlLimits::expanded`](super::YamlLimits::expanded) and for memory.
    pub fn walk(
        &self,
        expand: bool,
        limits: &Limits,
        look: &mut dyn FnMut(&str, Node<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut walk = Walk { seen: HashSet::new(), open: Vec::new(), path: String::new(), visits: 0 };
        walk.visit(self.root(), limits, look)?;
        while let Some(level) = walk.open.last_mut() {
            walk.path.truncate(level.path);
            let Some((step, node)) = level.children.next() else {
                let id = level.id;
                walk.open.pop();
                if expand {
                    walk.seen.remove(&id);
                }
                continue;
            };
            if !walk.path.is_empty() || walk.open.len() > 1 {
                walk.path.push('/');
            }
            match step {
                Step::Index(index) => walk.path.push_str(&index.to_string()),
                Step::Key(key) => {
                    let Some(text) = key.key_text() else { continue };
                    walk.path.push_str(&escape(&text));
                }
            }
            walk.visit(node, limits, look)?;
        }
        Ok(())
    }
}

enum Step<'d> {
    Index(usize),
    Key(Node<'d>),
}

/// A collection whose children are being visited.
struct Level<'d> {
    id: NodeId,
    /// Length of its path.
    path: usize,
    children: Box<dyn Iterator<Item = (Step<'d>, Node<'d>)> + 'd>,
}

struct Walk<'d> {
    /// Collections that are not entered: the ancestors, and without expansion all that were visited.
    seen: HashSet<NodeId>,
    open: Vec<Level<'d>>,
    path: String,
    visits: usize,
}

impl<'d> Walk<'d> {
    fn visit(
        &mut self,
        node: Node<'d>,
        limits: &Limits,
        look: &mut dyn FnMut(&str, Node<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.visits = self.visits.saturating_add(1);
        let allowed = node.document().limits().expanded;
        if self.visits > allowed {
            return Err(Error::limit("visited nodes of the tree", self.visits as u64, allowed as u64));
        }
        limits.allocate(self.path.len() as u64)?;
        let into = look(&self.path, node)?;
        let target = node.target();
        if !into || target.kind() == Kind::Scalar || target.is_empty() || !self.seen.insert(target.id()) {
            return Ok(());
        }
        let children: Box<dyn Iterator<Item = (Step<'d>, Node<'d>)> + 'd> = if target.kind() == Kind::Sequence
        {
            Box::new(target.items().enumerate().map(|(index, item)| (Step::Index(index), item)))
        } else {
            Box::new(target.pairs().into_iter().map(|(key, value)| (Step::Key(key), value)))
        };
        self.open.push(Level { id: target.id(), path: self.path.len(), children });
        Ok(())
    }
}
