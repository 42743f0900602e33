//! Repairs a damaged file into a new one.
//!
//! A field is corrected where the file has evidence for it that does not depend on the field:
//!
//! * blocks are where the walk from header to header finds them, or where the index says, if that leads to more blocks that fit their
//!   digests or have valid headers;
//! * a block whose magic, sizes or label were damaged is read as its digest says, or as its other fields, the next block and the codec do;
//! * a block that is lost leaves an empty one, so that the others keep the numbers by which arrays name them;
//! * where sizes lead nowhere, a text tool may have taken white space at ends of lines out of blocks, or put some in: what the digest of a
//!   block proves is put back, or left out;
//! * the index is made anew wherever it does not say where the blocks are.
//!
//! Existing data are carried over, and missing ones are reported as lost:
//!
//! * of a block that the file cuts, or that cannot be decoded to its end, the first bytes are kept, and arrays in it are cut to whole
//!   rows; an array without a row has no block any more, and null takes the place of a single value;
//! * of a block that cannot be decoded somewhere, what follows that is kept where its place in the data is certain, with zeros between: the
//!   chunks of lz4 and Blosc, the blocks of bzip2;
//! * a tree that cannot be read is kept as far as it can: its first lines;
//! * bytes that do not fit their digest cannot be told from a digest that does not fit its bytes (a memory map that was written to leaves
//!   that): both are kept, and [`StaleChecksums::Renew`] makes new digests;
//! * nodes of the tree and headers that stay invalid, arrays that name no block or reach out of theirs, and all else that
//!   [verify](crate::check) calls damaged in the new file.
//!
//! Whatever is not concerned is copied byte by byte: header and comment lines, the text of the tree, padding, blocks with all that is set
//! aside for them.
//!
//! [`StaleChecksums::Renew`]: container_core::container::StaleChecksums::Renew

mod arrays;
mod encoded_block;
mod find_blocks;
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "places in bytes in memory, found there by the search"
)]
mod line_ends;
#[expect(clippy::arithmetic_side_effects, reason = "ranges of blocks that were found in the file")]
mod output;
#[expect(clippy::arithmetic_side_effects, reason = "ranges of blocks that were found in the file")]
mod plan_blocks;
mod text_tool;
mod tree;
mod unrepaired;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use container_core::block::for_each_piece;
use container_core::codec::Codecs;
use container_core::container::OpenOptions;
use container_core::format::{Input, Output, repair_file};
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::{Joined, Source};
use container_core::{Error, ErrorKind, Progress, Result, magic};

use crate::compression;
use crate::fault::FaultKind;
use crate::header::{Header, LINE};
use crate::layout::{IndexState, Layout};
use crate::update::read_through_journal;

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `WrongFormat` and `Unsupported` where the header line is not nearly that of an ASDF file that can be read; `Usage` when the target exists;
/// `Limit`, `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_file(path.as_ref(), target.as_ref(), repair_to)
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    repair_with(input, options, &compression::codecs(), out, progress)
}

