//! Faults of the arrays of a tree.

use std::cell::OnceCell;
use std::collections::HashMap;

use container_core::Result;
use container_core::dtype::{DType, Kind};
use container_core::region::Region;

use super::File;
use crate::fault::{Fault, FaultKind};
use crate::ndarray::{Geometry, NdArray};
use crate::yaml::Node;

/// Message for an invalid mask, after the name of its array.
pub(crate) const WRONG_MASK: &str = " is neither a number nor an array";

impl File {
    /// Lists the faults of arrays: sources without a block, elements outside of it, torn rows, masks that are not numbers. Reads the tree and headers
    /// only; external files are not opened.
    #[must_use]
    pub fn array_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let views = OnceCell::new();
        for (index, entry) in self.arrays().iter().enumerate() {
            let place = self.node(&entry.array).range();
            if let Some(mask) = self.wrong_mask(&entry.array) {
                let message = format!("the mask of {}{WRONG_MASK}", entry.path);
                faults.push(Fault::new(FaultKind::Array, mask.range(), message));
            }
            if self.is_external(&entry.array) {
                continue;
            }
            match self.geometry(index) {
                Err(error) if error.is_damage() => {
                    let message = format!("{} cannot be read: {}", entry.path, error.kind());
                    faults.push(Fault::new(FaultKind::Array, place, message));
                }
                Err(_) => {}
                Ok(geometry) => {
                    if geometry.partial_row_len > 0 {
                        let message = format!(
                            "{} has {} bytes after its last whole row",
                            entry.path, geometry.partial_row_len
                        );
                        faults.push(Fault::new(FaultKind::TornRow, place.clone(), message));
                    }
                    if geometry.strides.contains(&0) && !geometry.is_empty() {
                        let message = format!("{} has a stride of 0", entry.path);
                        faults.push(Fault::new(FaultKind::ZeroStride, place.clone(), message));
                    }
                    if let Some(message) = self.padded_records(&entry.array, geometry, &views) {
                        let message = format!("{}: {message}", entry.path);
                        faults.push(Fault::new(FaultKind::PaddedRecords, place, message));
                    }
                }
            }
        }
        faults
    }

    /// The mask of an array where it is an invalid value, which hides no element.
    pub(crate) fn wrong_mask(&self, array: &NdArray) -> Option<Node<'_>> {
        array.wrong_mask(self.tree.document())
    }

    /// Reports records with gaps that the tree does not describe, as Python asdf up to 6.0 writes aligned ones. Reading them gives wrong values.
    ///
    /// A block may also have more records than the array shows. Then it has whole ones, and gaps are reported only for the size that alignment gives.
    fn padded_records<'f>(
        &'f self,
        array: &NdArray,
        geometry: &Geometry,
        views: &OnceCell<HashMap<usize, Views<'f>>>,
    ) -> Option<String> {
        if geometry.dtype.as_scalar().is_some() || array.strides.is_some() || array.offset != 0 {
            return None;
        }
        let block = self.block_of(array).ok()?;
        let (count, size) = (geometry.len(), geometry.dtype.itemsize() as u64);
        let len = block.data_size();
        let each = len.checked_div(count)?;
        if each <= size || each.checked_mul(count) != Some(len) {
            return None;
        }
        if len.checked_rem(size) == Some(0) && aligned(&geometry.dtype).0 != each {
            return None;
        }
        let views = views.get_or_init(|| self.views());
        if views.get(&block.index).is_some_and(|views| views.differ) {
            return None;
        }
        Some(format!(
            "records of {size} bytes in a block with {each} for each: they may have gaps that the tree does not describe"
        ))
    }

    /// Collects the views that the arrays have of each block of this file.
    fn views(&self) -> HashMap<usize, Views<'_>> {
        let mut views: HashMap<usize, Views<'_>> = HashMap::new();
        for entry in self.arrays() {
            let array = &entry.array;
            let Ok(block) = self.block_of(array) else { continue };
            let known =
                views.entry(block.index).or_insert_with(|| Views { shape: &array.shape, differ: false });
            known.differ |= array.offset != 0 || array.shape != known.shape;
        }
        views
    }

    /// All of an array as a region.
    ///
    /// # Errors
    /// As [`File::geometry`].
    pub fn whole(&self, index: usize) -> Result<Region> {
        self.geometry(index).map(|geometry| Region::whole(&geometry.shape))
    }
}

/// The arrays of one block.
struct Views<'f> {
    /// Shape of the first one.
    shape: &'f [Option<u64>],
    /// True where one shows only a part of another: then it is not certain that any shows all.
    differ: bool,
}

/// Bytes of an element with gaps as compilers and numpy's `align=True` make them, and the multiple at which it begins.
fn aligned(dtype: &DType) -> (u64, u64) {
    match dtype {
        DType::Scalar(scalar) => {
            let size = scalar.size as u64;
            let align = match scalar.kind {
                Kind::Complex => size / 2,
                Kind::Unicode => 4,
                Kind::Bytes => 1,
                _ => size,
            };
            (size, align.max(1))
        }
        DType::Record(record) => {
            let (mut at, mut most) = (0_u64, 1_u64);
            for field in &record.fields {
                let (size, align) = aligned(&field.dtype);
                let count = field.shape.iter().fold(1_u64, |count, len| count.saturating_mul(*len as u64));
                at = up(at, align).saturating_add(size.saturating_mul(count));
                most = most.max(align);
            }
            (up(at, most), most)
        }
    }
}

fn up(at: u64, align: u64) -> u64 {
    at.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}
