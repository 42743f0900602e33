//! A view with the axes of every dataset reversed: row-major becomes column-major and vice versa.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::{About, Container, Dataset, Interchange, ReadOptions, View, require};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Result, Value};

/// The view. No byte moves.
pub(crate) struct Reversed<'a> {
    inner: &'a dyn Container,
    datasets: Vec<Dataset>,
}

impl<'a> Reversed<'a> {
    pub(crate) fn new(inner: &'a dyn Container) -> Self {
        let datasets = inner.datasets().iter().cloned().map(turned);
        Self { inner, datasets: datasets.collect() }
    }

    /// The region of the view that a region of the inner dataset is.
    ///
    /// # Errors
    /// `Usage` when it fits no such dataset.
    pub(crate) fn region(&self, index: usize, region: &Region) -> Result<Region> {
        let dataset = require(self, index)?;
        region.reversed(&dataset.shape)
    }
}

fn turned(mut dataset: Dataset) -> Dataset {
    dataset.shape.reverse();
    if let Some(chunks) = &mut dataset.chunks {
        chunks.reverse();
    }
    dataset.order = dataset.order.reversed();
    dataset
}

impl Container for Reversed<'_> {
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
        &self.datasets
    }

    fn dataset_count(&self) -> usize {
        self.inner.dataset_count()
    }

    fn listed_count(&self) -> usize {
        self.inner.listed_count()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        match self.datasets.get(index) {
            Some(ready) => Some(Cow::Borrowed(ready)),
            None => Some(Cow::Owned(turned(self.inner.dataset(index)?.into_owned()))),
        }
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.inner.find(path)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.inner.require(index)?;
        let region = region.reversed(&dataset.shape)?;
        Ok(self.inner.read(index, &region, options)?.reversed_axes())
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        let shape = self.inner.require(index).ok()?.shape.clone();
        self.inner.repeated(index, &region.reversed(&shape).ok()?)
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        let dataset = self.inner.require(index)?;
        self.inner.check_readable(index, &region.reversed(&dataset.shape)?, options)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let dataset = self.inner.require(index)?;
        let region = region.reversed(&dataset.shape)?;
        Ok(self.inner.mask(index, &region, options)?.map(Array::reversed_axes))
    }

    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        let shape = self.dataset(index)?.shape.iter().rev().copied().collect::<Vec<_>>();
        self.inner.absence(index, &region.reversed(&shape).ok()?)
    }
}

impl View for Reversed<'_> {
    fn inner(&self) -> &dyn Container {
        self.inner
    }
}

impl Interchange for Reversed<'_> {
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
mod tests {
    use super::*;
    use crate::testing::Memory;
    use container_core::Limits;
    use container_core::dtype::Order;

    #[test]
    fn every_element_is_found_under_the_reversed_index() {
        // numpy: np.arange(6, dtype='u1').reshape(2, 3).T[1:, 0] is [1, 2].
        let memory = Memory::new().with("a", "|u1", &[2, 3], &[0, 1, 2, 3, 4, 5]);
        let view = Reversed::new(&memory);
        assert_eq!((view.datasets()[0].shape.as_slice(), view.datasets()[0].order), (&[3, 2][..], Order::F));
        let region = Region::parse("1:, 0", &[3, 2]).unwrap();
        let array = view.read(0, &region, &ReadOptions::default()).unwrap();
        assert_eq!(array.shape(), [2]);
        assert_eq!(*array.elements::<u8>(Order::C, &Limits::default()).unwrap(), [1, 2]);
        let inner = Region::parse("0, 1:", &[2, 3]).unwrap();
        assert_eq!(view.region(0, &inner).unwrap(), region);
    }
}
