//! The arrays of the tree as datasets, and after them decoded bytes of blocks (`blocks/3`), which a plain listing shows only for a file without a tree.

use std::collections::HashMap;

use container_core::array::byte_len;
use container_core::container::{Axes, Dataset, Visibility};
use container_core::dtype::{DType, Kind, Order};
use container_core::report::Loss;
use container_core::{Result, Value};

use crate::blocks::references::resolve_index;
use crate::compression::codec_name;
use crate::file::{ArrayEntry, File};
use crate::layout::StoredBlock;
use crate::ndarray::{ByteSource, Mask};
use crate::yaml::{Kind as NodeKind, Node};

/// One dataset for each entry of [`File::arrays`], in its order.
pub(crate) fn datasets(file: &File, axes: Axes) -> Vec<Dataset> {
    let mut units = Units::default();
    let all = 0..file.arrays().len();
    all.filter_map(|index| shown(file, axes, index, &mut units)).collect()
}

/// The dataset of one entry of [`File::arrays`].
pub(crate) fn array_dataset(file: &File, axes: Axes, index: usize) -> Option<Dataset> {
    shown(file, axes, index, &mut Units::default())
}

fn shown(file: &File, axes: Axes, index: usize, units: &mut Units) -> Option<Dataset> {
    file.read_listing(index);
    let mut dataset = dataset(file, index, file.arrays().get(index)?, units);
    if axes == Axes::Reversed && is_column_major(file, index) {
        dataset.shape.reverse();
        dataset.order = dataset.order.reversed();
    }
    Some(dataset)
}

/// Whether an array is one whose axes [`Axes::Reversed`] reverses. A mask follows the array that it masks, in whatever order it is stored itself;
/// otherwise their shapes would differ.
pub(crate) fn is_column_major(file: &File, index: usize) -> bool {
    let mut owner = index;
    while let Some(above) = masked_by(file, owner) {
        owner = above;
    }
    file.listed_geometry(owner).is_some_and(|geometry| geometry.order() == Some(Order::F))
}

/// The array that an array masks.
fn masked_by(file: &File, index: usize) -> Option<usize> {
    let path = file.arrays().get(index)?.path.strip_suffix("/mask")?;
    let owner = file.find_array(path)?;
    matches!(file.arrays().get(owner)?.array.mask, Some(Mask::Array(_))).then_some(owner)
}

fn dataset(file: &File, index: usize, entry: &ArrayEntry, units: &mut Units) -> Dataset {
    let geometry = file.listed_geometry(index);
    // The stated geometry is listed even where the block is too short for it.
    let stated = || entry.array.shape.iter().map(|axis| axis.unwrap_or(0)).collect();
    let (dtype, shape, order) = match geometry {
        Some(geometry) => {
            let order = geometry.order().unwrap_or(Order::C);
            (geometry.dtype.clone(), geometry.shape.clone(), order)
        }
        None => {
            let dtype = entry.array.datatype.as_ref().map(|datatype| datatype.dtype.clone());
            (dtype.unwrap_or_else(|| DType::void(0)), stated(), Order::C)
        }
    };
    let mut attributes = Vec::new();
    if let Some(unit) = units.of(file, &entry.path) {
        attributes.push(("unit".to_owned(), Value::Text(unit)));
    }
    if let Some(Mask::Value(node)) = &entry.array.mask {
        let value = file.tree().document().node(*node).text();
        attributes.push(("mask".to_owned(), value.into()));
    }
    if is_opaque(&dtype) {
        let node = file.tree().document().node(entry.array.node);
        let name = node.get("datatype").map(|datatype| datatype.text().to_owned());
        attributes
            .extend(name.filter(|name| !name.is_empty()).map(|name| ("datatype".to_owned(), name.into())));
    }
    let (codec, stored) = storage(file, entry);
    let logical = byte_len(&dtype, &shape).unwrap_or(u64::MAX);
    Dataset {
        path: entry.path.clone(),
        dtype,
        shape,
        order,
        chunks: None,
        codec,
        stored,
        logical,
        attributes,
        visibility: Visibility::Always,
    }
}

fn is_opaque(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| matches!(scalar.kind, Kind::Opaque(_)))
}

