//! Write options from strings: codecs, filters, checksums.

use blosc_chunk::Compressor;
use container_core::format::TargetOptions;
use container_core::{Error, Result};

use crate::ChecksumCode;
use crate::write::{ChunkOptions, Shuffle};

/// Options that every Bloscpack target has.
pub(crate) const FILTER: &str = "filter";
pub(crate) const CHECKSUM: &str = "checksum";

/// Replaces defaults by the caller's options.
///
/// # Errors
/// `Usage` for codecs, levels, filters and digests that Bloscpack does not have, listing those it has.
pub(crate) fn apply(mut chunks: ChunkOptions, options: &TargetOptions) -> Result<ChunkOptions> {
    // An uncompressed file does not contain a level.
    let own_level = if chunks.level == 0 { ChunkOptions::default().level } else { chunks.level };
    if let Some(chosen) = Compressor::from_options(options, "Bloscpack", own_level)? {
        (chunks.compressor, chunks.level) = chosen;
    }
    if let Some(name) = options.get(FILTER) {
        chunks.shuffle = Shuffle::from_name(name).ok_or_else(|| {
            Error::usage(format!("Bloscpack has no filter {name:?} (it has none, shuffle, bitshuffle)"))
        })?;
    }
    if let Some(name) = options.get(CHECKSUM) {
        chunks.checksum = ChecksumCode::from_name(name)?;
    }
    Ok(chunks)
}
