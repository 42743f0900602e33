//! Finds the blocks of a damaged file: by walking from header to header, by its index, or by magics.

use std::collections::HashSet;
use std::ops::Range;

use container_core::source::Source;
use container_core::{Limits, Result};

use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::blocks::index::{BlockIndex, MARKER};
use crate::check::block_recovery::{RecoveredBlock, Support, before_first, recover_header, verify_candidate};
use crate::fault::{Fault, FaultKind, block_of};
use crate::layout::{IndexState, Layout, StoredBlock, find_magic, find_other_than};

/// A place of the file where a block is or was.
#[derive(Clone, Debug)]
pub(super) enum Extent {
    /// A block, whole.
    Block(RecoveredBlock),
    /// A block that the file cuts: its header, and the bytes that are there.
    Truncated(RecoveredBlock),
    /// There was a block, says the index.
    Lost(Range<u64>),
    /// Bytes that belong to nothing, or to blocks that cannot be told.
    Gap(Range<u64>),
}

impl Extent {
    const fn recovered(&self) -> Option<&RecoveredBlock> {
        match self {
            Self::Block(recovered) | Self::Truncated(recovered) => Some(recovered),
            Self::Lost(_) | Self::Gap(_) => None,
        }
    }

    /// Returns the range of a gap, in which no block could be identified.
    pub(super) fn gap(&self) -> Option<Range<u64>> {
        match self {
            Self::Gap(range) => Some(range.clone()),
            _ => None,
        }
    }
}

/// Finds the blocks by the method with the best [`score`]. `named` is the number of blocks that arrays name.
pub(super) fn find(
    source: &dyn Source,
    layout: &Layout,
    named: usize,
    limits: &Limits,
) -> Result<(Vec<Extent>, FoundBy)> {
    // Flags without a meaning say nothing of places.
    let is_of_places = |fault: &Fault| fault.index().is_some() && fault.kind() != FaultKind::BlockFlags;
    let sound = layout.index_state == IndexState::Valid && !layout.faults.iter().any(is_of_places);
    if sound {
        let block = |block: &StoredBlock| RecoveredBlock {
            block: block.clone(),
            support: Support::Header,
            changes: Vec::new(),
        };
        return Ok((
            layout.blocks.iter().map(|stored| Extent::Block(block(stored))).collect(),
            FoundBy::Walk,
        ));
    }
    let walked = walk_headers(source, layout, named)?;
    let others = [
        (find_by_index(source, layout, limits)?, FoundBy::Index),
        (find_by_magics(source, layout)?, FoundBy::Magics),
    ];
    let mut best = (walked, FoundBy::Walk);
    for (found, found_by) in others {
        // An index that a block has swallowed speaks for itself.
        let swallowed = found_by == FoundBy::Index && layout.index.is_none();
        if let Some(found) = found
            && (score(&found) > score(&best.0) || (swallowed && score(&found) == score(&best.0)))
        {
            best = (found, found_by);
        }
    }
    Ok(best)
}

/// Method that found the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// From each header to the next.
    Walk,
    /// By the block index.
    Index,
    /// By magics and checksums.
    Magics,
}

/// Numbers of blocks that fit their checksum, of those with a valid header, and of all.
fn score(found: &[Extent]) -> (usize, usize, usize) {
    let with = |least: Support| {
        let blocks = found.iter().filter_map(|found| match found {
            Extent::Block(recovered) => Some(recovered),
            _ => None,
        });
        blocks.filter(|recovered| recovered.support >= least).count()
    };
    let places = found.iter().filter(|found| !matches!(found, Extent::Gap(_))).count();
    (with(Support::Digest), with(Support::Header), places)
}

