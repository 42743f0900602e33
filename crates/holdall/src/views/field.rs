//! A container in which one dataset of records is seen as one of its fields.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::{About, Container, Dataset, Interchange, ReadOptions, View, require};
use container_core::dtype::{DType, Order};
use container_core::region::{AxisSelection, Region};
use container_core::{Error, Result, Value};

/// The view: its only dataset is the field. Axes of a sub-array come after those of the records. No byte moves.
pub struct OneField<'a> {
    inner: &'a dyn Container,
    index: usize,
    path: String,
    records: Vec<u64>,
    dataset: Vec<Dataset>,
}

impl<'a> OneField<'a> {
    /// The field `path` of dataset `index`: a name, or names with dots between for records within records.
    ///
    /// # Errors
    /// `Usage` where the dataset or field does not exist, listing those that do.
    pub fn new(inner: &'a dyn Container, index: usize, path: &str) -> Result<Self> {
        let mut dataset = inner.require(index)?.into_owned();
        let place = dataset.dtype.field(path).ok_or_else(|| {
            let DType::Record(record) = &dataset.dtype else {
                return Error::usage(format!(
                    "{} has no fields: its elements are {}",
                    dataset.path, dataset.dtype
                ));
            };
            let names: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).take(20).collect();
            Error::usage(format!("{} has no field {path:?}", dataset.path))
                .with_hint(format!("there are {}", names.join(", ")))
        })?;
        let records = dataset.shape.clone();
        dataset.path = format!("{}/{path}", dataset.path);
        dataset.shape.extend(place.shape.iter().map(|len| *len as u64));
        if let Some(chunks) = &mut dataset.chunks {
            chunks.extend(place.shape.iter().map(|len| *len as u64));
        }
        let elements = dataset.shape.iter().copied().fold(1, u64::saturating_mul);
        dataset.logical = elements.saturating_mul(place.dtype.itemsize() as u64);
        dataset.dtype = place.dtype;
        Ok(Self { inner, index, path: path.to_owned(), records, dataset: vec![dataset] })
    }

    /// Selects by `axes`, those of the records and of the sub-array, from the field of records that are selected already.
    fn part<'f>(&self, field: Array<'f>, axes: &[AxisSelection]) -> Result<Array<'f>> {
        let inner = axes.get(self.records.len()..).unwrap_or_default();
        let kept = field.shape().len().saturating_sub(inner.len());
        let shape = field.shape().to_vec();
        let all = Region::whole(shape.get(..kept).unwrap_or_default());
        let axes = all.axes().iter().chain(inner).copied().collect();
        field.select(&Region::new(axes, &shape)?)
    }
}

impl Container for OneField<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn meta(&self) -> Result<Value> {
        self.inner.meta()
    }

    fn datasets(&self) -> &[Dataset] {
        &self.dataset
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = require(self, index)?;
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        let (outer, _) = region.axes().split_at(self.records.len());
        let array = self.inner.read(self.index, &Region::new(outer.to_vec(), &self.records)?, options)?;
        self.part(array.field(&self.path)?, region.axes())
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        let dataset = require(self, index)?;
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        let (outer, _) = region.axes().split_at(self.records.len());
        self.inner.check_readable(self.index, &Region::new(outer.to_vec(), &self.records)?, options)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let dataset = require(self, index)?;
        let (outer, _) = region.axes().split_at(self.records.len().min(region.axes().len()));
        let outer = Region::new(outer.to_vec(), &self.records)?;
        let Some(mask) = self.inner.mask(self.index, &outer, options)? else { return Ok(None) };
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        if dataset.dtype.itemsize() == 0 {
            return Ok(None);
        }
        if mask.dtype().as_scalar().is_none() {
            return self.part(mask.field(&self.path)?, region.axes()).map(Some);
        }
        // A record hides all that is in it.
        let len = options.limits.allocate(region.len().unwrap_or(u64::MAX))?;
        let bytes = mask.bytes(Order::C, &options.limits)?;
        let each = len / bytes.len().max(1);
        let bytes = bytes.iter().flat_map(|byte| std::iter::repeat_n(*byte, each)).collect();
        Array::new(mask.dtype().clone(), region.shape(), Order::C, Cow::Owned(bytes)).map(Some)
    }

    fn absence(&self, _index: usize, region: &Region) -> Option<Error> {
        let (outer, _) = region.axes().split_at(self.records.len().min(region.axes().len()));
        self.inner.absence(self.index, &Region::new(outer.to_vec(), &self.records).ok()?)
    }
}

