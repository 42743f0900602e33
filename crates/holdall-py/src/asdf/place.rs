//! Places of arrays in the bytes of an ASDF file, for references to them.

use std::sync::Arc;

use holdall::Result;
use holdall::asdf::{ByteSource, File};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::file::Core;
use crate::patient::patiently;

/// Codec, first and last byte of the block, its decoded length, the offset of the array in it, and whether the elements are next to each other.
type Place = (String, u64, u64, u64, u64, bool);

/// The place of an array of the tree; `None` for inline arrays, for those in other files, and for other datasets.
#[pyfunction]
pub(super) fn asdf_place(py: Python<'_>, core: &Core, dataset: usize) -> PyResult<Option<Place>> {
    let opened = Arc::clone(&core.opened);
    let found = patiently(py, None, move |_, _| {
        super::behind(&opened).map_or(Ok(None), |file| place(file, dataset))
    })?;
    found.map_err(raise)
}

fn place(file: &File, dataset: usize) -> Result<Option<Place>> {
    let Some(entry) = file.arrays().get(dataset) else { return Ok(None) };
    if !matches!(entry.array.source, ByteSource::Block(_)) {
        return Ok(None);
    }
    // The headers of all blocks at once: a file has references to all of its arrays.
    file.read_layout()?;
    let block = file.block_of(&entry.array)?;
    let geometry = file.geometry(dataset)?;
    let codec = block.label().unwrap_or("none").to_owned();
    let (data, decoded) = (block.data.clone(), block.data_size());
    Ok(Some((codec, data.start, data.end, decoded, geometry.offset, geometry.order().is_some())))
}
