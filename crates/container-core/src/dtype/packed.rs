//! Records without padding.

use super::{DType, Field, Record};

impl DType {
    /// The type whose fields follow each other in the order of their list, without bytes between or after them and without titles. Scalar
    /// types are unchanged.
    #[must_use]
    pub fn packed(&self) -> Self {
        let Self::Record(record) = self else { return self.clone() };
        let mut size = 0_usize;
        let fields = record.fields.iter().map(|field| {
            let dtype = field.dtype.packed();
            let offset = size;
            let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
            size = size.saturating_add(dtype.itemsize().saturating_mul(count));
            Field { title: None, dtype, offset, ..field.clone() }
        });
        let fields = fields.collect();
        Self::Record(Record { fields, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Kind;

    #[test]
    fn padding_and_titles_go_within_records_too() {
        let field = |name: &str, size, offset, shape: &[usize]| Field {
            name: name.into(),
            title: Some("a title".into()),
            dtype: DType::native(Kind::Uint, size),
            shape: shape.to_vec(),
            offset,
        };
        let inner =
            DType::Record(Record { fields: vec![field("a", 1, 0, &[]), field("b", 2, 2, &[3])], size: 16 });
        let nested = Field { dtype: inner, ..field("r", 1, 8, &[2]) };
        let packed = DType::Record(Record { fields: vec![field("x", 4, 0, &[]), nested], size: 40 }).packed();
        assert_eq!(packed.itemsize(), 4 + 2 * 7);
        let DType::Record(Record { fields, .. }) = &packed else { panic!("no record") };
        assert_eq!((fields[1].offset, fields[1].title.as_ref()), (4, None));
        let DType::Record(inner) = &fields[1].dtype else { panic!("no record") };
        assert_eq!((inner.fields[1].offset, inner.size), (1, 7));
        assert_eq!(packed.packed(), packed);
    }
}
