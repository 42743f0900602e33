//! Assembles a file from a header, a tree and blocks as they are stored in other files.

use container_codecs::checksum::Algorithm;
use container_core::format::Output;
use container_core::source::{PIECE_LEN, Source};
use container_core::{Error, Result};

use crate::blocks::header::{BlockHeader, MIN_LEN, STREAMED};
use crate::blocks::index::BlockIndex;
use crate::layout::{Layout, StoredBlock};
use crate::writer::block::header_size;
use crate::writer::copy_bytes;
use crate::writer::digest::sixteen;
use crate::writer::output::Target;
use crate::writer::{Padding, WriteOptions};

/// A block that goes into a new file.
pub(crate) struct AssemblyBlock<'a> {
    /// The file that it is from.
    pub(crate) source: &'a dyn Source,
    /// The block in that file.
    pub(crate) block: StoredBlock,
    /// New stored bytes, with the label of their codec and their decoded length; `None` keeps the present ones.
    pub(crate) recoded: Option<RecodedBlock>,
}

/// Stored bytes by another codec.
pub(crate) struct RecodedBlock {
    pub(crate) label: [u8; 4],
    pub(crate) stored: Vec<u8>,
    pub(crate) data_size: u64,
}

/// Padding of blocks in the new file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BlockPadding {
    /// Each keeps its own, with the bytes in it.
    Keep,
    /// Each has new padding by the policy.
    New(Padding),
}

/// Options of a file that is assembled.
pub(crate) struct Assembly<'a> {
    pub(crate) block_padding: BlockPadding,
    /// Padding after the tree.
    pub(crate) padding: Padding,
    pub(crate) index: bool,
    /// Whether copied blocks get a digest; `None` leaves each the one that it has.
    pub(crate) digests: Option<bool>,
    pub(crate) options: &'a WriteOptions,
}

/// Writer of an assembled file.
pub(crate) struct AssemblyWriter<'a, 'o> {
    assembly: &'a Assembly<'a>,
    target: Target<'o>,
    at: u64,
    offsets: Vec<u64>,
    streamed: bool,
}

impl<'a> Assembly<'a> {
    /// Writes `head` and the tree, and the padding before the blocks, if there are any.
    ///
    /// # Errors
    /// Those of the target.
    pub(crate) fn start<'o>(
        &'a self,
        head: &[u8],
        text: &str,
        has_blocks: bool,
        out: &'o mut dyn Output,
    ) -> Result<AssemblyWriter<'a, 'o>> {
        let mut target = Target::Output(out);
        target.write(head)?;
        target.write(text.as_bytes())?;
        let mut len = head.len() as u64 + text.len() as u64;
        // Dots that were followed by NULs or the end of the file need a newline before a block.
        if has_blocks && !text.ends_with('\n') {
            target.write(b"\n")?;
            len += 1;
        }
        let padding = if has_blocks { self.padding.after(len) } else { 0 };
        target.fill(padding)?;
        Ok(AssemblyWriter { assembly: self, target, at: len + padding, offsets: Vec::new(), streamed: false })
    }
}

impl AssemblyWriter<'_, '_> {
    /// Writes a block. Only the last may stay streamed.
    ///
    /// # Errors
    /// Those of its source and the target.
    pub(crate) fn block(&mut self, piece: &AssemblyBlock<'_>, is_last: bool) -> Result<()> {
        self.offsets.push(self.at);
        self.streamed = is_last && piece.recoded.is_none() && piece.block.header.is_streamed();
        self.at += self.assembly.block(self.at, piece, is_last, &mut self.target)?;
        Ok(())
    }

    /// Writes the index.
    ///
    /// # Errors
    /// Those of the target.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.assembly.index && !self.offsets.is_empty() && !self.streamed {
            self.target.write(BlockIndex { offsets: self.offsets }.to_text().as_bytes())?;
        }
        self.target.flush()
    }
}