/// As [`repair`], of any input into any output, with codecs for its blocks: those of [`compression::codecs`], and what the caller knows beside
/// them. Without an output it only reports.
///
/// # Errors
/// As [`repair`], and those of the output.
pub fn repair_with(
    input: Input,
    options: &OpenOptions,
    codecs: &Codecs,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let path = input.path.clone();
    let mut source = input.into_source()?;
    if let Some(path) = &path {
        // What a crash cut short is in the journal beside the file.
        source = read_through_journal(path, source, &options.limits)?;
    }
    let (source, wrong_line) = with_header_line(source, &mut report)?;
    let mut owned: Arc<dyn Source> = Arc::from(source);
    let limits = &options.limits;
    let mut layout = Layout::parse(&*owned, limits)?;
    if let Some(error) = wrong_line.filter(|_| layout.tree.is_none() && layout.blocks.is_empty()) {
        return Err(error);
    }
    let tools = encoded_block::Tools { source: &*owned, codecs, limits, digests: options.stale_checksums };
    let restored = text_tool::undo_text_tool(&owned, &layout, &tools, &mut report)?.map(Arc::new);
    let told = [&report.kept, &report.guessed, &report.lost].map(Vec::len);
    if let Some(restored) = &restored {
        owned = Arc::<Joined<_>>::clone(restored);
        layout = Layout::parse(&*owned, limits)?;
    }
    let source = &*owned;
    report.kept.push(RepairItem::new(0..layout.header.comments.end, "header and comments"));
    let document = tree::repair_tree(source, &layout, limits, &mut report)?;
    // Then nobody knows what arrays there were.
    let is_tree_lost = !report.lost.is_empty();
    let placed = match &document {
        Some(document) => arrays::block_arrays(document, limits)?,
        None => Vec::new(),
    };
    let named =
        placed.iter().map(|placed| usize::try_from(placed.block).map_or(0, |block| block.saturating_add(1)));
    let named = named.max().unwrap_or(0);
    let (found, found_by) = find_blocks::find(source, &layout, named, limits)?;
    let led = match found_by {
        find_blocks::FoundBy::Walk => None,
        find_blocks::FoundBy::Index => Some(("the block index", Evidence::Index)),
        find_blocks::FoundBy::Magics => Some(("their magics", Evidence::Walk)),
    };
    if let Some((led, evidence)) = led {
        let range = layout.padding.end..layout.size;
        let what = format!("the blocks are located by {led}, not by their sizes");
        report.guessed.push(RepairItem::new(range, what).with_evidence(evidence));
    }
    let gaps: Vec<Range<u64>> = found.iter().filter_map(find_blocks::Extent::gap).collect();
    let there = found.len().saturating_sub(gaps.len());
    let expected = plan_blocks::ExpectedBlocks {
        missing: named.saturating_sub(there),
        named: if is_tree_lost || placed.iter().any(|placed| placed.block < 0) { usize::MAX } else { named },
        is_listed: layout.index_state == IndexState::Valid,
    };
    let tools = encoded_block::Tools { source, codecs, limits, digests: options.stale_checksums };
    let (parts, short) = plan_blocks::plan(found, &expected, &tools, &mut report, progress)?;
    if let (Some(document), Some(tree)) = (&document, layout.tree.clone()) {
        let numbers: Vec<usize> = short.iter().map(|short| short.index).collect();
        let start = tree.start;
        let old = source.read(tree)?;
        unrepaired::report_unrepaired_nodes(document, &old, start, &parts, &numbers, limits, &mut report)?;
    }
    if let Some(document) = &document {
        unrepaired::report_external_arrays(document, limits, &mut report)?;
    }
    let document = match document {
        Some(document) => Some(arrays::cut_to_rows(document, &short, parts.len(), limits, &mut report)?),
        None => None,
    };
    let blocks = placed.iter().map(|placed| placed.block);
    report_unreferenced(&blocks.collect::<Vec<_>>(), &parts, &mut report);
    report_left_out(&layout, &parts, &gaps, &mut report);
    let tree = document.as_ref().map(crate::yaml::Document::text);
    let new: Arc<dyn Source> =
        Arc::new(output::NewFile { source: &owned, layout: &layout, tree, parts }.join()?);
    unrepaired::report_damage_of_new_file(Arc::clone(&new), options, codecs, &mut report, progress)?;
    if let Some(restored) = restored {
        let lists = [&mut report.kept, &mut report.guessed, &mut report.lost];
        for item in lists.into_iter().zip(told).flat_map(|(list, told)| list.iter_mut().skip(told)) {
            if let Some(range) = &mut item.range {
                *range = restored.place_in_source(range.start)..restored.place_in_source(range.end);
            }
        }
    }
    if let Some(out) = out {
        for_each_piece(&*new, 0..new.len(), Progress::none(), |piece| Ok(out.write_all(piece)?))?;
    }
    Ok(report)
}

