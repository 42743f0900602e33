//! The writer of a build without the feature `catalog`: one that cannot be.

use std::convert::Infallible;
use std::io::Write;
use std::marker::PhantomData;

use container_core::{Error, Result};

use super::row::{Row, Table};

/// Writes rows to a Parquet file: not in this build.
pub struct CatalogWriter<W: Write + Send>(Infallible, PhantomData<W>);

impl<W: Write + Send> CatalogWriter<W> {
    /// Refuses.
    ///
    /// # Errors
    /// `Unsupported`, which names the feature.
    pub fn new(_: W, _: &Table) -> Result<Self> {
        Err(Error::unsupported("catalogues cannot be written: built without the feature `catalog`"))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// None: there is no such writer.
    pub fn push(&mut self, _: Row) -> Result<()> {
        match self.0 {}
    }

    /// Returns the output.
    ///
    /// # Errors
    /// None: there is no such writer.
    pub fn finish(self) -> Result<W> {
        match self.0 {}
    }
}
