//! An open file: which chunks there are, and their values.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use container_core::array::{Array, StoredArray};
use container_core::dtype::{ByteOrder, Element, Order};
use container_core::region::Region;
use container_core::source::{Access, Source, check_range, copy_vec, open_path, read_parallel, zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::Type;
use crate::header::Header;
use crate::index::{Index, IndexEntry};
use crate::layout::{Layout, Policy};
use crate::namelist::Names;
use crate::search::Sorted;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How much is checked.
    pub policy: Policy,
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// How its bytes are reached. Use [`Access::Positioned`] for a file that somebody may truncate meanwhile.
    pub access: Access,
}

impl OpenOptions {
    /// The same with another policy.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }
}

/// An open GSD file, as it was when it was opened: what a writer adds later is not seen.
pub struct File {
    source: Box<dyn Source>,
    layout: Layout,
    /// The index block, where the source does not lend it.
    index: Option<Vec<u8>>,
    options: OpenOptions,
}

impl File {
    /// Opens the file at `path`, as the reference would.
    ///
    /// # Errors
    /// `WrongFormat`, `Unsupported`, `Truncated`, `Malformed`, `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` with options.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.part(path.display().to_string());
        let source = open_path(path, options.access, &options.limits).map_err(named)?;
        Self::from_source(source, options).map_err(named)
    }

    /// Opens bytes from anywhere.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_source(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let (layout, index) = Layout::with_index(&source, &options.limits, options.policy)?;
        Ok(Self { source, layout, index, options: *options })
    }

    /// A file of which nothing but the header is known, to be [extended](File::extend).
    pub(crate) fn without_frames(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let layout = Layout::without_frames(&source)?;
        Ok(Self { source, layout, index: Some(Vec::new()), options: *options })
    }

    /// Adds the bytes of entries, and names where there are others than before. The entries have been checked.
    pub(crate) fn extend(
        &mut self,
        source: Box<dyn Source>,
        header: &Header,
        names: Option<Names>,
        entries: &[u8],
    ) -> Result<()> {
        let new = Index::new(entries, header.byte_order);
        let Some(last) = new.len().checked_sub(1).and_then(|last| new.get(last)) else { return Ok(()) };
        let index = self.index.get_or_insert_default();
        let len = (index.len() as u64).saturating_add(entries.len() as u64);
        self.options.limits.allocate(len)?;
        let refused =
            |_| Error::limit("memory in bytes (the machine refused it)", len, self.options.limits.memory);
        index.try_reserve(entries.len()).map_err(refused)?;
        index.extend_from_slice(entries);
        self.layout.grow(source.len(), header, new.len() as u64, last.frame);
        if let Some(names) = names {
            self.layout.set_names(names);
        }
        self.source = source;
        Ok(())
    }

    /// The same file, read through another source of the same bytes.
    pub(crate) fn duplicate(&self, source: Box<dyn Source>) -> Result<Self> {
        let index = self.index.as_deref().map(|index| copy_vec(index, &self.options.limits)).transpose()?;
        Ok(Self { source, layout: self.layout.clone(), index, options: self.options })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.layout.header()
    }

    /// Where everything is.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// How it was opened.
    #[must_use]
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// Number of frames: `gsd_get_nframes`.
    #[must_use]
    pub fn nframes(&self) -> u64 {
        self.layout.frames()
    }

    /// The names of chunks, by id.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.layout.names()
    }

    /// The used entries of the index.
    #[must_use]
    pub fn index(&self) -> Index<'_> {
        let used = self.layout.used_index();
        let used = usize::try_from(self.layout.entries()).map_or(0..0, |_| used);
        let bytes = match &self.index {
            Some(bytes) => bytes,
            None => self.source.lend(used).unwrap_or_default(),
        };
        Index::new(bytes, self.header().byte_order)
            .first(usize::try_from(self.layout.entries()).unwrap_or(usize::MAX))
    }

    /// The chunk called `name` in `frame`: `gsd_find_chunk`. Of several, the one that the reference finds.
    #[must_use]
    pub fn find_chunk(&self, frame: u64, name: &str) -> Option<IndexEntry> {
        let id = self.names().id(name)?;
        self.find_id(frame, id)
    }

    /// The chunk with the name `id` in `frame`.
    #[must_use]
    pub fn find_id(&self, frame: u64, id: u16) -> Option<IndexEntry> {
        if frame >= self.nframes() {
            return None;
        }
        let index = self.index();
        if self.header().is_v1() {
            // Sorted by frame alone: the last entry of the frame, then backwards.
            let (mut low, mut high) = (0, index.len());
            while high - low > 1 {
                let middle = low.midpoint(high);
                if index.get(middle)?.frame > frame { high = middle } else { low = middle }
            }
            let of_frame = (0..=low).rev().map_while(|at| index.get(at).filter(|entry| entry.frame == frame));
            return of_frame.into_iter().find(|entry| entry.id == id);
        }
        self.sorted(index).find(frame, id)
    }

    /// True where `frame` has a chunk called `name`.
    #[must_use]
    pub fn contains(&self, frame: u64, name: &str) -> bool {
        self.find_chunk(frame, name).is_some()
    }

    /// The chunks of `frame` with their names, in the order of the index. Those without a name in the list are left out.
    pub fn frame_chunks(&self, frame: u64) -> impl Iterator<Item = (Cow<'_, str>, IndexEntry)> {
        let range = if frame < self.nframes() { self.frame_entries(frame) } else { 0..0 };
        let of_frame = self.index().slice(range).iter().filter(move |entry| entry.frame == frame);
        of_frame.filter_map(|entry| Some((self.names().get(entry.id)?, entry)))
    }

    fn sorted<'i>(&self, index: Index<'i>) -> Sorted<'i> {
        Sorted::new(index, self.nframes(), self.names().len())
    }

    /// Positions in [`File::index`] of the entries of `frame`.
    #[must_use]
    pub fn frame_entries(&self, frame: u64) -> Range<usize> {
        let index = self.index();
        let sorted = self.sorted(index);
        let first = sorted.first_of(frame);
        // In an index out of order the next frame may seem to come before.
        first..frame.checked_add(1).map_or(index.len(), |next| sorted.first_of(next)).max(first)
    }

    /// The first name with `prefix` whose id is above that of `previous`: `gsd_find_matching_chunk_name`. Names are listed
    /// whether or not a chunk has them; those that no text finds are not: bytes that are no UTF-8, and what is listed before.
    #[must_use]
    pub fn find_matching_chunk_name(&self, prefix: &str, previous: Option<&str>) -> Option<Cow<'_, str>> {
        let start = match previous {
            None => 0,
            Some(name) => usize::from(self.names().id(name)?).checked_add(1)?,
        };
        let matching = |id: u16| {
            let name = self.names().get(id)?;
            (name.starts_with(prefix) && self.names().id(&name) == Some(id)).then_some(name)
        };
        (0..=u16::MAX).take(self.names().len()).skip(start).find_map(matching)
    }

    /// The bytes of a chunk as they are stored, row by row, lent where the source can: `gsd_read_chunk`.
    ///
    /// # Errors
    /// `Malformed` for an entry that describes no chunk, `Truncated` past the end of the file, `Limit`, `Io`.
    pub fn read_chunk(&self, entry: &IndexEntry) -> Result<Cow<'_, [u8]>> {
        self.bytes(self.chunk_range(entry)?)
    }

    /// Rows `rows` of a chunk, as they are stored, lent where the source can.
    ///
    /// # Errors
    /// `Usage` for rows past the last one; else as [`File::read_chunk`].
    pub fn read_rows(&self, entry: &IndexEntry, rows: Range<u64>) -> Result<Cow<'_, [u8]>> {
        let whole = self.chunk_range(entry)?;
        if rows.start > rows.end || rows.end > entry.n {
            let problem = format!("rows {}..{} of a chunk of {}", rows.start, rows.end, entry.n);
            return Err(Error::usage(problem));
        }
        // Within the chunk, whose range has been computed without overflow.
        let row = (whole.end - whole.start).checked_div(entry.n).unwrap_or(0);
        self.bytes(whole.start + row * rows.start..whole.start + row * rows.end)
    }

    /// A chunk as an array of shape (N,) or (N, M), C order, in the byte order of the file; lent where the source can.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn read_array(&self, entry: &IndexEntry) -> Result<Array<'_>> {
        let stored = self.stored_array(entry)?;
        stored.read(&self.source, &Region::whole(&stored.shape), &self.options.limits, 1)
    }

    /// The elements of a chunk as Rust values: borrowed where they are lent, aligned, and in this machine's byte order. Types
    /// must be the same; nothing is converted.
    ///
    /// # Errors
    /// `Usage` for another type; else as [`File::read_chunk`].
    pub fn read_elements<T: Element>(&self, entry: &IndexEntry) -> Result<Cow<'_, [T]>> {
        let range = self.chunk_range(entry)?;
        let limits = &self.options.limits;
        if !holds::<T>(entry) {
            // What is opaque on the Rust side takes whatever has its size; all else is refused.
            let array = self.read_array(entry)?;
            return Ok(Cow::Owned(array.elements::<T>(Order::C, limits)?.into_owned()));
        }
        if self.is_native(entry)
            && let Some(bytes) = self.source.lend(range.clone())
            && let Ok(elements) = bytemuck::try_cast_slice(bytes)
        {
            return Ok(Cow::Borrowed(elements));
        }
        let mut elements: Vec<T> = zeroed_vec((range.end - range.start) / size_of::<T>() as u64, limits)?;
        self.fill(entry, range, &mut elements)?;
        Ok(Cow::Owned(elements))
    }

    /// Copies the elements of a chunk to `dst`, row by row. Types must be the same; nothing but the byte order is converted.
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
            return Err(Error::usage(format!("{n} × {m} elements, and memory for {count}")));
        }
        self.fill(entry, range, dst)
    }

    /// Fills `dst` with the bytes of `range`, which is a chunk's and as long, and puts them into this machine's order.
    fn fill<T: Element>(&self, entry: &IndexEntry, range: Range<u64>, dst: &mut [T]) -> Result<()> {
        // A copy of more than the cache holds goes around it, which is slower where `dst` is memory that is used again.
        const PIECE: usize = 256 << 10;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(dst);
        match self.source.lend(range.clone()) {
            Some(lent) => {
                let pieces = bytes.chunks_mut(PIECE).zip(lent.chunks(PIECE));
                pieces.for_each(|(to, from)| to.copy_from_slice(from));
            }
            None => self.source.read_into(range.start, bytes)?,
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

    /// Where a chunk lies, as an array.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn stored_array(&self, entry: &IndexEntry) -> Result<StoredArray> {
        let range = self.chunk_range(entry)?;
        let chunk_type = entry.chunk_type().ok_or_else(|| Error::malformed("the chunk has no type"))?;
        let dtype = chunk_type.dtype(self.header().byte_order);
        Ok(StoredArray { dtype, shape: entry.shape(), order: Order::C, data_at: range.start })
    }

    /// The bytes of a chunk, within the file.
    fn chunk_range(&self, entry: &IndexEntry) -> Result<Range<u64>> {
        let range = entry.byte_range().ok_or_else(|| {
            Error::malformed(format!(
                "type {} and location {} make no chunk",
                entry.type_code, entry.location
            ))
        })?;
        check_range(&range, self.source.len()).map_err(|error| error.context("gsd chunk"))?;
        Ok(range)
    }

    fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        if let Some(bytes) = self.source.lend(range.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = zeroed_vec(range.end - range.start, &self.options.limits)?;
        read_parallel(&self.source, range.start, &mut bytes, 1)?;
        Ok(Cow::Owned(bytes))
    }
}

/// True where a chunk's elements are `T`.
fn holds<T: Element>(entry: &IndexEntry) -> bool {
    Type::from_dtype(&T::dtype()).is_some_and(|one| Some(one) == entry.chunk_type())
}
