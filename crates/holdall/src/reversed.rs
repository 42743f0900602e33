//! A container with the axes of every dataset reversed: row-major becomes column-major and the other way round.

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{About, Container, Dataset, Depth, ReadOptions, Segment};
use container_core::dtype::Order;
use container_core::region::{AxisSelection, Region};
use container_core::report::{Loss, Report};
use container_core::{Error, Progress, Result, Value};

/// The view. No byte moves.
pub(crate) struct Reversed<'a> {
    inner: &'a dyn Container,
    datasets: Vec<Dataset>,
}

impl<'a> Reversed<'a> {
    pub(crate) fn new(inner: &'a dyn Container) -> Self {
        let datasets = inner.datasets().iter().map(|dataset| {
            let mut dataset = dataset.clone();
            dataset.shape.reverse();
            if let Some(chunks) = &mut dataset.chunks {
                chunks.reverse();
            }
            dataset.order = match dataset.order {
                Order::C => Order::F,
                Order::F => Order::C,
            };
            dataset
        });
        Self { inner, datasets: datasets.collect() }
    }

    /// The region of the view that a region of the inner dataset is.
    ///
    /// # Errors
    /// `Usage` when it fits no such dataset.
    pub(crate) fn region(&self, index: usize, region: &Region) -> Result<Region> {
        let dataset = self.datasets.get(index).ok_or_else(|| Error::usage("no such dataset"))?;
        Region::new(reversed(region), &dataset.shape)
    }
}

fn reversed(region: &Region) -> Vec<AxisSelection> {
    region.axes().iter().rev().copied().collect()
}

impl Container for Reversed<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn meta(&self) -> Result<Value> {
        self.inner.meta()
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.inner.datasets().get(index).ok_or_else(|| Error::usage("no such dataset"))?;
        let region = Region::new(reversed(region), &dataset.shape)?;
        Ok(self.inner.read(index, &region, options)?.reversed_axes())
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        self.inner.blocks()
    }

    fn layout(&self) -> Vec<Segment> {
        self.inner.layout()
    }

    fn losses(&self) -> Vec<Loss> {
        self.inner.losses()
    }

    fn check(&self, depth: Depth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        self.inner.check(depth, options, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Memory;
    use container_core::Limits;

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
