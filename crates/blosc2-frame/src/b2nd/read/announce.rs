//! Announces what a read needs to a far source.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use container_core::Result;
use container_core::container::{Digests, ReadOptions};

use super::{combinations, combine};
use crate::b2nd::NdArray;
use crate::b2nd::select::Plan;
use crate::frame::{ChunkSizes, FetchedBlocks};

/// Chunks that are announced to a far source at once; those beyond are fetched one by one.
const MAX_ANNOUNCED: usize = 4096;

/// Announces to a far source the chunks that a read touches, up to [`MAX_ANNOUNCED`], or only the blocks of each. Digests are of whole chunks.
pub(super) fn announce(
    array: &NdArray,
    plan: &Plan,
    options: &ReadOptions,
) -> Result<HashMap<u64, FetchedBlocks>> {
    let (frame, geometry, reader) = (array.frame(), array.geometry(), array.reader());
    let is_compared = options.digests != Digests::Ignore && frame.verified_reads().algorithm(frame).is_some();
    let most = if is_compared { 0 } else { geometry.blocks_per_chunk() / 2 };
    let rows: Vec<Range<usize>> = plan.axes.iter().map(|axis| 0..axis.rows.len()).collect();
    let (mut at, mut place, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut touched: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let mut whole = Vec::new();
    for number in 0..combinations(&rows).min(MAX_ANNOUNCED) {
        combine(&rows, number, &mut at);
        let mut chunk = 0;
        parts.clear();
        let strides = reader.chunk_strides.iter().chain(std::iter::repeat(&0));
        for ((axis, row), stride) in plan.axes.iter().zip(&at).zip(strides) {
            let row = &axis.rows[*row];
            chunk += row.chunk * stride;
            parts.push(row.parts.clone());
        }
        let count = combinations(&parts);
        if count as u64 > most {
            whole.push(chunk);
            continue;
        }
        let blocks = touched.entry(chunk).or_default();
        for number in 0..count {
            combine(&parts, number, &mut place);
            let strides = reader.grid_strides.iter().chain(std::iter::repeat(&0));
            let parts = plan.axes.iter().zip(&place).zip(strides);
            blocks.insert(parts.map(|((axis, part), stride)| axis.parts[*part].block * stride).sum());
        }
    }
    // A list of indices may come back to a chunk.
    whole.iter().for_each(|chunk| _ = touched.insert(*chunk, BTreeSet::new()));
    let sizes = ChunkSizes { chunk: geometry.chunk_bytes(), block: geometry.block_bytes() };
    frame.announce_blocks(&touched, sizes)
}
