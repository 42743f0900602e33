//! The elements of arrays: borrowed from the source if possible, else only the wanted part is read.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use container_core::array::{Array, StoredArray, byte_len};
use container_core::container::{Digests, ReadOptions};
use container_core::dtype::Order;
use container_core::region::{Kept, Region};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, OpenDataset, Result};

use super::File;
use super::blocks::{CacheKey, Decoded, is_same_file, plain_range};
use super::mask::items_len;
use crate::compression;
use crate::file::open_options::Strictness;
use crate::layout::StoredBlock;
use crate::ndarray::geometry::Rows;
use crate::ndarray::{ByteSource, Geometry, NdArray, inline};

/// Maximum gap in bytes between elements of a strided view that is read rather than seeked over.
const MAX_READ_GAP: u64 = 64 << 10;

/// Location of an array's elements.
enum ElementLocation<'f> {
    Inline(crate::yaml::NodeId),
    Block(&'f File, &'f StoredBlock),
}

impl File {
    /// Returns the geometry of an array of [`File::arrays`]: the location of its elements, and its shape. Computed once.
    ///
    /// # Errors
    /// `Usage` for an absent index; `Malformed` for a source without a block, elements outside of it, or inline data that are not an array; `Limit`;
    /// those of an external file.
    pub fn geometry(&self, index: usize) -> Result<&Geometry> {
        let (entry, known) = self
            .arrays
            .get(index)
            .zip(self.geometries.get(index))
            .ok_or_else(|| Error::usage(format!("no array {index} (there are {})", self.arrays.len())))?;
        if let Some(geometry) = known.get() {
            return Ok(geometry);
        }
        let geometry = self.geometry_of(&entry.array)?;
        Ok(known.get_or_init(|| geometry))
    }

    /// Computes the geometry of an array of this file's tree: the location of its elements, and its shape.
    ///
    /// # Errors
    /// As [`File::geometry`].
    pub fn geometry_of(&self, array: &NdArray) -> Result<Geometry> {
        let named = |error: Error| error.with_context("asdf ndarray").with_range(self.node(array).range());
        self.place(array).and_then(|place| self.geometry_at(array, &place)).map_err(named)
    }

