//! Assembles the new file from ranges of the old one and new bytes.

use std::ops::Range;
use std::sync::Arc;

use container_core::Result;
use container_core::source::{Joined, Source};

use super::plan_blocks::{BlockBody, PlannedBlock};
use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::blocks::index::BlockIndex;
use crate::layout::find_other_than;
use crate::layout::{IndexState, Layout, StoredBlock};

/// Contents of the new file.
pub(super) struct NewFile<'a> {
    pub(super) source: &'a Arc<dyn Source>,
    pub(super) layout: &'a Layout,
    /// The text of the tree, where there is one.
    pub(super) tree: Option<&'a str>,
    pub(super) parts: Vec<PlannedBlock>,
}

impl NewFile<'_> {
    /// Joins it.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn join(self) -> Result<Joined<Arc<dyn Source>>> {
        let Self { source, layout, tree, parts } = self;
        let mut out = Joined::new(Arc::clone(source));
        let head = 0..layout.header.comments.end;
        out.push_range(head.clone())?;
        // A header that ends with the file has no newline.
        if tree.is_some() && !source.read(head.end - 1..head.end)?.ends_with(b"\n") {
            out.push_bytes(b"\n".to_vec());
        }
        if let Some(tree) = tree {
            out.push_bytes(tree.as_bytes().to_vec());
            // What looked like padding may have been the first block.
            let first = parts.first().map_or(layout.padding.end, |part| part.block.at);
            let padding = layout.padding.start..layout.padding.end.min(first);
            // Where no block follows, anything but blanks belongs to nothing.
            let junk = match parts.as_slice() {
                [] => find_other_than(source, padding.clone(), b"\0 \t\r\n")?,
                _ => None,
            };
            let padding = padding.start..junk.unwrap_or(padding.end);
            // Right behind its end a block would be more of the last line.
            if !tree.ends_with('\n') && padding.is_empty() && !parts.is_empty() {
                out.push_bytes(b"\n".to_vec());
            }
            copy(padding, &mut out)?;
        }
        let has_index = parts.last().is_some_and(|part| !part.block.header.is_streamed());
        let mut index = BlockIndex::default();
        for part in parts {
            index.offsets.push(out.len());
            join_block(part, &mut out)?;
        }
        if !has_index {
            return Ok(out);
        }
        match &layout.index {
            // As it is where it is right.
            Some(range) if layout.index_state == IndexState::Valid && index.offsets == layout.offsets() => {
                copy(range.clone(), &mut out)?;
            }
            _ => out.push_bytes(index.to_text().into_bytes()),
        }
        Ok(out)
    }
}

fn join_block(part: PlannedBlock, out: &mut Joined<Arc<dyn Source>>) -> Result<()> {
    let block = &part.block;
    match part.body {
        BlockBody::Same => copy(block.at..block.end, out),
        BlockBody::Header(mut header) => {
            // Nothing is set aside behind the end of the file; the sizes of a streamed block say nothing.
            if !header.is_streamed() {
                let there = block.end.saturating_sub(block.data.start);
                header.allocated_size = header.allocated_size.min(there);
            }
            join_header(&header, rest_of_header(block), out)?;
            copy(block.data.start..block.end, out)
        }
        BlockBody::First(header, len) => {
            join_header(&header, rest_of_header(block), out)?;
            copy(block.data.start..block.data.start + len, out)
        }
        BlockBody::Bytes(header, bytes) => {
            join_header(&header, rest_of_header(block), out)?;
            out.push_bytes(bytes);
            Ok(())
        }
    }
}

/// A header, which goes on with the bytes of the old one as far as there are any.
fn join_header(header: &BlockHeader, rest: Range<u64>, out: &mut Joined<Arc<dyn Source>>) -> Result<()> {
    out.push_bytes(header.to_bytes().to_vec());
    let room = header.len() - MIN_LEN;
    let rest = rest.start..rest.end.min(rest.start + room);
    let copied = rest.end.saturating_sub(rest.start);
    copy(rest, out)?;
    out.push_zeros(room - copied);
    Ok(())
}

/// Byte range of the header after its known fields.
fn rest_of_header(block: &StoredBlock) -> Range<u64> {
    (block.at + MIN_LEN).min(block.data.start)..block.data.start
}

fn copy(range: Range<u64>, out: &mut Joined<Arc<dyn Source>>) -> Result<()> {
    if range.start < range.end { out.push_range(range) } else { Ok(()) }
}
