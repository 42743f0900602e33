//! `core/ndarray`: where an array's elements are and what they mean (ASDF standard 1.6.0, core schemas, ndarray).

use container_core::Result;
use container_core::dtype::{ByteOrder, DType};

use crate::yaml::{Node, NodeId};

/// An array as the tree describes it. Nothing of it is checked against a block.
#[derive(Clone, Debug, PartialEq)]
pub struct NdArray {
    /// Its node in the tree.
    pub node: NodeId,
    /// Where its bytes are.
    pub source: ByteSource,
    /// Element type; `None` for inline data that do not name it: it follows from the items.
    pub datatype: Option<Datatype>,
    /// Length of each axis; the first is `None` for `*`. Of inline data without a shape, as the lists are nested.
    pub shape: Vec<Option<u64>>,
    /// Bytes from the start of the decoded block to the first element.
    pub offset: u64,
    /// Bytes from element to element along each axis; `None` for C order.
    pub strides: Option<Vec<i64>>,
    /// What is missing.
    pub mask: Option<Mask>,
}

/// Where an array's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByteSource {
    /// A block of the file by its number; negative ones count from the end.
    Block(i64),
    /// The first block of another file, by a URI.
    External(String),
    /// In the tree.
    Inline(NodeId),
}

/// An element type, as the tree spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Datatype {
    /// As everyone else spells it, in the array's byte order.
    pub dtype: DType,
    /// The array's byte order; little where the tree names none.
    pub byteorder: ByteOrder,
}

/// What is missing of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Mask {
    /// Elements equal to the number at that node; all NaN where it is NaN.
    Value(NodeId),
    /// Elements where that array is not zero.
    Array(Box<NdArray>),
}

impl NdArray {
    /// Reads the description at `node`: a mapping, or a bare list of inline data.
    ///
    /// # Errors
    /// `Malformed` for what is no array, with the range of its text; `Unsupported` for a datatype without a known meaning.
    pub fn parse(node: Node<'_>) -> Result<Self> {
        let _ = node;
        unimplemented!()
    }

    /// True where `tag` is that of an array, of any version.
    #[must_use]
    pub fn is_tag(tag: &str) -> bool {
        tag.starts_with("tag:stsci.edu:asdf/core/ndarray-")
    }
}
