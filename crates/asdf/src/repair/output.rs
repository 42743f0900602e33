//! Writing the new file, from its first byte to its last.

use std::ops::Range;

use container_core::Progress;
use container_core::Result;
use container_core::block::for_each_piece;
use container_core::format::Output;
use container_core::source::Source;

use super::blocks::{Body, Part};
use super::heal::rest_of_header;
use crate::block_header::{BlockHeader, LEAST_LEN};
use crate::block_index::BlockIndex;
use crate::layout::search::other_than;
use crate::layout::{IndexState, Layout};

/// What the new file is made of.
pub(super) struct New<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) layout: &'a Layout,
    /// The text of the tree, where there is one.
    pub(super) tree: Option<&'a str>,
    pub(super) parts: &'a [Part],
}

impl New<'_> {
    /// Writes it.
    pub(super) fn write(&self, out: &mut dyn Output) -> Result<()> {
        let layout = self.layout;
        let mut at = self.copy(0..layout.header.comments.end, out)?;
        // A header that ends with the file has no newline.
        if self.tree.is_some() && !self.source.read(at - 1..at)?.ends_with(b"\n") {
            out.write_all(b"\n")?;
            at += 1;
        }
        if let Some(tree) = self.tree {
            out.write_all(tree.as_bytes())?;
            at += tree.len() as u64;
            // What looked like padding may have been the first block.
            let first = self.parts.first().map_or(layout.padding.end, |part| part.block.at);
            let padding = layout.padding.start..layout.padding.end.min(first);
            // Where no block follows, anything but blanks belongs to nothing.
            let junk = match self.parts {
                [] => other_than(self.source, padding.clone(), b"\0 \t\r\n")?,
                _ => None,
            };
            let padding = padding.start..junk.unwrap_or(padding.end);
            // Right behind its end a block would be more of the last line.
            if !tree.ends_with('\n') && padding.is_empty() && !self.parts.is_empty() {
                out.write_all(b"\n")?;
                at += 1;
            }
            at += self.copy(padding, out)?;
        }
        let mut index = BlockIndex::default();
        for part in self.parts {
            index.offsets.push(at);
            at += self.part(part, out)?;
        }
        let streamed = self.parts.last().is_some_and(|part| part.block.header.is_streamed());
        if self.parts.is_empty() || streamed {
            return Ok(());
        }
        match &layout.index {
            // As it is where it is right.
            Some(range) if layout.index_state == IndexState::Proved && index.offsets == layout.offsets() => {
                self.copy(range.clone(), out)?;
            }
            _ => out.write_all(index.to_text().as_bytes())?,
        }
        Ok(())
    }

    /// Writes a block, and gives its length.
    fn part(&self, part: &Part, out: &mut dyn Output) -> Result<u64> {
        let block = &part.block;
        match &part.body {
            Body::Same => self.copy(block.at..block.end, out),
            Body::Header(header) => {
                let mut header = *header;
                // Nothing is set aside behind the end of the file; the sizes of a streamed block say nothing.
                if !header.is_streamed() {
                    let there = block.end.saturating_sub(block.data.start);
                    header.allocated_size = header.allocated_size.min(there);
                }
                self.header(&header, rest_of_header(block), out)?;
                let copied = self.copy(block.data.start..block.end, out)?;
                Ok(header.len() + copied)
            }
            Body::First(header, len) => {
                self.header(header, rest_of_header(block), out)?;
                let copied = self.copy(block.data.start..block.data.start + len, out)?;
                Ok(header.len() + copied)
            }
            Body::Bytes(header, bytes) => {
                self.header(header, rest_of_header(block), out)?;
                out.write_all(bytes)?;
                Ok(header.len() + bytes.len() as u64)
            }
        }
    }

    /// A header, which goes on with the bytes of the old one as far as there are any.
    fn header(&self, header: &BlockHeader, rest: Range<u64>, out: &mut dyn Output) -> Result<()> {
        out.write_all(&header.to_bytes())?;
        let room = header.len() - LEAST_LEN;
        let copied = self.copy(rest.start..rest.end.min(rest.start + room), out)?;
        fill(room - copied, out)
    }

    fn copy(&self, range: Range<u64>, out: &mut dyn Output) -> Result<u64> {
        let len = range.end.saturating_sub(range.start);
        if len > 0 {
            for_each_piece(self.source, range, Progress::none(), |piece| Ok(out.write_all(piece)?))?;
        }
        Ok(len)
    }
}

fn fill(len: u64, out: &mut dyn Output) -> Result<()> {
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), len), out)?;
    Ok(())
}
