//! Opens frames, and refreshes them after changes by other programs.

use std::path::Path;
use std::sync::OnceLock;

use blosc_chunk::Geometry;
use container_core::source::{Source, open_path_lazy_mmap};
use container_core::{Error, ErrorKind, Result};

use super::Frame;
use crate::decoder_pool::DecoderPool;
use crate::header::Kind;
use crate::layout::{HEAD_READ_LEN, Layout};
use crate::lock::{Locking, SidecarLock};
use crate::options::OpenOptions;
use crate::sparse_directory::{INDEX_NAME, SparseDirectory, open_file};
use crate::verified_reads::VerifiedReads;
use crate::{b2nd, journal};

impl Frame {
    /// Opens the frame in the file, or the sparse frame in the directory, at `path`.
    ///
    /// # Errors
    /// Those of [`Layout::parse`]; unless lenient, the first fault of its structure; `Io`. The file is named.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// As [`Frame::open`], with options.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        if path.is_dir() {
            let lock = lock(path, options).map_err(named)?;
            let index = path.join(INDEX_NAME);
            let source = open_file(&index, options.access, &options.limits)
                .map_err(|error| named(error.with_context("a sparse frame's chunks.b2frame")))?;
            let frame = Self::build(source, 0, Some(path), options).map_err(named)?;
            return Ok(Self { lock, ..frame });
        }
        Self::open_at(path, 0, options)
    }

    /// Opens the frame that begins at byte `at` of a larger file, which may continue after it.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn open_at(path: impl AsRef<Path>, at: u64, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let lock = lock(path, options).map_err(named)?;
        let frame = Self { lock, ..Self::build_from_file(path, at, options).map_err(named)? };
        if frame.header().kind == Kind::Sparse && path.file_name() != Some(INDEX_NAME.as_ref()) {
            let problem = "the index of a sparse frame without its directory, in which the chunks are";
            return Err(named(Error::unsupported(problem)));
        }
        Ok(frame)
    }

    /// Opens the frame that begins at byte `at` of `source`. A sparse one has only its index file, and its chunks cannot be read.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_source(source: Box<dyn Source>, at: u64, options: &OpenOptions) -> Result<Self> {
        Self::build(source, at, None, options)
    }

    /// Opens a frame in memory: what C-Blosc2 calls a cframe.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Box::new(bytes), 0, &OpenOptions::default())
    }

    /// Reads header, index and trailer again; true where one has changed. Another program may have appended since.
    ///
    /// Borrows end before this call, which the compiler enforces. A frame that was opened from bytes or a source never changes.
    ///
    /// # Errors
    /// As [`Frame::open`]; the frame then stays as it was.
    pub fn refresh(&mut self) -> Result<bool> {
        let Some(path) = &self.path else { return Ok(false) };
        let source = if path.is_dir() {
            open_file(&path.join(INDEX_NAME), self.options.access, &self.options.limits)?
        } else {
            open_file_at(path, &self.options)?
        };
        let path = path.clone();
        // The header does not show all changes: chunks may be in another order, and user metadata of the same length may
        // differ.
        let fresh = Self::build(source, self.layout.start(), Some(&path), &self.options)?;
        let changed = fresh.layout.header() != self.layout.header()
            || fresh.layout.metalayers() != self.layout.metalayers()
            || fresh.layout.trailer() != self.layout.trailer()
            || fresh.layout.offsets() != self.layout.offsets();
        *self = Self { lock: self.lock.take(), ..fresh };
        Ok(changed)
    }

    /// Opens a frame in a file. Another program may append between reading the length of the file and reading the header in
    /// it: then both are read again.
    fn build_from_file(path: &Path, at: u64, options: &OpenOptions) -> Result<Self> {
        let mut attempts = 0;
        loop {
            let source = open_file_at(path, options)?;
            let len = source.len();
            let opened = Self::build(source, at, Some(path), options);
            let short = match &opened {
                Ok(frame) => frame.layout.end() > len,
                Err(error) => matches!(error.kind(), ErrorKind::Truncated { .. }),
            };
            attempts += 1;
            if !short || attempts == MAX_ATTEMPTS || std::fs::metadata(path)?.len() <= len {
                return opened;
            }
        }
    }

    fn build(source: Box<dyn Source>, at: u64, path: Option<&Path>, options: &OpenOptions) -> Result<Self> {
        let layout = stable_layout(&source, at, options)?;
        if let Some(fault) = layout.blocking(options.tolerance) {
            return Err(fault.error());
        }
        let parts = match (layout.header().kind, path) {
            (Kind::Sparse, Some(path)) if path.is_dir() => Some(SparseDirectory::new(path, options.access)),
            (Kind::Sparse, Some(path)) => path.parent().map(|dir| SparseDirectory::new(dir, options.access)),
            _ => None,
        };
        let geometry = geometry(&layout);
        let pool = DecoderPool::new(geometry, options);
        let path = path.map(Path::to_owned);
        let options = options.clone();
        Ok(Self {
            source,
            parts,
            path,
            layout,
            options,
            pool,
            codecs: OnceLock::new(),
            spans: OnceLock::new(),
            verified_reads: VerifiedReads::default(),
            absence: OnceLock::new(),
            lock: None,
        })
    }
}

/// Collects the properties that chunks need from their frame.
fn geometry(layout: &Layout) -> Geometry {
    let metalayers = layout.metalayers();
    let stored = metalayers.get(b2nd::NAME).or_else(|| metalayers.get(b2nd::OLD_NAME));
    // An unreadable metalayer is reported when the array is opened; chunks are then decoded without it.
    let meta = stored.and_then(|bytes| b2nd::Meta::parse(bytes).ok()).unwrap_or_default();
    let len = |len: &u32| usize::try_from(*len).unwrap_or(usize::MAX);
    Geometry {
        typesize: usize::try_from(layout.header().typesize).ok().filter(|typesize| *typesize > 0),
        blockshape: meta.blockshape.iter().map(len).collect(),
    }
}

/// Opens the file at `path`, with the header that a power cut kept a change of it from writing whole.
fn open_file_at(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>> {
    journal::recovered(path, open_path_lazy_mmap(path, options.access, &options.limits)?, &options.limits)
}

/// Maximum number of attempts to read a frame that changes meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// Reads the layout of a frame that others may be changing: its header has to be the same before and after.
fn stable_layout(source: &dyn Source, at: u64, options: &OpenOptions) -> Result<Layout> {
    let head = || -> Option<Vec<u8>> {
        let end = at.saturating_add(HEAD_READ_LEN).min(source.len());
        (at <= end).then(|| source.read(at..end).ok().map(std::borrow::Cow::into_owned)).flatten()
    };
    let mut before = head();
    for _ in 1..MAX_ATTEMPTS {
        let Some(known) = &before else { break };
        let layout = Layout::parse_after(known, source, at, &options.limits);
        let after = head();
        if before == after {
            return layout;
        }
        before = after;
    }
    Layout::parse(source, at, &options.limits)
}

/// Returns the lock of C-Blosc2, if the options request it.
fn lock(path: &Path, options: &OpenOptions) -> Result<Option<SidecarLock>> {
    match options.lock {
        Locking::Off => Ok(None),
        Locking::JournalStore => SidecarLock::shared(path).map(Some),
    }
}
