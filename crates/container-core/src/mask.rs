//! Masks in memory: which scalars of which elements are missing.

use std::ops::Range;

use crate::array::Array;
use crate::dtype::{DType, Field, Kind, Order, Record, Scalar};
use crate::source::try_zeroed_vec;
use crate::{Error, Limits, Result};

/// The mask of some elements: a byte for each scalar of each element, in the order of the fields, 1 where it is missing.
///
/// An element that is one scalar has one byte; a record has one for each scalar of each of its fields, sub-arrays and records within records
/// spelled out. Fields without bytes have no mask bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    bytes: Vec<u8>,
    each: usize,
}

impl Hidden {
    /// The elements of `mask`, as [`Container::mask`](crate::container::Container::mask) gives it for elements of `dtype`, in `order`.
    ///
    /// # Errors
    /// `Usage` for a mask of another type; `Limit`.
    pub fn new(mask: &Array<'_>, dtype: &DType, order: Order, limits: &Limits) -> Result<Self> {
        let each = scalars(dtype);
        let bytes = mask.bytes(order, limits)?;
        let size = mask.dtype().itemsize();
        let is_whole = mask.dtype().as_scalar().is_some();
        if size != if is_whole { 1 } else { each } {
            return Err(Error::usage(format!("a mask of {} for elements of {dtype}", mask.dtype())));
        }
        let mut bytes = bytes.into_owned();
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        if !is_whole || each == 1 {
            return Ok(Self { bytes, each });
        }
        // An element that is hidden hides all that is in it.
        let mut spread = try_zeroed_vec((bytes.len() as u64).saturating_mul(each as u64), limits)?;
        for (part, byte) in spread.chunks_exact_mut(each.max(1)).zip(&bytes) {
            part.fill(*byte);
        }
        Ok(Self { bytes: spread, each })
    }

    /// Bytes for each element.
    #[must_use]
    pub const fn each(&self) -> usize {
        self.each
    }

    /// All bytes, those of one element after those of another.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the element at `index`.
    #[must_use]
    pub fn of(&self, index: usize) -> &[u8] {
        let start = index.saturating_mul(self.each);
        self.bytes.get(start..start.saturating_add(self.each)).unwrap_or_default()
    }

    /// Whether a scalar of any element is missing.
    #[must_use]
    pub fn any(&self) -> bool {
        self.bytes.iter().any(|byte| *byte != 0)
    }

    /// Number of elements with a missing scalar.
    #[must_use]
    pub fn count(&self) -> u64 {
        let elements = self.bytes.chunks_exact(self.each.max(1));
        elements.filter(|element| element.iter().any(|byte| *byte != 0)).count() as u64
    }

    /// Calls `fill` with each missing scalar in `items`, which holds the elements as they are stored.
    pub fn fill(&self, dtype: &DType, items: &mut [u8], fill: &dyn Fn(&Scalar, &mut [u8])) {
        let size = dtype.itemsize();
        if size == 0 || self.each == 0 {
            return;
        }
        let places = places(dtype);
        for (item, mask) in items.chunks_exact_mut(size).zip(self.bytes.chunks_exact(self.each)) {
            if mask.iter().all(|byte| *byte == 0) {
                continue;
            }
            for ((range, scalar), _) in places.iter().zip(mask).filter(|(_, byte)| **byte != 0) {
                if let Some(part) = item.get_mut(range.clone()) {
                    fill(scalar, part);
                }
            }
        }
    }
}

/// Number of scalars in an element of `dtype`, without fields that take no bytes.
#[must_use]
pub fn scalars(dtype: &DType) -> usize {
    match dtype {
        DType::Scalar(_) => 1,
        DType::Record(record) => record.fields.iter().map(field_scalars).fold(0, usize::saturating_add),
    }
}

/// Number of scalars in a field, its sub-array spelled out.
#[must_use]
pub fn field_scalars(field: &Field) -> usize {
    if field.dtype.itemsize() == 0 {
        return 0;
    }
    let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
    count.saturating_mul(scalars(&field.dtype))
}

