//! [`Container`]: the interface of every format for the command, viewers, converters and bindings.
//!
//! Read-only and object-safe. [`Container`] has what readers of values call, its parts [`FileStructure`] what listings of bytes and checks call, and
//! [`Interchange`] what conversions and comparisons call. Writing, appending, repair and the meaning of schemas belong to each format's own API.

mod file_structure;
mod interchange;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::array::Array;
use crate::dtype::{DType, Order};
use crate::format::Formats;
use crate::region::{AxisSelection, Region};
use crate::source::{Access, Addresses};
use crate::value::Value;
use crate::{Error, Limits, Result, Stop};

pub use file_structure::{FileStructure, View};
pub use interchange::{Interchange, MetadataText};

/// An open file of any format. Datasets are addressed by index: the listed ones first, then those that only a recursive listing shows.
pub trait Container: FileStructure + Interchange {
    /// Format, version, size and completeness. Details that need a failed or further read are left out.
    fn about(&self) -> About;

    /// The metadata as a tree.
    ///
    /// # Errors
    /// Those of the source, and `Malformed` for metadata that cannot be read.
    fn meta(&self) -> Result<Value>;

    /// The metadata without storage details. Two files that differ only in storage have equal ones.
    ///
    /// # Errors
    /// As [`Container::meta`].
    fn logical_meta(&self) -> Result<Value> {
        self.meta()
    }

    /// The datasets that are kept in memory, the first of them all. Most formats keep every one; a format that has millions makes the rest
    /// on calls of [`Container::dataset`].
    fn datasets(&self) -> &[Dataset];

    /// Number of datasets.
    fn dataset_count(&self) -> usize {
        self.datasets().len()
    }

    /// Number of datasets that a plain listing shows: those of the first indices.
    fn listed_count(&self) -> usize {
        self.datasets().iter().filter(|dataset| dataset.visibility == Visibility::Always).count()
    }

    /// Codecs of the datasets that a plain listing shows, by the command's words. `None` where a far file would have to be read further for them.
    fn codecs(&self) -> Option<BTreeSet<String>> {
        Some(codecs_of_datasets(self))
    }

    /// One of them: lent where it is held ready. `None` from [`Container::dataset_count`] on.
    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        self.datasets().get(index).map(Cow::Borrowed)
    }

    /// The index of the first dataset of this path. Formats whose datasets are made on demand find it without making others.
    fn find(&self, path: &str) -> Option<usize> {
        self.datasets().iter().position(|dataset| dataset.path == path)
    }

    /// The elements of `region` of a dataset, lent where they are stored plainly and the source can.
    ///
    /// # Errors
    /// `Usage` for an unknown index or a region that does not fit; `Truncated`, `Malformed`, `Checksum`,
    /// `Unsupported` and `Limit` where the values cannot be read.
    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>>;

    /// Checks that a non-empty `region` of a dataset can be read, before output is written: reads its element with the largest offset in the file.
    /// Formats that decode data from the start decode up to the end of the region, and keep the values for the reads that follow. A wrapper of
    /// another container passes the call on.
    ///
    /// # Errors
    /// As [`Container::read`].
    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        crate::chunked_read::check_furthest_readable(self, index, region, options)
    }

    /// The elements of `region` of a dataset, copied to `dst` without gaps in `order`, in the byte order of its type. A format that decodes
    /// into memory of the caller does so; else they are read and copied.
    ///
    /// # Errors
    /// `Usage` where `dst` is not exactly as long as they are; as [`Container::read`].
    fn read_into(
        &self,
        index: usize,
        region: &Region,
        order: Order,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        self.read(index, region, options)?.copy_to(order, dst, options.limits.stop)
    }

    /// The bytes of the one element that all of `region` repeats, where the file states that for whole chunks: zeros, NaN, one value. `None`
    /// where it does not, and where a read has to do more: refuse, or compare digests.
    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        let _ = (index, region);
        None
    }

    /// Mask of the missing elements of `region` of a dataset: an array of `bool8` of the region's shape, not zero where one is missing. Records whose
    /// fields can be missing one by one have an array of the [`mask_dtype`](crate::mask::mask_dtype) of their type; [`Hidden`](crate::mask::Hidden)
    /// takes either. `None` where no element is missing, in formats without masks, and where the file was opened with [`Defaults::StoredOnly`].
    /// [`Container::read`] returns the stored values of missing elements.
    ///
    /// # Errors
    /// `Malformed` for a mask that does not fit; as [`Container::read`].
    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let _ = (index, region, options);
        Ok(None)
    }

    /// The reason why elements of `region` are missing from the file although it declares their type and shape: the program that wrote it
    /// computes them, or they are in another file. [`Container::read`] fails with it. `None` where they are in the file, and in a lenient
    /// open, which reads the stored placeholder.
    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        let _ = (index, region);
        None
    }
}

