//! Arena of the nodes of a document: 32 bytes each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use container_core::{Error, Result};

use crate::Origin;
use crate::{Collection, ScalarStyle, YamlLimits};

/// Kind and style of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A scalar whose text is a range of the document's text.
    InText(ScalarStyle),
    /// A scalar whose text is stored apart: escapes, folded lines, removed indentation.
    Made(ScalarStyle),
    Sequence(Collection),
    Mapping(Collection),
    Alias,
}

/// A node. Ranges are of the document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeRecord {
    /// First byte of anchor, tag or content.
    pub(crate) head: u32,
    /// First byte of the content.
    pub(crate) start: u32,
    /// Byte after the content.
    pub(crate) end: u32,
    /// Scalar: first byte of its text. Collection: first of its children in the list of them. Alias: its anchored node.
    pub(crate) first: u32,
    /// Scalar: length of its text. Collection: number of children, which are keys and values by turns in mappings.
    pub(crate) count: u32,
    /// Place of its tag among the tags plus one; 0 for none.
    pub(crate) tag: u32,
    /// Place of its anchor among the anchors plus one; 0 for none.
    pub(crate) anchor: u32,
    pub(crate) shape: Shape,
}

impl NodeRecord {
    /// Placeholder for a node that does not exist.
    pub(crate) const NOTHING: Self = Self {
        head: 0,
        start: 0,
        end: 0,
        first: 0,
        count: 0,
        tag: 0,
        anchor: 0,
        shape: Shape::InText(ScalarStyle::Plain),
    };
}

/// The nodes of a document and their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arena {
    pub(crate) items: Vec<NodeRecord>,
    pub(crate) children: Vec<u32>,
    /// Texts of the scalars that are not a range of the document's text.
    pub(crate) made: String,
    pub(crate) tags: Vec<Box<str>>,
    /// Names of anchors, without the mark.
    pub(crate) anchors: Vec<Range<u32>>,
}

/// Fills an arena in the order of the text.
pub(crate) struct Builder<'t> {
    pub(crate) arena: Arena,
    pub(crate) text: &'t str,
    origin: Origin,
    depth: usize,
    nodes: usize,
    tags: HashMap<Box<str>, u32>,
    names: HashMap<&'t str, u32>,
    /// Collections not yet closed: the node, and the number of pending children before it.
    open: Vec<(u32, usize)>,
    pending: Vec<u32>,
}

