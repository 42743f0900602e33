//! `core/ndarray`: position and meaning of an array's elements (ASDF standard 1.6.0, core schemas, ndarray).

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::{Error, Result};

use crate::yaml::{Document, Int, Kind, Node, NodeId, Scalar};

pub mod complex;
mod datatype;
pub(crate) mod geometry;
pub(crate) mod inline;

pub use datatype::Datatype;
pub use geometry::Geometry;

/// An array as the tree describes it, not yet checked against a block.
#[derive(Clone, Debug, PartialEq)]
pub struct NdArray {
    /// Its node in the tree.
    pub node: NodeId,
    /// Location of its bytes.
    pub source: ByteSource,
    /// Element type; `None` for inline data without one: it follows from the items.
    pub datatype: Option<Datatype>,
    /// Length of each axis; the first is `None` for `*`. For inline data without a shape, from the nesting of the lists.
    pub shape: Vec<Option<u64>>,
    /// Bytes from the start of the decoded block to the first element.
    pub offset: u64,
    /// Bytes from element to element along each axis; `None` for C order.
    pub strides: Option<Vec<i64>>,
    /// Mask: the elements that are missing.
    pub mask: Option<Mask>,
}

/// Location of an array's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByteSource {
    /// A block of the file by its number; negative ones count from the end.
    Block(i64),
    /// The first block of another file, by a URI.
    External(String),
    /// In the tree.
    Inline(NodeId),
}

/// Mask of an array: its missing elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Mask {
    /// Elements equal to the number at that node; all NaN where it is NaN. A node that is not a number is a fault, and an error when the mask is
    /// read.
    Value(NodeId),
    /// Elements where that array is not zero.
    Array(Box<NdArray>),
}

/// Maximum depth of masks of masks.
const MAX_MASKS: usize = 8;

impl NdArray {
    /// Reads the description at `node`: a mapping, or a bare list of inline data.
    ///
    /// # Errors
    /// `Malformed` for a node that is not an array, with the range of its text; `Unsupported` for an unknown datatype.
    pub fn parse(node: Node<'_>) -> Result<Self> {
        Self::nested(node, 0)
    }

    /// True where `tag` is that of an array of a known version. Other versions are tags like any unknown one (ASDF standard 1.6.0, tree, "Tags").
    #[must_use]
    pub fn is_tag(tag: &str) -> bool {
        let version = tag.strip_prefix("tag:stsci.edu:asdf/core/ndarray-");
        matches!(version, Some("1.0.0" | "1.1.0" | "1.2.0"))
    }

    /// The mask where it is a value that is not a number, such as text. Complex numbers are text that spells one. `document` is the tree that
    /// contains the mask.
    pub(crate) fn wrong_mask<'d>(&self, document: &'d Document) -> Option<Node<'d>> {
        let Some(Mask::Value(node)) = &self.mask else { return None };
        let node = document.node(*node);
        let is_number = match node.scalar() {
            Some(Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_)) => true,
            Some(Scalar::Text(text)) => complex::parse(text).is_some(),
            _ => false,
        };
        (!is_number).then_some(node)
    }

    fn nested(node: Node<'_>, depth: usize) -> Result<Self> {
        let node = node.target();
        match node.kind() {
            Kind::Sequence => Self::of_data(node, node, None, None, depth),
            Kind::Mapping => Self::of_mapping(node, depth),
            Kind::Scalar => Err(malformed(node, "not an array (expected a mapping or a list)")),
        }
    }

    fn of_mapping(node: Node<'_>, depth: usize) -> Result<Self> {
        let order = node.get("byteorder").map(datatype::byteorder).transpose()?;
        let datatype = node
            .get("datatype")
            .map(|datatype| Datatype::parse(datatype, order.unwrap_or(ByteOrder::Little)))
            .transpose()?;
        let source = match (node.get("source"), node.get("data")) {
            (Some(_), Some(_)) => return Err(malformed(node, "an array has both source and data")),
            (None, None) => return Err(malformed(node, "an array has neither source nor data")),
            (None, Some(data)) => return Self::of_data(node, data, datatype, node.get("mask"), depth),
            (Some(source), None) => byte_source(source)?,
        };
        let Some(datatype) = datatype else {
            return Err(malformed(node, "an array with a source needs a datatype"));
        };
        // The byte order of the numbers is unknown then, and a guess may be wrong.
        let orderless =
            [ByteOrder::Little, ByteOrder::Big].iter().all(|order| datatype.dtype.is_in_order(*order));
        if order.is_none() && !orderless && !fields_have_orders(node.get("datatype")) {
            return Err(malformed(node, "an array with a source needs a byteorder"));
        }
        let shape =
            node.get("shape").ok_or_else(|| malformed(node, "an array with a source needs a shape"))?;
        let shape = axes(shape)?;
        let offset = node.get("offset").map_or(Ok(0), count)?;
        let strides = node.get("strides").map(|strides| steps(strides, shape.len())).transpose()?;
        let mask = node.get("mask").map_or(Ok(None), |mask| self::mask(mask, depth))?;
        Ok(Self { node: node.id(), source, datatype: Some(datatype), shape, offset, strides, mask })
    }

    fn of_data(
        node: Node<'_>,
        data: Node<'_>,
        datatype: Option<Datatype>,
        mask: Option<Node<'_>>,
        depth: usize,
    ) -> Result<Self> {
        let shape = (node.id() != data.id()).then(|| node.get("shape")).flatten();
        let axes_stated = shape.filter(|shape| shape.kind() == Kind::Sequence).map(Node::len);
        let mut found = inline::shape(data, datatype.as_ref().map(|datatype| &datatype.dtype), axes_stated)?;
        if let Some(shape) = shape {
            let stated = axes(shape)?;
            // Lists without items do not have the axes after that one: Python asdf writes shape (0, 3) as an empty list.
            if found.last() == Some(&0) && stated.len() > found.len() {
                found.extend(stated.iter().skip(found.len()).map(|axis| axis.unwrap_or(0)));
            }
            let fits = |(have, want): (&u64, &Option<u64>)| want.is_none_or(|want| want == *have);
            if stated.len() != found.len() || !found.iter().zip(&stated).all(fits) {
                let problem = format!("the data are nested as {found:?}, which does not match their shape");
                return Err(malformed(shape, problem));
            }
        }
        Ok(Self {
            node: node.id(),
            source: ByteSource::Inline(data.target().id()),
            datatype,
            shape: found.into_iter().map(Some).collect(),
            offset: 0,
            strides: None,
            mask: mask.map_or(Ok(None), |mask| self::mask(mask, depth))?,
        })
    }
}