impl dyn Container + '_ {
    /// True where the file records the element type of a dataset: it is not opaque, and more than bytes of some size.
    #[must_use]
    pub fn is_typed(&self, index: usize) -> bool {
        let by_type = || self.dataset(index).is_none_or(|dataset| !dataset.dtype.is_void());
        self.records_dtype(index).unwrap_or_else(by_type)
    }

    /// As [`Container::dataset`], for an index that must exist.
    ///
    /// # Errors
    /// `Usage` where it does not.
    pub fn require(&self, index: usize) -> Result<Cow<'_, Dataset>> {
        require(self, index)
    }

    /// Whether [`Container::mask`] can return a mask of a dataset.
    ///
    /// # Errors
    /// As [`Container::mask`], but for those of reading elements.
    pub fn has_mask(&self, index: usize, options: &ReadOptions) -> Result<bool> {
        let shape = &self.require(index)?.shape;
        let none =
            Region::whole(shape).axes().iter().map(|axis| AxisSelection { count: 0, ..*axis }).collect();
        Ok(self.mask(index, &Region::new(none, shape)?, options)?.is_some())
    }
}

/// As [`Container::dataset`], for an index that must exist.
///
/// # Errors
/// `Usage` where it does not.
pub fn require<C: Container + ?Sized>(container: &C, index: usize) -> Result<Cow<'_, Dataset>> {
    container.dataset(index).ok_or_else(|| Error::usage("no such dataset"))
}

/// The datasets that a plain listing shows, each with its index, made one after the other.
pub fn visible_datasets<C: Container + ?Sized>(
    container: &C,
) -> impl Iterator<Item = (usize, Cow<'_, Dataset>)> {
    (0..container.listed_count()).filter_map(|index| Some((index, container.dataset(index)?)))
}

/// Codecs of the datasets that a plain listing shows, by [`Dataset::codec`].
pub fn codecs_of_datasets<C: Container + ?Sized>(container: &C) -> BTreeSet<String> {
    let mut codecs = BTreeSet::new();
    for (_, dataset) in visible_datasets(container) {
        if !codecs.contains(&dataset.codec) {
            codecs.insert(dataset.into_owned().codec);
        }
    }
    codecs
}

/// Every dataset with its index, made one after the other.
pub fn all_datasets<C: Container + ?Sized>(container: &C) -> impl Iterator<Item = (usize, Cow<'_, Dataset>)> {
    (0..container.dataset_count()).filter_map(|index| Some((index, container.dataset(index)?)))
}

/// Summary of a file, in one screen.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Format name as the command spells it: `rawarray`.
    pub format: &'static str,
    /// Version of the format, where it has any.
    pub version: Option<String>,
    /// Size of the file in bytes.
    pub size: u64,
    /// False where the file ends before its declared end.
    pub complete: bool,
    /// Further facts of the format, in its own words.
    pub details: Vec<(String, Value)>,
}

/// A named n-dimensional array in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Its path in an address.
    pub path: String,
    /// Element type as stored.
    pub dtype: DType,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// The order of the axes in storage.
    pub order: Order,
    /// Elements per chunk along each axis; `None` where it is not chunked, or in flat runs.
    pub chunks: Option<Vec<u64>>,
    /// Codec by the command's word; `none` where stored plainly.
    pub codec: String,
    /// Bytes of the blocks that hold it.
    pub stored: u64,
    /// Bytes of its elements.
    pub logical: u64,
    /// Further attributes that the file gives it.
    pub attributes: Vec<(String, Value)>,
    /// Visibility in a plain listing.
    pub visibility: Visibility,
}

/// The attribute with the shape of the blocks that chunks are cut into.
pub const BLOCK_SHAPE: &str = "block shape";

impl Dataset {
    /// The attributes that are metadata: all but those of how the values are stored, which comparisons and conversions pass over.
    pub fn metadata(&self) -> impl Iterator<Item = &(String, Value)> {
        self.attributes.iter().filter(|(name, _)| name != BLOCK_SHAPE)
    }
}

/// Visibility of a dataset in listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It does.
    Always,
    /// Only a recursive one.
    Recursive,
}

/// One entry of the physical map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The file of a multi-file container.
    pub part: Option<String>,
    /// Absolute bytes.
    pub range: Range<u64>,
    /// The role of the bytes, in the format's own words: `magic`, `dims`, `data`.
    pub role: String,
    /// Codec word, for encoded data.
    pub codec: Option<String>,
    /// Stored bytes of the block that the segment holds.
    pub stored: Option<u64>,
    /// Bytes after decoding.
    pub decoded: Option<u64>,
    /// Name of the digest that covers it.
    pub checksum: Option<String>,
    /// Dataset it belongs to.
    pub dataset: Option<String>,
}

impl Segment {
    /// A segment of which only the purpose is given.
    #[must_use]
    pub fn plain(range: Range<u64>, role: &str) -> Self {
        Self { range, role: role.to_owned(), ..Self::default() }
    }

