//! Checks of parameters against each other.

use container_core::{Error, Result};

use super::{BloscVersion, Params};
use crate::tuning::MAX_BLOCKSIZE;
use crate::{Compressor, Filter, Plugins};

/// Widest element (`BLOSC2_MAXTYPESIZE` is the largest block; frames hold as much).
const MAX_TYPESIZE: usize = 512 << 20;

/// Refuses what cannot be written.
pub(super) fn params(params: &Params, plugins: &Plugins) -> Result<()> {
    if params.level > 9 {
        return Err(Error::usage(format!("no level {} (expected 0 to 9)", params.level)));
    }
    if params.typesize == 0 || params.typesize > MAX_TYPESIZE {
        return Err(Error::usage(format!(
            "a typesize of {} bytes is not between 1 and {MAX_TYPESIZE}",
            params.typesize
        )));
    }
    if let Some(blocksize) = params.blocksize
        && (blocksize == 0 || blocksize > MAX_BLOCKSIZE)
    {
        return Err(Error::usage(format!(
            "blocks of {blocksize} bytes are not between 1 and {MAX_BLOCKSIZE}"
        )));
    }
    codec(params, plugins)?;
    filters(params, plugins)
}

fn codec(params: &Params, plugins: &Plugins) -> Result<()> {
    let codec = params.compressor;
    if plugins.codec(codec.0).is_some() {
        if params.blosc_version == BloscVersion::Blosc1 {
            return Err(Error::usage("chunks of Blosc1 have no place for codecs of users"));
        }
    } else if Compressor::from_name(codec.name()) != Some(codec) {
        return Err(Error::unsupported(format!("codec {} ({codec}) cannot be written", codec.0))
            .with_hint("blosclz, lz4, lz4hc, zlib and zstd can, and codecs of users that are registered"));
    }
    if params.codec_meta != 0 && params.blosc_version == BloscVersion::Blosc1 {
        return Err(Error::usage("chunks of Blosc1 have no place for a byte of the codec"));
    }
    if params.dictionary {
        if params.blosc_version == BloscVersion::Blosc1 {
            return Err(Error::usage("chunks of Blosc1 have no dictionaries"));
        }
        if !matches!(codec, Compressor::ZSTD | Compressor::LZ4 | Compressor::LZ4HC) {
            return Err(Error::usage(format!("{codec} takes no dictionary; zstd, lz4 and lz4hc do")));
        }
    }
    Ok(())
}

fn filters(params: &Params, plugins: &Plugins) -> Result<()> {
    let filters = params.filters;
    match params.blosc_version {
        BloscVersion::Blosc1 => {
            let fits = |filter: Filter| {
                filter.meta == 0 && matches!(filter.id, Filter::SHUFFLE | Filter::BITSHUFFLE)
            };
            if filters.filters().count() > 1 || !filters.filters().all(fits) {
                return Err(Error::usage("chunks of Blosc1 have one filter at most, shuffle or bitshuffle"));
            }
            Ok(())
        }
        BloscVersion::Blosc2 => {
            if filters.contains(Filter::BYTEDELTA_BUGGY) {
                return Err(Error::unsupported("filter 34 (the old bytedelta) is only read")
                    .with_hint("filter 35 is its successor"));
            }
            filters.check_known_with(plugins)
        }
    }
}

/// Refuses more bytes than a chunk holds.
pub(super) fn nbytes(blosc_version: BloscVersion, nbytes: usize) -> Result<()> {
    let most = blosc_version.max_nbytes();
    if nbytes > most {
        return Err(Error::usage(format!("{nbytes} bytes do not fit into one chunk ({most})")));
    }
    Ok(())
}