impl View for OneField<'_> {
    fn inner(&self) -> &dyn Container {
        self.inner
    }
}

impl Interchange for OneField<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Memory;
    use container_core::Limits;
    use container_core::dtype::Order;

    #[test]
    fn a_record_that_a_mask_hides_hides_its_fields() {
        let bytes: Vec<u8> = (0..18).collect();
        let memory = Memory::new().with("a", r#"[["f","|u1"],["v","|u1",[2]]]"#, &[2, 3], &bytes);
        let memory = memory.masked("a", &[0, 1, 0, 0, 0, 1]);
        let mask = |field: &str, region: &str, shape: &[u64]| {
            let view = OneField::new(&memory, 0, field).unwrap();
            let region = Region::parse(region, shape).unwrap();
            let mask = view.mask(0, &region, &ReadOptions::default()).unwrap().unwrap();
            assert_eq!(mask.shape(), region.shape());
            mask.bytes(Order::C, &Limits::default()).unwrap().into_owned()
        };
        assert_eq!(mask("f", "", &[2, 3]), [0, 1, 0, 0, 0, 1]);
        assert_eq!(mask("f", "::-1, 1:", &[2, 3]), [0, 1, 1, 0]);
        assert_eq!(mask("v", "", &[2, 3, 2]), [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(mask("v", ":, 1:, 1", &[2, 3, 2]), [1, 0, 0, 1]);
        assert_eq!(mask("v", "0:0", &[2, 3, 2]), [0; 0]);
    }

    #[test]
    fn a_mask_of_fields_is_that_of_the_field() {
        let bytes: Vec<u8> = (0..6).collect();
        let memory = Memory::new().with("a", r#"[["f","|u1"],["v","|u1",[2]]]"#, &[2], &bytes);
        let memory = memory.masked("a", &[1, 0, 0, 0, 1, 0]);
        let mask = |field: &str, region: &str, shape: &[u64]| {
            let view = OneField::new(&memory, 0, field).unwrap();
            let region = Region::parse(region, shape).unwrap();
            let mask = view.mask(0, &region, &ReadOptions::default()).unwrap().unwrap();
            assert_eq!(mask.shape(), region.shape());
            mask.bytes(Order::C, &Limits::default()).unwrap().into_owned()
        };
        assert_eq!(mask("f", "", &[2]), [1, 0]);
        assert_eq!(mask("v", "::-1", &[2, 2]), [1, 0, 0, 0]);
        assert_eq!(mask("v", ":, 0", &[2, 2]), [0, 1]);
    }

    #[test]
    fn a_field_is_read_where_numpy_finds_it() {
        // numpy: a = np.frombuffer(bytes(range(18)), [('f', 'u1'), ('v', 'u1', 2)]).reshape(2, 3); a['v'][1:, ::2, 1] is [[11, 17]].
        let bytes: Vec<u8> = (0..18).collect();
        let memory = Memory::new().with("a", r#"[["f","|u1"],["v","|u1",[2]]]"#, &[2, 3], &bytes);
        let view = OneField::new(&memory, 0, "v").unwrap();
        assert_eq!(
            (view.datasets()[0].path.as_str(), &view.datasets()[0].shape[..]),
            ("a/v", &[2, 3, 2][..])
        );
        assert_eq!(view.datasets()[0].logical, 12);
        let read = |text: &str| {
            let region = Region::parse(text, &[2, 3, 2]).unwrap();
            let array = view.read(0, &region, &ReadOptions::default()).unwrap();
            (array.shape().to_vec(), array.elements::<u8>(Order::C, &Limits::default()).unwrap().into_owned())
        };
        assert_eq!(read("1:, ::2, 1"), (vec![1, 2], vec![11, 17]));
        assert_eq!(read("0, 1"), (vec![2], vec![4, 5]));
        assert!(OneField::new(&memory, 0, "w").is_err() && OneField::new(&memory, 1, "v").is_err());
    }
}