/// A size or place in the text, which is shorter than 4 GiB.
pub(crate) fn to_u32(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'t> Builder<'t> {
    pub(crate) fn new(text: &'t str, origin: Origin, limits: &YamlLimits) -> Self {
        Self {
            arena: Arena::default(),
            text,
            origin,
            depth: limits.depth,
            nodes: limits.nodes.min(u32::MAX as usize),
            tags: HashMap::new(),
            names: HashMap::new(),
            open: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// True when all collections are closed and there is a root.
    pub(crate) fn is_complete(&self) -> bool {
        self.open.is_empty() && !self.arena.items.is_empty()
    }

    /// The innermost open collection.
    pub(crate) fn parent(&self) -> Option<Shape> {
        let (item, _) = self.open.last()?;
        Some(self.arena.items.get(*item as usize)?.shape)
    }

    /// True where the next child of the innermost open collection is a key, if that is a mapping.
    pub(crate) fn is_key(&self) -> bool {
        let before = self.open.last().map_or(0, |(_, pending)| *pending);
        self.pending.len().saturating_sub(before).is_multiple_of(2)
    }

    /// Adds a node to the innermost open collection.
    fn push(&mut self, shape: Shape, head: usize, content: Range<usize>, tag: u32) -> Result<u32> {
        let id = self.arena.items.len();
        if id >= self.nodes {
            return Err(Error::limit("nodes of the tree", (id as u64).saturating_add(1), self.nodes as u64));
        }
        self.arena.items.push(NodeRecord {
            head: to_u32(head),
            start: to_u32(content.start),
            end: to_u32(content.end),
            first: 0,
            count: 0,
            tag,
            anchor: 0,
            shape,
        });
        let id = to_u32(id);
        self.pending.push(id);
        Ok(id)
    }

    /// A scalar whose text is the bytes `value` of the text.
    pub(crate) fn scalar_in_text(
        &mut self,
        style: ScalarStyle,
        head: usize,
        content: Range<usize>,
        value: Range<usize>,
        tag: u32,
    ) -> Result<()> {
        self.push(Shape::InText(style), head, content, tag)?;
        self.set_range(to_u32(value.start), to_u32(value.len()));
        Ok(())
    }

    /// A scalar with a text that the document does not contain as it is.
    pub(crate) fn scalar_made(
        &mut self,
        style: ScalarStyle,
        head: usize,
        content: Range<usize>,
        value: &str,
        tag: u32,
    ) -> Result<()> {
        self.push(Shape::Made(style), head, content, tag)?;
        let first = to_u32(self.arena.made.len());
        self.arena.made.push_str(value);
        self.set_range(first, to_u32(value.len()));
        Ok(())
    }

    fn set_range(&mut self, first: u32, count: u32) {
        if let Some(item) = self.arena.items.last_mut() {
            (item.first, item.count) = (first, count);
        }
    }

    /// A collection begins.
    pub(crate) fn open(&mut self, shape: Shape, head: usize, start: usize, tag: u32) -> Result<()> {
        let depth = self.open.len().saturating_add(1);
        if depth > self.depth {
            return Err(Error::limit("depth of the tree", depth as u64, self.depth as u64)
                .with_range(self.origin.bytes(&(start..start.saturating_add(1)))));
        }
        let id = self.push(shape, head, start..start, tag)?;
        self.open.push((id, self.pending.len()));
        Ok(())
    }

    /// Ends the innermost collection, at byte `end` of the text or, for `None`, with its last child. Returns the end.
    pub(crate) fn close(&mut self, end: Option<usize>) -> usize {
        let Some((id, pending)) = self.open.pop() else { return 0 };
        let arena = &mut self.arena;
        let first = to_u32(arena.children.len());
        let own = self.pending.get(pending..).unwrap_or_default();
        let child = |id: Option<&u32>| arena.items.get(*id? as usize).copied();
        let (first_child, last_child) = (child(own.first()), child(own.last()));
        arena.children.extend_from_slice(own);
        let count = to_u32(own.len());
        self.pending.truncate(pending);
        let Some(item) = arena.items.get_mut(id as usize) else { return 0 };
        (item.first, item.count) = (first, count);
        item.end =
            end.map_or_else(|| last_child.map_or(item.start, |child| child.end), to_u32).max(item.start);
        if end.is_none()
            && let Some(child) = first_child
        {
            // A key with an anchor or tag of its own begins before its own content.
            item.start = item.start.min(child.head);
            item.head = item.head.min(item.start);
        }
        item.end as usize
    }

    /// `*name` at these bytes.
    pub(crate) fn alias(&mut self, range: Range<usize>) -> Result<()> {
        let name = self.name(&range)?;
        let Some(&target) = self.names.get(name) else {
            return Err(
                self.malformed(format!("unknown alias *{name} (expected an anchor before it)"), &range)
            );
        };
        self.push(Shape::Alias, range.start, range, 0)?;
        self.set_range(target, 0);
        Ok(())
    }

    /// `&name` at these bytes, which belongs to the last node.
    pub(crate) fn anchor(&mut self, range: Range<usize>) -> Result<()> {
        let name = self.name(&range)?;
        let id = to_u32(self.arena.items.len()).saturating_sub(1);
        match self.names.entry(name) {
            Entry::Occupied(_) => {
                return Err(self.malformed(format!("duplicate anchor &{name}"), &range));
            }
            Entry::Vacant(vacant) => vacant.insert(id),
        };
        self.arena.anchors.push(to_u32(range.start).saturating_add(1)..to_u32(range.end));
        let anchor = to_u32(self.arena.anchors.len());
        if let Some(item) = self.arena.items.last_mut() {
            item.anchor = anchor;
            item.head = item.head.min(to_u32(range.start));
            if item.start == item.end && matches!(item.shape, Shape::InText(_)) {
                // A node without text comes after its anchor, and with no tag begins there.
                if item.tag == 0 {
                    item.head = to_u32(range.start);
                }
                item.start = item.start.max(to_u32(range.end));
                item.end = item.start;
                item.first = item.start;
            }
        }
        Ok(())
    }

    /// The name after `&` or `*`. YAML 1.1 as libyaml reads it has letters, digits, `-` and `_` in names; with others, as `*a:`, the versions of YAML
    /// differ in where the name ends.
    fn name(&self, range: &Range<usize>) -> Result<&'t str> {
        let name = self.text.get(range.start.saturating_add(1)..range.end).unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(self.malformed(
                format!("invalid anchor {name:?} (expected letters, digits, `-` and `_`)"),
                range,
            ));
        }
        Ok(name)
    }

    /// The number of a tag, for use with a node.
    pub(crate) fn tag(&mut self, tag: &str) -> u32 {
        if let Some(id) = self.tags.get(tag) {
            return *id;
        }
        self.arena.tags.push(tag.into());
        let id = to_u32(self.arena.tags.len());
        self.tags.insert(tag.into(), id);
        id
    }

    fn malformed(&self, what: String, range: &Range<usize>) -> Error {
        self.origin.malformed(range, what)
    }

    /// The filled arena. The root has no parent, so it is still pending.
    pub(crate) fn finish(mut self) -> Arena {
        self.arena.items.shrink_to_fit();
        self.arena.children.shrink_to_fit();
        self.arena
    }
}
