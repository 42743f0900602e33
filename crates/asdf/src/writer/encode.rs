//! The codec of a block that is being written.

use std::io;

use container_core::{Error, Result};

use super::options::WriteOptions;
use crate::compression::{self, EncodeOptions};

/// A running codec.
pub(crate) struct BlockEncoder(compression::Encoder);

/// Passes encoded bytes on while the rest is still encoded.
struct EncodedSink<'p> {
    put: &'p mut dyn FnMut(&[u8]) -> Result<()>,
    /// The error that stopped it, with all its context: errors of `io` have no byte ranges.
    failed: Option<Error>,
}

impl io::Write for EncodedSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.put)(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BlockEncoder {
    /// The codec with this label for `data` bytes of items of a size, and the label as stored in the header.
    pub(crate) fn start(
        label: &str,
        level: Option<i32>,
        data: u64,
        itemsize: u64,
        options: &WriteOptions,
    ) -> Result<(Self, [u8; 4])> {
        require(label, data, options)?;
        let inner = compression::Encoder::new(label, &encode_options(label, level, data, itemsize, options))?;
        let mut padded = [0; 4];
        let place = padded.get_mut(..label.len());
        place
            .ok_or_else(|| {
                Error::usage(format!("the label {label:?} is too long (expected at most four bytes)"))
            })?
            .copy_from_slice(label.as_bytes());
        Ok((Self(inner), padded))
    }

    pub(crate) fn push(&mut self, bytes: &[u8], put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut put = EncodedSink { put, failed: None };
        let done = self.0.push(bytes, &mut put);
        done.map_err(|error| put.failed.unwrap_or(error))
    }

    /// Returns the number of bytes that were encoded.
    pub(crate) fn finish(self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut put = EncodedSink { put, failed: None };
        let sizes = self.0.finish(&mut put);
        Ok(sizes.map_err(|error| put.failed.unwrap_or(error))?.data)
    }
}

/// Encodes the data of a whole block.
pub(crate) fn encode(
    label: &str,
    level: Option<i32>,
    itemsize: u64,
    data: &[u8],
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    require(label, data.len() as u64, options)?;
    let mut stored = Vec::new();
    let options = encode_options(label, level, data.len() as u64, itemsize, options);
    compression::encode(label, data, &options, &mut stored)?;
    Ok(stored)
}

/// A Blosc chunk is made of all its data, which are in memory together with the encoded bytes.
///
/// # Errors
/// `Limit`.
fn require(label: &str, data: u64, options: &WriteOptions) -> Result<()> {
    if compression::needs_whole_block(label) {
        options.limits.allocate(data.saturating_mul(2)).map_err(|error| {
            let hint = "--codec zlib, lz4 or zstd, which take data in pieces, or a larger --limit-memory";
            error.with_context(format!("a block of {data} bytes as one Blosc chunk")).with_hint(hint)
        })?;
    }
    Ok(())
}

/// Chooses the number of threads. Threads hold the output for a Blosc chunk a second time before it is joined; without memory for that, one thread
/// encodes it.
fn threads(label: &str, data: u64, options: &WriteOptions) -> usize {
    let has_room = || options.limits.allocate(data.saturating_mul(3)).is_ok();
    if compression::needs_whole_block(label) && !has_room() { 1 } else { options.threads }
}

fn encode_options(
    label: &str,
    level: Option<i32>,
    data: u64,
    itemsize: u64,
    options: &WriteOptions,
) -> EncodeOptions {
    let typesize = usize::try_from(itemsize).unwrap_or(usize::MAX);
    EncodeOptions { level, threads: threads(label, data, options), typesize, len: Some(data) }
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    #[test]
    fn a_blosc_chunk_takes_no_more_memory_than_is_allowed() {
        let mut options = WriteOptions { threads: 1, ..WriteOptions::default() };
        options.limits.memory = 2000;
        let start = |label, len| BlockEncoder::start(label, None, len, 4, &options).map(|_| ());
        start("blsc", 1000).unwrap();
        start("zlib", 1 << 40).unwrap();
        for error in
            [start("blsc", 1001).unwrap_err(), encode("blsc", None, 4, &[0; 1001], &options).unwrap_err()]
        {
            assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
            assert!(error.hint().unwrap().contains("--codec zlib"));
        }
        // Threads take more, and are left out first.
        options.threads = 2;
        let threads = |label, len| encode_options(label, None, len, 4, &options).threads;
        assert_eq!([threads("blsc", 666), threads("blsc", 667), threads("zlib", 667)], [2, 1, 2]);
        assert!(encode("blsc", None, 4, &[0; 1000], &options).unwrap().len() < 1000);
    }
}
