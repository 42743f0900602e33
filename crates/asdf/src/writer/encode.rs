//! The codec of a block that is being written.

use container_core::{Error, Result};

use super::options::WriteOptions;

/// A running codec.
pub(crate) struct Encoder {
    label: String,
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
        let _ = (level, data, itemsize, options);
        Err(Error::unsupported(format!("no codec {label:?} to write with")))
    }

    pub(crate) fn push(&mut self, bytes: &[u8], put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let _ = &self.label;
        put(bytes)
    }

    pub(crate) fn finish(self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let _ = put;
        Ok(0)
    }
}

/// Encodes the data of a whole block.
pub(crate) fn encode(label: &str, data: &[u8], options: &WriteOptions) -> Result<Vec<u8>> {
    let (mut encoder, _) = Encoder::start(label, None, data.len() as u64, 1, options)?;
    let mut stored = Vec::new();
    let mut put = |bytes: &[u8]| {
        stored.extend_from_slice(bytes);
        Ok(())
    };
    encoder.push(data, &mut put)?;
    encoder.finish(&mut put)?;
    Ok(stored)
}
