//! Options for opening and writing frames.

use std::sync::Arc;

use blosc_chunk::{BloscVersion, Compressor, Params, Pipeline, Plugins, SplitMode};
use container_codecs::checksum::Algorithm;
use container_core::Limits;
use container_core::container::{self, Tolerance};
use container_core::source::Access;

use crate::cache::Shared;
use crate::header::Kind;
use crate::lock::Locking;
use crate::metalayer::Metalayers;

/// Options for opening a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Access to its bytes.
    pub access: Access,
    /// Treatment of damage: refused, or kept aside as faults with what can still be read.
    pub tolerance: Tolerance,
    /// Reading of arrays whose values are not in the file (expressions, references to servers, the parts of proxies that were not
    /// fetched): refused, or as the zeros that are stored in their place.
    pub placeholders: Tolerance,
    /// Bytes of decoded blocks that are kept for the next read, at most a quarter of the limit on memory; 0 for none. The frames of a store
    /// share them.
    pub cache: u64,
    /// Codecs and filters with the numbers that Blosc2 leaves to users.
    pub plugins: Plugins,
    /// Whether the lock of C-Blosc2 is shared as long as the frame is open, which keeps writers that use it out.
    pub lock: Locking,
    /// Cache and decoders that the frames of a store share; else each frame has its own.
    pub(crate) shared: Option<Arc<Shared>>,
}

impl Default for OpenOptions {
    /// Selects mapping where possible, strict reads, 16 MiB of decoded blocks.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            access: Access::default(),
            tolerance: Tolerance::default(),
            placeholders: Tolerance::default(),
            cache: 16 << 20,
            plugins: Plugins::new(),
            lock: Locking::Off,
            shared: None,
        }
    }
}

impl From<&container::OpenOptions> for OpenOptions {
    fn from(options: &container::OpenOptions) -> Self {
        Self {
            limits: options.limits,
            access: options.access,
            tolerance: options.tolerance,
            placeholders: options.tolerance,
            ..Self::default()
        }
    }
}

/// Options for writing a new frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameOptions {
    /// Encoding of chunks; its `typesize` is the frame's.
    pub params: Params,
    /// Bytes that each chunk holds; `None` takes those of the first.
    pub chunksize: Option<u32>,
    /// Metalayers, which cannot be added once there are chunks.
    pub metalayers: Metalayers,
    /// One file, or a directory of chunks.
    pub kind: Kind,
    /// Whether chunks may be of different sizes. C-Blosc2 reads that from 3.0 on; earlier versions show such a frame as empty.
    pub variable_chunks: bool,
    /// Codecs and filters of the caller's own, with ids 160 to 255.
    pub plugins: Plugins,
    /// Digests of all chunks, kept as a piece of user metadata; see [`check_checksums`](crate::check_checksums).
    pub checksums: Option<Algorithm>,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            params: default_params(1),
            chunksize: None,
            metalayers: Metalayers::new(),
            kind: Kind::Contiguous,
            variable_chunks: false,
            plugins: Plugins::new(),
            checksums: None,
        }
    }
}

/// Returns zstd at level 5 with byte shuffle, the default of python-blosc2; elements of `typesize` bytes.
#[must_use]
pub fn default_params(typesize: usize) -> Params {
    Params {
        blosc_version: BloscVersion::Blosc2,
        compressor: Compressor::ZSTD,
        codec_meta: 0,
        level: 5,
        typesize,
        filters: Pipeline::shuffle(),
        split: SplitMode::Auto,
        blocksize: None,
        dictionary: false,
        threads: 1,
    }
}