/// Returns the source with the header line of all files in place of one that is as long and nearly the same, and the error of that. One of
/// another version stays: nobody knows what such a file says.
fn with_header_line(
    source: Box<dyn Source>,
    report: &mut RepairReport,
) -> Result<(Box<dyn Source>, Option<Error>)> {
    let head = source.read(0..source.len().min((LINE.len() as u64).saturating_add(1)))?;
    let error =
        Header::parse(&head).err().filter(|error| matches!(error.kind(), ErrorKind::WrongFormat { .. }));
    let is_line = matches!(head.get(LINE.len()), None | Some(b'\n' | b'\r'));
    drop(head);
    match error.filter(|_| is_line) {
        None => Ok((source, None)),
        error => Ok((magic::with_corrected_magic(source, &[LINE], report)?, error)),
    }
}

/// Blocks that no array names: they are kept, but somebody may miss their arrays.
fn report_unreferenced(named: &[i64], parts: &[plan_blocks::PlannedBlock], report: &mut RepairReport) {
    let count = i64::try_from(parts.len()).unwrap_or(i64::MAX);
    for (part, index) in parts.iter().zip(0_i64..) {
        // Of a block that is lost the report tells already.
        let is_lost = matches!(&part.body, plan_blocks::BlockBody::Bytes(_, bytes) if bytes.is_empty());
        if !is_lost && !named.contains(&index) && !named.contains(&index.saturating_sub(count)) {
            let range = part.block.at..part.block.end;
            report.kept.push(RepairItem::new(range, format!("block {index}, not referenced by any array")));
        }
    }
}

/// Reports other parts of the file that are not in the new one, or are different. `looked_at` has places of possible blocks, which are reported.
fn report_left_out(
    layout: &Layout,
    parts: &[plan_blocks::PlannedBlock],
    looked_at: &[Range<u64>],
    report: &mut RepairReport,
) {
    for fault in &layout.faults {
        if fault.kind() == FaultKind::JunkBeforeTree {
            let name = if layout.tree.is_none() { "the tree: " } else { "" };
            let what = format!("{name}{}, which is left out", fault.message());
            report.lost.push(RepairItem::new(fault.range(), what));
            continue;
        }
        let what = match fault.kind() {
            FaultKind::BlankBeforeTree | FaultKind::PaddingWithoutTree => {
                "left out, because some readers stop here"
            }
            FaultKind::JunkAfterTree
            | FaultKind::JunkAfterBlocks
            | FaultKind::JunkAfterIndex
            | FaultKind::IndexForbidden => "left out, because the format does not allow it here",
            _ => continue,
        };
        let range = fault.range();
        let is_told = looked_at.iter().any(|told| told.start <= range.start && range.end <= told.end);
        if is_told && !range.is_empty() {
            continue;
        }
        let left = outside(range.clone(), parts);
        if range.is_empty() || left.first() == Some(&range) {
            let item = RepairItem::new(range, format!("{}: {what}", fault.message()));
            report.guessed.push(item.with_evidence(Evidence::Walk));
            continue;
        }
        // There is a block in it, or was one, and the report tells of it.
        for left in left {
            let said = format!("{} bytes outside every block: {what}", left.end.saturating_sub(left.start));
            report.guessed.push(RepairItem::new(left, said).with_evidence(Evidence::Walk));
        }
    }
    let streamed = parts.last().is_some_and(|part| part.block.header.is_streamed());
    if !parts.is_empty() && !streamed {
        let range = layout.index.clone().unwrap_or(layout.size..layout.size);
        let what = match layout.index_state {
            IndexState::Valid => "block index",
            IndexState::Absent => "block index, created from the blocks (it was missing)",
            IndexState::Invalid => "block index, created from the blocks (it did not match them)",
        };
        report.kept.push(RepairItem::new(range, what));
    }
}

/// Returns the parts of a range that are in no block.
fn outside(range: Range<u64>, parts: &[plan_blocks::PlannedBlock]) -> Vec<Range<u64>> {
    let mut left = if range.is_empty() { Vec::new() } else { vec![range] };
    for part in parts {
        let (at, end) = (part.block.at, part.block.end.max(part.block.at));
        left = left
            .into_iter()
            .flat_map(|left| [left.start..left.end.min(at), left.start.max(end)..left.end])
            .filter(|left| left.start < left.end)
            .collect();
    }
    left
}

#[cfg(test)]
mod tests;
