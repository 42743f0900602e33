//! What is wrong or odd about the arrays of a tree.

use container_core::Result;
use container_core::region::Region;

use super::File;
use crate::fault::{Fault, FaultKind};
use crate::ndarray::{Geometry, NdArray};

impl File {
    /// What is wrong or odd about the arrays: sources that name no block, elements outside of it, rows that are torn. Looks at the tree
    /// and at headers alone; external files are not opened.
    #[must_use]
    pub fn array_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (index, entry) in self.arrays().iter().enumerate() {
            let place = self.node(&entry.array).range();
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
                    if geometry.torn > 0 {
                        let message =
                            format!("{} has {} bytes behind its last whole row", entry.path, geometry.torn);
                        faults.push(Fault::new(FaultKind::TornRow, place.clone(), message));
                    }
                    if geometry.strides.contains(&0) && !geometry.is_empty() {
                        let message = format!("{} has a stride of 0", entry.path);
                        faults.push(Fault::new(FaultKind::ZeroStride, place.clone(), message));
                    }
                    if let Some(message) = self.padded_records(&entry.array, geometry) {
                        let message = format!("{}: {message}", entry.path);
                        faults.push(Fault::new(FaultKind::PaddedRecords, place, message));
                    }
                }
            }
        }
        faults
    }

    /// Python asdf up to 6.0 stores aligned records with their gaps and describes them without: the values then read are others.
    fn padded_records(&self, array: &NdArray, geometry: &Geometry) -> Option<String> {
        if geometry.dtype.as_scalar().is_some() || array.strides.is_some() || array.offset != 0 {
            return None;
        }
        let block = self.block_of(array).ok()?;
        let (count, size) = (geometry.len(), geometry.dtype.itemsize() as u64);
        let each = block.data_size().checked_div(count)?;
        if each <= size || each.checked_mul(count) != Some(block.data_size()) {
            return None;
        }
        let mut others = self.arrays().iter().filter(|other| other.array.source == array.source);
        if others.any(|other| other.array.offset != 0 || other.array.shape != array.shape) {
            return None;
        }
        Some(format!(
            "records of {size} bytes in a block with {each} for each: they may be stored with gaps that are not described"
        ))
    }

    /// All of an array as a region.
    ///
    /// # Errors
    /// As [`File::geometry`].
    pub fn whole(&self, index: usize) -> Result<Region> {
        self.geometry(index).map(|geometry| Region::whole(&geometry.shape))
    }
}