    /// The array at `path`, whose values are read on demand: `file.dataset("roman/data")?.read::<f32>()?`,
    /// within the limits of the file's options.
    ///
    /// # Errors
    /// `Usage` for an unknown path; as [`File::geometry`].
    pub fn dataset(&self, path: &str) -> Result<OpenDataset<'_>> {
        let entry = self.array(path)?;
        let geometry = self.geometry_of(&entry.array)?;
        let read = |region: &Region, options: &ReadOptions| self.read_array(&entry.array, region, options);
        let dataset = OpenDataset::new(&entry.path, geometry.dtype, &geometry.shape, read);
        Ok(dataset.within(*self.limits()).in_file(self.path.as_deref()))
    }

    /// The elements of `region` of the array at `path`, in the order of their bytes in the file. Uncompressed data of a mapped source are borrowed
    /// with any strides; other data are decoded up to the last byte needed. Masks are not applied. Null inline elements are 0.
    ///
    /// # Errors
    /// `Usage` for an unknown path or a region that does not fit; as [`File::geometry`] and [`File::read_block`].
    pub fn read(&self, path: &str, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let index = match self.find_array(path) {
            Some(index) => index,
            None => return self.array(path).and_then(|entry| self.read_array(&entry.array, region, options)),
        };
        self.read_index(index, region, options)
    }

    /// The elements of `region` of an array of [`File::arrays`].
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_index(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let geometry = self.geometry(index)?;
        let entry = self.arrays.get(index).ok_or_else(|| Error::usage("no such array"))?;
        self.read_at(&entry.array, geometry, region, options, &entry.path)
    }

    /// The elements of `region` of an array of this file's tree, listed or not.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_array(&self, array: &NdArray, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        self.read_at(array, &self.geometry_of(array)?, region, options, "an array")
    }

    fn read_at(
        &self,
        array: &NdArray,
        geometry: &Geometry,
        region: &Region,
        options: &ReadOptions,
        path: &str,
    ) -> Result<Array<'_>> {
        // Checked again: the region may have been made for another array.
        let region = Region::new(region.axes().to_vec(), &geometry.shape)?;
        match self.place(array)? {
            ElementLocation::Inline(data) => self.read_inline(data, geometry, &region, options),
            ElementLocation::Block(file, block) => {
                self.read_in((file, block), geometry, &region, options, path)
            }
        }
    }

    /// Elements in a block of a file, with the digest compared if the options require it. A digest that is not compared is noted in this file.
    fn read_in<'f>(
        &self,
        (file, block): (&'f File, &StoredBlock),
        geometry: &Geometry,
        region: &Region,
        options: &ReadOptions,
        path: &str,
    ) -> Result<Array<'f>> {
        let covered = geometry.span(region).unwrap_or(0..0);
        let read = || {
            compression::require(&file.source, block, &file.options.codecs)?;
            file.read_stored(block, geometry, region, options)
        };
        if covered == (0..block.data_size()) {
            return file.with_verified_checksum(block, options, read);
        }
        match options.digests {
            Digests::Whole if file.is_unverified(block) => {
                self.cache().skip(path, covered.end.saturating_sub(covered.start), block);
            }
            Digests::Whole => {}
            _ => file.verify_checksum(block, options)?,
        }
        read()
    }

    /// Decoded bytes of a block, by its number in the file: an array of one axis and `u1`.
    ///
    /// # Errors
    /// `Usage` for an unknown block number, or a region that does not fit; as [`File::read_block`].
    pub(crate) fn read_block_region(
        &self,
        index: usize,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'_>> {
        let block = self.block_at(index)?.ok_or_else(|| Error::usage(format!("no block {index}")))?;
        let geometry = Geometry::of_bytes(self.available(block)?);
        let region = Region::new(region.axes().to_vec(), &geometry.shape)?;
        self.read_in((self, block), &geometry, &region, options, &self.block_path(index))
    }

    /// Checks that `region` of an array of [`File::arrays`] can be read, and keeps its decoded bytes for the next read. False for inline or empty
    /// data, of which nothing is kept.
    ///
    /// # Errors
    /// As [`File::read`].
    pub(crate) fn hold_region(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<bool> {
        let geometry = self.geometry(index)?;
        let entry = self.arrays.get(index).ok_or_else(|| Error::usage("no such array"))?;
        match self.place(&entry.array)? {
            ElementLocation::Block(file, block) => file.hold_in(block, geometry, region, options),
            ElementLocation::Inline(_) => Ok(false),
        }
    }

    /// As [`File::hold_region`], for the decoded bytes of a block by its number in the file.
    ///
    /// # Errors
    /// As [`File::read_block`].
    pub(crate) fn hold_block_region(
        &self,
        index: usize,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<bool> {
        let block = self.block_at(index)?.ok_or_else(|| Error::usage(format!("no block {index}")))?;
        self.hold_in(block, &Geometry::of_bytes(self.available(block)?), region, options)
    }

    fn hold_in(
        &self,
        block: &StoredBlock,
        geometry: &Geometry,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<bool> {
        let region = Region::new(region.axes().to_vec(), &geometry.shape)?;
        let Some(span) = geometry.span(&region) else { return Ok(false) };
        let hold = || {
            compression::require(&self.source, block, &self.options.codecs)?;
            self.hold(block, &span, options)
        };
        if span == (0..block.data_size()) {
            return self.with_verified_checksum(block, options, hold);
        }
        if options.digests == Digests::Compare {
            self.verify_checksum(block, options)?;
        }
        hold()
    }

    fn place(&self, array: &NdArray) -> Result<ElementLocation<'_>> {
        match &array.source {
            ByteSource::Inline(data) => Ok(ElementLocation::Inline(*data)),
            ByteSource::Block(number) => Ok(ElementLocation::Block(self, self.block(*number)?)),
            ByteSource::External(uri) if is_same_file(uri) => {
                Ok(ElementLocation::Block(self, self.block(0)?))
            }
            ByteSource::External(uri) => {
                let file = self.external(uri)?;
                Ok(ElementLocation::Block(file, file.block(0)?))
            }
        }
    }

    pub(crate) fn is_external(&self, array: &NdArray) -> bool {
        matches!(&array.source, ByteSource::External(uri) if !is_same_file(uri))
    }

    fn geometry_at(&self, array: &NdArray, place: &ElementLocation<'_>) -> Result<Geometry> {
        match place {
            ElementLocation::Inline(data) => {
                let data = self.tree.document().node(*data);
                let shape: Vec<u64> = array.shape.iter().map(|axis| axis.unwrap_or(0)).collect();
                let dtype = match &array.datatype {
                    Some(datatype) => datatype.dtype.clone(),
                    None => inline::infer(data, &shape, self.limits())?,
                };
                Geometry::inline(dtype, shape, self.limits())
            }
            ElementLocation::Block(file, block) => {
                let lenient = file.options.strictness == Strictness::Lenient;
                let rows = if lenient { Rows::Present } else { Rows::Stated };
                Geometry::of_block(array, file.available(block)?, rows, self.limits())
            }
        }
    }

    fn read_inline(
        &self,
        data: crate::yaml::NodeId,
        geometry: &Geometry,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        if region.is_whole(&geometry.shape) {
            let node = self.tree.document().node(data);
            let items = inline::read(node, &geometry.shape, &geometry.dtype, &options.limits)?;
            let (dtype, shape) = (geometry.dtype.clone(), geometry.shape.clone());
            return Array::new(dtype, shape, Order::C, Cow::Owned(items.bytes));
        }
        if geometry.span(region).is_none() {
            return empty(geometry, region);
        }
        let items = self.inline_items(data, geometry, &options.limits)?;
        let bytes = items.get(..items_len(geometry)).unwrap_or(&items);
        let view = geometry.view(region, 0, Cow::Borrowed(bytes))?;
        copied(&view, &options.limits)
    }

    /// The element bytes of inline data, followed by a null mask if any scalar is null: one byte for each scalar, 1 = null.
    pub(super) fn inline_items(
        &self,
        data: crate::yaml::NodeId,
        geometry: &Geometry,
        limits: &Limits,
    ) -> Result<Arc<Vec<u8>>> {
        self.cache().get_or_make(CacheKey::Inline(data), || {
            let node = self.tree.document().node(data);
            let inline::Items { mut bytes, nulls } =
                inline::read(node, &geometry.shape, &geometry.dtype, limits)?;
            if let Some(nulls) = nulls {
                limits.allocate((bytes.len() as u64).saturating_add(nulls.len() as u64))?;
                bytes.extend(nulls);
            }
            Ok(bytes)
        })
    }

    /// Elements in a block of this file.
    fn read_stored(
        &self,
        block: &StoredBlock,
        geometry: &Geometry,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'_>> {
        let Some(span) = geometry.span(region) else { return empty(geometry, region) };
        let limits = &options.limits;
        if !block.header.is_compressed() {
            let range = plain_range(block, span.clone())?;
            if let Some(bytes) = self.source.lend(range) {
                return geometry.view(region, span.start, Cow::Borrowed(bytes));
            }
        }
        let decoded = Decoded { file: self, block, len: self.available(block)?, options };
        if let Some(array) = self.read_encoded(&decoded, geometry, region, &span)? {
            return Ok(array);
        }
        if let Some(order) = geometry.order() {
            let stored = StoredArray {
                dtype: geometry.dtype.clone(),
                shape: geometry.shape.clone(),
                order,
                data_at: geometry.offset,
            };
            // The source of decoded bytes starts the threads itself.
            return stored.read(&decoded, region, limits, 1)?.into_owned(limits);
        }
        let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
        let len = byte_len(&geometry.dtype, &counts).unwrap_or(u64::MAX);
        let spread = span.end.saturating_sub(span.start);
        if is_dense(spread, len) || (block.header.is_compressed() && spread <= limits.memory / 4) {
            let mut bytes = try_zeroed_vec(spread, limits)?;
            decoded.read_into(span.start, &mut bytes)?;
            let view = geometry.view(region, span.start, Cow::Owned(bytes))?;
            return if is_dense(spread, len) { Ok(view) } else { copied(&view, limits) };
        }
        let mut bytes = try_zeroed_vec(len, limits)?;
        gather(&decoded, geometry, region, limits, &mut bytes)?;
        Array::new(geometry.dtype.clone(), region.shape(), Order::C, Cow::Owned(bytes))
    }
}

impl File {
    /// Reads elements of an encoded block in one decoding pass up to the last of them. `None` where reading by rows costs less: uncompressed blocks,
    /// distant chunks of LZ4, whole blocks, and blocks whose decoded bytes are kept.
    fn read_encoded(
        &self,
        decoded: &Decoded<'_>,
        geometry: &Geometry,
        region: &Region,
        span: &Range<u64>,
    ) -> Result<Option<Array<'static>>> {
        let (block, limits) = (decoded.block, &decoded.options.limits);
        let Some(label) = block.label() else { return Ok(None) };
        let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
        let len = byte_len(&geometry.dtype, &counts).unwrap_or(u64::MAX);
        let spread = span.end.saturating_sub(span.start);
        if region.is_whole(&geometry.shape) || (label == "lz4" && !is_dense(spread, len)) {
            return Ok(None);
        }
        if spread <= limits.memory / 4 {
            let mut bytes = try_zeroed_vec(spread, limits)?;
            decoded.read_into(span.start, &mut bytes)?;
            let view = geometry.view(region, span.start, Cow::Owned(bytes))?;
            return if is_dense(spread, len) { Ok(Some(view)) } else { copied(&view, limits).map(Some) };
        }
        if geometry.order() != Some(Order::C) || !is_stream(label) || self.is_held(block) {
            return Ok(None);
        }
        let mut bytes = try_zeroed_vec(len, limits)?;
        self.gather_passing(decoded, geometry, region, &mut bytes)?;
        Array::new(geometry.dtype.clone(), region.shape(), Order::C, Cow::Owned(bytes)).map(Some)
    }

    /// Fills `dst` with the elements of `region` in C order, from the decoded bytes of a block piece by piece.
    fn gather_passing(
        &self,
        decoded: &Decoded<'_>,
        geometry: &Geometry,
        region: &Region,
        dst: &mut [u8],
    ) -> Result<()> {
        let limits = &decoded.options.limits;
        let mut parts = Vec::new();
        split(geometry, region, limits.memory / 16, &mut parts);
        let mut parts = parts.into_iter();
        let (mut next, mut window, mut rest, mut at) = (parts.next(), Vec::new(), dst, 0_u64);
        let mut is_done = false;
        let mut take = |mut piece: &[u8]| -> Result<()> {
            while let Some((part, span)) = &next {
                let skip = span.start.saturating_sub(at).min(piece.len() as u64);
                let wanted = span.end.saturating_sub(at).min(piece.len() as u64);
                let (skip, wanted) =
                    (usize::try_from(skip).unwrap_or(0), usize::try_from(wanted).unwrap_or(0));
                window.extend_from_slice(piece.get(skip..wanted).unwrap_or_default());
                if span.end > at.saturating_add(piece.len() as u64) {
                    break;
                }
                // The bytes of a part are complete; those of the next begin after its first.
                let view = geometry.view(part, span.start, Cow::Owned(std::mem::take(&mut window)))?;
                let len = view.len().saturating_mul(geometry.dtype.itemsize() as u64);
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                let outside = || Error::usage("the parts of a region are larger than the region");
                let (head, tail) = std::mem::take(&mut rest).split_at_mut_checked(len).ok_or_else(outside)?;
                view.copy_to(Order::C, head, limits.stop)?;
                rest = tail;
                at = at.saturating_add(wanted as u64);
                piece = piece.get(wanted..).unwrap_or_default();
                next = parts.next();
            }
            at = at.saturating_add(piece.len() as u64);
            is_done = next.is_none();
            // The bytes after these are not needed.
            if is_done { Err(Error::cancelled()) } else { Ok(()) }
        };
        let (codecs, threads) = (&self.options.codecs, decoded.options.threads);
        let passed =
            compression::read_in_pieces(&self.source, decoded.block, codecs, limits, threads, &mut take);
        if is_done { Ok(()) } else { passed }
    }
}

