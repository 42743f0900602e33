//! Buffers integers in the first pass, so that all-integer tables need no second pass.

use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::{Limits, Result};

use super::column::Column;
use super::rows::Row;
use super::spill::Elements;

/// Bytes of an element.
const SIZE: usize = size_of::<i64>();

/// The cells so far as `<i8`, as long as all of them are.
pub(super) struct Integers {
    elements: Option<Elements>,
    /// Whether the first row of the table is among them.
    has_first: bool,
}

impl Integers {
    /// None are kept where they are not wanted.
    pub(super) fn new(are_wanted: bool) -> Self {
        Self { elements: are_wanted.then(Elements::new), has_first: are_wanted }
    }

    /// Takes the cells of a row into their columns, and keeps them.
    ///
    /// # Errors
    /// Those of [`Elements::row`].
    pub(super) fn push(&mut self, columns: &mut [Column], row: &Row<'_>, limits: &Limits) -> Result<()> {
        let Some(elements) = &mut self.elements else {
            columns.iter_mut().zip(row.cells()).for_each(|(column, cell)| {
                column.push(cell);
            });
            return Ok(());
        };
        let room = elements.row(row.len().saturating_mul(SIZE), limits)?;
        let mut are_integers = true;
        for (column, cell) in columns.iter_mut().zip(row.cells()) {
            match column.push(cell) {
                Some(value) => room.extend_from_slice(&value.to_le_bytes()),
                None => are_integers = false,
            }
        }
        if !are_integers {
            self.elements = None;
        }
        Ok(())
    }

    /// The first row, which has been taken, may be names: the values begin after it.
    pub(super) fn begin_again(&mut self) {
        *self = Self { elements: Some(Elements::new()), has_first: false };
    }

    /// The elements of rows of `width` cells, if they are complete, and of type `dtype`.
    pub(super) fn all(self, dtype: &DType, width: usize, has_header: bool) -> Option<Elements> {
        let size = match dtype {
            DType::Scalar(_) => SIZE,
            DType::Record(record) => record.size.checked_div(width)?,
        };
        let is_all = self.has_first != has_header && size == SIZE && are_integers(dtype);
        self.elements.filter(|_| is_all)
    }
}

/// Whether all of it is `<i8`.
fn are_integers(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => {
            scalar.kind == Kind::Int && scalar.size == SIZE && scalar.order == ByteOrder::Little
        }
        DType::Record(record) => record.fields.iter().all(|field| are_integers(&field.dtype)),
    }
}
