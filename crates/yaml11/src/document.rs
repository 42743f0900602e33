//! A parsed document: nodes in an arena, in the order of the text.

use container_core::Result;

use super::mapping::Lookup;
use super::parse::arena::{Arena, NodeRecord};
use super::parse::compose::{check_text, compose};
use super::parse::{directives, fast_parser};
use super::{Node, Origin, mapping};

/// Bounds on the resources that a document may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlLimits {
    /// Maximum depth of collections.
    pub depth: usize,
    /// Maximum number of nodes.
    pub nodes: usize,
    /// Maximum number of bytes of text.
    pub bytes: u64,
    /// Maximum number of nodes that walks which follow aliases may visit.
    pub expanded: usize,
    /// Maximum number of pairs that merge keys (`<<`) make, those of each mapping that merges counted with all that it merges.
    pub merged: u64,
    /// Treatment of a mapping that has a key twice.
    pub duplicate_keys: DuplicateKeys,
}

impl Default for YamlLimits {
    fn default() -> Self {
        Self {
            depth: 256,
            nodes: 50_000_000,
            bytes: 1 << 31,
            expanded: 100_000_000,
            merged: 1 << 20,
            duplicate_keys: DuplicateKeys::LastWins,
        }
    }
}

/// Treatment of a mapping that has a key twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DuplicateKeys {
    /// The last one counts, as for PyYAML.
    #[default]
    LastWins,
    /// The document is refused.
    Refuse,
}

/// A node of a [`Document`], by its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The place: less than [`Document::len`] for the nodes of that document.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of a node. An alias is its own node, for which [`Node::is_alias`] is true; its kind is that of its anchored node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text, perhaps a number.
    Scalar,
    /// Nodes in order.
    Sequence,
    /// Pairs of nodes.
    Mapping,
}

/// Style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// Style of a sequence or mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collection {
    /// With brackets.
    Flow,
    /// By indentation.
    Block,
}

/// A document with its text. Accessors are cheap; scalars are resolved on access.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    origin: Origin,
    limits: YamlLimits,
    arena: Arena,
    handles: Vec<(String, String)>,
    lookup: Lookup,
}

impl Document {
    /// Reads one document: directives, `---`, a node, perhaps `...`. `base` is the byte of the file at which the text begins, for errors. An empty
    /// document has a root of null. Texts that PyYAML refuses are refused, except for directives of unknown names, which are ignored.
    ///
    /// # Errors
    /// `Malformed` for text that is not YAML or not UTF-8, for control characters, a second document, an undefined alias or an anchor defined twice,
    /// and under [`DuplicateKeys::Refuse`] for a duplicate key; `Unsupported` for a version of YAML other than 1.1 and 1.2 (which is read as 1.1);
    /// `Limit`.
    pub fn parse(text: &[u8], base: u64, limits: &YamlLimits) -> Result<Self> {
        Self::parse_from(Origin::new(base), text, limits)
    }

    /// As [`Document::parse`], with a name for the text in errors.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse_from(origin: Origin, text: &[u8], limits: &YamlLimits) -> Result<Self> {
        let text = check_text(text, origin, limits)?;
        let arena = match fast_parser::compose(text, origin, limits) {
            Some(arena) => arena,
            None => compose(text, origin, limits)?,
        };
        let handles = directives::tag_handles(text);
        let document = Self {
            text: text.to_owned(),
            origin,
            limits: *limits,
            arena,
            handles,
            lookup: Lookup::default(),
        };
        mapping::require_few_merged(&document)?;
        if limits.duplicate_keys == DuplicateKeys::Refuse {
            document.refuse_duplicate_keys()?;
        }
        Ok(document)
    }

    /// Checks that no mapping has a key twice: keys that Python's dictionaries take as equal, as `1` and `true` are. Merged pairs do not count, nor
    /// do merge keys.
    ///
    /// # Errors
    /// `Malformed` for the first one, at the second of the keys.
    pub fn refuse_duplicate_keys(&self) -> Result<()> {
        mapping::refuse_duplicate_keys(self)
    }

    /// The text as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the file at which the text begins.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.origin.base
    }

    /// The place of the text in its file.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// The limits it was read with, which apply to walks too.
    #[must_use]
    pub const fn limits(&self) -> &YamlLimits {
        &self.limits
    }

    /// The node that holds all others.
    #[must_use]
    pub const fn root(&self) -> Node<'_> {
        self.node(NodeId(0))
    }

    /// The node of that place. A place of another document gives some node of this one, or an empty scalar.
    #[must_use]
    pub const fn node(&self, id: NodeId) -> Node<'_> {
        Node::new(self, id)
    }

    /// The nodes in the order of the arena, aliases included.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.len()).filter_map(|at| u32::try_from(at).ok()).map(|at| Node::new(self, NodeId(at)))
    }

    /// Number of nodes, aliases included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.arena.items.len()
    }

    /// Never true: there is always a root.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The `%TAG` directives: handle with its marks (`!`, `!!`, `!name!`) and prefix. The default ones are not among them.
    #[must_use]
    pub fn tag_handles(&self) -> &[(String, String)] {
        &self.handles
    }

    pub(super) const fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// The columns by which sequences in mappings are indented, computed by `find` on first use.
    pub(crate) fn sequence_step(&self, find: impl FnOnce() -> usize) -> usize {
        self.lookup.sequence_step(find)
    }

    /// The aliases of anchors that begin within a range of the text: the anchored node, and the alias.
    pub(crate) fn aliases_of(
        &self,
        range: &std::ops::Range<usize>,
    ) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
        self.lookup.aliases_of(self, range)
    }

    pub(super) const fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Nodes that were looked up since the document was read.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.lookup.steps.load(std::sync::atomic::Ordering::Relaxed)
    }

    pub(super) fn item(&self, id: NodeId) -> NodeRecord {
        #[cfg(test)]
        self.lookup.steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.arena.items.get(id.0 as usize).copied().unwrap_or(NodeRecord::NOTHING)
    }
}
