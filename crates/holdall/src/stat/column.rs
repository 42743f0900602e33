//! Columns of a statistic: an element itself, or each field of a record.

use container_core::dtype::{DType, Kind, Record, Scalar};
use container_core::mask::{Hidden, field_scalars, scalars};
use container_core::to_f64::is_number;

use super::Measured;
use super::sort_keys::{Batch, Keys};
use crate::repr::unicode;

/// Most fields that are measured, those of records in records included.
const MAX_COLUMNS: usize = 256;

/// Scalars at one place in every element.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: Option<String>,
    pub(super) dtype: DType,
    pub(super) measured: Measured,
    pub(super) keys: Keys,
    /// Scalars in one element: those of a sub-array.
    pub(super) per_element: u64,
    scalar: Option<Scalar>,
    offset: usize,
    len: usize,
    /// The place of its first byte in the mask of an element, and the bytes of each of its items there.
    mask_at: usize,
    mask_each: usize,
}

/// The columns of a type: one for a scalar, else one for each field, the first [`MAX_COLUMNS`].
pub(super) fn columns(dtype: &DType) -> Vec<Column> {
    match dtype {
        DType::Scalar(_) => vec![Column::new(None, dtype, 1, 0, 0)],
        DType::Record(record) => {
            let mut columns = Vec::new();
            fields(record, "", 0, 0, &mut columns);
            columns
        }
    }
}

fn fields(record: &Record, prefix: &str, base: usize, mut mask_at: usize, columns: &mut Vec<Column>) {
    for field in &record.fields {
        if columns.len() >= MAX_COLUMNS {
            return;
        }
        let name = format!("{prefix}{}", field.name);
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        let offset = base.saturating_add(field.offset);
        match &field.dtype {
            DType::Record(inner) if field.shape.is_empty() => {
                fields(inner, &format!("{name}."), offset, mask_at, columns);
            }
            other => columns.push(Column::new(Some(name), other, count, offset, mask_at)),
        }
        mask_at = mask_at.saturating_add(field_scalars(field));
    }
}

impl Column {
    fn new(name: Option<String>, dtype: &DType, count: usize, offset: usize, mask_at: usize) -> Self {
        let (measured, keys) = match dtype.as_scalar() {
            None => (Measured::Nothing, Keys::Unsigned),
            Some(scalar) => match &scalar.kind {
                Kind::Datetime(_) if scalar.size == 8 => (Measured::Dates, Keys::Signed),
                Kind::Timedelta(_) if scalar.size == 8 => (Measured::Values, Keys::Signed),
                Kind::Bytes | Kind::Unicode => (Measured::Length, Keys::Unsigned),
                _ if !is_number(scalar) => (Measured::Nothing, Keys::Unsigned),
                Kind::Complex => (Measured::Modulus, Keys::Doubles),
                Kind::Float | Kind::BFloat => (Measured::Values, Keys::Doubles),
                Kind::Int => (Measured::Values, Keys::Signed),
                _ => (Measured::Values, Keys::Unsigned),
            },
        };
        let len = dtype.itemsize().saturating_mul(count);
        Self {
            name,
            dtype: dtype.clone(),
            measured,
            keys,
            per_element: count as u64,
            scalar: dtype.as_scalar().cloned(),
            offset,
            len,
            mask_at,
            mask_each: if dtype.itemsize() == 0 { 0 } else { scalars(dtype) },
        }
    }

    /// The masks of its items in the element at `index`.
    fn masks<'h>(&self, hidden: &'h Hidden, index: usize) -> impl Iterator<Item = &'h [u8]> {
        let len = self.mask_each.saturating_mul(usize::try_from(self.per_element).unwrap_or(usize::MAX));
        let own = hidden.of(index).get(self.mask_at..self.mask_at.saturating_add(len)).unwrap_or_default();
        own.chunks_exact(self.mask_each.max(1))
    }

    /// The scalars that are not missing of elements of `itemsize` bytes, and the number of those that are.
    pub(super) fn visible(&self, elements: &[u8], itemsize: usize, hidden: &Hidden) -> (Vec<u8>, u64) {
        let is_missing = |mask: &[u8]| mask.iter().any(|byte| *byte != 0);
        let size = self.dtype.itemsize();
        let (mut run, mut missing) = (Vec::new(), 0);
        for (at, element) in elements.chunks_exact(itemsize.max(1)).enumerate() {
            let own = element.get(self.offset..self.offset.saturating_add(self.len)).unwrap_or_default();
            for (item, mask) in own.chunks_exact(size.max(1)).zip(self.masks(hidden, at)) {
                if is_missing(mask) {
                    missing += 1;
                } else {
                    run.extend_from_slice(item);
                }
            }
        }
        (run, missing)
    }

    /// Adds contiguous scalars.
    pub(super) fn load_items(&self, run: &[u8], batch: &mut Batch) {
        if let Some(scalar) = &self.scalar {
            self.load_run(scalar, run, batch);
        }
    }

    /// Adds the scalars of whole elements of `itemsize` bytes.
    pub(super) fn load(&self, elements: &[u8], itemsize: usize, batch: &mut Batch) {
        let Some(scalar) = &self.scalar else { return };
        if self.len == itemsize {
            self.load_run(scalar, elements, batch);
            return;
        }
        let mut run = Vec::new();
        for element in elements.chunks_exact(itemsize.max(1)) {
            let end = self.offset.saturating_add(self.len);
            run.extend_from_slice(element.get(self.offset..end).unwrap_or_default());
        }
        self.load_run(scalar, &run, batch);
    }

    fn load_run(&self, scalar: &Scalar, run: &[u8], batch: &mut Batch) {
        match (self.measured, self.keys) {
            (Measured::Nothing, _) => {}
            (Measured::Length, _) => {
                for item in run.chunks_exact(scalar.size.max(1)) {
                    let length = match scalar.kind {
                        Kind::Unicode => unicode(item, scalar.order).chars().count(),
                        _ => item.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1),
                    };
                    batch.length(length);
                }
            }
            (_, Keys::Doubles) => batch.floats(scalar, run),
            (_, _) => batch.integers(scalar, run),
        }
    }
}
