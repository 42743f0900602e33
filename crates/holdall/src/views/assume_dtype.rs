//! A view that gives untyped elements a type: super-chunks and packed bytes of which only a size is recorded.

use std::any::Any;
use std::borrow::Cow;
use std::sync::OnceLock;

use container_core::array::Array;
use container_core::container::{About, Container, Dataset, Interchange, MetadataText, ReadOptions, View};
use container_core::dtype::{DType, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::report::Loss;
use container_core::source::{into_vec, try_copy};
use container_core::{Error, Result, Value};

/// The view. No byte moves.
pub(crate) struct Assumed {
    inner: Box<dyn Container>,
    dtype: DType,
    /// Datasets of the view, made on request.
    datasets: OnceLock<Vec<Dataset>>,
}

impl Assumed {
    /// The view of `inner` with `dtype` for all untyped datasets.
    ///
    /// # Errors
    /// `Usage` for a type without bytes, and where a dataset that a plain listing shows is not a whole number of its elements.
    pub(crate) fn new(inner: Box<dyn Container>, dtype: DType) -> Result<Self> {
        if dtype.itemsize() == 0 {
            return Err(Error::usage(format!("elements of {dtype} have no bytes")));
        }
        let assumed = Self { inner, dtype, datasets: OnceLock::new() };
        for index in 0..assumed.inner.listed_count() {
            assumed.seen(index, assumed.inner.require(index)?.into_owned())?;
        }
        Ok(assumed)
    }

    /// The dataset, and whether its type is assumed.
    fn seen(&self, index: usize, mut dataset: Dataset) -> Result<(Dataset, bool)> {
        if self.inner.is_typed(index) {
            return Ok((dataset, false));
        }
        let (own, new) = (dataset.dtype.itemsize() as u64, self.dtype.itemsize() as u64);
        if own != new {
            let [len] = dataset.shape[..] else { return Err(self.unfit(&dataset)) };
            let Some(bytes) = len.checked_mul(own).filter(|bytes| bytes.is_multiple_of(new)) else {
                return Err(self.unfit(&dataset));
            };
            dataset.shape = vec![bytes / new];
            // Chunks need not be whole numbers of elements.
            dataset.chunks = None;
        }
        dataset.dtype = self.dtype.clone();
        Ok((dataset, true))
    }

    fn unfit(&self, dataset: &Dataset) -> Error {
        let shape = &dataset.shape;
        let problem = format!("{} of {shape:?} is not a whole number of {}", dataset.dtype, self.dtype);
        Error::usage(problem).with_context(dataset.path.clone()).with_hint("another --assume-dtype")
    }
}

impl Container for Assumed {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn meta(&self) -> Result<Value> {
        self.inner.meta()
    }

    fn logical_meta(&self) -> Result<Value> {
        self.inner.logical_meta()
    }

    fn datasets(&self) -> &[Dataset] {
        self.datasets.get_or_init(|| {
            let ready = self.inner.datasets().iter().enumerate();
            ready
                .map(|(index, dataset)| match self.seen(index, dataset.clone()) {
                    Ok((seen, _)) => seen,
                    // Reading it gives the error.
                    Err(_) => dataset.clone(),
                })
                .collect()
        })
    }

    fn dataset_count(&self) -> usize {
        self.inner.dataset_count()
    }

    fn listed_count(&self) -> usize {
        self.inner.listed_count()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        let dataset = self.inner.dataset(index)?;
        if self.inner.is_typed(index) {
            return Some(dataset);
        }
        let dataset = dataset.into_owned();
        let seen = self.seen(index, dataset.clone()).map_or(dataset, |(seen, _)| seen);
        Some(Cow::Owned(seen))
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.inner.find(path)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let stored = self.inner.require(index)?.into_owned();
        let own = stored.dtype.itemsize() as u64;
        let (dataset, is_assumed) = self.seen(index, stored)?;
        if !is_assumed {
            return self.inner.read(index, region, options);
        }
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        let new = self.dtype.itemsize() as u64;
        if own == new {
            let array = self.inner.read(index, &region, options)?;
            let bytes = into_vec(array.bytes(Order::C, &options.limits)?, &options.limits)?;
            return Array::new(self.dtype.clone(), array.shape().to_vec(), Order::C, Cow::Owned(bytes));
        }
        let [axis] = region.axes() else { return Err(self.unfit(&dataset)) };
        if axis.count == 0 {
            return Array::new(self.dtype.clone(), region.shape(), Order::C, Cow::Borrowed(&[]));
        }
        // The stored elements that hold those between the first and the last that are wanted.
        let last = i128::from(axis.start) + i128::from(axis.step) * (i128::from(axis.count) - 1);
        let last = u64::try_from(last).unwrap_or(axis.start);
        let (low, high) = (axis.start.min(last), axis.start.max(last));
        let first = low * new / own;
        let count = ((high + 1) * new).div_ceil(own) - first;
        let span = AxisSelection { start: first, step: 1, count, kept: Kept::Yes };
        let stored_shape = [dataset.shape.iter().product::<u64>() * new / own];
        let array = self.inner.read(index, &Region::new(vec![span], &stored_shape)?, options)?;
        let bytes = array.bytes(Order::C, &options.limits)?;
        let from = usize::try_from(low * new - first * own).unwrap_or(usize::MAX);
        let len = options.limits.allocate((high + 1 - low).saturating_mul(new))?;
        let part = from.checked_add(len).and_then(|end| bytes.get(from..end));
        let part = try_copy(part.ok_or_else(|| self.unfit(&dataset))?, &options.limits)?;
        let array = Array::new(self.dtype.clone(), vec![high + 1 - low], Order::C, Cow::Owned(part))?;
        let start = if axis.step < 0 { high - low } else { 0 };
        array.select(&Region::new(vec![AxisSelection { start, ..*axis }], &[high + 1 - low])?)
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        if self.inner.is_typed(index) { self.inner.repeated(index, region) } else { None }
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        if self.inner.is_typed(index) {
            return self.inner.check_readable(index, region, options);
        }
        container_core::chunked_read::check_furthest_readable(self, index, region, options)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        if self.inner.is_typed(index) { self.inner.mask(index, region, options) } else { Ok(None) }
    }

    /// Elements of another size than the stored ones are refused as they are read.
    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        let own = self.inner.dataset(index)?;
        let same = self.inner.is_typed(index) || own.dtype.itemsize() == self.dtype.itemsize();
        if same { self.inner.absence(index, region) } else { None }
    }
}

impl View for Assumed {
    fn inner(&self) -> &dyn Container {
        &*self.inner
    }
}

impl Interchange for Assumed {
    fn records_dtype(&self, _index: usize) -> Option<bool> {
        Some(true)
    }

    /// `None` if the view changes a type: the file itself then differs from it.
    fn as_any(&self) -> Option<&dyn Any> {
        let is_typed = |index| self.inner.is_typed(index);
        if (0..self.inner.listed_count()).all(is_typed) { self.inner.as_any() } else { None }
    }

    fn metadata_text(&self) -> Option<&dyn MetadataText> {
        self.as_any().and(self.inner.metadata_text())
    }

    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        self.inner.has_frame_axis(dataset)
    }

    fn losses(&self) -> Vec<Loss> {
        self.inner.losses()
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        self.inner.export_metadata(selection)
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        self.inner.unexported_metadata(selection)
    }

    fn left_out(&self, index: usize) -> Vec<Loss> {
        self.inner.left_out(index)
    }
}

#[cfg(test)]
mod tests;
