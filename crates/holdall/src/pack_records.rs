//! Records without padding.

use container_core::dtype::{DType, Field};
use container_core::{Error, Result};

/// More parts than any honest record has: nested sub-arrays of records multiply.
const MAX_PARTS: usize = 1 << 20;

/// Copies elements without the padding between fields of records.
pub(crate) struct Packer {
    dtype: DType,
    size: usize,
    /// Offset and length of the kept parts of an element, in the order of the fields.
    parts: Vec<(usize, usize)>,
}

impl Packer {
    /// # Errors
    /// `Unsupported` for records of more than a million parts.
    pub(crate) fn new(stored: &DType) -> Result<Self> {
        let mut parts = Vec::new();
        collect(stored, 0, &mut parts)?;
        Ok(Self { dtype: stored.packed(), size: stored.itemsize(), parts })
    }

    /// The packed type, in the byte order of the original.
    pub(crate) fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// True where elements are copied unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.parts.as_slice(), [(0, len)] if *len == self.size) || self.size == 0
    }

    /// Appends the elements of `run`, which is whole elements.
    pub(crate) fn pack(&self, run: &[u8], out: &mut Vec<u8>) {
        if self.is_plain() {
            return out.extend_from_slice(run);
        }
        for item in run.chunks_exact(self.size) {
            for (offset, len) in &self.parts {
                out.extend_from_slice(item.get(*offset..*offset + *len).unwrap_or_default());
            }
        }
    }
}

fn count(field: &Field) -> usize {
    field.shape.iter().fold(1, |count, len| count.saturating_mul(*len))
}

/// Collects the bytes that are kept of an element at `base`. Parts that touch are one.
fn collect(dtype: &DType, base: usize, parts: &mut Vec<(usize, usize)>) -> Result<()> {
    let record = match dtype {
        DType::Scalar(scalar) => {
            keep(base, scalar.size, parts);
            return Ok(());
        }
        DType::Record(record) => record,
    };
    for field in &record.fields {
        let (start, size) = (base.saturating_add(field.offset), field.dtype.itemsize());
        let items = count(field);
        if field.dtype.as_scalar().is_some() {
            keep(start, size.saturating_mul(items), parts);
            continue;
        }
        // Elements without bytes are not iterated, however many there are.
        for at in 0..if size == 0 { 0 } else { items } {
            collect(&field.dtype, start.saturating_add(at.saturating_mul(size)), parts)?;
            if parts.len() > MAX_PARTS {
                return Err(Error::unsupported(format!("records of more than {MAX_PARTS} parts")));
            }
        }
    }
    Ok(())
}

fn keep(start: usize, len: usize, parts: &mut Vec<(usize, usize)>) {
    match parts.last_mut() {
        _ if len == 0 => {}
        Some((offset, before)) if offset.saturating_add(*before) == start => {
            *before = before.saturating_add(len);
        }
        _ => parts.push((start, len)),
    }
}
