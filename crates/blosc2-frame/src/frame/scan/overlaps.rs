//! Overlaps of chunks, gaps between them, and unused chunk files.

use container_core::Result;

use super::{ChunkScanner, ScannedChunk};
use crate::fault::{Fault, FaultKind};
use crate::offsets::{Offset, Offsets};
use crate::sparse_directory::part_name;

impl ChunkScanner<'_> {
    /// Whether every offset is valid.
    fn is_index_valid(&self) -> bool {
        !self.frame.layout.faults().iter().any(|fault| {
            let of_offset = matches!(
                fault.kind(),
                FaultKind::OffsetOutside | FaultKind::OffsetUnknown | FaultKind::OffsetsSame
            );
            of_offset || fault.kind().is_structural()
        })
    }

    /// Finds chunks that share bytes, and bytes that no chunk has.
    pub(super) fn find_overlaps_and_gaps(&mut self) {
        self.found.chunks.sort_by_key(|chunk| (chunk.range.start, chunk.index));
        self.bad.sort_unstable();
        let section = self.frame.layout.chunks();
        let mut end = section.start;
        let (mut shared, mut gaps) = (Vec::new(), Vec::new());
        let mut before: Option<&ScannedChunk> = None;
        for chunk in &self.found.chunks {
            let range = chunk.range.clone();
            if let Some(before) = before
                && range.start < end
            {
                let index = chunk.index;
                let same = before.range == range;
                let (kind, message) = if same {
                    (
                        FaultKind::SharedChunk,
                        format!("chunk {index} and chunk {} are the same bytes", before.index),
                    )
                } else {
                    (FaultKind::ChunkOverlap, format!("chunk {index} shares bytes with another"))
                };
                shared.push(Fault::new(kind, range.clone(), message).of(index));
            }
            if range.start > end {
                gaps.push(end..range.start);
            }
            end = end.max(range.end);
            before = Some(chunk);
        }
        if end < section.end {
            gaps.push(end..section.end);
        }
        // What is left where a chunk should be is not dead, but damaged.
        gaps.retain(|gap| {
            let next = self.bad.partition_point(|at| *at < gap.start);
            self.bad.get(next).is_none_or(|at| *at >= gap.end)
        });
        // With a damaged index, unreferenced bytes cannot be determined.
        let is_sound = self.is_index_valid();
        for gap in gaps.iter().filter(|_| is_sound) {
            let message = format!("{} bytes belong to no chunk", gap.end - gap.start);
            shared.push(Fault::new(FaultKind::DeadSpace, gap.clone(), message));
        }
        self.found.dead = gaps;
        for fault in shared {
            self.report(fault);
        }
    }

    /// Compares the files of chunks with the index.
    pub(super) fn compare_parts(&mut self) -> Result<()> {
        self.found.chunks.sort_by_key(|chunk| (chunk.file, chunk.index));
        let doubles: Vec<Fault> = self
            .found
            .chunks
            .windows(2)
            .filter_map(|pair| match pair {
                [a, b] if a.file == b.file => {
                    let message = format!("chunk {} and chunk {} are the same bytes", b.index, a.index);
                    let fault = Fault::new(FaultKind::SharedChunk, b.range.clone(), message);
                    Some(fault.of(b.index).in_file(b.part()))
                }
                _ => None,
            })
            .collect();
        doubles.into_iter().for_each(|fault| self.report(fault));
        let sum = self.found.chunks.iter().map(|chunk| chunk.range.end - chunk.range.start).sum::<u64>();
        let cbytes = self.frame.header().cbytes;
        let is_whole = self.is_index_valid()
            && !["chunk_file", "chunk_header"].iter().any(|code| self.reported.contains_key(code));
        if sum != cbytes && is_whole && !self.reported.contains_key("shared_chunk") {
            let start = self.frame.layout.start();
            let message = format!("the chunks have {sum} bytes (expected {cbytes}, by the header)");
            self.report(Fault::new(FaultKind::StoredSizesDiffer, start + 38..start + 47, message));
        }
        let Some(parts) = self.frame.parts.as_ref().filter(|_| self.is_index_valid()) else {
            return Ok(());
        };
        let number = |offset| match offset {
            Offset::Stored(number) => Some(number),
            _ => None,
        };
        let mut used: Vec<u64> = match self.frame.layout.offsets() {
            Offsets::Same(offset, _) => number(*offset).into_iter().collect(),
            offsets => offsets.iter().filter_map(number).collect(),
        };
        used.sort_unstable();
        for (number, len) in parts.list()? {
            // Development versions of C-Blosc2 3 leave an empty one where a chunk became a special value.
            if used.binary_search(&number).is_err() {
                let message = format!("a file of {len} bytes that belongs to no chunk");
                let fault = Fault::new(FaultKind::PartUnused, 0..len, message);
                self.report(fault.in_file(Some(part_name(number))));
            }
        }
        Ok(())
    }
}
