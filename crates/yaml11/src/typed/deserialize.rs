//! A serde `Deserializer` for nodes.
//!
//! Recursion is serde's own; it is bounded by the depth and by the number of visited nodes, through aliases too.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use container_core::Error;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};

use crate::{Document, Int, Kind, Node, Scalar};

/// The value of a node as a type of the caller's.
pub(crate) fn get<T: DeserializeOwned>(node: Node<'_>) -> container_core::Result<T> {
    let limits = node.document().limits();
    let budget = Budget { start: node, allowed: node.document().max_expanded_nodes(), visited: Cell::new(0) };
    let value = Value { node, depth: limits.depth, budget: &budget };
    T::deserialize(value).map_err(|failure| failure.into_error(node))
}

/// The reason for a missing value, with the bytes of the file if they are known.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    range: Option<Range<u64>>,
    limit: Option<(&'static str, usize)>,
}

impl Failure {
    fn limit(what: &'static str, allowed: usize) -> Self {
        Self { message: what.to_owned(), range: None, limit: Some((what, allowed)) }
    }

    fn at(mut self, node: Node<'_>) -> Self {
        self.range.get_or_insert_with(|| node.range());
        self
    }

    fn into_error(self, node: Node<'_>) -> Error {
        let error = match self.limit {
            Some((what, allowed)) => Error::limit(what, (allowed as u64).saturating_add(1), allowed as u64),
            None => Error::malformed(self.message),
        };
        node.document().origin().named(error.with_range(self.range.unwrap_or_else(|| node.range())))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), range: None, limit: None }
    }
}

/// The nodes that may be visited.
struct Budget<'d> {
    start: Node<'d>,
    allowed: usize,
    visited: Cell<usize>,
}

impl Budget<'_> {
    /// Nodes after which all of the value's nodes are counted ahead. For fewer, the count would take longer than the visits.
    const MIN_COUNTED_NODES: usize = 10_000;

    /// Counts a node. False beyond the limit, and as soon as the total is known to exceed it.
    fn take(&self) -> bool {
        let visited = self.visited.get().saturating_add(1);
        self.visited.set(visited);
        let is_too_much = || expanded_len(self.start) > self.allowed as u64;
        visited <= self.allowed && (visited != Self::MIN_COUNTED_NODES || !is_too_much())
    }
}

#[derive(Clone, Copy)]
struct Value<'d, 'b> {
    node: Node<'d>,
    /// Collections that may still be gone into.
    depth: usize,
    budget: &'b Budget<'d>,
}

impl<'d, 'b> Value<'d, 'b> {
    /// The value of a node within this one.
    fn inner(self, node: Node<'d>) -> Value<'d, 'b> {
        Value { node, depth: self.depth.saturating_sub(1), ..self }
    }

    /// Counts the node.
    fn visit(self) -> Result<(), Failure> {
        let document = self.node.document();
        if self.node.kind() != Kind::Scalar && self.depth == 0 {
            return Err(
                Failure::limit("depth of the tree, aliases followed,", document.limits().depth).at(self.node)
            );
        }
        if !self.budget.take() {
            return Err(Failure::limit("visited nodes of the tree", self.budget.allowed).at(self.node));
        }
        Ok(())
    }

