//! The codec of a block that is being written.

use container_core::{Error, Result};

use super::options::WriteOptions;
use crate::compression;

/// A running codec. It takes the data of a block as a whole.
pub(crate) struct Encoder {
    label: String,
    level: Option<i32>,
    data: Vec<u8>,
}

impl Encoder {
    /// The codec with this label, and the label as it stands in the header.
    pub(crate) fn start(
        label: &str,
        level: Option<i32>,
        data: u64,
        itemsize: u64,
        options: &WriteOptions,
    ) -> Result<(Self, [u8; 4])> {
        let _ = itemsize;
        compression::codecs().get(label)?;
        let len = options.limits.allocate(data)?;
        let mut padded = [0; 4];
        let bytes = label.as_bytes();
        padded
            .get_mut(..bytes.len())
            .ok_or_else(|| Error::usage(format!("{label:?} is no label of four bytes")))?
            .copy_from_slice(bytes);
        Ok((Self { label: label.to_owned(), level, data: Vec::with_capacity(len) }, padded))
    }

    pub(crate) fn push(&mut self, bytes: &[u8], _put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.data.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives the number of bytes that were encoded.
    pub(crate) fn finish(self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut stored = Vec::new();
        compression::codecs().get(&self.label)?.encode(&self.data, self.level, &mut stored)?;
        put(&stored)?;
        Ok(self.data.len() as u64)
    }
}

/// Encodes the data of a whole block.
pub(crate) fn encode(
    label: &str,
    level: Option<i32>,
    data: &[u8],
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    let (mut encoder, _) = Encoder::start(label, level, data.len() as u64, 1, options)?;
    let mut stored = Vec::new();
    let mut put = |bytes: &[u8]| {
        stored.extend_from_slice(bytes);
        Ok(())
    };
    encoder.push(data, &mut put)?;
    encoder.finish(&mut put)?;
    Ok(stored)
}
