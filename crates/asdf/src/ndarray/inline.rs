//! Inline data: nesting of lists, type of the items, and their bytes.

use std::ops::Range;

use container_core::array::byte_len;
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::mask::scalars;
use container_core::region::element_count;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

use super::{malformed, place};
use crate::yaml::{Int, Kind as NodeKind, Node, Scalar};

mod encode;

/// Maximum depth of nested lists: as many axes as any array has, and some for records. A list that contains itself ends here.
const MAX_DEPTH: usize = 128;

/// Inline data as bytes, in C order, and the null flags of their scalars if any is null.
pub(crate) struct Items {
    /// The elements, those that are null zero.
    pub bytes: Vec<u8>,
    /// 1 for each scalar of an element that is null, else 0.
    pub nulls: Option<Vec<u8>>,
}

/// The lengths of the axes, found along the first items that are not null. Reading checks that all lists are as long. An array of records has as many
/// axes as `stated`, if it is given.
pub(super) fn shape(data: Node<'_>, dtype: Option<&DType>, stated: Option<usize>) -> Result<Vec<u64>> {
    let is_null = |node: Node<'_>| node.scalar() == Some(Scalar::Null);
    let (mut lens, mut here, mut empty) = (Vec::new(), data, false);
    while here.kind() == NodeKind::Sequence {
        if lens.len() >= MAX_DEPTH {
            return Err(malformed(data, format!("lists within lists (expected at most {MAX_DEPTH} levels)")));
        }
        lens.push(here.len() as u64);
        match here.items().find(|item| !is_null(*item)).or_else(|| here.item(0)) {
            Some(first) => here = first,
            None => {
                empty = true;
                break;
            }
        }
    }
    if here.kind() == NodeKind::Mapping {
        return Err(malformed(here, "a mapping as an item of an array (expected a number, text or a list)"));
    }
    let inner = dtype.map_or(0, depth);
    match stated.filter(|_| inner > 0) {
        Some(stated) => lens.truncate(stated),
        // A null record is not a list.
        None if empty || (is_null(here) && !lens.is_empty()) => {}
        None => {
            let axes = lens.len().checked_sub(inner);
            lens.truncate(axes.ok_or_else(|| {
                malformed(data, "the nesting of the lists does not match that of the records")
            })?);
        }
    }
    Ok(lens)
}

/// Lists that one element of the type takes.
fn depth(dtype: &DType) -> usize {
    match dtype {
        DType::Scalar(_) => 0,
        DType::Record(record) => {
            let first = record.fields.first();
            let first = first.map_or(0, |field| depth(&field.dtype).saturating_add(field.shape.len()));
            first.saturating_add(1)
        }
    }
}

/// The type that follows from the items (ASDF standard 1.6.0, core schemas, ndarray): text where any is text, else complex128, float64, int64 or
/// bool8, in this machine's byte order, as nothing is stored. Without items it is float64, as in Python asdf; numbers from 2^63 on are uint64.
///
/// # Errors
/// `Malformed` for lists of different lengths, or invalid items; `Unsupported` for items of other types; `Limit`.
pub(crate) fn infer(data: Node<'_>, shape: &[u64], limits: &Limits) -> Result<DType> {
    check_count(data, shape, limits)?;
    let mut found = ItemTypes::default();
    for_each_item(data, shape, &mut |node| found.add(node))?;
    found.dtype(data)
}

/// The elements as bytes of `dtype`.
///
/// # Errors
/// As [`infer`]; `Malformed` for items that the type does not hold.
pub(crate) fn read(data: Node<'_>, shape: &[u64], dtype: &DType, limits: &Limits) -> Result<Items> {
    let count = check_count(data, shape, limits)?;
    let len = byte_len(dtype, shape).ok_or_else(|| malformed(data, "an array of more than 2^64 bytes"))?;
    let mut bytes: Vec<u8> = try_zeroed_vec(len, limits)?;
    let mut nulls: Option<Vec<u8>> = None;
    let (size, scalars) = (dtype.itemsize(), scalars(dtype));
    let (mut at, mut from) = (0_usize, 0_usize);
    for_each_item(data, shape, &mut |node| {
        if at.is_multiple_of(scalars.saturating_mul(4096)) {
            limits.stop.check()?;
        }
        let to = from.saturating_add(size);
        let item = bytes.get_mut(from..to).ok_or_else(|| malformed(node, "more items than the shape has"))?;
        let mut hide = |hidden: Range<usize>| {
            let nulls = match &mut nulls {
                Some(nulls) => nulls,
                none => none.insert(try_zeroed_vec(count.saturating_mul(scalars as u64), limits)?),
            };
            let hidden = hidden.start.saturating_add(at)..hidden.end.saturating_add(at);
            nulls.get_mut(hidden).unwrap_or_default().fill(1);
            Ok(())
        };
        let value = node.scalar();
        if value == Some(Scalar::Null) {
            hide(0..scalars)?;
        } else {
            encode::element_of(node, value, dtype, item, &mut Nulls { hide: &mut hide, at: 0 })?;
        }
        (at, from) = (at.saturating_add(scalars), to);
        Ok(())
    })?;
    Ok(Items { bytes, nulls })
}

