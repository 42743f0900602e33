//! Chunks with variable-length blocks, which the caller cuts: version 6.
//!
//! Spec: blosc2 section 1.10.

use container_core::{Error, Result};

use super::dictionary::Samples;
use super::{BloscVersion, Encoder, Params, check, le32, reserve, to_u32};
use crate::Plugins;
use crate::filters::BlockContext;
use crate::tuning::{self, Blocks};

impl Encoder {
    /// Appends a chunk that holds `blocks`, each encoded on its own and readable without the others, to `out`, and returns
    /// its length. Split mode and block size of the parameters do not matter.
    ///
    /// The chunk takes 8 bytes for each block and 32 more than the bytes themselves at most. C-Blosc2 reads it from 3.0 on.
    ///
    /// # Errors
    /// `Usage` for Blosc1, for no blocks, for an empty block, and for more bytes than a chunk holds; `Io` when there is no
    /// memory. `out` is then as it was.
    pub fn encode_blocks(&mut self, blocks: &[&[u8]], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        let done = self.check_blocks(blocks).and_then(|nbytes| self.append_blocks(blocks, nbytes, out));
        if done.is_err() {
            out.truncate(start);
        }
        done.map(|()| out.len() - start)
    }

    fn check_blocks(&self, blocks: &[&[u8]]) -> Result<usize> {
        if self.params.blosc_version == BloscVersion::Blosc1 {
            return Err(Error::usage("blocks of chunks of Blosc1 are all equally long"));
        }
        if blocks.is_empty() || blocks.iter().any(|block| block.is_empty()) {
            return Err(Error::usage("a chunk has one block or more, and each has a byte or more"));
        }
        let nbytes = blocks.iter().try_fold(0_usize, |sum, block| sum.checked_add(block.len()));
        let nbytes = nbytes.unwrap_or(usize::MAX);
        // What the chunk may come to, with its table and lengths, is to be within bounds as well.
        check::nbytes(BloscVersion::Blosc2, nbytes.saturating_add(blocks.len().saturating_mul(8)))?;
        Ok(nbytes)
    }

    fn append_blocks(&mut self, blocks: &[&[u8]], nbytes: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.append_blocks_with(blocks, nbytes, None, out)?;
        if !self.params.dictionary || self.params.level == 0 {
            return Ok(());
        }
        let Some(dictionary) = self.train_for(blocks, nbytes)? else { return Ok(()) };
        let mut other = Vec::new();
        self.with_dictionary(&dictionary, |encoder| {
            encoder.append_blocks_with(blocks, nbytes, Some(&dictionary), &mut other)
        })?;
        if other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(&other);
        }
        Ok(())
    }

    fn append_blocks_with(
        &mut self,
        blocks: &[&[u8]],
        nbytes: usize,
        dictionary: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let mut header = self.header(nbytes, Blocks { blocksize: blocks.len(), streams: 1, split: false });
        header.version = 6;
        header.blosc2_flags2 = 0x01;
        reserve(out, header.len() + 4 * blocks.len())?;
        header.encode(out);
        let starts_at = out.len();
        out.resize(starts_at + 4 * blocks.len(), 0);
        if let Some(dictionary) = dictionary {
            header.blosc2_flags |= 0x01;
            reserve(out, dictionary.len() + 4)?;
            out.extend_from_slice(&le32(dictionary.len()));
            out.extend_from_slice(dictionary);
        }
        let context = context(&self.params, &self.plugins, &self.blockshape);
        for (index, block) in blocks.iter().enumerate() {
            let block_at = le32(out.len() - start);
            out[starts_at + 4 * index..][..4].copy_from_slice(&block_at);
            self.workers[0].cut_block(&self.params, &context, block, out)?;
        }
        header.cbytes = to_u32(out.len() - start);
        super::overwrite(&header, &mut out[start..starts_at]);
        Ok(())
    }

    fn train_for(&mut self, blocks: &[&[u8]], nbytes: usize) -> Result<Option<Vec<u8>>> {
        let Some(mut samples) = Samples::new(self.params.compressor, nbytes) else { return Ok(None) };
        let context = context(&self.params, &self.plugins, &self.blockshape);
        for block in blocks {
            samples.take(self.workers[0].filtered_cut(&self.params, &context, block)?)?;
        }
        Ok(samples.build())
    }
}

/// Returns the context of a block, which is filtered as if it were the first.
fn context<'a>(params: &Params, plugins: &'a Plugins, blockshape: &'a [usize]) -> BlockContext<'a> {
    BlockContext {
        typesize: usize::from(tuning::stored_typesize(params.typesize)),
        schunk_typesize: params.typesize,
        version: 6,
        reference: None,
        blockshape,
        plugins,
    }
}