fn walk_headers(source: &dyn Source, layout: &Layout, named: usize) -> Result<Vec<Extent>> {
    let mut places: Vec<(Range<u64>, Option<usize>)> =
        layout.blocks.iter().map(|block| (block.at..block.end, Some(block.index))).collect();
    let behind = layout.index.as_ref().map_or(layout.trailing.start, |index| index.start);
    let gaps = layout.gaps.iter().map(|gap| (gap.range.clone(), None));
    places.extend(gaps);
    if let Some((range, recovered)) = before_first(source, layout)?
        && (layout.blocks.len() < named || recovered.is_some())
    {
        places.push((range, None));
    }
    // What a file without index has behind its last block: perhaps a block without its magic.
    if layout.index.is_none() && layout.trailing.end > layout.trailing.start {
        places.push((layout.trailing.clone(), None));
    }
    places.sort_by_key(|(range, _)| range.start);
    // One that is missing has the number of another that was found.
    let told = layout.faults.iter().filter(|fault| fault.kind() != FaultKind::BlockMissing);
    let damaged: HashSet<usize> = told.filter_map(block_of).collect();
    let mut found = Vec::with_capacity(places.len());
    let mut at = 0_usize;
    while let Some((range, index)) = places.get(at).cloned() {
        at = at.saturating_add(1);
        let next = places.get(at).map_or(behind.max(range.end), |(next, _)| next.start);
        let Some(block) = index.and_then(|index| layout.blocks.get(index)) else {
            let recovered = recover_header(source, range.start, range.end)?;
            push(&mut found, recovered, range);
            continue;
        };
        if block.data.end < block.data.start.saturating_add(block.header.used_size)
            && !block.header.is_streamed()
        {
            found.push(Extent::Truncated(RecoveredBlock {
                block: block.clone(),
                support: Support::Header,
                changes: Vec::new(),
            }));
            continue;
        }
        // NULs behind what a block says is set aside for it are its own, and so are bytes up to which its digest fits.
        if let Some((gap, None)) = places.get(at)
            && let Some(recovered) = recover_header(source, range.start, gap.end)?
            && recovered.block.end == gap.end
            && (recovered.support == Support::Digest
                || find_other_than(source, gap.clone(), b"\0")?.is_none())
        {
            at = at.saturating_add(1);
            found.push(Extent::Block(recovered));
            continue;
        }
        let told = damaged.contains(&block.index);
        let recovered = if told { recover_header(source, range.start, next)? } else { None };
        found.push(Extent::Block(match recovered {
            Some(recovered) => recovered,
            None => RecoveredBlock {
                block: block.clone(),
                support: verify_candidate(source, block, &[])?,
                changes: Vec::new(),
            },
        }));
    }
    Ok(found)
}

/// Takes what was found at a place, and what of the place it leaves.
fn push(found: &mut Vec<Extent>, recovered: Option<RecoveredBlock>, place: Range<u64>) {
    let rest = recovered.as_ref().map_or(place.start, |recovered| recovered.block.end)..place.end;
    found.extend(recovered.map(Extent::Block));
    if !rest.is_empty() {
        found.push(Extent::Gap(rest));
    }
}

/// The blocks as the last index of the file lists them; `None` where there is none that makes sense.
fn find_by_index(source: &dyn Source, layout: &Layout, limits: &Limits) -> Result<Option<Vec<Extent>>> {
    let from = layout.padding.start;
    let Some(at) = last_marker(source, from..layout.size)? else { return Ok(None) };
    let len = limits.allocate(layout.size.saturating_sub(at).min(limits.memory))? as u64;
    let bytes = source.read(at..at.saturating_add(len))?;
    let Ok((index, _)) = BlockIndex::parse(&bytes) else { return Ok(None) };
    let mut starts = index.offsets;
    let rising = starts.iter().zip(starts.iter().skip(1)).all(|(one, next)| one < next);
    if starts.is_empty()
        || !rising
        || starts.first().is_some_and(|first| *first < from)
        || starts.last() >= Some(&at)
    {
        return Ok(None);
    }
    starts.push(at);
    // Less than a header is no place of a block: the index is of another state of the file.
    if starts.windows(2).any(|pair| matches!(pair, [at, next] if at.saturating_add(MIN_LEN) > *next)) {
        return Ok(None);
    }
    let mut found = Vec::with_capacity(starts.len());
    for pair in starts.windows(2) {
        let [start, next] = pair else { continue };
        let Some(recovered) = recover_header(source, *start, *next)? else {
            found.push(Extent::Lost(*start..*next));
            continue;
        };
        push(&mut found, Some(recovered), *start..*next);
    }
    Ok(found.iter().any(|found| found.recovered().is_some()).then_some(found))
}