/// True for labels of codecs that decode from the start of the data, in small pieces.
fn is_stream(label: &str) -> bool {
    matches!(label, "zlib" | "bzp2" | "zstd" | "lz4f" | "xz")
}

/// Splits a region, in C order, into parts within at most `most` bytes each, with their ranges.
fn split(geometry: &Geometry, region: &Region, most: u64, parts: &mut Vec<(Region, Range<u64>)>) {
    let Some(span) = geometry.span(region) else { return };
    let count = region.len().unwrap_or(u64::MAX);
    if count <= 1 || span.end.saturating_sub(span.start) <= most {
        parts.push((region.clone(), span));
        return;
    }
    for piece in region.chunks(Order::C, count.div_ceil(8)) {
        split(geometry, &piece, most, parts);
    }
}

/// Whether reading the gaps between elements is cheaper than seeking over them.
fn is_dense(spread: u64, wanted: u64) -> bool {
    spread <= wanted.saturating_mul(2).saturating_add(MAX_READ_GAP)
}

/// Fills `dst` with the elements of `region` in C order, in parts whose elements are close together.
fn gather(
    source: &Decoded<'_>,
    geometry: &Geometry,
    region: &Region,
    limits: &Limits,
    dst: &mut [u8],
) -> Result<()> {
    let Some(span) = geometry.span(region) else { return Ok(()) };
    let spread = span.end.saturating_sub(span.start);
    let count = region.len().unwrap_or(u64::MAX);
    if count <= 1 || is_dense(spread, dst.len() as u64) {
        let mut bytes = try_zeroed_vec(spread, limits)?;
        source.read_into(span.start, &mut bytes)?;
        return geometry.view(region, span.start, Cow::Owned(bytes))?.copy_to(Order::C, dst, limits.stop);
    }
    let mut rest = dst;
    for piece in region.chunks(Order::C, count.div_ceil(8)) {
        let len = piece.len().unwrap_or(0).saturating_mul(geometry.dtype.itemsize() as u64);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let outside = || Error::usage("the pieces of a region are larger than the region");
        let (head, tail) = rest.split_at_mut_checked(len).ok_or_else(outside)?;
        gather(source, geometry, &piece, limits, head)?;
        rest = tail;
    }
    Ok(())
}

/// Copies a view to C order, without the bytes around it.
fn copied(view: &Array<'_>, limits: &Limits) -> Result<Array<'static>> {
    let bytes = view.bytes(Order::C, limits)?.into_owned();
    Array::new(view.dtype().clone(), view.shape().to_vec(), Order::C, Cow::Owned(bytes))
}

fn empty(geometry: &Geometry, region: &Region) -> Result<Array<'static>> {
    let axes = region.axes().iter().filter(|axis| axis.kept == Kept::Yes);
    let shape: Vec<u64> = axes.map(|axis| axis.count).collect();
    // Elements without bytes: any number of them.
    Array::new(geometry.dtype.clone(), shape, Order::C, Cow::Owned(Vec::new()))
}
