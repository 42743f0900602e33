//! A view whose errors name the file: for operations that read one file and write, or compare, another.

use std::any::Any;
use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::{About, Container, Dataset, Interchange, MetadataText, ReadOptions, View};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Result, Value};

/// The view. Values, datasets and metadata are those of the container; its errors get a subject.
pub struct NamedSource<'a> {
    inner: &'a dyn Container,
    name: String,
}

impl<'a> NamedSource<'a> {
    /// A view of `inner`, which is the file called `name`.
    pub fn new(inner: &'a dyn Container, name: impl Into<String>) -> Self {
        Self { inner, name: name.into() }
    }

    fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.with_subject(&*self.name))
    }
}

impl Container for NamedSource<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn meta(&self) -> Result<Value> {
        self.named(self.inner.meta())
    }

    fn logical_meta(&self) -> Result<Value> {
        self.named(self.inner.logical_meta())
    }

    fn datasets(&self) -> &[Dataset] {
        self.inner.datasets()
    }

    fn dataset_count(&self) -> usize {
        self.inner.dataset_count()
    }

    fn listed_count(&self) -> usize {
        self.inner.listed_count()
    }

    fn codecs(&self) -> Option<std::collections::BTreeSet<String>> {
        self.inner.codecs()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        self.inner.dataset(index)
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.inner.find(path)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        self.named(self.inner.read(index, region, options))
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        self.named(self.inner.check_readable(index, region, options))
    }

    fn read_into(
        &self,
        index: usize,
        region: &Region,
        order: Order,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        self.named(self.inner.read_into(index, region, order, dst, options))
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        self.inner.repeated(index, region)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        self.named(self.inner.mask(index, region, options))
    }

    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        self.inner.absence(index, region).map(|error| error.with_subject(&*self.name))
    }
}

impl View for NamedSource<'_> {
    fn inner(&self) -> &dyn Container {
        self.inner
    }
}

impl Interchange for NamedSource<'_> {
    fn records_dtype(&self, index: usize) -> Option<bool> {
        self.inner.records_dtype(index)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        self.inner.as_any()
    }

    fn metadata_text(&self) -> Option<&dyn MetadataText> {
        self.inner.metadata_text()
    }

    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        self.inner.has_frame_axis(dataset)
    }

    fn losses(&self) -> Vec<Loss> {
        self.inner.losses()
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        self.named(self.inner.export_metadata(selection))
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        self.inner.unexported_metadata(selection)
    }

    fn left_out(&self, index: usize) -> Vec<Loss> {
        self.inner.left_out(index)
    }
}
