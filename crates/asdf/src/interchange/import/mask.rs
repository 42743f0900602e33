//! Imports the masks of arrays into an ASDF file.

use container_core::dtype::{DType, Order};
use container_core::format::WriteRequest;
use container_core::mask::scalars;
use container_core::region::Region;
use container_core::{Error, Result};

use crate::File;
use crate::ndarray::{Mask, NdArray};
use crate::writer::{ArraySpec, Writer};

/// Maximum number of bytes of a mask that are read at once.
const MAX_PIECE_LEN: u64 = 1 << 20;

/// The type of the mask that has to be written with a dataset. `None` where all elements are present, and where the carried tree has the mask
/// already: a number, or an array that is selected as well.
pub(super) fn dtype_of(job: &WriteRequest<'_>, index: usize) -> Result<Option<DType>> {
    if !job.container.has_mask(index, &job.read)? || carries(job, index) {
        return Ok(None);
    }
    let dataset = job.container.require(index)?;
    let axes = Region::whole(&dataset.shape);
    let none = axes.axes().iter().map(|axis| container_core::region::AxisSelection { count: 0, ..*axis });
    let none = Region::new(none.collect(), &dataset.shape)?;
    // An array without axes has no part without elements.
    let mask = job.container.mask(index, &none, &job.read)?;
    Ok(mask.map(|mask| mask.dtype().clone()))
}

fn carries(job: &WriteRequest<'_>, index: usize) -> bool {
    let Some(file) = job.container.as_any().and_then(|native| native.downcast_ref::<File>()) else {
        return false;
    };
    let Some(entry) = file.arrays().get(index) else { return false };
    match &entry.array.mask {
        Some(Mask::Array(_)) => is_selected(job, file, &format!("{}/mask", entry.path)),
        Some(Mask::Value(_)) => !has_nulls(file, &entry.array),
        None => false,
    }
}

fn is_selected(job: &WriteRequest<'_>, file: &File, path: &str) -> bool {
    let found = file.find_array(path);
    found.is_some_and(|found| job.selection.iter().any(|(index, _)| *index == found))
}

fn has_nulls(file: &File, array: &NdArray) -> bool {
    // Unreadable items give an error when they are read.
    file.has_nulls(array).unwrap_or(true)
}

/// The spec of the mask of an array that is written as `of`.
pub(super) fn spec(dtype: &DType, of: &ArraySpec) -> ArraySpec {
    let spec = ArraySpec::new(dtype.clone(), of.shape.clone()).order(of.order);
    match &of.compression {
        Some((label, level)) => spec.compressed(label.clone(), *level),
        None => spec,
    }
}

/// Writes the mask of `region`, in the order in which its elements are written.
pub(super) fn write(
    job: &WriteRequest<'_>,
    index: usize,
    region: &Region,
    order: Order,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let dataset = job.container.require(index)?;
    let most = MAX_PIECE_LEN.min(job.read.limits.memory / 4) / (scalars(&dataset.dtype) as u64).max(1);
    for piece in region.chunks(order, most.max(1)) {
        let gone = || Error::usage(format!("the mask of {} is missing", dataset.path));
        let mask = job.container.mask(index, &piece, &job.read)?.ok_or_else(gone)?;
        writer.write(&mask.bytes(order, &job.read.limits)?)?;
    }
    Ok(())
}
