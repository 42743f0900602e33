//! The codec of a block that is being written.

use container_core::{Error, Result};

use super::options::WriteOptions;

/// A running codec.
pub(super) struct Encoder {
    label: String,
}

impl Encoder {
    /// The codec with this label, and the label as it stands in the header.
    pub(super) fn start(
        label: &str,
        level: Option<i32>,
        data: u64,
        itemsize: u64,
        options: &WriteOptions,
    ) -> Result<(Self, [u8; 4])> {
        let _ = (level, data, itemsize, options);
        Err(Error::unsupported(format!("no codec {label:?} to write with")))
    }

    pub(super) fn push(&mut self, bytes: &[u8], put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let _ = &self.label;
        put(bytes)
    }

    pub(super) fn finish(self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let _ = put;
        Ok(0)
    }
}
