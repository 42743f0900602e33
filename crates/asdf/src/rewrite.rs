//! Writes a file anew: without unreferenced blocks, with other codecs, with an index.

use std::borrow::Cow;

use container_core::format::Output;
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::blocks::references::{
    BlockReference, SourceValue, find_references, itemsize, refuse_chunk_block_maps, resolve_index,
};
use crate::compression::{self, read_range};
use crate::edit::replace_scalars;
use crate::layout::{Layout, StoredBlock};
use crate::tree::parse_tree;
use crate::writer::assemble::{
    Assembly, AssemblyBlock, BlockPadding, RecodedBlock, head_and_tree, require_intact,
};
use crate::writer::encode::encode;
use crate::writer::{Padding, WriteOptions};
use crate::yaml::{Document, Yaml, YamlLimits};

pub mod explode;

/// Options of a rewrite.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RewriteOptions {
    /// Leaves out blocks that no array names.
    pub drop_unreferenced: bool,
    /// The codec of all blocks from now on: its label and level, or none. `None` keeps the stored bytes of each block.
    pub compression: Option<Recompression>,
    /// Whether copied blocks get a digest of their stored bytes; `None` leaves each the one that it has.
    pub digests: Option<bool>,
    /// Room in blocks: `None` keeps that of each.
    pub padding: Option<Padding>,
    /// Options for blocks that are written anew: checksums, alignment, threads; also whether an index follows, and the padding after the tree.
    pub write: WriteOptions,
    /// The codecs that blocks are read with.
    pub codecs: container_core::codec::Codecs,
    /// Bounds on memory.
    pub limits: Limits,
    /// Bounds on the tree.
    pub yaml: YamlLimits,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self {
            drop_unreferenced: true,
            compression: None,
            digests: None,
            padding: Some(Padding::None),
            write: WriteOptions::default(),
            codecs: compression::codecs(),
            limits: Limits::default(),
            yaml: YamlLimits::default(),
        }
    }
}

/// A codec for all blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recompression {
    /// Data are stored as they are.
    Plain,
    /// Label and level.
    Codec(String, Option<i32>),
}

/// Result of [`rewrite`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewriteReport {
    /// Blocks that were left out, by their numbers in the old file.
    pub dropped: Vec<usize>,
    /// Blocks whose data were encoded anew, by their numbers in the old file.
    pub recoded: Vec<usize>,
    /// Bytes of gaps between the blocks and after them, which are left out.
    pub gaps: u64,
}

/// Writes the file in `source` anew. Header lines, comments and every byte of the tree stay as they are, except for changed block numbers. Copied
/// blocks keep their stored bytes, labels, sizes and digests.
///
/// # Errors
/// `Malformed`, `Truncated` for a damaged file, which has to be repaired first; `Unsupported` for codecs that cannot be read or written, and where
/// blocks cannot be given other numbers; `Limit`; `Io`.
pub fn rewrite(source: &dyn Source, options: &RewriteOptions, out: &mut dyn Output) -> Result<RewriteReport> {
    let layout = Layout::parse(source, &options.limits)?;
    require_intact(&layout)?;
    let (head, tree) = head_and_tree(source, &layout)?;
    let before = parse_tree(&source.read(tree.clone())?, tree.start, &options.yaml)?;
    let found = find_references(&before, &options.limits)?;
    let mut document = Cow::Borrowed(&before);
    let mut done = RewriteReport {
        gaps: layout.gaps.iter().map(|gap| gap.range.end - gap.range.start).sum(),
        ..RewriteReport::default()
    };
    let kept =
        if options.drop_unreferenced { referenced(&found, &layout) } else { layout.blocks.iter().collect() };
    if kept.len() < layout.blocks.len() {
        refuse_chunk_block_maps(&before, &options.limits)?;
        if let Some(new) = renumbered(&before, &found, &layout, &kept)? {
            document = Cow::Owned(new);
        }
        let is_cacheable = |index: &usize| kept.iter().any(|block| block.index == *index);
        done.dropped = (0..layout.blocks.len()).filter(|index| !is_cacheable(index)).collect();
    }
    let assembly = Assembly {
        block_padding: options.padding.map_or(BlockPadding::Keep, BlockPadding::New),
        padding: options.write.padding,
        index: options.write.index,
        digests: options.digests,
        options: &options.write,
    };
    let mut writing = assembly.start(&head, document.text(), !kept.is_empty(), out)?;
    for (number, block) in kept.iter().enumerate() {
        // One block at a time is in memory, and only where it is encoded anew.
        let itemsize = || itemsize(&before, &found, block.index, layout.blocks.len());
        let recoded = recoded(source, block, &itemsize, options)?;
        done.recoded.extend(recoded.is_some().then_some(block.index));
        let piece = AssemblyBlock { source, block: (*block).clone(), recoded };
        writing.block(&piece, number + 1 == kept.len())?;
    }
    writing.finish()?;
    Ok(done)
}

