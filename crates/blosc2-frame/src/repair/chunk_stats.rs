//! Statistics of chunk headers, against which the frame header is checked.

use std::collections::HashMap;

use blosc_chunk::{Filter, Pipeline};

use super::input::DamagedFrame;
use crate::layout::MAX_FILTER_META;
use crate::offsets::{Offset, Offsets};

/// Typesize, sizes and filters in the headers of the first chunks.
pub(super) struct ChunkStats {
    pub typesize: Option<u8>,
    /// The typesize, where all sampled chunks have the same.
    pub common: Option<u8>,
    pub nbytes: Vec<u32>,
    /// Of chunks that are not one value.
    filters: Vec<Pipeline>,
}

impl ChunkStats {
    /// Number of chunks that are sampled at most.
    const MAX_SAMPLED: usize = 4096;

    pub fn of(origin: &DamagedFrame, base: u64, offsets: &Offsets) -> Self {
        let stored = offsets.iter().take(Self::MAX_SAMPLED).filter_map(|offset| match offset {
            Offset::Stored(at) => origin.chunk_header(base, at),
            _ => None,
        });
        let headers: Vec<_> = stored.map(|(header, _)| header).collect();
        let typesize = headers.first().map(|header| header.typesize);
        Self {
            typesize,
            common: typesize.filter(|own| headers.iter().all(|header| header.typesize == *own)),
            nbytes: headers.iter().map(|header| header.nbytes).collect(),
            filters: headers.iter().filter(|it| it.special().is_none()).map(|it| it.filters).collect(),
        }
    }

    /// Recovers the filters of the header, where some of them keep the frame from being opened: those of a chunk that has the others
    /// as well.
    pub fn filters(&self, header: &Pipeline) -> Option<Pipeline> {
        let is_odd = |filter: &Filter| filter.is_unassigned() || filter.meta > MAX_FILTER_META;
        let fits = |chunk: &&Pipeline| {
            chunk.0.iter().zip(&header.0).all(|(its, own)| its == own || is_odd(own) && !is_odd(its))
        };
        let found = self.filters.iter().filter(|_| header.0.iter().any(is_odd)).find(fits)?;
        (found != header).then_some(*found)
    }

    /// Returns the decoded size that most chunks have; the larger one of equally frequent sizes.
    pub fn most_common_size(&self) -> Option<u32> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for nbytes in &self.nbytes {
            *counts.entry(*nbytes).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(nbytes, count)| (*count, *nbytes)).map(|(nbytes, _)| nbytes)
    }

    /// Whether more than half of the chunks before the last have a size other than `chunksize`.
    pub fn sizes_vary(&self, chunksize: u32) -> bool {
        let before = self.nbytes.len().saturating_sub(1);
        self.nbytes.iter().take(before).filter(|nbytes| **nbytes != chunksize).count() > before / 2
    }
}