/// Codec word, and bytes of the storage of the elements.
fn storage(file: &File, entry: &ArrayEntry) -> (String, u64) {
    let plain = |stored| ("none".to_owned(), stored);
    let of_block = |block: Option<&StoredBlock>| match block {
        Some(block) => {
            let stored = block.data.end.saturating_sub(block.data.start);
            (codec_name(block.label()).to_owned(), stored)
        }
        None => plain(0),
    };
    match &entry.array.source {
        ByteSource::Block(number) => match file.filled_len(*number) {
            Some(stored) => plain(stored),
            None => of_block(block(file, *number)),
        },
        ByteSource::Inline(node) => {
            let span = file.tree().document().node(*node).span();
            plain(span.end.saturating_sub(span.start) as u64)
        }
        ByteSource::External(uri) => {
            of_block(file.external(uri).ok().and_then(|other| other.block_at(0).ok()?))
        }
    }
}

/// The block of that number; a negative one counts from the end.
pub(crate) fn block(file: &File, number: i64) -> Option<&StoredBlock> {
    file.block_at(resolve_index(number, file.block_count())?).ok()?
}

/// The first dataset of each block that has any.
pub(crate) fn of_blocks(file: &File) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    for entry in file.arrays() {
        if let ByteSource::Block(number) = entry.array.source
            && let Some(block) = block(file, number)
        {
            found.entry(block.index).or_insert_with(|| entry.path.clone());
        }
    }
    found
}

/// Units of the mappings that hold arrays: a quantity's or a column's.
#[derive(Default)]
struct Units {
    /// The last one that was read: neighbours share it.
    last: Option<(String, Option<String>)>,
}

impl Units {
    fn of(&mut self, file: &File, path: &str) -> Option<String> {
        let above = path.rsplit_once('/').map(|(above, _)| above)?;
        if let Some((last, unit)) = &self.last
            && last == above
        {
            return unit.clone();
        }
        let node = file.tree().find(above);
        let unit = node.and_then(|node| node.get("unit")).filter(|unit| unit.kind() == NodeKind::Scalar);
        let unit = unit.map(Node::text).filter(|unit| !unit.is_empty()).map(ToOwned::to_owned);
        self.last = Some((above.to_owned(), unit.clone()));
        unit
    }
}

/// Lists the losses of a bare array: the tree except for its arrays, units and masks.
pub(crate) fn losses(meta: Result<Value>, datasets: &[Dataset]) -> Vec<Loss> {
    let mut losses = Vec::new();
    if let Ok(Value::Map(entries)) = meta {
        let others = entries.iter().filter(|(_, value)| has_other_values(value));
        let others: Vec<&str> = others.map(|(key, _)| key.as_str()).collect();
        if !others.is_empty() {
            losses.push(Loss { dataset: None, what: format!("tree: {}", others.join(", ")) });
        }
    }
    for dataset in datasets {
        for (name, value) in dataset.attributes.iter().filter(|(name, _)| name != "datatype") {
            let Value::Text(text) = value else { continue };
            losses.push(Loss { dataset: Some(dataset.path.clone()), what: format!("{name} {text}") });
        }
    }
    losses
}

/// True for a value that has more than arrays.
fn has_other_values(value: &Value) -> bool {
    match value {
        Value::Map(entries) if value.get("ndarray").is_some() => entries.len() > 1,
        // An empty map is a value.
        Value::Map(entries) => entries.is_empty() || entries.iter().any(|(_, value)| has_other_values(value)),
        Value::List(items) => items.is_empty() || items.iter().any(has_other_values),
        _ => true,
    }
}

/// Whether a plain listing shows the blocks of a file.
pub(crate) fn block_visibility(file: &File) -> Visibility {
    if file.front().tree.is_none() { Visibility::Always } else { Visibility::Recursive }
}

/// The block at the place `index` after the arrays.
pub(crate) fn block_dataset(file: &File, index: usize) -> Option<Dataset> {
    let block = file.block_at(index.checked_sub(file.arrays().len())?).ok()??;
    let len = block_len(file, block);
    Some(Dataset {
        path: file.block_path(block.index),
        dtype: DType::native(Kind::Uint, 1),
        shape: vec![len],
        order: Order::C,
        chunks: None,
        codec: codec_name(block.label()).to_owned(),
        stored: block.data.end.saturating_sub(block.data.start),
        logical: len,
        attributes: Vec::new(),
        visibility: block_visibility(file),
    })
}

/// Decoded bytes of a block; those that its header states where they cannot be read.
fn block_len(file: &File, block: &StoredBlock) -> u64 {
    file.available(block).unwrap_or_else(|_| block.data_size())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