/// The scalars of an element in the order of their bytes in a mask: the bytes of each within the element, and its type.
#[must_use]
pub fn places(dtype: &DType) -> Vec<(Range<usize>, &Scalar)> {
    let mut found = Vec::new();
    collect(dtype, 0, &mut found);
    found
}

fn collect<'d>(dtype: &'d DType, base: usize, found: &mut Vec<(Range<usize>, &'d Scalar)>) {
    let record = match dtype {
        DType::Scalar(scalar) => return found.push((base..base.saturating_add(scalar.size), scalar)),
        DType::Record(record) => record,
    };
    for field in record.fields.iter().filter(|field| field_scalars(field) > 0) {
        let size = field.dtype.itemsize();
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        let start = base.saturating_add(field.offset);
        for at in 0..count {
            collect(&field.dtype, start.saturating_add(at.saturating_mul(size)), found);
        }
    }
}

/// The type of a mask that hides scalars one by one: `bool8` for a scalar; for a record the same fields, each scalar of them `bool8`, without
/// padding and without fields that take no bytes.
#[must_use]
pub fn mask_dtype(dtype: &DType) -> DType {
    let DType::Record(record) = dtype else { return DType::native(Kind::Bool, 1) };
    let mut size = 0_usize;
    let fields = record.fields.iter().filter(|field| field_scalars(field) > 0).map(|field| {
        let offset = size;
        size = size.saturating_add(field_scalars(field));
        Field { title: None, dtype: mask_dtype(&field.dtype), offset, ..field.clone() }
    });
    let fields = fields.collect();
    DType::Record(Record { fields, size })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn records() -> DType {
        DType::parse("[('a', '<i2'), ('e', '|S0'), ('v', [('x', '|u1'), ('y', '<f4')], (2,))]").unwrap()
    }

    /// numpy: `np.ma.make_mask_descr` of the same type has a boolean in the place of each scalar.
    #[test]
    fn a_mask_of_records_has_a_byte_for_each_scalar() {
        let dtype = records();
        assert_eq!(scalars(&dtype), 5);
        let mask = mask_dtype(&dtype);
        assert_eq!(mask, DType::parse("[('a', '|b1'), ('v', [('x', '|b1'), ('y', '|b1')], (2,))]").unwrap());
        assert_eq!(mask.itemsize(), 5);
        let ranges: Vec<_> = places(&dtype).into_iter().map(|(range, _)| range).collect();
        assert_eq!(ranges, [0..2, 2..3, 3..7, 7..8, 8..12]);
    }

    #[test]
    fn a_hidden_record_hides_its_fields_and_a_hidden_field_itself() {
        let limits = Limits::default();
        let whole =
            Array::new(DType::native(Kind::Bool, 1), vec![2], Order::C, Cow::Owned(vec![0, 1])).unwrap();
        let hidden = Hidden::new(&whole, &records(), Order::C, &limits).unwrap();
        assert_eq!((hidden.of(0), hidden.of(1)), (&[0; 5][..], &[1; 5][..]));
        assert_eq!((hidden.count(), hidden.any()), (1, true));
        let bytes = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0];
        let fields = Array::new(mask_dtype(&records()), vec![2], Order::C, Cow::Owned(bytes)).unwrap();
        let hidden = Hidden::new(&fields, &records(), Order::C, &limits).unwrap();
        let mut items = vec![9; 24];
        hidden.fill(&records(), &mut items, &|_, part| part.fill(0));
        assert_eq!(items[..12], [9, 9, 9, 0, 0, 0, 0, 9, 9, 9, 9, 9]);
        assert_eq!(items[12..], [0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
        let plain = DType::native(Kind::Int, 4);
        assert!(Hidden::new(&fields, &plain, Order::C, &limits).is_err());
    }

    #[test]
    fn the_bytes_of_an_element_are_its_scalars() {
        let dtype = DType::parse("[('a', '<i2'), ('b', '|u1')]").unwrap();
        let mask = Array::new(mask_dtype(&dtype), vec![3], Order::C, vec![0, 7, 0, 0, 1, 1].into()).unwrap();
        let hidden = Hidden::new(&mask, &dtype, Order::C, &Limits::default()).unwrap();
        assert_eq!((hidden.each(), hidden.bytes()), (2, &[0, 1, 0, 0, 1, 1][..]));
        assert_eq!([0, 1, 2, 3].map(|index| hidden.of(index)), [&[0, 1][..], &[0, 0], &[1, 1], &[]]);
        assert_eq!((hidden.count(), hidden.any()), (2, true));
        let none = Array::new(DType::native(Kind::Bool, 1), vec![3], Order::C, vec![0; 3].into()).unwrap();
        let hidden = Hidden::new(&none, &dtype, Order::C, &Limits::default()).unwrap();
        assert_eq!((hidden.count(), hidden.any(), hidden.bytes().len()), (0, false, 6));
        let small = Limits::default().with_memory(5);
        assert!(Hidden::new(&none, &dtype, Order::C, &small).is_err());
    }

    #[test]
    fn a_mask_of_scalars_is_a_byte_for_each_element() {
        let dtype = DType::parse("<i2").unwrap();
        let mask = Array::new(mask_dtype(&dtype), vec![2, 2], Order::C, vec![0, 9, 1, 0].into()).unwrap();
        let hidden = |order| Hidden::new(&mask, &dtype, order, &Limits::default()).unwrap();
        assert_eq!(
            (hidden(Order::C).bytes(), hidden(Order::F).bytes()),
            (&[0, 1, 1, 0][..], &[0, 1, 1, 0][..])
        );
        assert_eq!(hidden(Order::C).each(), 1);
        let mut items = vec![5; 8];
        hidden(Order::C).fill(&dtype, &mut items, &|scalar, part| part.fill(scalar.size as u8));
        assert_eq!(items, [5, 5, 2, 2, 2, 2, 5, 5]);
        let wide = Array::new(DType::parse("<u2").unwrap(), vec![1], Order::C, vec![0; 2].into()).unwrap();
        let error = Hidden::new(&wide, &dtype, Order::C, &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "a mask of <u2 for elements of <i2");
    }

    #[test]
    fn sub_arrays_of_records_are_spelled_out() {
        let dtype = DType::parse(
            "[('p', [('q', [('x', '<u2'), ('y', '|u1')], (2,)), ('z', '|u1')], (2, 1)), ('e', '|V0', (9,)), ('n', '<f4', (0,))]",
        )
        .unwrap();
        assert_eq!((dtype.itemsize(), scalars(&dtype)), (14, 10));
        let ranges: Vec<_> = places(&dtype).into_iter().map(|(range, _)| range).collect();
        assert_eq!(ranges, [0..2, 2..3, 3..5, 5..6, 6..7, 7..9, 9..10, 10..12, 12..13, 13..14]);
        let mask = mask_dtype(&dtype);
        let want = DType::parse("[('p', [('q', [('x', '|b1'), ('y', '|b1')], (2,)), ('z', '|b1')], (2, 1))]");
        assert_eq!(mask, want.unwrap());
        let empty = DType::parse("[('e', '|V0')]").unwrap();
        assert_eq!((scalars(&empty), places(&empty).len(), mask_dtype(&empty).itemsize()), (0, 0, 0));
        // Fields that are out of order, and padding.
        let dict = "{'names': ['a', 'b'], 'formats': ['<u2', '|u1'], 'offsets': [4, 1], 'itemsize': 8}";
        let ranges: Vec<_> =
            places(&DType::parse(dict).unwrap()).into_iter().map(|(range, _)| range).collect();
        assert_eq!(ranges, [4..6, 1..2]);
    }
}
