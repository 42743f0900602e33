//! Encodes one item of inline data as the bytes of an element.

use std::ops::Range;

use container_core::dtype::{ByteOrder, DType, Field, Kind, Scalar as ScalarType};
use container_core::mask::{field_scalars, scalars};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};
use half::f16;

use super::super::{malformed, place};
use super::Nulls;
use crate::ndarray::complex;
use crate::yaml::{Int, Kind as NodeKind, Node, Scalar};

/// True where an item is tagged as a complex number.
pub(super) fn is_complex(node: Node<'_>) -> bool {
    node.tag().is_some_and(complex::is_tag)
}

/// Writes the item at `node` to `item`, which has the bytes of one element and is zero.
fn element(node: Node<'_>, dtype: &DType, item: &mut [u8], nulls: &mut Nulls<'_>) -> Result<()> {
    element_of(node, node.scalar(), dtype, item, nulls)
}

/// As [`element`], for a scalar that is parsed already. A null within a record stays zero, and `nulls` records it.
pub(super) fn element_of(
    node: Node<'_>,
    value: Option<Scalar<'_>>,
    dtype: &DType,
    item: &mut [u8],
    nulls: &mut Nulls<'_>,
) -> Result<()> {
    match dtype {
        DType::Scalar(scalar) => {
            nulls.at = nulls.at.saturating_add(1);
            self::scalar(node, value, scalar, item)
        }
        DType::Record(record) => {
            if node.kind() != NodeKind::Sequence || node.len() != record.fields.len() {
                return Err(malformed(
                    node,
                    format!("invalid record (expected a list of {} items)", record.fields.len()),
                ));
            }
            let mut values = node.items().zip(&record.fields);
            values.try_for_each(|(value, field)| self::field(value, field, item, nulls))
        }
    }
}

/// The bytes of one number; `None` where the type has no such number.
pub(super) fn value(node: Node<'_>, dtype: &DType, limits: &Limits) -> Result<Option<Vec<u8>>> {
    // An array without elements has elements of any length.
    let mut item = try_zeroed_vec(dtype.itemsize() as u64, limits)?;
    let mut nothing = |_: Range<usize>| Ok(());
    match element(node, dtype, &mut item, &mut Nulls { hide: &mut nothing, at: 0 }) {
        Ok(()) if is_exact(node, dtype) => Ok(Some(item)),
        Err(error) if matches!(error.kind(), container_core::ErrorKind::Unsupported(_)) => Err(error),
        _ => Ok(None),
    }
}

/// Whether a number that was taken as a float keeps its value. Whole numbers must be exact, and finite numbers stay finite. Fractions are rounded as
/// they were when the array's own were written.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "this asks what is lost"
)]
fn is_exact(node: Node<'_>, dtype: &DType) -> bool {
    let Some(ScalarType { kind: Kind::Float | Kind::Complex, size, .. }) = dtype.as_scalar() else {
        return true;
    };
    let part =
        if dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Complex) { *size / 2 } else { *size };
    let rounded = |number: f64| match part {
        2 => f16::from_f64(number).to_f64(),
        4 => f64::from(number as f32),
        _ => number,
    };
    match node.scalar() {
        Some(Scalar::Int(Int::Small(number))) => {
            let near = rounded(number as f64);
            near.is_finite() && near as i128 == number
        }
        Some(Scalar::Int(Int::Big(_))) => false,
        Some(Scalar::Float(number)) => number.is_finite() == rounded(number).is_finite(),
        _ => true,
    }
}

/// Writes the items of a field, with or without a shape.
fn field(node: Node<'_>, field: &Field, item: &mut [u8], nulls: &mut Nulls<'_>) -> Result<()> {
    if node.scalar() == Some(Scalar::Null) {
        return mark_null(nulls, field_scalars(field));
    }
    let shape: Vec<u64> = field.shape.iter().map(|len| *len as u64).collect();
    let size = field.dtype.itemsize();
    let mut from = field.offset;
    super::for_each_item(node, &shape, &mut |node| {
        let to = from.saturating_add(size);
        let part = item.get_mut(from..to).ok_or_else(|| malformed(node, "more items than the field has"))?;
        from = to;
        if node.scalar() == Some(Scalar::Null) {
            return mark_null(nulls, scalars(&field.dtype));
        }
        element(node, &field.dtype, part, nulls)
    })
}

/// Records the next `count` scalars as null.
fn mark_null(nulls: &mut Nulls<'_>, count: usize) -> Result<()> {
    let start = nulls.at;
    nulls.at = start.saturating_add(count);
    (nulls.hide)(start..nulls.at)
}

