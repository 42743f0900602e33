//! A node of a document, with its accessors.

use std::ops::Range;

use super::mapping::LookupResult;
use super::parse::arena::{NodeRecord, Shape};
use super::{
    Collection, Document, Kind, NodeId, Scalar, ScalarStyle, YAML_TAG_PREFIX, mapping, resolve,
    resolve_tagged,
};

/// A node of a document. For an alias, all methods but [`Node::id`], [`Node::is_alias`], [`Node::span`] and [`Node::anchor`] refer to its anchored
/// node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    document: &'d Document,
    id: NodeId,
}

impl<'d> Node<'d> {
    pub(super) const fn new(document: &'d Document, id: NodeId) -> Self {
        Self { document, id }
    }

    fn own(self) -> NodeRecord {
        self.document.item(self.id)
    }

    fn item_of_target(self) -> NodeRecord {
        self.target().own()
    }

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
        self.own().shape == Shape::Alias
    }

    /// Returns the node that an alias names; else the node itself.
    #[must_use]
    pub fn target(self) -> Self {
        let own = self.own();
        // Aliases name nodes with anchors, and an alias has none.
        if own.shape == Shape::Alias { Self { id: NodeId(own.first), ..self } } else { self }
    }

    /// Returns the kind of the node.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.item_of_target().shape {
            Shape::Sequence(_) => Kind::Sequence,
            Shape::Mapping(_) => Kind::Mapping,
            _ => Kind::Scalar,
        }
    }

    /// The whole tag, `tag:example.org,2026:camera`, handles replaced; `None` without a tag. `!` stays as it is.
    #[must_use]
    pub fn tag(self) -> Option<&'d str> {
        let place = self.item_of_target().tag.checked_sub(1)?;
        self.document.arena().tags.get(place as usize).map(|tag| &**tag)
    }

    /// The name after `&`.
    #[must_use]
    pub fn anchor(self) -> Option<&'d str> {
        let place = self.own().anchor.checked_sub(1)?;
        let range = self.document.arena().anchors.get(place as usize)?;
        self.document.text().get(range.start as usize..range.end as usize)
    }

    /// Its bytes in the text: anchor, tag and content, without comments or blanks around.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        let own = self.own();
        own.head as usize..own.end as usize
    }

    /// Its bytes in the file, for errors: [`Node::span`], from [`Document::base`] on.
    #[must_use]
    pub fn range(self) -> Range<u64> {
        self.document.origin().bytes(&self.span())
    }

    /// The bytes of its content alone, from the first mark of the content to its last.
    #[must_use]
    pub fn content_span(self) -> Range<usize> {
        let item = self.item_of_target();
        item.start as usize..item.end as usize
    }

    /// The text of a scalar, after escapes and folding; empty for collections.
    #[must_use]
    pub fn text(self) -> &'d str {
        self.text_of(self.item_of_target())
    }

    fn text_of(self, item: NodeRecord) -> &'d str {
        let range = item.first as usize..(item.first as usize).saturating_add(item.count as usize);
        match item.shape {
            Shape::InText(_) => self.document.text().get(range),
            Shape::Made(_) => self.document.arena().made.get(range),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Returns the style of a scalar; `None` for collections.
    #[must_use]
    pub fn scalar_style(self) -> Option<ScalarStyle> {
        match self.item_of_target().shape {
            Shape::InText(style) | Shape::Made(style) => Some(style),
            _ => None,
        }
    }

    /// Returns the style of a collection; `None` for scalars.
    #[must_use]
    pub fn collection_style(self) -> Option<Collection> {
        match self.item_of_target().shape {
            Shape::Sequence(style) | Shape::Mapping(style) => Some(style),
            _ => None,
        }
    }

    /// A scalar's value: by its tag where that is one of YAML's own, text under any other tag, else by YAML 1.1's rules for plain scalars.
    /// `None` for collections.
    #[must_use]
    pub fn scalar(self) -> Option<Scalar<'d>> {
        let item = self.item_of_target();
        let (Shape::InText(style) | Shape::Made(style)) = item.shape else { return None };
        let text = self.text_of(item);
        let tag = if item.tag == 0 { None } else { self.tag() };
        Some(match tag {
            None if style == ScalarStyle::Plain => resolve(text),
            None => Scalar::Text(text),
            // libyaml takes `!` as no tag, and then reads even a text in quotes as plain; without text after it, it is not null, though.
            Some("!") if text.is_empty() && style == ScalarStyle::Plain => Scalar::Text(text),
            Some("!") => resolve(text),
            Some(tag) => tag
                .strip_prefix(YAML_TAG_PREFIX)
                .map_or(Scalar::Text(text), |name| resolve_tagged(name, text)),
        })
    }

    /// Number of items or pairs as written.
    #[must_use]
    pub fn len(self) -> usize {
        let item = self.item_of_target();
        match item.shape {
            Shape::Sequence(_) => item.count as usize,
            Shape::Mapping(_) => (item.count / 2) as usize,
            _ => 0,
        }
    }

    /// True for an empty collection, and for scalars.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The items of a sequence; empty for others.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'d>> + DoubleEndedIterator + 'd {
        let children = if self.kind() == Kind::Sequence { self.children() } else { &[] };
        let document = self.document;
        children.iter().map(move |id| Self { document, id: NodeId(*id) })
    }

    /// The pairs of a mapping as written: duplicates and `<<` among them.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'d>, Node<'d>)> + DoubleEndedIterator + 'd {
        let children = if self.kind() == Kind::Mapping { self.children() } else { &[] };
        let document = self.document;
        let (pairs, _) = children.as_chunks::<2>();
        let node = move |id: u32| Self { document, id: NodeId(id) };
        pairs.iter().map(move |[key, value]| (node(*key), node(*value)))
    }

    fn children(self) -> &'d [u32] {
        let item = self.item_of_target();
        match item.shape {
            Shape::Sequence(_) | Shape::Mapping(_) => {
                let first = item.first as usize;
                let children = &self.document.arena().children;
                children.get(first..first.saturating_add(item.count as usize)).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The effective pairs of a mapping: of equal keys the last, and merged ones for keys that the mapping does not have itself.
    #[must_use]
    pub fn pairs(self) -> Vec<(Node<'d>, Node<'d>)> {
        mapping::effective_pairs(self)
    }

    /// The value of a text key, as it counts.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        mapping::find(self, key)
    }

    /// The item at an index.
    #[must_use]
    pub fn item(self, index: usize) -> Option<Self> {
        let children = if self.kind() == Kind::Sequence { self.children() } else { &[] };
        children.get(index).map(|id| Self { document: self.document, id: NodeId(*id) })
    }

    /// The pair at an index, as written.
    pub(crate) fn entry(self, index: usize) -> Option<(Self, Self)> {
        let children = if self.kind() == Kind::Mapping { self.children() } else { &[] };
        let (pairs, _) = children.as_chunks::<2>();
        let node = |id: u32| Self { document: self.document, id: NodeId(id) };
        pairs.get(index).map(|[key, value]| (node(*key), node(*value)))
    }

    /// The last pair that has a text as key, without merged ones, if a table of the keys exists.
    pub(crate) fn lookup_pair(self, key: &str) -> LookupResult {
        self.document.lookup().keys(self).map_or(LookupResult::Unclear, |keys| keys.find(self, key))
    }
}
