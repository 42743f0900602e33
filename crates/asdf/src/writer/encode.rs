//! The codec of a block that is being written.

use container_core::{Error, Result};

use super::options::WriteOptions;
use crate::compression::{self, EncodeOptions};

/// Data that are encoded before what they came to is passed on.
const PIECE: usize = 32 << 20;

/// A running codec.
pub(crate) struct Encoder {
    inner: compression::Encoder,
    /// What was encoded and is not passed on yet.
    encoded: Vec<u8>,
}

impl Encoder {
    /// The codec with this label for `data` bytes of items of a size, and the label as it stands in the header.
    pub(crate) fn start(
        label: &str,
        level: Option<i32>,
        data: u64,
        itemsize: u64,
        options: &WriteOptions,
    ) -> Result<(Self, [u8; 4])> {
        let inner = compression::Encoder::new(label, &encode_options(level, data, itemsize, options))?;
        let mut padded = [0; 4];
        let place = padded.get_mut(..label.len());
        place
            .ok_or_else(|| Error::usage(format!("{label:?} is no label of four bytes")))?
            .copy_from_slice(label.as_bytes());
        Ok((Self { inner, encoded: Vec::new() }, padded))
    }

    pub(crate) fn push(&mut self, bytes: &[u8], put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for piece in bytes.chunks(PIECE) {
            self.inner.push(piece, &mut self.encoded)?;
            put(&self.encoded)?;
            self.encoded.clear();
        }
        Ok(())
    }

    /// Gives the number of bytes that were encoded.
    pub(crate) fn finish(mut self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let sizes = self.inner.finish(&mut self.encoded)?;
        put(&self.encoded)?;
        Ok(sizes.data)
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
    let mut stored = Vec::new();
    let options = encode_options(level, data.len() as u64, itemsize, options);
    compression::encode(label, data, &options, &mut stored)?;
    Ok(stored)
}

fn encode_options(level: Option<i32>, data: u64, itemsize: u64, options: &WriteOptions) -> EncodeOptions {
    let typesize = usize::try_from(itemsize).unwrap_or(usize::MAX);
    EncodeOptions { level, threads: options.threads, typesize, len: Some(data) }
}
