//! The elements alone: C order, little-endian.

use std::io::Write;

use container_core::Result;
use container_core::dtype::{ByteOrder, Order};

use super::iterate::Walk;

pub(super) fn write(walk: &Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let dtype = &walk.dataset.dtype;
    if dtype.is_in_order(ByteOrder::Little) {
        return walk.runs(Order::C, |run| Ok(out.write_all(run)?));
    }
    let mut swapped = Vec::new();
    walk.runs(Order::C, |run| {
        swapped.clear();
        swapped.extend_from_slice(run);
        dtype.swap_to(ByteOrder::Little, &mut swapped)?;
        Ok(out.write_all(&swapped)?)
    })
}