    /// A map of a file of `file_len` bytes out of parts in any order: sorted, cut where they overlap or end past the file, and with segments
    /// of the role `between` for the gaps. Bytes after the last are `unknown`.
    #[must_use]
    pub fn tile(mut parts: Vec<Self>, file_len: u64, between: &str) -> Vec<Self> {
        parts.retain(|part| part.range.start < part.range.end);
        parts.sort_by_key(|part| part.range.start);
        let mut tiled: Vec<Self> = Vec::with_capacity(parts.len());
        let mut at = 0;
        for mut part in parts {
            part.range.start = part.range.start.max(at);
            part.range.end = part.range.end.min(file_len);
            if part.range.start >= part.range.end {
                continue;
            }
            if part.range.start > at {
                tiled.push(Self::plain(at..part.range.start, between));
            }
            at = part.range.end;
            tiled.push(part);
        }
        if at < file_len {
            tiled.push(Self::plain(at..file_len, "unknown"));
        }
        tiled
    }
}

/// Depth of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckDepth {
    /// The structure alone.
    Quick,
    /// Every byte: decoded and compared with its digest.
    #[default]
    Full,
}

/// Treatment of files that break the specification in a documented way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tolerance {
    /// Files must follow the specification or a documented dialect of it.
    #[default]
    Strict,
    /// Documented mistakes of certain writers are read as they were meant.
    Lenient,
}

/// Options for opening a file. Each format uses those that concern it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Bounds on the memory and dimensions that the file may demand.
    pub limits: Limits,
    /// Access to its bytes.
    pub access: Access,
    /// Treatment of documented mistakes of writers.
    pub tolerance: Tolerance,
    /// The codec to assume where the file leaves it open (RawArray's flag bit 1 has two meanings).
    pub assume_codec: Option<String>,
    /// The element type where a file records none, of one axis or as large as stored (see [`Interchange::records_dtype`]).
    pub assume_dtype: Option<DType>,
    /// Presentation of the axes of column-major data.
    pub axes: Axes,
    /// Use of schema defaults for values that are not stored, and of masks and tables that hide stored ones.
    pub defaults: Defaults,
    /// Treatment of digests that do not fit, in a repair.
    pub stale_checksums: StaleChecksums,
    /// Formats in addition to those of the program that opens any file.
    pub formats: Formats,
    /// Files at addresses that are not paths; without, every address is a path.
    pub addresses: Option<Arc<dyn Addresses>>,
}

/// Treatment of digests that do not fit bytes which are valid otherwise, in a repair, where a format leaves that open (ASDF).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaleChecksums {
    /// They are kept, and their bytes stay unproved.
    #[default]
    Keep,
    /// They are computed anew.
    Renew,
}

/// Values that a schema supplies where the file stores none (GSD's `hoomd`), and masks over stored ones (ASDF's masks, nulls and deleted rows of
/// Blosc2's tables).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defaults {
    /// Values of the schema.
    #[default]
    Apply,
    /// Only stored values, and all of them.
    StoredOnly,
}

/// Presentation of the axes of column-major data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// As stored: the first one is fastest, order F.
    #[default]
    AsStored,
    /// Reversed: the last one is fastest, order C. No byte moves.
    Reversed,
}

/// Options for reading values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Most threads that one read uses; 1 starts none.
    pub threads: usize,
    /// Comparison of digests.
    pub digests: Digests,
    /// Bounds on memory in addition to that of the open file, and the request to stop a running read.
    pub limits: Limits,
}

/// Comparison of digests while reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digests {
    /// A differing digest is an error. The whole range of a digest is read for it, however small the region.
    Compare,
    /// As [`Digests::Compare`] where a read takes all that a digest covers; else it is not compared, which
    /// [`FileStructure::uncompared`] reports.
    #[default]
    Whole,
    /// Does not compare them.
    Ignore,
}

impl Default for ReadOptions {
    /// One thread, digests compared where all that they cover is read, the default limits.
    fn default() -> Self {
        Self { threads: 1, digests: Digests::Whole, limits: Limits::default() }
    }
}

impl ReadOptions {
    /// The same for reading `region` of a dataset of this shape in pieces: where that is all of it, digests are compared.
    #[must_use]
    pub fn for_region(mut self, region: &Region, shape: &[u64]) -> Self {
        if self.digests == Digests::Whole && region.is_whole(shape) {
            self.digests = Digests::Compare;
        }
        self
    }

    /// The same with other limits. A request to stop is kept, unless these have their own.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits.with_stop(limits.stop.or(self.limits.stop));
        self
    }

    /// The same options with the request `stop`.
    #[must_use]
    pub const fn with_stop(mut self, stop: Stop) -> Self {
        self.limits.stop = stop;
        self
    }

    /// The same with up to `threads` threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod toy;