/// Most magics behind one another that are tried as the end of a block: those of files within it come before.
const MAX_END_CANDIDATES: usize = 16;

/// Most bytes that are tried as blocks, by how often the file has them: each may be digested for each reading of its header.
const MAX_READ: u64 = 32;

/// Most magics that are looked at.
const MAX_MAGICS: usize = 1 << 16;

/// The blocks as their magics and digests tell, whatever their sizes say.
fn find_by_magics(source: &dyn Source, layout: &Layout) -> Result<Option<Vec<Extent>>> {
    let end = layout.index.as_ref().map_or(layout.size, |index| index.start);
    let mut starts = Vec::new();
    let mut from = layout.padding.start;
    while let Some(at) = find_magic(source, from..end)? {
        starts.push(at);
        from = at.saturating_add(1);
        if starts.len() > MAX_MAGICS {
            return Ok(None);
        }
    }
    starts.push(end);
    let mut left = layout.size.saturating_mul(MAX_READ);
    let (mut found, mut at) = (Vec::new(), 0_usize);
    // The walk takes it, too: whoever looks from here on must not leave it in the padding.
    if let Some((range, Some(recovered))) = before_first(source, layout)? {
        push(&mut found, Some(recovered), range);
    }
    while let Some((start, ends)) =
        starts.get(at..).and_then(<[u64]>::split_first).filter(|(_, ends)| !ends.is_empty())
    {
        let mut next = at.saturating_add(1);
        let mut taken = None;
        // Beyond those that are tried is where its header leads, however many files are within the block.
        let said = end_from_header(source, *start)?.and_then(|end| ends.binary_search(&end).ok());
        let tries =
            (0..ends.len().min(MAX_END_CANDIDATES)).chain(said.filter(|said| *said >= MAX_END_CANDIDATES));
        for tried in tries {
            let Some(end) = ends.get(tried) else { break };
            let Some(rest) = left.checked_sub(end.saturating_sub(*start)) else { return Ok(None) };
            left = rest;
            let recovered = recover_header(source, *start, *end)?;
            let sure = recovered.as_ref().is_some_and(|recovered| {
                // Data in the place of a header often say that the block is streamed, and would take up all that follows.
                let header = &recovered.block.header;
                let is_nonsense = header.is_streamed() && header.is_compressed();
                recovered.support == Support::Digest
                    || (recovered.changes.is_empty() && recovered.block.end == *end && !is_nonsense)
            });
            if tried == 0 || sure {
                taken = recovered;
                next = at.saturating_add(tried).saturating_add(1);
            }
            if sure {
                break;
            }
        }
        let end = starts.get(next).copied().unwrap_or(end);
        push(&mut found, taken, *start..end);
        at = next;
    }
    Ok((!found.is_empty()).then_some(found))
}

/// End of the block at `at` by its header.
fn end_from_header(source: &dyn Source, at: u64) -> Result<Option<u64>> {
    if source.len().saturating_sub(at) < MIN_LEN {
        return Ok(None);
    }
    let header = BlockHeader::parse(&source.read(at..at.saturating_add(MIN_LEN))?);
    Ok(header.map(|header| at.saturating_add(header.len()).saturating_add(header.allocated_size)))
}

pub(super) fn last_marker(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
    let finder = memchr::memmem::FinderRev::new(MARKER);
    let mut end = range.end;
    while end > range.start {
        let start = end.saturating_sub(1 << 18).max(range.start);
        if let Some(at) = finder.rfind(&*source.read(start..end)?) {
            return Ok(Some(start.saturating_add(at as u64)));
        }
        if start == range.start {
            break;
        }
        end = start.saturating_add(MARKER.len() as u64);
    }
    Ok(None)
}