fn byte_source(node: Node<'_>) -> Result<ByteSource> {
    match node.scalar() {
        Some(Scalar::Int(Int::Small(number))) => {
            let number = i64::try_from(number)
                .map_err(|_| malformed(node, "the number of a block is out of range"))?;
            Ok(ByteSource::Block(number))
        }
        Some(Scalar::Text(uri)) => Ok(ByteSource::External(uri.to_owned())),
        _ => Err(malformed(node, "invalid source (expected the number of a block, or a URI)")),
    }
}

fn mask(node: Node<'_>, depth: usize) -> Result<Option<Mask>> {
    if node.kind() != Kind::Scalar {
        // The tag makes an array, as everywhere in a tree; an invalid mask is refused when it is read.
        if !node.target().tag().is_some_and(NdArray::is_tag) {
            return Ok(Some(Mask::Value(node.target().id())));
        }
        if depth >= MAX_MASKS {
            return Err(malformed(node, format!("masks of masks (expected at most {MAX_MASKS} in a row)")));
        }
        return NdArray::nested(node, depth.saturating_add(1))
            .map(|array| Some(Mask::Array(Box::new(array))));
    }
    match node.scalar() {
        Some(Scalar::Null) => Ok(None),
        _ => Ok(Some(Mask::Value(node.target().id()))),
    }
}

/// Whether every number of a record has a byte order of its own.
fn fields_have_orders(datatype: Option<Node<'_>>) -> bool {
    datatype.is_some_and(|list| {
        list.kind() == Kind::Sequence && list.items().all(|field| field.get("byteorder").is_some())
    })
}

fn axes(node: Node<'_>) -> Result<Vec<Option<u64>>> {
    if node.kind() != Kind::Sequence {
        return Err(malformed(node, "invalid shape (expected a list)"));
    }
    let axis = |(at, item): (usize, Node<'_>)| match item.scalar() {
        Some(Scalar::Text("*")) if at == 0 => Ok(None),
        _ => count(item).map(Some),
    };
    node.items().enumerate().map(axis).collect()
}

fn steps(node: Node<'_>, axes: usize) -> Result<Vec<i64>> {
    if node.kind() != Kind::Sequence || node.len() != axes {
        return Err(malformed(
            node,
            format!("invalid strides (expected a list with one for each of {axes} axes)"),
        ));
    }
    let step = |item: Node<'_>| match item.scalar() {
        Some(Scalar::Int(Int::Small(number))) => {
            i64::try_from(number).map_err(|_| malformed(item, "a stride past 2^63"))
        }
        _ => Err(malformed(item, "invalid stride (expected a whole number)")),
    };
    node.items().map(step).collect()
}

/// A whole number from 0 on.
pub(crate) fn count(node: Node<'_>) -> Result<u64> {
    match node.scalar() {
        Some(Scalar::Int(Int::Small(number))) => {
            u64::try_from(number).map_err(|_| malformed(node, "a number below 0 or past 2^64"))
        }
        _ => Err(malformed(node, "not a whole number")),
    }
}

/// `Malformed`, at the text of `node`.
pub(crate) fn malformed(node: Node<'_>, problem: impl Into<String>) -> Error {
    Error::malformed(problem.into()).with_context("asdf ndarray").with_range(place(node))
}

/// The bytes of the file that `node` is written in.
pub(crate) fn place(node: Node<'_>) -> Range<u64> {
    node.range()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
