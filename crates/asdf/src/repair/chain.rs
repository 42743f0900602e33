//! Which blocks a damaged file has: by walking from header to header, or by its index where that leads to more.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

use container_core::source::Source;
use container_core::{Limits, Result};

use super::heal::{Healed, Proof, heal};
use crate::block_index::{BlockIndex, MARKER};
use crate::layout::Layout;

/// A place of the file where a block is or was.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// A block, whole.
    Block(Healed),
    /// A block that the file cuts: its header, and the bytes that are there.
    Cut(Healed),
    /// There was a block, says the index.
    Lost(Range<u64>),
    /// Bytes that belong to nothing, or to blocks that cannot be told.
    Gap(Range<u64>),
}

impl Found {
    const fn healed(&self) -> Option<&Healed> {
        match self {
            Self::Block(healed) | Self::Cut(healed) => Some(healed),
            Self::Lost(_) | Self::Gap(_) => None,
        }
    }
}

/// The blocks, by the witness that leads to more, and whether that is the index.
pub(super) fn find(source: &dyn Source, layout: &Layout, limits: &Limits) -> Result<(Vec<Found>, Witness)> {
    let walked = walk(source, layout)?;
    if layout.index_state == crate::layout::IndexState::Proved
        && layout.faults.iter().all(|fault| fault.block().is_none())
    {
        return Ok((walked, Witness::Walk));
    }
    let Some(listed) = by_index(source, layout, limits)? else { return Ok((walked, Witness::Walk)) };
    Ok(if worth(&listed) > worth(&walked) { (listed, Witness::Index) } else { (walked, Witness::Walk) })
}

/// What led to the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    /// One header after the other.
    Walk,
    /// The index.
    Index,
}

/// Blocks that are proved, blocks that make sense, and fewer assumptions.
fn worth(found: &[Found]) -> (usize, usize) {
    let with = |least: Proof| {
        let blocks = found.iter().filter_map(|found| match found {
            Found::Block(healed) => Some(healed),
            _ => None,
        });
        blocks.filter(|healed| healed.proof >= least).count()
    };
    (with(Proof::Digest), with(Proof::Sizes))
}

fn walk(source: &dyn Source, layout: &Layout) -> Result<Vec<Found>> {
    let mut places: Vec<(Range<u64>, Option<usize>)> =
        layout.blocks.iter().map(|block| (block.at..block.end, Some(block.index))).collect();
    let behind = layout.index.as_ref().map_or(layout.trailing.start, |index| index.start);
    let gaps = layout.gaps.iter().map(|gap| (gap.range.clone(), None));
    places.extend(gaps);
    // What a file without index has behind its last block: perhaps a block without its magic.
    if layout.index.is_none() && layout.trailing.end > layout.trailing.start {
        places.push((layout.trailing.clone(), None));
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut found = Vec::with_capacity(places.len());
    let mut at = 0_usize;
    while let Some((range, index)) = places.get(at).cloned() {
        at = at.saturating_add(1);
        let next = places.get(at).map_or(behind.max(range.end), |(next, _)| next.start);
        let Some(block) = index.and_then(|index| layout.blocks.get(index)) else {
            let healed = heal(source, range.start, range.end)?;
            found.push(healed.map_or(Found::Gap(range), Found::Block));
            continue;
        };
        if block.data.end < block.data.start.saturating_add(block.header.used_size)
            && !block.header.is_streamed()
        {
            found.push(Found::Cut(Healed { block: block.clone(), proof: Proof::Sizes, changes: Vec::new() }));
            continue;
        }
        let told = layout.faults.iter().any(|fault| fault.block() == Some(block.index));
        let healed = if told { heal(source, range.start, next)? } else { None };
        found.push(Found::Block(match healed {
            Some(healed) => healed,
            None => Healed { block: block.clone(), proof: Proof::Sizes, changes: Vec::new() },
        }));
    }
    Ok(found)
}

/// The blocks as the last index of the file lists them; `None` where there is none that makes sense.
fn by_index(source: &dyn Source, layout: &Layout, limits: &Limits) -> Result<Option<Vec<Found>>> {
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
    let mut found = Vec::with_capacity(starts.len());
    for pair in starts.windows(2) {
        let [start, next] = pair else { continue };
        found.push(heal(source, *start, *next)?.map_or(Found::Lost(*start..*next), Found::Block));
    }
    Ok(found.iter().any(|found| found.healed().is_some()).then_some(found))
}

fn last_marker(source: &dyn Source, range: Range<u64>) -> Result<Option<u64>> {
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
