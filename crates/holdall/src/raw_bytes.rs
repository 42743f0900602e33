//! Bytes without a header as a dataset: raw elements to be packed into a container.

use container_core::array::{Array, StoredArray, byte_len};
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Visibility,
};
use container_core::dtype::{DType, Order};
use container_core::interchange::DEFAULT_NAME;
use container_core::region::Region;
use container_core::report::{BlockCounts, Report};
use container_core::source::Source;
use container_core::{Error, Progress, Result, Value};

/// An array that takes up all of a source.
pub(crate) struct Plain {
    source: Box<dyn Source>,
    stored: StoredArray,
    datasets: [Dataset; 1],
}

impl Plain {
    /// A container with the one array `data`.
    ///
    /// # Errors
    /// `Usage` where the bytes are more or fewer than the shape needs.
    pub(crate) fn new(source: Box<dyn Source>, dtype: DType, shape: Vec<u64>, order: Order) -> Result<Self> {
        let stored = StoredArray { dtype, shape, order, data_at: 0 };
        let (need, have) = (stored.range()?.end, source.len());
        if need != have {
            let shape = &stored.shape;
            let problem =
                format!("{have} bytes are not {} of shape {shape:?}, which take {need}", stored.dtype);
            return Err(Error::usage(problem));
        }
        let dataset = Dataset {
            path: DEFAULT_NAME.into(),
            dtype: stored.dtype.clone(),
            shape: stored.shape.clone(),
            order,
            chunks: None,
            codec: "none".into(),
            stored: have,
            logical: have,
            attributes: Vec::new(),
            visibility: Visibility::Always,
        };
        Ok(Self { source, stored, datasets: [dataset] })
    }

    /// As many elements along the first axis as the bytes make; `rest` are the other axes.
    ///
    /// # Errors
    /// `Usage` where the bytes are not a whole number of them.
    pub(crate) fn of_rows(source: Box<dyn Source>, dtype: DType, rest: &[u64], order: Order) -> Result<Self> {
        let row = byte_len(&dtype, rest).filter(|row| *row > 0 && source.len().is_multiple_of(*row));
        let Some(row) = row else {
            let problem =
                format!("{} bytes are not a whole number of {dtype} of shape {rest:?}", source.len());
            return Err(Error::usage(problem));
        };
        let rows = source.len() / row;
        let shape = std::iter::once(rows).chain(rest.iter().copied()).collect();
        Self::new(source, dtype, shape, order)
    }

    /// The one dataset, whole.
    pub(crate) fn whole(&self) -> [(usize, Region); 1] {
        [(0, Region::whole(&self.stored.shape))]
    }
}

impl Container for Plain {
    fn about(&self) -> About {
        About { format: "raw", version: None, size: self.source.len(), complete: true, details: Vec::new() }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(Vec::new()))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        if index != 0 {
            return Err(Error::usage(format!("no dataset {index}")));
        }
        self.stored.read(&self.source, region, &options.limits, options.threads)
    }
}

impl FileStructure for Plain {
    fn blocks(&self) -> Vec<&dyn Block> {
        Vec::new()
    }

    fn byte_map(&self) -> Vec<Segment> {
        Vec::new()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::new(Vec::new(), BlockCounts::default()))
    }
}

impl Interchange for Plain {}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::{ErrorKind, Limits};

    fn plain(bytes: &[u8], shape: &[u64]) -> Result<Plain> {
        Plain::new(Box::new(bytes.to_vec()), DType::parse(">u2")?, shape.to_vec(), Order::C)
    }

    #[test]
    fn bytes_become_an_array_of_their_exact_size() {
        let plain = plain(&[0, 1, 0, 2], &[2]).unwrap();
        let array = plain.read(0, &Region::parse("1", &[2]).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(&*array.bytes(Order::C, &Limits::default()).unwrap(), [0, 2]);
        assert!(plain.read(1, &Region::whole(&[2]), &ReadOptions::default()).is_err());
    }

    #[test]
    fn bytes_that_do_not_fit_are_refused() {
        for shape in [&[1_u64][..], &[3], &[], &[u64::MAX, u64::MAX]] {
            assert!(plain(&[0, 1, 0, 2], shape).is_err(), "{shape:?}");
        }
        let rows = |bytes: usize, rest: &[u64]| {
            Plain::of_rows(Box::new(vec![0_u8; bytes]), DType::parse("<u2")?, rest, Order::C)
        };
        assert_eq!(rows(12, &[3]).unwrap().datasets()[0].shape, [2, 3]);
        assert_eq!(rows(0, &[3]).unwrap().datasets()[0].shape, [0, 3]);
        for (bytes, rest) in [(13, &[3][..]), (12, &[4]), (12, &[0])] {
            let error = rows(bytes, rest).err().unwrap();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        }
    }
}
