//! Reading a frame: its chunks, whole or in parts, and its metadata.

mod block_ranges;
mod byte_access;
mod chunk_lengths;
mod chunk_location;
mod copy;
mod open;
mod read;
mod scan;

pub(crate) use block_ranges::{ChunkSizes, FetchedBlocks};
pub(crate) use chunk_location::LocatedChunk;
pub use scan::{ChunkScan, ScannedChunk};

use std::path::PathBuf;
use std::sync::OnceLock;

use blosc_chunk::{Chunk, Decoder, Geometry};
use container_core::codec::Codecs;
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Result};

use crate::absent_values::Absence;
use crate::decoder_pool::DecoderPool;
use crate::header::Header;
use crate::layout::Layout;
use crate::lock::SidecarLock;
use crate::metalayer::Metalayers;
use crate::options::OpenOptions;
use crate::sparse_directory::SparseDirectory;
use crate::verified_reads::VerifiedReads;

/// An open frame, contiguous or sparse. Shared by reference, it is read from several threads at once.
pub struct Frame {
    /// The frame; of a sparse one its index file.
    source: Box<dyn Source>,
    /// Directory of the chunks of a sparse frame.
    parts: Option<SparseDirectory>,
    /// The file that it was opened from.
    pub(crate) path: Option<PathBuf>,
    layout: Layout,
    options: OpenOptions,
    pool: DecoderPool,
    /// The codecs of its chunks as blocks; made on the first use.
    pub(crate) codecs: OnceLock<Codecs>,
    /// End of each chunk in the data, for a frame with chunks of different sizes; found when it is first needed.
    spans: OnceLock<Vec<u64>>,
    verified_reads: VerifiedReads,
    /// The values that are elsewhere, found when first needed.
    absence: OnceLock<Option<Box<Absence>>>,
    /// Keeps those from writing who ask for it.
    lock: Option<SidecarLock>,
}

impl Frame {
    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.layout.header()
    }

    /// Returns the layout of the frame.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the options that it was opened with.
    #[must_use]
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// Returns the source of the frame; of a sparse frame that of its index file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// Returns the metalayers of the header, as stored: by convention msgpack.
    #[must_use]
    pub fn metalayers(&self) -> &Metalayers {
        self.layout.metalayers()
    }

    /// Returns the names of the user metadata.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        self.layout.trailer().vlmetalayers.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the decoded value of a piece of user metadata: by convention msgpack. `None` for an unused name.
    ///
    /// # Errors
    /// Those of the chunk that holds it; `Limit`.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let mut all = self.layout.trailer().vlmetalayers.iter();
        all.find(|(own, _)| own == name).map(|(name, stored)| self.decoded(name, stored)).transpose()
    }

    /// Returns the decoded value of what the trailer has under a name.
    ///
    /// # Errors
    /// As for [`Frame::vlmetalayer`].
    pub(crate) fn decoded(&self, name: &str, stored: &[u8]) -> Result<Vec<u8>> {
        let at = self.layout.trailer_range().start;
        let decoded = Chunk::parse(stored).and_then(|chunk| {
            let mut value = try_zeroed_vec(chunk.nbytes() as u64, &self.options.limits)?;
            self.pool.plain_decoder().decode(&chunk, &mut value)?;
            Ok(value)
        });
        let named = |error: Error| {
            let range = at..self.layout.trailer_range().end;
            Error::new(error.into_kind()).with_range(range).with_context(format!("user metalayer {name:?}"))
        };
        decoded.map_err(named)
    }

    /// Returns the number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.layout.offsets().len()
    }

    /// Bytes of all chunks after decoding, by the header; of an array with its padding.
    #[must_use]
    pub fn data_len(&self) -> u64 {
        self.header().nbytes
    }

    /// Lends a decoder with element size and block shape of this frame, and the codecs of the options.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn with_decoder<T>(&self, work: impl FnOnce(&mut Decoder) -> Result<T>) -> Result<T> {
        self.pool.with(|worker| {
            worker.decoder.set_stop(self.options.limits.stop);
            work(&mut worker.decoder)
        })
    }

    /// Returns the properties of its chunks that only the frame stores.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.pool.geometry()
    }

    /// Returns the digests of its chunks.
    pub(crate) fn verified_reads(&self) -> &VerifiedReads {
        &self.verified_reads
    }

    /// Returns the values that are not in the frame; `None` where all are.
    pub(crate) fn absence(&self) -> Option<&Absence> {
        self.absence.get_or_init(|| Absence::of(self).map(Box::new)).as_deref()
    }

    pub(crate) fn pool(&self) -> &DecoderPool {
        &self.pool
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("layout", &self.layout).finish_non_exhaustive()
    }
}
