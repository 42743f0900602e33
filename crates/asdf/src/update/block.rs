//! A block with replaced data.

use container_codecs::checksum::Algorithm;
use container_core::{Error, Result};

use super::UpdateOptions;
use crate::blocks::header::BlockHeader;
use crate::layout::StoredBlock;
use crate::writer::digest::sixteen;
use crate::writer::encode::encode;

/// New stored bytes of a block, with the header for them.
pub(super) struct ReplacedBlock {
    pub(super) index: usize,
    pub(super) header: BlockHeader,
    pub(super) stored: Vec<u8>,
}

impl ReplacedBlock {
    pub(super) fn new(
        block: &StoredBlock,
        data: &[u8],
        itemsize: u64,
        options: &UpdateOptions,
    ) -> Result<Self> {
        if block.header.is_streamed() {
            return Err(Error::usage(format!("block {} is streamed: rows are appended to it", block.index)));
        }
        let stored = match block.label() {
            None => container_core::source::try_copy(data, &options.limits)?,
            Some(label) => encode(label, None, itemsize, data, &options.write)?,
        };
        let checksum =
            if options.write.checksums { sixteen(&Algorithm::Md5.digest(&stored)) } else { [0; 16] };
        let used = stored.len() as u64;
        let header = BlockHeader {
            allocated_size: block.header.allocated_size.max(used),
            used_size: used,
            data_size: data.len() as u64,
            checksum,
            ..block.header
        };
        Ok(Self { index: block.index, header, stored })
    }

    /// Whether it fits where the old data are.
    pub(super) fn fits(&self, block: &StoredBlock) -> bool {
        self.header.allocated_size == block.header.allocated_size
    }
}