impl Assembly<'_> {
    /// Writes a block, and returns its length. The header is adapted to one of three cases: encoded anew, copied, or formerly streamed and now
    /// followed by other blocks, so that it needs sizes. Then come its digest, its alignment, and the bytes.
    fn block(
        &self,
        at: u64,
        piece: &AssemblyBlock<'_>,
        is_last: bool,
        target: &mut Target<'_>,
    ) -> Result<u64> {
        let AssemblyBlock { source, block, recoded } = piece;
        let mut header = block.header;
        let (data, rest) = (block.data.clone(), block.data.end..block.end);
        let mut padding_len = 0;
        if let Some(recoded) = recoded {
            let len = recoded.stored.len() as u64;
            header.flags &= !STREAMED;
            header.compression = recoded.label;
            header.data_size = recoded.data_size;
            header.used_size = len;
            header.checksum = self.digest(&recoded.stored);
            padding_len = self.padding_after(len);
            header.allocated_size = len + padding_len;
        } else if !header.is_streamed() {
            if let BlockPadding::New(padding) = self.block_padding {
                padding_len = padding.after(header.used_size);
                header.allocated_size = header.used_size + padding_len;
            }
        } else if !is_last {
            // The next block begins at its end.
            let len = data.end - data.start;
            header.flags &= !STREAMED;
            (header.used_size, header.data_size) = (len, len);
            header.checksum = if self.options.checksums { digest(*source, data.clone())? } else { [0; 16] };
            padding_len = self.padding_after(len);
            header.allocated_size = len + padding_len;
        }
        if let Some(wanted) = self.digests
            && recoded.is_none()
            && !header.is_streamed()
        {
            header.checksum = if wanted { digest(*source, data.clone())? } else { [0; 16] };
        }
        let own = header.len();
        header.header_size = match self.options.align {
            Some(_) => header_size(at, self.options.align)?,
            None => header.header_size,
        };
        target.write(&header.to_bytes())?;
        if header.len() == own {
            copy_bytes::copy_range(*source, block.at + MIN_LEN..block.at + own, target)?;
        } else {
            target.fill(header.len() - MIN_LEN)?;
        }
        if let Some(recoded) = recoded {
            target.write(&recoded.stored)?;
        } else {
            copy_bytes::copy_range(*source, data.clone(), target)?;
        }
        if header.is_streamed() {
            return Ok(header.len() + (data.end - data.start));
        }
        if recoded.is_none() && self.block_padding == BlockPadding::Keep && !block.header.is_streamed() {
            copy_bytes::copy_range(*source, rest, target)?;
        } else {
            target.fill(padding_len)?;
        }
        Ok(header.len() + header.allocated_size)
    }

    fn padding_after(&self, len: u64) -> u64 {
        match self.block_padding {
            BlockPadding::Keep => 0,
            BlockPadding::New(padding) => padding.after(len),
        }
    }

    fn digest(&self, stored: &[u8]) -> [u8; 16] {
        if self.options.checksums { sixteen(&Algorithm::Md5.digest(stored)) } else { [0; 16] }
    }
}

/// MD5 of bytes of a file.
pub(crate) fn digest(source: &dyn Source, range: std::ops::Range<u64>) -> Result<[u8; 16]> {
    let mut running = BlockHeader::ALGORITHM.start();
    let mut at = range.start;
    while at < range.end {
        let next = range.end.min(at + PIECE_LEN as u64);
        running.update(&source.read(at..next)?);
        at = next;
    }
    Ok(sixteen(&running.finish()))
}

/// Refuses a file that is not complete, or whose blocks do not match their headers.
///
/// # Errors
/// The first fault that is damage.
pub(crate) fn require_intact(layout: &Layout) -> Result<()> {
    let damage =
        layout.faults.iter().find(|fault| fault.severity() == container_core::report::Severity::Error);
    damage.map_or(Ok(()), |fault| Err(fault.error()))
}

/// The bytes before the tree (header lines and others), with the tree's text.
///
/// # Errors
/// `Usage` for a file without a tree, `Malformed` for a tree that is not UTF-8; those of the source.
pub(crate) fn head_and_tree(source: &dyn Source, layout: &Layout) -> Result<(Vec<u8>, std::ops::Range<u64>)> {
    let tree =
        layout.tree.clone().ok_or_else(|| Error::usage("the file has no tree").with_context("asdf tree"))?;
    Ok((source.read(0..tree.start)?.into_owned(), tree))
}
