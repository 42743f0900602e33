//! Element types: numpy's model, and the few that numpy lacks.
//!
//! A [`DType`] is a [`Scalar`] or a [`Record`] of named fields at byte offsets, each perhaps a sub-array.
//! Strings and descriptions in numpy's spelling come from [`DType::descr`] and [`DType::parse`].

use std::borrow::Cow;

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod descr;
mod element;
mod packed;

pub use element::Element;
pub(crate) use element::expect_type;

use crate::{Error, Result};

/// Order of the bytes of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of the machine this runs on.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// Order of the axes of an array in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis varies fastest (row major).
    C,
    /// The first axis varies fastest (column major, Fortran).
    F,
}

impl Order {
    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::C => Self::F,
            Self::F => Self::C,
        }
    }

    /// `C` or `F`.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::F => "F",
        }
    }
}

/// Interpretation of the bytes of a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// Two's complement integer of any width.
    Int,
    /// Unsigned integer of any width.
    Uint,
    /// IEEE 754 binary floating point of 2, 4 or 8 bytes; 16 is the machine's long double, which is kept but not interpreted.
    Float,
    /// bfloat16: the upper half of an IEEE single. Always 2 bytes; numpy lacks it.
    BFloat,
    /// Real part, then imaginary part, each half of the size.
    Complex,
    /// Bytes padded with NULs (numpy `S`).
    Bytes,
    /// UCS-4 code points padded with NULs (numpy `U`); the size is in bytes, 4 per character.
    Unicode,
    /// Opaque bytes (numpy `V`).
    Void,
    /// A number that numpy lacks and that is not interpreted: this many equal parts, each with a byte order. numpy's description of it is
    /// that of [`Kind::Void`].
    Opaque(u8),
    /// 64-bit count of units since 1970 (numpy `M8`); the unit in numpy's spelling, `[ns]`, or empty.
    Datetime(String),
    /// 64-bit count of units (numpy `m8`).
    Timedelta(String),
}

/// One number, string or opaque item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Interpretation of the bytes.
    pub kind: Kind,
    /// Bytes per item. May be 0 for empty strings.
    pub size: usize,
    /// Byte order. Meaningless, and always [`ByteOrder::Little`], where the unit that could be swapped is a single byte or opaque.
    pub order: ByteOrder,
}

/// A field of a [`Record`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name; unique in the record.
    pub name: String,
    /// numpy's optional title.
    pub title: Option<String>,
    /// Element type.
    pub dtype: DType,
    /// Shape of the sub-array, C order; empty for a single item.
    pub shape: Vec<usize>,
    /// Byte offset from the start of the record.
    pub offset: usize,
}

/// Named fields within a fixed number of bytes; gaps between them are padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The fields, by rising offset where a file allows it.
    pub fields: Vec<Field>,
    /// Bytes per record, trailing padding included.
    pub size: usize,
}

/// The type of an array's elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// A single number, string or opaque item.
    Scalar(Scalar),
    /// A record.
    Record(Record),
}

impl DType {
    /// A scalar in the machine's byte order (orderless where order is meaningless).
    #[must_use]
    pub fn native(kind: Kind, size: usize) -> Self {
        Self::new(kind, size, ByteOrder::NATIVE)
    }

    /// A scalar with a byte order, which is dropped where it is meaningless.
    #[must_use]
    pub fn new(kind: Kind, size: usize, order: ByteOrder) -> Self {
        let order = if swap_unit(&kind, size) > 1 { order } else { ByteOrder::Little };
        Self::Scalar(Scalar { kind, size, order })
    }

    /// Opaque bytes, `|V<size>`.
    #[must_use]
    pub fn void(size: usize) -> Self {
        Self::new(Kind::Void, size, ByteOrder::Little)
    }

