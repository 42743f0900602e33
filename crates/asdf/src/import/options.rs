//! Write options from strings: codecs and checksums.

use container_core::format::TargetOptions;
use container_core::{Error, Result};

/// Codecs that are written, each with its label on disk.
pub(crate) const CODECS: [(&str, &str); 6] =
    [("none", ""), ("zlib", "zlib"), ("bzp2", "bzp2"), ("lz4", "lz4"), ("zstd", "zstd"), ("blosc", "blsc")];

/// Words that every ASDF target knows.
pub(crate) const CHECKSUM: &str = "checksum";

/// Name of the codec with a label on disk: `blosc` for `blsc`. A label without another name is its own name, unless it is unreadable.
pub(crate) fn codec_name(label: Option<&str>) -> &str {
    match label {
        None => "none",
        Some("blsc") => "blosc",
        Some("bls2" | "bsc2") => "blosc2",
        Some("?") => "unknown",
        Some(label) => label,
    }
}

/// The value of an option; the last one where it was given more than once.
pub(crate) fn get<'a>(options: &'a TargetOptions, name: &str) -> Option<&'a str> {
    options.extra.iter().rev().find(|(word, _)| word == name).map(|(_, value)| value.as_str())
}

/// The label and level that were asked for: `None` for plain data. Without a request, `None` too.
///
/// # Errors
/// `Usage` for codecs that ASDF does not have, listing those it has, and for a level of none.
pub(crate) fn codec(options: &TargetOptions) -> Result<Option<(&'static str, Option<i32>)>> {
    options.codec.as_ref().map_or(Ok(None), |(name, level)| compression(name, *level))
}

/// The label and level of a codec by the command's word: `blosc` is `blsc`. `None` for `none`.
///
/// # Errors
/// As [`codec`].
pub(crate) fn compression(name: &str, level: Option<i32>) -> Result<Option<(&'static str, Option<i32>)>> {
    let known = CODECS.iter().find(|(word, _)| *word == name).ok_or_else(|| {
        let words: Vec<&str> = CODECS.iter().map(|(word, _)| *word).collect();
        Error::usage(format!("ASDF has no codec {name:?} (it has {})", words.join(", ")))
    })?;
    match (known, level) {
        (("none", _), None | Some(0)) => Ok(None),
        (("none", _), Some(level)) => {
            Err(Error::usage(format!("none has no levels, and {level} was asked for")))
        }
        ((_, label), level) => Ok(Some((*label, level))),
    }
}

/// Whether blocks get a digest; the default is that they do.
///
/// # Errors
/// `Usage` for digests that ASDF does not have.
pub(crate) fn checksum(options: &TargetOptions) -> Result<bool> {
    match get(options, CHECKSUM) {
        None | Some("md5") => Ok(true),
        Some("none") => Ok(false),
        Some(other) => Err(Error::usage(format!("ASDF has no checksum {other:?} (it has none, md5)"))),
    }
}
