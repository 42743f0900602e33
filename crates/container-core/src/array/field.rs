//! One field of an array of records, without copying.

use super::{Array, contiguous_strides};
use crate::dtype::{DType, Order, Record};
use crate::{Error, Result};

/// Position and type of a field in each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Bytes from the start of the outermost record.
    pub offset: usize,
    /// Type of its elements.
    pub dtype: DType,
    /// Shape of the sub-array, C order; empty for a single item.
    pub shape: Vec<usize>,
}

impl DType {
    /// A field by its name, or by the dotted names through nested records: `position.ra`. A name that contains a dot itself is found first.
    /// `None` where the field does not exist, or a sub-array of records is on the way.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<FieldPlace> {
        let Self::Record(Record { fields, .. }) = self else { return None };
        if let Some(found) = fields.iter().find(|field| field.name == path) {
            return Some(FieldPlace {
                offset: found.offset,
                dtype: found.dtype.clone(),
                shape: found.shape.clone(),
            });
        }
        fields.iter().filter(|field| field.shape.is_empty()).find_map(|field| {
            let rest = path.strip_prefix(field.name.as_str())?.strip_prefix('.')?;
            let inner = field.dtype.field(rest)?;
            Some(FieldPlace { offset: inner.offset.saturating_add(field.offset), ..inner })
        })
    }
}

impl<'a> Array<'a> {
    /// One field of every record, as numpy's `array['name']`: axes of a sub-array come last. A view, without a copy.
    ///
    /// # Errors
    /// `Usage` where the field does not exist ([`DType::field`]).
    pub fn field(self, path: &str) -> Result<Array<'a>> {
        let place = self.dtype.field(path).ok_or_else(|| Error::usage(format!("no field {path:?}")))?;
        let FieldPlace { offset, dtype, shape: inner } = place;
        let inner: Vec<u64> = inner.into_iter().map(|len| len as u64).collect();
        let mut strides = self.strides;
        strides.extend(contiguous_strides(&inner, dtype.itemsize(), Order::C)?);
        let mut shape = self.shape;
        shape.extend(inner);
        let origin = self.origin.saturating_add(offset as u64);
        Self::strided(dtype, shape, strides, origin, self.bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::region::Region;

    /// numpy: `np.dtype({'names': ['a', 'p', 'v'], 'formats': ['u1', [('x', '>u2'), ('y', 'u1')], ('<u2', 2)], 'offsets': [0, 1, 4],
    /// 'itemsize': 9})` over `bytes(range(18))`.
    fn records() -> Array<'static> {
        let dtype = DType::parse(
            "[('a', '|u1'), ('p', [('x', '>u2'), ('y', '|u1')]), ('v', '<u2', (2,)), ('', '|V1')]",
        )
        .unwrap();
        assert_eq!(dtype.itemsize(), 9);
        Array::new(dtype, vec![2], Order::C, (0..18).collect::<Vec<u8>>().into()).unwrap()
    }

    #[test]
    fn fields_are_those_of_numpy() {
        let limits = Limits::default();
        let bytes = |path: &str| {
            let field = records().field(path).unwrap();
            (field.shape().to_vec(), field.bytes(Order::C, &limits).unwrap().to_vec())
        };
        assert_eq!(bytes("a"), (vec![2], vec![0, 9]));
        assert_eq!(bytes("p.x"), (vec![2], vec![1, 2, 10, 11]));
        assert_eq!(bytes("p.y"), (vec![2], vec![3, 12]));
        assert_eq!(bytes("v"), (vec![2, 2], vec![4, 5, 6, 7, 13, 14, 15, 16]));
        for absent in ["b", "p.z", "a.x", "v.x", "p.", ""] {
            assert!(records().field(absent).is_err(), "{absent:?}");
        }
        let backwards = records().select(&Region::parse("::-1", &[2]).unwrap()).unwrap();
        assert_eq!(*backwards.field("a").unwrap().bytes(Order::C, &limits).unwrap(), [9, 0]);
    }
}
