//! Elements against their bytes, which a format that lacks their type may hold in their place along an axis of its own.

use container_core::Result;
use container_core::chunked_read::chunk_len;
use container_core::dtype::{DType, Order};
use container_core::region::{AxisSelection, Kept, Region};

use super::{Ruler, Side, is_byte};
use crate::diff::{Retyped, first, second};

impl Ruler<'_> {
    /// True where the second holds the bytes of the first's elements.
    pub(in crate::diff) fn are_bytes_of(&self, a: &Side<'_>, b: &Side<'_>) -> bool {
        let mut shape = a.region.shape();
        shape.push(a.dataset().dtype.itemsize() as u64);
        self.retyped == Retyped::Allowed
            && a.dataset().dtype.itemsize() > 1
            && is_byte(&b.dataset().dtype)
            && shape == b.region.shape()
    }

    /// The difference between elements and their bytes, little-endian; `None` if they are equal.
    pub(in crate::diff) fn compare_bytes(&mut self, a: &Side<'_>, b: &Side<'_>) -> Result<Option<String>> {
        let limits = &self.options.read.limits;
        let dtype: &DType = &a.dataset().dtype;
        let size = dtype.itemsize() as u64;
        let mut equal = true;
        for piece in Region::whole(&a.region.shape()).chunks(Order::C, chunk_len(false, limits) / 2 / size) {
            let array = a.read(&piece, &self.options.read).map_err(first)?;
            let a_bytes = dtype.little_endian(array.bytes(Order::C, limits).map_err(first)?)?;
            let mut axes = piece.axes().to_vec();
            axes.push(AxisSelection { start: 0, step: 1, count: size, kept: Kept::Yes });
            let piece = Region::new(axes, &b.region.shape())?;
            let other = b.read(&piece, &self.options.read).map_err(second)?;
            equal &= a_bytes == other.bytes(Order::C, limits).map_err(second)?;
            self.tick(a_bytes.len() as u64)?;
        }
        Ok((!equal).then(|| "the bytes of the elements differ".to_owned()))
    }
}
