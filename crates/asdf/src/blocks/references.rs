//! Block references: the nodes of a tree with a `source`, and the blocks that these name.

use container_core::{Error, Limits, Result};

use crate::ndarray::NdArray;
use crate::yaml::{Document, Int, Kind, NodeId, Scalar};

/// Value of the key `source` of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceValue {
    /// A block of the file, as the tree counts: negative numbers from the end.
    Block(i64),
    /// The first block of another file.
    Uri(String),
}

/// An array with a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockReference {
    /// The path of the array.
    pub(crate) path: String,
    /// The node of the array.
    pub(crate) node: NodeId,
    /// The node of the value of `source`.
    pub(crate) source: NodeId,
    /// The parsed value of `source`.
    pub(crate) named: SourceValue,
}

impl BlockReference {
    /// The block in a file of `count` blocks; `None` for a block of another file, or an absent one.
    pub(crate) fn block(&self, count: usize) -> Option<usize> {
        match self.named {
            SourceValue::Block(number) => resolve_index(number, count),
            SourceValue::Uri(_) => None,
        }
    }
}

/// The block that a number names in a file of `count`.
pub(crate) fn resolve_index(number: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let index = if number < 0 { number.checked_add(count)? } else { number };
    usize::try_from(index).ok().filter(|_| index < count)
}

/// All arrays with a source, in the order of the text. An array with several aliases is found once.
///
/// # Errors
/// `Limit`.
pub(crate) fn find_references(document: &Document, limits: &Limits) -> Result<Vec<BlockReference>> {
    let mut found = Vec::new();
    document.walk(false, limits, &mut |path, node| {
        if node.kind() == Kind::Mapping
            && node.tag().is_some_and(NdArray::is_tag)
            && let Some(source) = node.get("source")
        {
            let named = match source.scalar() {
                Some(Scalar::Int(Int::Small(number))) => i64::try_from(number).ok().map(SourceValue::Block),
                Some(Scalar::Text(uri)) => Some(SourceValue::Uri(uri.to_owned())),
                _ => None,
            };
            let (node, source) = (node.id(), source.id());
            found.extend(named.map(|named| BlockReference { path: path.to_owned(), node, source, named }));
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Bytes of an element of the first array in a block of a file of `count` blocks; 1 without such an array.
pub(crate) fn itemsize(document: &Document, found: &[BlockReference], block: usize, count: usize) -> u64 {
    let mut named = found.iter().filter(|found| found.block(count) == Some(block));
    let array = named.next().and_then(|found| NdArray::parse(document.node(found.node)).ok());
    array.and_then(|array| array.datatype).map_or(1, |datatype| datatype.dtype.itemsize() as u64)
}

/// Checks that no other nodes name blocks: those of asdf-zarr list them in a block, not in the tree.
///
/// # Errors
/// `Unsupported`, naming the node; `Limit`.
pub(crate) fn refuse_chunk_block_maps(document: &Document, limits: &Limits) -> Result<()> {
    document.walk(false, limits, &mut |path, node| {
        if node.kind() == Kind::Mapping && node.get("chunk_block_map").is_some() {
            let what =
                format!("blocks cannot be renumbered: {path} lists their numbers in a block (asdf-zarr)");
            return Err(Error::unsupported(what).with_context("asdf tree"));
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_count_from_the_end() {
        assert_eq!(
            [0, 2, -1, -3].map(|number| resolve_index(number, 3)),
            [Some(0), Some(2), Some(2), Some(0)]
        );
        assert_eq!([3, -4, i64::MIN, i64::MAX].map(|number| resolve_index(number, 3)), [None; 4]);
        assert_eq!(resolve_index(0, 0), None);
    }
}