/// The blocks that arrays name, in their order.
fn referenced<'l>(found: &[BlockReference], layout: &'l Layout) -> Vec<&'l StoredBlock> {
    let mut named = vec![false; layout.blocks.len()];
    for found in found {
        if let Some(place) = found.block(layout.blocks.len()).and_then(|index| named.get_mut(index)) {
            *place = true;
        }
    }
    layout.blocks.iter().filter(|block| named.get(block.index).copied().unwrap_or(false)).collect()
}

/// The tree with the new numbers of the kept blocks; `None` if they are unchanged.
fn renumbered(
    document: &Document,
    found: &[BlockReference],
    layout: &Layout,
    kept: &[&StoredBlock],
) -> Result<Option<Document>> {
    let mut changes = Vec::new();
    for found in found {
        let SourceValue::Block(number) = found.named else { continue };
        let Some(old) = found.block(layout.blocks.len()) else {
            // A source without a block must not get one by the new numbers.
            if resolve_index(number, kept.len()).is_some() {
                let what = format!("{}: source {number} is not a block of the file", found.path);
                return Err(Error::unsupported(what).with_context("asdf tree"));
            }
            continue;
        };
        let new = kept.partition_point(|block| block.index < old);
        // A number from the end may still be right.
        if resolve_index(number, kept.len()) != Some(new) {
            changes.push((found.source, Yaml::int(new as u64)));
        }
    }
    (!changes.is_empty()).then(|| replace_scalars(document, &changes)).transpose()
}

/// The data of a block encoded by the wanted codec; `None` where it has that codec already.
fn recoded(
    source: &dyn Source,
    block: &StoredBlock,
    itemsize: &dyn Fn() -> u64,
    options: &RewriteOptions,
) -> Result<Option<RecodedBlock>> {
    let label = match &options.compression {
        None => return Ok(None),
        Some(Recompression::Plain) => None,
        Some(Recompression::Codec(label, _)) => Some(label.as_str()),
    };
    // Another level may give other bytes even by the same codec.
    let has_level = matches!(options.compression, Some(Recompression::Codec(_, Some(_))));
    // Rows without an end are never encoded.
    if block.header.is_streamed() || block.label() == label && !has_level {
        return Ok(None);
    }
    let mut data = try_zeroed_vec(block.data_size(), &options.limits)?;
    let threads = options.write.threads;
    read_range(source, block, &options.codecs, &options.limits, threads, 0..block.data_size(), &mut data)?;
    let data_size = data.len() as u64;
    let stored = match &options.compression {
        Some(Recompression::Codec(label, level)) => encode(label, *level, itemsize(), &data, &options.write)?,
        _ => data,
    };
    let mut padded = [0; 4];
    for (to, from) in padded.iter_mut().zip(label.unwrap_or_default().bytes()) {
        *to = from;
    }
    Ok(Some(RecodedBlock { label: padded, stored, data_size }))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::ptr_arg)]
mod tests;
