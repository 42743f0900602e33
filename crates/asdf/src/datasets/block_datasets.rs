//! Decoded bytes of blocks as datasets: `blocks/3`.
//!
//! They follow the arrays. A plain listing shows them only for a file without a tree.

use container_core::container::{Dataset, Visibility};
use container_core::dtype::{DType, Kind, Order};

use crate::file::File;
use crate::interchange::import::options::codec_name;
use crate::layout::StoredBlock;

/// First name of the path of a block.
const BLOCKS_KEY: &str = "blocks";

/// Character before the name of a block where the tree has an entry [`BLOCKS_KEY`]. No path of an array begins with it: it escapes `0` or `1`.
const ESCAPE_CHAR: char = '~';

/// Whether a plain listing shows the blocks of a file.
pub(crate) fn visibility(file: &File) -> Visibility {
    if file.layout().tree.is_none() { Visibility::Always } else { Visibility::Recursive }
}

/// The block at the place `index` after the arrays.
pub(crate) fn dataset(file: &File, index: usize) -> Option<Dataset> {
    let block = file.blocks().get(index.checked_sub(file.arrays().len())?)?;
    let len = len(file, block);
    Some(Dataset {
        path: path(file, block.index),
        dtype: DType::native(Kind::Uint, 1),
        shape: vec![len],
        order: Order::C,
        chunks: None,
        codec: codec_name(block.label()).to_owned(),
        stored: block.data.end.saturating_sub(block.data.start),
        logical: len,
        attributes: Vec::new(),
        visibility: visibility(file),
    })
}

/// The index of the block at `path`. An entry `blocks` of the tree is found instead, unless the path begins with a tilde.
pub(crate) fn find(file: &File, path: &str) -> Option<usize> {
    let number = match path.strip_prefix(ESCAPE_CHAR) {
        Some(path) => path,
        None if file.has_blocks_entry() => return None,
        None => path,
    };
    let number = number.strip_prefix(BLOCKS_KEY)?.strip_prefix('/')?;
    let index: usize = number.parse().ok().filter(|index: &usize| index.to_string() == number)?;
    (index < file.blocks().len()).then(|| file.arrays().len().saturating_add(index))
}

/// The path of the block of that number.
pub(crate) fn path(file: &File, number: usize) -> String {
    match file.has_blocks_entry() {
        true => format!("{ESCAPE_CHAR}{BLOCKS_KEY}/{number}"),
        false => format!("{BLOCKS_KEY}/{number}"),
    }
}

/// Decoded bytes of a block; those that its header states where they cannot be read.
fn len(file: &File, block: &StoredBlock) -> u64 {
    file.available(block).unwrap_or_else(|_| block.data_size())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