    fn sequence<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        let mut items = SeqDeserializer::new(self.node.items().map(|node| self.inner(node)));
        let value = visitor.visit_seq(&mut items)?;
        items.end()?;
        Ok(value)
    }

    fn mapping<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        let pairs = self.node.pairs().into_iter();
        let mut pairs = MapDeserializer::new(pairs.map(|(key, value)| (self.inner(key), self.inner(value))));
        let value = visitor.visit_map(&mut pairs)?;
        pairs.end()?;
        Ok(value)
    }

    fn any<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.node.kind() {
            Kind::Sequence => return self.sequence(visitor),
            Kind::Mapping => return self.mapping(visitor),
            Kind::Scalar => {}
        }
        match self.node.scalar().unwrap_or(Scalar::Null) {
            Scalar::Null => visitor.visit_unit(),
            Scalar::Bool(value) => visitor.visit_bool(value),
            Scalar::Int(Int::Small(value)) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                _ => visitor.visit_string(value.to_string()),
            },
            Scalar::Int(Int::Big(digits)) => visitor.visit_string(digits),
            Scalar::Float(value) => visitor.visit_f64(value),
            Scalar::Text(text) => visitor.visit_borrowed_str(text),
            Scalar::Binary(bytes) => visitor.visit_byte_buf(bytes),
            Scalar::Timestamp(_) | Scalar::Merge | Scalar::Default => {
                visitor.visit_borrowed_str(self.node.text())
            }
        }
    }

    /// The wide integer, for visitors that ask for one.
    fn wide(self) -> Option<i128> {
        match self.node.scalar()? {
            Scalar::Int(Int::Small(value)) => Some(value),
            _ => None,
        }
    }
}

impl<'d> IntoDeserializer<'d, Failure> for Value<'d, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! as_any {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
            self.deserialize_any(visitor)
        })*
    };
}

impl<'d> de::Deserializer<'d> for Value<'d, '_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit()?;
        self.any(visitor).map_err(|failure| failure.at(self.node))
    }

    fn deserialize_i128<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.wide() {
            Some(value) => visitor.visit_i128(value).map_err(|failure: Failure| failure.at(self.node)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.wide().and_then(|value| u128::try_from(value).ok()) {
            Some(value) => visitor.visit_u128(value).map_err(|failure: Failure| failure.at(self.node)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.node.scalar() {
            Some(Scalar::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|failure: Failure| failure.at(self.node))
    }

    fn deserialize_newtype_struct<V: Visitor<'d>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    /// A variant without fields is its name; one with fields a mapping from its name to them.
    fn deserialize_enum<V: Visitor<'d>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.visit()?;
        let value = match self.node.kind() {
            Kind::Scalar => visitor.visit_enum(self.node.text().into_deserializer()),
            Kind::Mapping => {
                let pairs = self.node.pairs().into_iter();
                let pairs = pairs.map(|(key, value)| (self.inner(key), self.inner(value)));
                visitor.visit_enum(de::value::MapAccessDeserializer::new(MapDeserializer::new(pairs)))
            }
            Kind::Sequence => Err(de::Error::invalid_type(de::Unexpected::Seq, &visitor)),
        };
        value.map_err(|failure| failure.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    as_any! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_seq deserialize_map deserialize_identifier
    }

    fn deserialize_unit_struct<V: Visitor<'d>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'d>>(self, _len: usize, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'d>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'d>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }
}

/// A collection of which some nodes are counted.
struct Counted<'d> {
    node: Node<'d>,
    next: usize,
    count: u64,
}

/// The nodes at and below `node`, where each alias counts as all of its target; [`u64::MAX`] for more. An alias of an ancestor counts as one node:
/// following it ends at the depth. A merged mapping counts once.
///
/// Takes one step for each node of the document, however many the result is.
fn expanded_len(node: Node<'_>) -> u64 {
    let document = node.document();
    // By the place in the arena; 0 for nodes not yet counted.
    let mut known = vec![0_u64; document.len()];
    let mut open = vec![Counted { node: document.root(), next: 0, count: 1 }];
    while let Some(last) = open.last_mut() {
        if let Some(child) = child(last.node, last.next) {
            last.next = last.next.saturating_add(1);
            if child.is_alias() || child.kind() == Kind::Scalar {
                let count = count_of(&known, child.target()).max(1);
                last.count = last.count.saturating_add(count);
            } else {
                open.push(Counted { node: child, next: 0, count: 1 });
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
    count_of(&known, node.target())
}

fn count_of(known: &[u64], node: Node<'_>) -> u64 {
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
