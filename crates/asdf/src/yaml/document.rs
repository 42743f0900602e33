//! A parsed document: nodes in an arena, in the order of the text.

use std::ops::Range;

use container_core::{Limits, Result};

use super::Scalar;

/// Bounds on what a document may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlLimits {
    /// Most collections within one another.
    pub depth: usize,
    /// Most nodes.
    pub nodes: usize,
    /// Most bytes of text.
    pub bytes: u64,
    /// Most nodes that walks which follow aliases may visit.
    pub expanded: usize,
}

impl Default for YamlLimits {
    fn default() -> Self {
        Self { depth: 256, nodes: 50_000_000, bytes: 1 << 31, expanded: 100_000_000 }
    }
}

/// A node of a [`Document`], by its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// What a node is. An alias is its own node and says so by [`Node::is_alias`]; its kind is that of what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text, perhaps a number.
    Scalar,
    /// Nodes in order.
    Sequence,
    /// Pairs of nodes.
    Mapping,
}

/// How a scalar is written.
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

/// How a sequence or mapping is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collection {
    /// With brackets.
    Flow,
    /// By indentation.
    Block,
}

/// A document with its text. Cheap accessors; nothing is resolved before it is asked for.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
}

/// A node of a document. Everything but [`Node::id`], [`Node::is_alias`], [`Node::span`] and [`Node::anchor`] is answered by what an alias names.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    document: &'d Document,
    id: NodeId,
}

impl Document {
    /// Reads one document: directives, `---`, a node, perhaps `...`. `base` is the byte of the file at which the text begins, for errors.
    /// An empty document has a root of null.
    ///
    /// # Errors
    /// `Malformed` for what is no YAML, for text that is no UTF-8, a second document, an undefined alias or an anchor defined twice;
    /// `Limit`.
    pub fn parse(text: &[u8], base: u64, limits: &YamlLimits) -> Result<Self> {
        let _ = (text, base, limits);
        unimplemented!()
    }

    /// The text as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the file at which the text begins, as it was given.
    #[must_use]
    pub fn base(&self) -> u64 {
        unimplemented!()
    }

    /// The node that holds all others.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        unimplemented!()
    }

    /// The node of that place.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { document: self, id }
    }

    /// Number of nodes, aliases included.
    #[must_use]
    pub fn len(&self) -> usize {
        unimplemented!()
    }

    /// Never true: there is always a root.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The `%TAG` directives: handle with its marks (`!`, `!!`, `!name!`) and prefix. The default ones are not among them.
    #[must_use]
    pub fn tag_handles(&self) -> &[(String, String)] {
        unimplemented!()
    }

    /// The node at a path of the command's: keys and indices with slashes between, `~1` and `~0` for slash and tilde, no leading
    /// slash needed. Follows aliases and merge keys. The empty path is the root. Keys that are no text are named by their canonical text.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Node<'_>> {
        let _ = path;
        unimplemented!()
    }

    /// Visits every node with its path, in order, each collection once however many aliases name it, unless `expand` says to look again
    /// behind aliases (a cycle is cut all the same). `look` answers whether to go into a collection.
    ///
    /// # Errors
    /// Those of `look`, and `Limit` for [`YamlLimits::expanded`].
    pub fn walk(
        &self,
        expand: bool,
        limits: &Limits,
        look: &mut dyn FnMut(&str, Node<'_>) -> Result<bool>,
    ) -> Result<()> {
        let _ = (expand, limits, look);
        unimplemented!()
    }
}

impl<'d> Node<'d> {
    /// Its place in the arena.
    #[must_use]
    pub const fn id(self) -> NodeId {
        self.id
    }

    /// The document.
    #[must_use]
    pub const fn document(self) -> &'d Document {
        self.document
    }

    /// True where the text has `*name` here.
    #[must_use]
    pub fn is_alias(self) -> bool {
        unimplemented!()
    }

    /// What an alias names; else the node itself.
    #[must_use]
    pub fn target(self) -> Self {
        unimplemented!()
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        unimplemented!()
    }

    /// The whole tag, `tag:stsci.edu:asdf/core/ndarray-1.1.0`, handles replaced; `None` where none is written. `!` stays as it is.
    #[must_use]
    pub fn tag(self) -> Option<&'d str> {
        unimplemented!()
    }

    /// The name after `&`.
    #[must_use]
    pub fn anchor(self) -> Option<&'d str> {
        unimplemented!()
    }

    /// Its bytes in the text: anchor, tag and content, without comments or blanks around.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        unimplemented!()
    }

    /// Its bytes in the file: [`Node::span`], from [`Document::base`] on. What errors name.
    #[must_use]
    pub fn range(self) -> Range<u64> {
        let (base, span) = (self.document.base(), self.span());
        base.saturating_add(span.start as u64)..base.saturating_add(span.end as u64)
    }

    /// The bytes of its content alone, from the first mark of the content to its last.
    #[must_use]
    pub fn content_span(self) -> Range<usize> {
        unimplemented!()
    }

    /// The text of a scalar, after escapes and folding; empty for collections.
    #[must_use]
    pub fn text(self) -> &'d str {
        unimplemented!()
    }

    /// How a scalar is written; `None` for collections.
    #[must_use]
    pub fn scalar_style(self) -> Option<ScalarStyle> {
        unimplemented!()
    }

    /// How a collection is written; `None` for scalars.
    #[must_use]
    pub fn collection_style(self) -> Option<Collection> {
        unimplemented!()
    }

    /// A scalar's value: by its tag where that is one of YAML's own, text under any other tag, else by YAML 1.1's rules for plain scalars.
    /// `None` for collections.
    #[must_use]
    pub fn scalar(self) -> Option<Scalar<'d>> {
        unimplemented!()
    }

    /// Number of items or pairs as written.
    #[must_use]
    pub fn len(self) -> usize {
        unimplemented!()
    }

    /// True for an empty collection, and for scalars.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The items of a sequence; nothing for others.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'d>> + DoubleEndedIterator + 'd {
        std::iter::empty()
    }

    /// The pairs of a mapping as written: duplicates and `<<` among them.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'d>, Node<'d>)> + DoubleEndedIterator + 'd {
        std::iter::empty()
    }

    /// The pairs of a mapping as they count: of keys that are equal the last, merged ones where no own key stands.
    #[must_use]
    pub fn pairs(self) -> Vec<(Node<'d>, Node<'d>)> {
        unimplemented!()
    }

    /// The value of a text key, as it counts.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        let _ = key;
        unimplemented!()
    }

    /// The item at an index.
    #[must_use]
    pub fn item(self, index: usize) -> Option<Self> {
        self.items().nth(index)
    }
}
