//! Records against the same fields without padding, as formats without field offsets store them.

use container_core::dtype::{ByteOrder, DType};

use crate::repr::{field_bytes, part};

/// True for a record whose fields the second has, one after the other and without titles.
pub(super) fn is_packed(a: &DType, b: &DType) -> bool {
    let packed = a.packed();
    packed != *a && packed.with_order(ByteOrder::Little) == b.with_order(ByteOrder::Little)
}

/// The fields of each element alone.
pub(super) fn pack(dtype: &DType, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    bytes.chunks_exact(dtype.itemsize().max(1)).for_each(|item| push(dtype, item, &mut out));
    out
}

fn push(dtype: &DType, item: &[u8], out: &mut Vec<u8>) {
    let DType::Record(record) = dtype else { return out.extend_from_slice(item) };
    for field in &record.fields {
        let bytes = field_bytes(field, item);
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        (0..count).for_each(|at| push(&field.dtype, part(bytes, at, count), out));
    }
}
