//! An open file: its tree, its arrays, its blocks.

use std::borrow::Cow;
use std::path::Path;

use container_core::Result;
use container_core::array::Array;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::region::Region;
use container_core::source::Source;

use crate::layout::{Layout, StoredBlock};
use crate::ndarray::NdArray;
use crate::tree::Tree;

/// An open ASDF file.
pub struct File {
    source: Box<dyn Source>,
    layout: Layout,
    tree: Tree,
    arrays: Vec<ArrayEntry>,
}

/// An array of the tree with its path.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEntry {
    /// Its path: `roman/data`. An array that is reached by two has two entries.
    pub path: String,
    /// What the tree says of it.
    pub array: NdArray,
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `WrongFormat`, `Unsupported`, `Malformed` for a tree that cannot be read, `Limit`, `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` with options.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let _ = (path, options);
        unimplemented!()
    }

    /// Opens bytes from anywhere. External files are looked for below `folder`, if there is one.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_source(
        source: Box<dyn Source>,
        folder: Option<&Path>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let _ = (source, folder, options);
        unimplemented!()
    }

    /// The tree. A file without one has an empty mapping.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Where everything is.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// The blocks.
    #[must_use]
    pub fn blocks(&self) -> &[StoredBlock] {
        &self.layout.blocks
    }

    /// The arrays of the tree, in its order.
    #[must_use]
    pub fn arrays(&self) -> &[ArrayEntry] {
        &self.arrays
    }

    /// The decoded bytes of a block: lent where they are stored plainly and the source can.
    ///
    /// # Errors
    /// `Usage` for a block that there is not; `Truncated`, `Malformed`, `Unsupported`, `Limit`, and those of the source.
    pub fn read_block(&self, index: usize, options: &ReadOptions) -> Result<Cow<'_, [u8]>> {
        let _ = (index, options);
        unimplemented!()
    }

    /// The elements of `region` of the array at `path`.
    ///
    /// # Errors
    /// `Usage` for an unknown path or a region that does not fit; as [`File::read_block`].
    pub fn read(&self, path: &str, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let _ = (path, region, options);
        unimplemented!()
    }
}
