//! Reading a frame: its chunks, whole or in parts, and its metadata.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use container_core::container::ReadOptions;
use container_core::source::Source;
use container_core::{Error, Result};

use crate::header::Header;
use crate::layout::Layout;
use crate::metalayer::Metalayers;
use crate::options::OpenOptions;

/// An open frame, contiguous or sparse. Shared by reference, it is read from several threads at once.
pub struct Frame {
    layout: Layout,
    options: OpenOptions,
}

impl Frame {
    /// Opens the frame in the file, or the sparse frame in the directory, at `path`.
    ///
    /// # Errors
    /// Those of [`Layout::parse`]; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// As [`Frame::open`], with options.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let _ = (path, options);
        Err(Error::unsupported("frames"))
    }

    /// Opens the frame that begins at byte `at` of a larger file, which may go on behind it.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn open_at(path: impl AsRef<Path>, at: u64, options: &OpenOptions) -> Result<Self> {
        let _ = (path, at, options);
        Err(Error::unsupported("frames"))
    }

    /// Opens the contiguous frame that begins at byte `at` of `source`.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_source(source: Box<dyn Source>, at: u64, options: &OpenOptions) -> Result<Self> {
        let _ = (source, at, options);
        Err(Error::unsupported("frames"))
    }

    /// Opens a frame in memory: what C-Blosc2 calls a cframe.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Box::new(bytes), 0, &OpenOptions::default())
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

    /// How it was opened.
    #[must_use]
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// The metalayers of the header, as stored: by convention msgpack.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        self.layout.metalayers()
    }

    /// The names of the user metadata.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        self.layout.trailer().vlmetalayers.iter().map(|(name, _)| name.as_str())
    }

    /// The decoded value of a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// Those of the chunk that holds it; `Limit`.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let _ = name;
        Err(Error::unsupported("frames"))
    }

    /// How many chunks there are.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.layout.offsets().len()
    }

    /// Bytes that the chunk `index` holds.
    ///
    /// # Errors
    /// `Usage` where there is no such chunk; those of reading its header.
    pub fn chunk_len(&self, index: u64) -> Result<u64> {
        let _ = index;
        Err(Error::unsupported("frames"))
    }

    /// The chunk `index` as it is stored, lent where the source can; for one that is not stored, the 32 bytes that say what it holds.
    ///
    /// # Errors
    /// `Usage` where there is no such chunk, `Truncated` and `Malformed` where it does not lie within the chunks, those of the source.
    pub fn chunk(&self, index: u64) -> Result<Cow<'_, [u8]>> {
        let _ = index;
        Err(Error::unsupported("frames"))
    }

    /// Decodes the bytes `range` of the chunk `index` into `dst`, which is as long; only what is needed of it.
    ///
    /// # Errors
    /// As [`Frame::chunk`], and those of the chunk with ranges in the file.
    pub fn read_chunk_into(
        &self,
        index: u64,
        range: Range<usize>,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let _ = (index, range, dst, options);
        Err(Error::unsupported("frames"))
    }

    /// All bytes of the chunk `index`.
    ///
    /// # Errors
    /// As [`Frame::read_chunk_into`]; `Limit`.
    pub fn read_chunk(&self, index: u64, options: &ReadOptions) -> Result<Vec<u8>> {
        let _ = (index, options);
        Err(Error::unsupported("frames"))
    }

    /// The bytes `range` of all chunks joined, into `dst`, which is as long; on the threads of `options`.
    ///
    /// # Errors
    /// As [`Frame::read_chunk_into`]; `Usage` where the range ends behind the data.
    pub fn read_into(&self, range: Range<u64>, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        let _ = (range, dst, options);
        Err(Error::unsupported("frames"))
    }
}
