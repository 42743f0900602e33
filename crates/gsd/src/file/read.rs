//! The values of chunks: borrowed, copied, as elements, as text.

use std::borrow::Cow;
use std::ops::Range;

use container_core::array::{Array, StoredArray};
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, Element, Order};
use container_core::region::Region;
use container_core::source::{Source, check_range, read_parallel, try_zeroed_vec};
use container_core::{Error, OpenDataset, Result};

use crate::index::IndexEntry;
use crate::{ChunkType, File};

impl File {
    /// The bytes of a chunk as they are stored, row by row, borrowed from the source if possible: `gsd_read_chunk`.
    ///
    /// # Errors
    /// `Malformed` for an entry that describes no chunk, `Truncated` past the end of the file, `Limit`, `Io`.
    pub fn read_chunk(&self, entry: &IndexEntry) -> Result<Cow<'_, [u8]>> {
        self.bytes(self.chunk_range(entry)?)
    }

    /// Rows `rows` of a chunk, as they are stored, borrowed from the source if possible.
    ///
    /// # Errors
    /// `Usage` for rows past the last one; else as [`File::read_chunk`].
    pub fn read_rows(&self, entry: &IndexEntry, rows: Range<u64>) -> Result<Cow<'_, [u8]>> {
        self.bytes(self.row_range(entry, &rows)?)
    }

    /// The chunk called `name` in `frame`, whose values are read by type and selection: `file.dataset(3, "log/energy")?.read::<f64>()?`. Its
    /// shape is (N,) or (N, M).
    ///
    /// # Errors
    /// `Absent` where the frame has none of that name; as [`File::read_chunk`].
    pub fn dataset(&self, frame: u64, name: &str) -> Result<OpenDataset<'_>> {
        let entry = self.find_chunk(frame, name);
        let entry = entry.ok_or_else(|| Error::absent(format!("frame {frame} has no chunk {name:?}")))?;
        let stored = self.stored_array(&entry)?;
        let (dtype, shape) = (stored.dtype.clone(), stored.shape.clone());
        let read = move |region: &Region, options: &ReadOptions| {
            stored.read(&self.source, region, &options.limits, options.threads)
        };
        Ok(OpenDataset::new(&format!("frames/{frame}/{name}"), dtype, &shape, read)
            .within(self.options.limits)
            .in_file(self.path.as_deref()))
    }

    /// A chunk as an array of shape (N,) or (N, M), C order, in the byte order of the file; borrowed from the source if possible.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn read_array(&self, entry: &IndexEntry) -> Result<Array<'_>> {
        let stored = self.stored_array(entry)?;
        stored.read(&self.source, &Region::whole(&stored.shape), &self.options.limits, self.options.threads)
    }

    /// The elements of a chunk as Rust values: borrowed if the source allows it, and they are aligned and in this machine's byte order. Types
    /// must be the same; values are not converted.
    ///
    /// # Errors
    /// `Usage` for another type; else as [`File::read_chunk`].
    pub fn read_elements<T: Element>(&self, entry: &IndexEntry) -> Result<Cow<'_, [T]>> {
        let range = self.chunk_range(entry)?;
        let limits = &self.options.limits;
        if !holds::<T>(entry) {
            // Opaque Rust types accept every type of their size; other types must be equal.
            let array = self.read_array(entry)?;
            return Ok(Cow::Owned(array.elements::<T>(Order::C, limits)?.into_owned()));
        }
        if self.is_native(entry)
            && let Some(bytes) = self.source.lend(range.clone())
            && let Ok(elements) = bytemuck::try_cast_slice(bytes)
        {
            return Ok(Cow::Borrowed(elements));
        }
        let mut elements: Vec<T> = try_zeroed_vec((range.end - range.start) / size_of::<T>() as u64, limits)?;
        self.fill(entry, range, &mut elements)?;
        Ok(Cow::Owned(elements))
    }

    /// The elements of some rows of a chunk, as [`File::read_elements`] gives those of all.
    ///
    /// # Errors
    /// `Usage` for another type and for rows past the last one; else as [`File::read_chunk`].
    pub fn read_rows_elements<T: Element>(
        &self,
        entry: &IndexEntry,
        rows: Range<u64>,
    ) -> Result<Cow<'_, [T]>> {
        let range = self.row_range(entry, &rows)?;
        // The rows as a chunk within the other one.
        let location = i64::try_from(range.start).map_err(|_| Error::malformed("the chunk is past 2^63"))?;
        self.read_elements(&IndexEntry { n: rows.end - rows.start, location, ..*entry })
    }

    /// The text of a chunk of characters, or of bytes as older writers store text. Trailing NULs are removed, others are kept.
    ///
    /// # Errors
    /// `Usage` for a chunk of numbers of several bytes, `Malformed` for text that is not UTF-8; else as [`File::read_chunk`].
    pub fn read_string(&self, entry: &IndexEntry) -> Result<Cow<'_, str>> {
        if !matches!(entry.chunk_type(), Some(ChunkType::Character | ChunkType::Uint8 | ChunkType::Int8)) {
            return Err(Error::usage(format!("chunks of type {} are not text", entry.type_code)));
        }
        let wrong = |bytes: Range<u64>| Error::malformed("the text is not UTF-8").with_range(bytes);
        let range = self.chunk_range(entry)?;
        let end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        match self.bytes(range.clone())? {
            Cow::Borrowed(bytes) => {
                let text = bytes.get(..end(bytes)).unwrap_or_default();
                str::from_utf8(text).map(Cow::Borrowed).map_err(|_| wrong(range))
            }
            Cow::Owned(mut bytes) => {
                bytes.truncate(end(&bytes));
                String::from_utf8(bytes).map(Cow::Owned).map_err(|_| wrong(range))
            }
        }
    }

    /// Copies the elements of a chunk to `dst`, row by row. Types must be the same; only the byte order is converted.
    ///
    /// # Errors
    /// `Usage` for another type, and for another number of elements than N × M; else as [`File::read_chunk`].
    pub fn read_chunk_into<T: Element>(&self, entry: &IndexEntry, dst: &mut [T]) -> Result<()> {
        let range = self.chunk_range(entry)?;
        if !holds::<T>(entry) {
            let stored = self.stored_array(entry)?.dtype;
            return Err(Error::usage(format!("the elements are {stored}, not {}", T::dtype())));
        }
        if range.end - range.start != size_of_val(dst) as u64 {
            let (n, m, count) = (entry.n, entry.m, dst.len());
            return Err(Error::usage(format!("buffer of {count} elements for {n} × {m} elements")));
        }
        self.fill(entry, range, dst)
    }

    /// Fills `dst` with the bytes of `range`, a chunk of the same length, in this machine's byte order.
    fn fill<T: Element>(&self, entry: &IndexEntry, range: Range<u64>, dst: &mut [T]) -> Result<()> {
        // A copy larger than the cache bypasses it, which is slower where `dst` is reused memory.
        const PIECE_LEN: usize = 256 << 10;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(dst);
        match self.source.lend(range.clone()) {
            Some(lent) => {
                let pieces = bytes.chunks_mut(PIECE_LEN).zip(lent.chunks(PIECE_LEN));
                pieces.for_each(|(to, from)| to.copy_from_slice(from));
            }
            None => {
                let stop = self.options.limits.stop;
                read_parallel(&self.source, range.start, bytes, self.options.threads, stop)?;
            }
        }
        if !self.is_native(entry) {
            self.stored_array(entry)?.dtype.swap_to(ByteOrder::NATIVE, bytes)?;
        }
        Ok(())
    }

    /// True where the elements of a chunk need no swapping.
    fn is_native(&self, entry: &IndexEntry) -> bool {
        self.header().byte_order == ByteOrder::NATIVE || entry.chunk_type().is_some_and(|one| one.size() == 1)
    }

    /// Returns the location of a chunk, as an array.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn stored_array(&self, entry: &IndexEntry) -> Result<StoredArray> {
        let range = self.chunk_range(entry)?;
        let chunk_type = entry.chunk_type().ok_or_else(|| Error::malformed("the chunk has no type"))?;
        let dtype = chunk_type.dtype(self.header().byte_order);
        Ok(StoredArray { dtype, shape: entry.shape(), order: Order::C, data_at: range.start })
    }

    /// The bytes of some rows of a chunk, within the file.
    fn row_range(&self, entry: &IndexEntry, rows: &Range<u64>) -> Result<Range<u64>> {
        let whole = self.chunk_range(entry)?;
        if rows.start > rows.end || rows.end > entry.n {
            let problem =
                format!("rows {}..{} are outside a chunk of {} rows", rows.start, rows.end, entry.n);
            return Err(Error::usage(problem));
        }
        // Within the chunk, whose range has been computed without overflow.
        let row = (whole.end - whole.start).checked_div(entry.n).unwrap_or(0);
        Ok(whole.start + row * rows.start..whole.start + row * rows.end)
    }

    /// The bytes of a chunk, within the file.
    fn chunk_range(&self, entry: &IndexEntry) -> Result<Range<u64>> {
        let range = entry.byte_range().ok_or_else(|| {
            Error::malformed(format!(
                "invalid chunk of type {} at location {}",
                entry.type_code, entry.location
            ))
        })?;
        check_range(&range, self.source.len()).map_err(|error| error.with_context("gsd chunk"))?;
        Ok(range)
    }

    fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        if let Some(bytes) = self.source.lend(range.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = try_zeroed_vec(range.end - range.start, &self.options.limits)?;
        let stop = self.options.limits.stop;
        read_parallel(&self.source, range.start, &mut bytes, self.options.threads, stop)?;
        Ok(Cow::Owned(bytes))
    }
}

/// True where a chunk's elements are `T`.
fn holds<T: Element>(entry: &IndexEntry) -> bool {
    ChunkType::from_dtype(&T::dtype()).is_some_and(|one| Some(one) == entry.chunk_type())
}
