//! The command's words for how a file is written: codecs, filters, digests.

use blosc_chunk::Compressor;
use container_core::format::TargetOptions;
use container_core::{Error, Result};

use crate::ChecksumCode;
use crate::write::{ChunkOptions, Shuffle};

/// Codecs that are written.
const CODECS: [&str; 6] = ["none", "blosclz", "lz4", "lz4hc", "zlib", "zstd"];

/// Words that every Bloscpack target knows.
pub(crate) const FILTER: &str = "filter";
pub(crate) const CHECKSUM: &str = "checksum";

/// The value of a word, the last one where it was given more than once.
pub(crate) fn word<'a>(options: &'a TargetOptions, name: &str) -> Option<&'a str> {
    options.extra.iter().rev().find(|(word, _)| word == name).map(|(_, value)| value.as_str())
}

/// Puts what the caller asked for in the place of the defaults.
///
/// # Errors
/// `Usage` for codecs, levels, filters and digests that Bloscpack does not have, listing those it has.
pub(crate) fn apply(mut chunks: ChunkOptions, options: &TargetOptions) -> Result<ChunkOptions> {
    if let Some((name, level)) = &options.codec {
        (chunks.compressor, chunks.level) = codec(name, *level, &chunks)?;
    }
    if let Some(name) = word(options, FILTER) {
        chunks.shuffle = Shuffle::from_name(name).ok_or_else(|| {
            Error::usage(format!("Bloscpack has no filter {name:?} (it has none, shuffle, bitshuffle)"))
        })?;
    }
    if let Some(name) = word(options, CHECKSUM) {
        chunks.checksum = ChecksumCode::from_name(name)?;
    }
    Ok(chunks)
}

fn codec(name: &str, level: Option<i32>, chunks: &ChunkOptions) -> Result<(Compressor, u8)> {
    if name == "none" {
        return match level {
            None | Some(0) => Ok((Compressor::BLOSCLZ, 0)),
            Some(level) => Err(Error::usage(format!("none has no levels, and {level} was asked for"))),
        };
    }
    let compressor = Compressor::from_name(name).ok_or_else(|| {
        Error::usage(format!("Bloscpack has no codec {name:?} (it has {})", CODECS.join(", ")))
    })?;
    // A file that was stored plainly says nothing of a level.
    let usual = if chunks.level == 0 { ChunkOptions::default().level } else { chunks.level };
    let level = level.unwrap_or_else(|| usual.into());
    let level = u8::try_from(level).ok().filter(|level| *level <= 9);
    let level = level.ok_or_else(|| Error::usage(format!("{name} has levels 0 to 9 in Bloscpack")))?;
    Ok((compressor, level))
}
