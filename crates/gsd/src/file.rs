//! An open file: its chunks and their values.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use container_core::source::{Access, Source, open_path_probed_mmap, try_copy};
use container_core::{Error, Limits, Result};

use crate::duplicates::ShadowedEntries;
use crate::header::Header;
use crate::index::{IndexBlock, IndexEntry};
use crate::index_search::SortedIndex;
use crate::layout::{Layout, Strictness};
use crate::namelist::NameList;

mod read;

/// Options of opening a file.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Extent of the checks.
    pub strictness: Strictness,
    /// Limits on the memory that the file may claim.
    pub limits: Limits,
    /// Access to the file's bytes. Use [`Access::Positioned`] for a file that another program may truncate meanwhile.
    pub access: Access,
    /// Threads that copy a large chunk together, where the source does not lend it. 0 and 1 start none.
    pub threads: usize,
}

impl OpenOptions {
    /// The same with another policy.
    #[must_use]
    pub const fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// The same with another number of threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// An open GSD file, as it was when it was opened; chunks added later are not visible.
pub struct File {
    /// The path that it was opened at.
    path: Option<PathBuf>,
    source: Box<dyn Source>,
    layout: Layout,
    /// The index block, where it cannot be borrowed from the source.
    index: Option<Vec<u8>>,
    options: OpenOptions,
    /// Entries that no search finds, computed on first use.
    hidden: OnceLock<ShadowedEntries>,
}

impl File {
    /// Opens the file at `path` with the checks of the reference.
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
        let named = |error: Error| error.in_file(path.display().to_string());
        let source = open_path_probed_mmap(path, options.access, &options.limits).map_err(named)?;
        let mut file = Self::from_source(source, options).map_err(named)?;
        file.path = Some(path.to_path_buf());
        Ok(file)
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Box::new(bytes), &OpenOptions::default())
    }

    /// Opens bytes of any source.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_source(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let (layout, index) = Layout::with_index(&source, &options.limits, options.strictness)?;
        Ok(Self { path: None, source, layout, index, options: *options, hidden: OnceLock::new() })
    }

    /// A file of which only the header has been read, to be [extended](File::extend).
    pub(crate) fn without_frames(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let layout = Layout::without_frames(&source)?;
        let index = Some(Vec::new());
        Ok(Self { path: None, source, layout, index, options: *options, hidden: OnceLock::new() })
    }

    /// Adds the bytes of entries, and new names if there are any. The entries have been checked.
    pub(crate) fn extend(
        &mut self,
        source: Box<dyn Source>,
        header: &Header,
        names: Option<NameList>,
        entries: &[u8],
    ) -> Result<()> {
        let new = IndexBlock::new(entries, header.byte_order);
        let Some(last) = new.len().checked_sub(1).and_then(|last| new.get(last)) else { return Ok(()) };
        let index = self.index.get_or_insert_default();
        let len = (index.len() as u64).saturating_add(entries.len() as u64);
        self.options.limits.allocate(len)?;
        let refused = |_| Error::out_of_memory(len, self.options.limits.memory);
        index.try_reserve(entries.len()).map_err(refused)?;
        index.extend_from_slice(entries);
        self.layout.grow(source.len(), header, new.len() as u64, last.frame);
        if let Some(names) = names {
            self.layout.set_names(names);
        }
        self.source = source;
        self.hidden = OnceLock::new();
        Ok(())
    }

    /// The same file, read through another source of the same bytes.
    pub(crate) fn duplicate(&self, source: Box<dyn Source>) -> Result<Self> {
        let index = self.index.as_deref().map(|index| try_copy(index, &self.options.limits)).transpose()?;
        let (layout, options) = (self.layout.clone(), self.options);
        Ok(Self { path: self.path.clone(), source, layout, index, options, hidden: OnceLock::new() })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.layout.header()
    }

    /// Name of the generating application; invalid UTF-8 is replaced.
    #[must_use]
    pub fn application(&self) -> String {
        self.header().application_name()
    }

    /// Name of the schema; invalid UTF-8 is replaced.
    #[must_use]
    pub fn schema(&self) -> String {
        self.header().schema_name()
    }

    /// Returns the layout: the positions of all structures.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// Returns the options with which it was opened.
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
    pub fn names(&self) -> &NameList {
        self.layout.names()
    }

    /// The used entries of the index.
    #[must_use]
    pub fn index(&self) -> IndexBlock<'_> {
        let used = self.layout.used_index();
        let used = usize::try_from(self.layout.entries()).map_or(0..0, |_| used);
        let bytes = match &self.index {
            Some(bytes) => bytes,
            None => self.source.lend(used).unwrap_or_default(),
        };
        IndexBlock::new(bytes, self.header().byte_order)
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
        self.find_position(frame, id).and_then(|at| self.index().get(at))
    }

    /// The position in the index of the entry that [`File::find_id`] gives.
    pub(crate) fn find_position(&self, frame: u64, id: u16) -> Option<usize> {
        let index = self.index();
        if self.header().is_v1() {
            // Sorted by frame alone: the last entry of the frame, then backwards.
            let (mut low, mut high) = (0, index.len());
            while high - low > 1 {
                let middle = low.midpoint(high);
                if index.get(middle)?.frame > frame { high = middle } else { low = middle }
            }
            let mut of_frame =
                (0..=low).rev().take_while(|at| index.key(*at).is_some_and(|key| key.0 == frame));
            return of_frame.find(|at| index.key(*at) == Some((frame, id)));
        }
        self.sorted(index).position(frame, id)
    }

    /// The entries that no search finds.
    pub(crate) fn hidden(&self) -> &ShadowedEntries {
        self.hidden.get_or_init(|| ShadowedEntries::of_file(self))
    }

    /// True where `frame` has a chunk called `name`.
    #[must_use]
    pub fn contains(&self, frame: u64, name: &str) -> bool {
        self.find_chunk(frame, name).is_some()
    }

    /// The chunks of `frame` with their names, in the order of the index: of several with one name the one that a search finds. Those
    /// without a name in the list are left out.
    pub fn frame_chunks(&self, frame: u64) -> impl Iterator<Item = (Cow<'_, str>, IndexEntry)> {
        let entries = if frame < self.nframes() { self.found_of_frame(frame) } else { Vec::new() };
        entries.into_iter().filter_map(|entry| Some((self.names().get(entry.id)?, entry)))
    }

    fn sorted<'i>(&self, index: IndexBlock<'i>) -> SortedIndex<'i> {
        SortedIndex::new(index, self.nframes(), self.names().len())
    }

    /// Positions in [`File::index`] of the entries of `frame`.
    #[must_use]
    pub fn frame_entries(&self, frame: u64) -> Range<usize> {
        let index = self.index();
        let sorted = self.sorted(index);
        let first = sorted.first_of(frame);
        // In an unsorted index the next frame may appear to start before.
        first..frame.checked_add(1).map_or(index.len(), |next| sorted.first_of(next)).max(first)
    }

    /// The first name with `prefix` whose id is above that of `previous`: `gsd_find_matching_chunk_name`. Names are listed whether or
    /// not a chunk has them, each once.
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
}
