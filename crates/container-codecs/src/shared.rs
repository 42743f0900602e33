//! Common parts of the codecs: levels, room for the result, and messages for data that do not fit.

use std::borrow::Cow;

use container_core::Error;

/// The error of every codec for `src` that is not an encoding of exactly `want` bytes.
pub(super) fn wrong_length(name: &str, want: usize, problem: impl Into<Cow<'static, str>>) -> Error {
    Error::malformed(format!("{name} data do not decode to exactly {want} bytes: {}", problem.into()))
}

/// The level to use, after a check that it is on the codec's `scale`.
#[cfg(any(feature = "zlib", feature = "bzip2", feature = "zstd"))]
pub(super) fn level_in(
    name: &str,
    level: Option<i32>,
    scale: std::ops::RangeInclusive<i32>,
    default: i32,
) -> container_core::Result<i32> {
    let level = level.unwrap_or(default);
    if scale.contains(&level) {
        Ok(level)
    } else {
        Err(Error::usage(format!(
            "{name} has no level {level} (expected {} to {})",
            scale.start(),
            scale.end()
        )))
    }
}

/// Makes room for `len` more elements. `Vec::reserve` would end the process where this reports.
#[cfg(any(
    feature = "zlib",
    feature = "bzip2",
    feature = "zstd",
    feature = "lz4",
    feature = "xz",
    feature = "zfp"
))]
pub(super) fn make_room<T>(out: &mut Vec<T>, len: usize) -> container_core::Result<()> {
    out.try_reserve(len).map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory).into())
}