/// Records the null fields of a record.
struct Nulls<'a> {
    /// Called with the range of each null scalar in the element.
    hide: &'a mut dyn FnMut(Range<usize>) -> Result<()>,
    /// The place of the next scalar.
    at: usize,
}

/// A single number as the bytes of an element; `None` for one that the type does not have. Whole numbers stay exact.
///
/// # Errors
/// `Unsupported` for a type that numbers cannot be; `Limit` for one of too many bytes.
pub(crate) fn value(node: Node<'_>, dtype: &DType, limits: &Limits) -> Result<Option<Vec<u8>>> {
    encode::value(node, dtype, limits)
}

/// Checks the number of items. Aliases of lists make many items out of little text; items without bytes do so without any memory.
fn check_count(data: Node<'_>, shape: &[u64], limits: &Limits) -> Result<u64> {
    let axes = shape.len() as u64;
    if axes > limits.ndims {
        return Err(Error::limit("dimensions", axes, limits.ndims).with_range(place(data)));
    }
    let count = element_count(shape.iter().copied()).unwrap_or(u64::MAX);
    limits.allocate(count).map_err(|error| error.with_range(place(data)))?;
    Ok(count)
}

/// Calls `look` with every item, in C order, down to the depth of the axes.
fn for_each_item<'d>(
    node: Node<'d>,
    shape: &[u64],
    look: &mut dyn FnMut(Node<'d>) -> Result<()>,
) -> Result<()> {
    let Some((len, rest)) = shape.split_first() else { return look(node) };
    if node.kind() != NodeKind::Sequence || node.len() as u64 != *len {
        return Err(malformed(node, format!("ragged data (expected a list of {len} items, as elsewhere)")));
    }
    if rest.is_empty() {
        return node.items().try_for_each(look);
    }
    node.items().try_for_each(|item| for_each_item(item, rest, look))
}

/// Types of the items that were visited.
#[derive(Default)]
struct ItemTypes {
    text: bool,
    complex: bool,
    float: bool,
    int: bool,
    bool: bool,
    negative: bool,
    /// Some number is beyond 64 bits, or beyond 63 without a sign.
    large: bool,
    /// Maximum number of characters of any item, were all of them text.
    chars: usize,
}

impl ItemTypes {
    fn add(&mut self, node: Node<'_>) -> Result<()> {
        let wrong = || malformed(node, "invalid item of an array (expected a number, a truth value or text)");
        match node.scalar().ok_or_else(wrong)? {
            Scalar::Null => return Ok(()),
            Scalar::Bool(_) => self.bool = true,
            Scalar::Int(Int::Small(number)) => {
                self.int = true;
                self.negative |= number < 0;
                self.large |= i64::try_from(number).is_err();
                if i64::try_from(number).is_err() && u64::try_from(number).is_err() {
                    return Err(too_large(node));
                }
            }
            Scalar::Int(Int::Big(_)) => return Err(too_large(node)),
            Scalar::Float(_) => self.float = true,
            Scalar::Text(_) if encode::is_complex(node) => self.complex = true,
            Scalar::Text(_) | Scalar::Default | Scalar::Merge => self.text = true,
            Scalar::Timestamp(_) => return Err(other(node, "a date")),
            Scalar::Binary(_) => return Err(other(node, "binary data")),
        }
        self.chars = self.chars.max(node.text().chars().count());
        Ok(())
    }

    fn dtype(&self, data: Node<'_>) -> Result<DType> {
        let (kind, size) = if self.text {
            (Kind::Unicode, self.chars.saturating_mul(4))
        } else if self.complex {
            (Kind::Complex, 16)
        } else if self.float {
            (Kind::Float, 8)
        } else if self.large && self.negative {
            return Err(malformed(data, "these numbers have no datatype in common"));
        } else if self.large {
            (Kind::Uint, 8)
        } else if self.int {
            (Kind::Int, 8)
        } else if self.bool {
            (Kind::Bool, 1)
        } else {
            (Kind::Float, 8)
        };
        // Little-endian on every machine, so that the listing is the same everywhere.
        Ok(DType::new(kind, size, ByteOrder::Little))
    }
}

fn too_large(node: Node<'_>) -> Error {
    malformed(node, "a number past 64 bits, which has no datatype")
}

fn other(node: Node<'_>, what: &str) -> Error {
    Error::unsupported(format!("{what} as an item of an array"))
        .with_context("asdf ndarray")
        .with_range(place(node))
}