    /// True for opaque bytes without a byte order.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Void)
    }

    /// Bytes per element.
    #[must_use]
    pub fn itemsize(&self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.size,
            Self::Record(record) => record.size,
        }
    }

    /// The scalar, if it is one.
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            Self::Record(_) => None,
        }
    }

    /// The same type with every multi-byte part in `order`.
    #[must_use]
    pub fn with_order(&self, order: ByteOrder) -> Self {
        match self {
            Self::Scalar(scalar) => Self::new(scalar.kind.clone(), scalar.size, order),
            Self::Record(record) => {
                let fields = record.fields.iter();
                let fields =
                    fields.map(|field| Field { dtype: field.dtype.with_order(order), ..field.clone() });
                Self::Record(Record { fields: fields.collect(), size: record.size })
            }
        }
    }

    /// True where every multi-byte part is in `order` already, so that no byte has to move.
    #[must_use]
    pub fn is_in_order(&self, order: ByteOrder) -> bool {
        match self {
            Self::Scalar(scalar) => swap_unit(&scalar.kind, scalar.size) <= 1 || scalar.order == order,
            Self::Record(record) => record.fields.iter().all(|field| field.dtype.is_in_order(order)),
        }
    }

    /// Whether a part of several bytes has an order that its elements do not record.
    #[must_use]
    pub fn has_byte_order(&self) -> bool {
        !self.is_in_order(ByteOrder::Little) || !self.is_in_order(ByteOrder::Big)
    }

    /// Elements of this type in little-endian, for formats that do not record byte order: borrowed or passed on where they are so already.
    ///
    /// # Errors
    /// As [`DType::swap_to`].
    pub fn little_endian<'i>(&self, items: impl Into<Cow<'i, [u8]>>) -> Result<Cow<'i, [u8]>> {
        let items = items.into();
        if self.is_in_order(ByteOrder::Little) {
            return Ok(items);
        }
        let mut swapped = items.into_owned();
        self.swap_to(ByteOrder::Little, &mut swapped)?;
        Ok(Cow::Owned(swapped))
    }

    /// Elements of this type as a target of elements of `to` has them: as they are, or little-endian where they become bytes.
    ///
    /// # Errors
    /// As [`DType::swap_to`].
    pub fn written_as<'i>(&self, to: &Self, items: &'i [u8]) -> Result<Cow<'i, [u8]>> {
        if self == to { Ok(Cow::Borrowed(items)) } else { self.little_endian(items) }
    }

    /// Text of the loss for elements that are kept as their bytes alone: their number, and their order where they have one.
    #[must_use]
    pub fn bytes_loss_message(&self) -> String {
        let order = if self.has_byte_order() { ", little-endian" } else { "" };
        let size = self.itemsize();
        let bytes = if size == 1 { "byte" } else { "bytes" };
        format!("{size} {bytes} an element{order}")
    }

    /// The byte order that [`DType::swap_to`] has to bring elements of this type into so that they are of a file's type `to`; `None` where
    /// they are.
    ///
    /// # Errors
    /// `Usage` where the types differ in more than that.
    pub fn order_for(&self, to: &Self) -> Result<Option<ByteOrder>> {
        if self == to {
            return Ok(None);
        }
        let order =
            [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| self.with_order(*order) == *to);
        order.map(Some).ok_or_else(|| Error::usage(format!("the file has elements of {to}, not {self}")))
    }

    /// Reverses, in place, the bytes of every number that is not in `order`. `items` holds whole elements of this type.
    ///
    /// # Errors
    /// `Usage` when `items` is not a whole number of elements; `Unsupported` for records with fields that overlap and
    /// would both have to be reversed.
    pub fn swap_to(&self, order: ByteOrder, items: &mut [u8]) -> Result<()> {
        let size = self.itemsize();
        if self.is_in_order(order) || items.is_empty() {
            return Ok(());
        }
        if size == 0 || !items.len().is_multiple_of(size) {
            return Err(Error::usage(format!(
                "{} bytes are not whole elements of {size} bytes",
                items.len()
            )));
        }
        let record = match self {
            Self::Scalar(scalar) => {
                swap_units(items, swap_unit(&scalar.kind, scalar.size));
                return Ok(());
            }
            Self::Record(record) => record,
        };
        // The runs that really reverse are found once, not for every element.
        let mut runs = Vec::new();
        record.collect_runs(order, 0, &mut runs)?;
        runs.sort_by_key(|run| run.start);
        if runs.windows(2).any(|pair| pair[0].end() > pair[1].start) {
            return Err(Error::unsupported("fields that overlap cannot change their byte order"));
        }
        for item in items.chunks_exact_mut(size) {
            for run in &runs {
                swap_units(item.get_mut(run.start..run.end()).unwrap_or_default(), run.unit);
            }
        }
        Ok(())
    }
}

/// Numbers of one width, one after the other.
struct Run {
    start: usize,
    unit: usize,
    len: usize,
}

impl Run {
    fn end(&self) -> usize {
        self.start.saturating_add(self.len)
    }
}

/// More runs than any honest record has: nested sub-arrays of records multiply.
const MAX_RUNS: usize = 1 << 20;

impl Record {
    fn collect_runs(&self, order: ByteOrder, base: usize, runs: &mut Vec<Run>) -> Result<()> {
        for field in self.fields.iter().filter(|field| !field.dtype.is_in_order(order)) {
            let start = base.saturating_add(field.offset);
            let count = field.shape.iter().fold(1_usize, |count, len| count.saturating_mul(*len));
            match &field.dtype {
                DType::Scalar(scalar) => {
                    let len = scalar.size.saturating_mul(count);
                    runs.push(Run { start, unit: swap_unit(&scalar.kind, scalar.size), len });
                }
                DType::Record(record) if record.size > 0 => {
                    for at in 0..count {
                        record.collect_runs(
                            order,
                            start.saturating_add(at.saturating_mul(record.size)),
                            runs,
                        )?;
                    }
                }
                DType::Record(_) => {}
            }
            if runs.len() > MAX_RUNS {
                return Err(Error::unsupported(format!("records of more than {MAX_RUNS} numbers")));
            }
        }
        Ok(())
    }
}

/// The bytes that reverse together: half of a complex number, one character of UCS-4, else the item.
///
/// 1 where the size is not a whole number of such parts: the unit is then undefined.
fn swap_unit(kind: &Kind, size: usize) -> usize {
    match kind {
        Kind::Bool | Kind::Bytes | Kind::Void => 1,
        Kind::Unicode if size.is_multiple_of(4) => 4,
        Kind::Complex if size.is_multiple_of(2) => size / 2,
        Kind::Opaque(parts) if *parts > 0 && size.is_multiple_of((*parts).into()) => {
            size / usize::from(*parts)
        }
        Kind::Unicode | Kind::Complex | Kind::Opaque(_) => 1,
        Kind::Int | Kind::Uint | Kind::Float | Kind::BFloat | Kind::Datetime(_) | Kind::Timedelta(_) => size,
    }
}

/// Reverses each `unit` bytes. The fixed widths compile to vector shuffles.
fn swap_units(items: &mut [u8], unit: usize) {
    fn fixed<const N: usize>(items: &mut [u8]) {
        for item in items.as_chunks_mut::<N>().0 {
            item.reverse();
        }
    }
    match unit {
        0 | 1 => {}
        2 => fixed::<2>(items),
        4 => fixed::<4>(items),
        8 => fixed::<8>(items),
        16 => fixed::<16>(items),
        _ => items.chunks_exact_mut(unit).for_each(<[u8]>::reverse),
    }
}

#[cfg(test)]
mod tests;