fn scalar(node: Node<'_>, value: Option<Scalar<'_>>, dtype: &ScalarType, item: &mut [u8]) -> Result<()> {
    let value =
        value.ok_or_else(|| malformed(node, "invalid item (expected a number, a truth value or text)"))?;
    let unfit = || {
        let shown: String = node.text().chars().take(40).collect();
        malformed(node, format!("{shown:?} is not a value of {}", DType::Scalar(dtype.clone())))
    };
    match (&dtype.kind, dtype.size) {
        (Kind::Bool, 1) => {
            let byte = to_bool(&value).ok_or_else(unfit)?;
            item.copy_from_slice(&[u8::from(byte)]);
        }
        (Kind::Int | Kind::Uint, 1 | 2 | 4 | 8 | 16) => {
            let bytes = integer(&value, &dtype.kind, dtype.size).ok_or_else(unfit)?;
            copy_le(item, &bytes, dtype.order);
        }
        (Kind::Float, size) => {
            let number = to_float(&value).ok_or_else(unfit)?;
            float(number, size, dtype.order, item).ok_or_else(unfit)?;
        }
        (Kind::Complex, size) => {
            let (re, im) = match &value {
                Scalar::Text(text) => complex::parse(text).map(|number| (number.re, number.im)),
                other => to_float(other).map(|re| (re, 0.0)),
            }
            .ok_or_else(unfit)?;
            let half = size / 2;
            let (head, tail) = item.split_at_mut_checked(half).ok_or_else(unfit)?;
            float(re, half, dtype.order, head).ok_or_else(unfit)?;
            float(im, half, dtype.order, tail).ok_or_else(unfit)?;
        }
        (Kind::Bytes, size) => {
            let text = node.text();
            // A cut text would lose characters, so it is refused.
            if !text.is_ascii() || text.len() > size {
                return Err(unfit());
            }
            item.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        }
        (Kind::Unicode, size) => {
            let text = node.text();
            if text.chars().count() > size / 4 {
                return Err(unfit());
            }
            for (to, from) in item.chunks_exact_mut(4).zip(text.chars()) {
                copy_le(to, &u32::from(from).to_le_bytes(), dtype.order);
            }
        }
        _ => {
            let problem = format!("cannot read inline items of {}", DType::Scalar(dtype.clone()));
            return Err(Error::unsupported(problem).with_context("asdf ndarray").with_range(place(node)));
        }
    }
    Ok(())
}

fn to_bool(value: &Scalar<'_>) -> Option<bool> {
    match value {
        Scalar::Bool(truth) => Some(*truth),
        Scalar::Int(Int::Small(0)) => Some(false),
        Scalar::Int(Int::Small(1)) => Some(true),
        _ => None,
    }
}

/// A whole number of up to 16 bytes, least significant first. Floats that are whole numbers will do.
fn integer(value: &Scalar<'_>, kind: &Kind, size: usize) -> Option<[u8; 16]> {
    // Integers of 128 bits exceed the range of YAML's small integers.
    if let (Scalar::Int(Int::Big(digits)), Kind::Uint, 16) = (value, kind, size) {
        return digits.parse::<u128>().ok().map(u128::to_le_bytes);
    }
    let number = match value {
        Scalar::Int(Int::Small(number)) => *number,
        Scalar::Bool(truth) => i128::from(*truth),
        Scalar::Float(number) => to_integer(*number)?,
        _ => return None,
    };
    let bits = u32::try_from(size.checked_mul(8)?).ok()?;
    let fits = match kind {
        Kind::Uint if bits >= 127 => number >= 0,
        Kind::Uint => number >= 0 && number < 1_i128.checked_shl(bits)?,
        _ if bits >= 128 => true,
        _ => {
            let end = 1_i128.checked_shl(bits.checked_sub(1)?)?;
            number >= end.checked_neg()? && number < end
        }
    };
    fits.then(|| number.to_le_bytes())
}

#[allow(clippy::cast_possible_truncation, reason = "the number is whole and within the range of exact ones")]
fn to_integer(number: f64) -> Option<i128> {
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    (number.trunc() == number && number.abs() <= MAX_EXACT_INTEGER).then_some(number as i128)
}

#[allow(clippy::cast_precision_loss, reason = "the nearest float is what the number means here")]
fn to_float(value: &Scalar<'_>) -> Option<f64> {
    match value {
        Scalar::Float(number) => Some(*number),
        Scalar::Int(Int::Small(number)) => Some(*number as f64),
        Scalar::Int(Int::Big(digits)) => digits.parse().ok(),
        Scalar::Bool(truth) => Some(f64::from(u8::from(*truth))),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounded to the nearest number that the type has")]
fn float(number: f64, size: usize, order: ByteOrder, item: &mut [u8]) -> Option<()> {
    match size {
        2 => copy_le(item, &f16::from_f64(number).to_le_bytes(), order),
        4 => copy_le(item, &(number as f32).to_le_bytes(), order),
        8 => copy_le(item, &number.to_le_bytes(), order),
        _ => return None,
    }
    Some(())
}

/// Copies as many bytes as `item` has from `bytes`, least significant first, into the given order.
fn copy_le(item: &mut [u8], bytes: &[u8], order: ByteOrder) {
    item.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    if order == ByteOrder::Big {
        item.reverse();
    }
}
