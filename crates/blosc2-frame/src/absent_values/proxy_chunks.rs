//! Chunks that a proxy has fetched from its source. The others read as zeros.
//!
//! python-blosc2 keeps a bit for each chunk in the user metadata `proxy-fetched`, lowest bit first. If its source serves blocks, it keeps
//! one for each block in `proxy-fetched-blocks`, and the number of blocks per chunk in `proxy-fetched-bpc`. A chunk that is a mark for
//! "never written" was given back, whatever its bit. `proxy-dirty` exists while a process changes the parts. A killed process leaves it
//! behind, and the bits are invalid then.

use blosc_chunk::Special;
use container_core::Value;

use crate::frame::Frame;
use crate::msgpack;
use crate::offsets::{Offset, Offsets};

/// The parts that a proxy holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyChunks {
    /// Parts that were fetched.
    pub(crate) parts: u64,
    /// All parts.
    pub(crate) total: u64,
    bits: ChunkBits,
}

/// The record of what was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChunkBits {
    /// A bit for each chunk.
    Chunks(Vec<u8>),
    /// A bit for each block, and how many blocks a chunk has.
    Blocks(Vec<u8>, u64),
    /// None: chunks that are stored were fetched.
    Stored,
    /// No chunk counts as fetched.
    None,
}

impl std::fmt::Display for ProxyChunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if matches!(self.bits, ChunkBits::Blocks(..)) { "blocks" } else { "chunks" };
        write!(f, "{} of {} {what}", self.parts, self.total)
    }
}

impl ProxyChunks {
    /// Finds the parts of its source that a proxy holds. `None` for an array with all of its values.
    pub(super) fn of(frame: &Frame) -> Option<Self> {
        let chunks = frame.chunk_count();
        if chunks == 0 {
            return None;
        }
        let per_chunk = match value(frame, "proxy-fetched-bpc") {
            Some(Value::Int(count)) => u64::try_from(count).unwrap_or(1).max(1),
            _ => 1,
        };
        let blocks = chunks.saturating_mul(per_chunk);
        let bits = if frame.vlmetalayer_names().any(|name| name == "proxy-dirty") {
            ChunkBits::None
        } else if let Some(bits) =
            bits(value(frame, "proxy-fetched-blocks"), blocks).filter(|_| per_chunk > 1)
        {
            ChunkBits::Blocks(bits, per_chunk)
        } else if let Some(bits) = bits(value(frame, "proxy-fetched"), chunks) {
            // A chunk that was fetched as a whole is complete.
            ChunkBits::Chunks(bits)
        } else if per_chunk == 1 {
            ChunkBits::Stored
        } else {
            // With blocks, only the bits distinguish a whole chunk from a part of one.
            ChunkBits::None
        };
        Some(Self::new(frame.layout().offsets(), bits))
    }

    fn new(offsets: &Offsets, bits: ChunkBits) -> Self {
        let mut fetched = Self { parts: 0, total: offsets.len(), bits };
        fetched.parts = match (&fetched.bits, offsets) {
            (ChunkBits::None, _) => 0,
            (_, Offsets::Same(Offset::Special(Special::Uninit), _)) => 0,
            // Of a frame of zeros there may be more than anyone can count one by one.
            (ChunkBits::Stored, Offsets::Same(offset, count)) => {
                if matches!(offset, Offset::Stored(_)) {
                    *count
                } else {
                    0
                }
            }
            (ChunkBits::Blocks(_, per_chunk), _) => {
                let all = offsets.len().saturating_mul(*per_chunk);
                let held = |at: &u64| fetched.has_block(offsets, at / per_chunk, at % per_chunk);
                (0..all).filter(held).count() as u64
            }
            _ => (0..offsets.len()).filter(|chunk| fetched.has_chunk(offsets, *chunk)).count() as u64,
        };
        if let ChunkBits::Blocks(_, per_chunk) = fetched.bits {
            fetched.total = fetched.total.saturating_mul(per_chunk);
        }
        fetched
    }

    /// True where something is missing.
    pub(crate) const fn is_partial(&self) -> bool {
        self.parts < self.total
    }

    /// True where all of a chunk was fetched.
    pub(super) fn has_chunk(&self, offsets: &Offsets, chunk: u64) -> bool {
        match &self.bits {
            ChunkBits::Chunks(bits) => is_set(bits, chunk) && !was_given_back(offsets, chunk),
            ChunkBits::Blocks(_, per_chunk) => {
                (0..*per_chunk).all(|block| self.has_block(offsets, chunk, block))
            }
            ChunkBits::Stored => matches!(offsets.get(chunk), Some(Offset::Stored(_))),
            ChunkBits::None => false,
        }
    }

    /// True if the block was fetched. Other blocks of the chunk may be missing.
    pub(super) fn has_block(&self, offsets: &Offsets, chunk: u64, block: u64) -> bool {
        match &self.bits {
            ChunkBits::Blocks(bits, per_chunk) => {
                let at = chunk.saturating_mul(*per_chunk).saturating_add(block);
                block < *per_chunk && is_set(bits, at) && !was_given_back(offsets, chunk)
            }
            _ => self.has_chunk(offsets, chunk),
        }
    }
}

fn value(frame: &Frame, name: &str) -> Option<Value> {
    let bytes = frame.vlmetalayer(name).ok()??;
    msgpack::to_value(&bytes, &frame.options().limits).ok()
}

/// Returns the bits of `total` parts; `None` where there is another number of bytes than they take.
fn bits(value: Option<Value>, total: u64) -> Option<Vec<u8>> {
    let Some(Value::Bytes(bytes)) = value else { return None };
    (bytes.len() as u64 == total.div_ceil(8)).then_some(bytes)
}

fn is_set(bits: &[u8], at: u64) -> bool {
    let byte = usize::try_from(at / 8).ok().and_then(|at| bits.get(at));
    byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

fn was_given_back(offsets: &Offsets, chunk: u64) -> bool {
    matches!(offsets.get(chunk), Some(Offset::Special(Special::Uninit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(bits: ChunkBits, count: u64) -> ProxyChunks {
        ProxyChunks::new(&Offsets::Each(vec![0; usize::try_from(count).unwrap()]), bits)
    }

    #[test]
    fn proxy_reports_the_number_of_fetched_chunks() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/");
        let proxy = Frame::open(format!("{path}proxy.b2nd")).unwrap();
        let fetched = ProxyChunks::of(&proxy).unwrap();
        assert_eq!(fetched.to_string(), "1 of 4 chunks");
        assert!(fetched.is_partial());
        let offsets = proxy.layout().offsets();
        assert_eq!(
            [0, 1, 2, 3, 4].map(|chunk| fetched.has_chunk(offsets, chunk)),
            [true, false, false, false, false]
        );
    }

    #[test]
    fn bits_count_from_the_lowest() {
        assert_eq!(fetched(ChunkBits::Chunks(vec![0b1000_0001, 0b11]), 9).parts, 3);
        assert_eq!(fetched(ChunkBits::Chunks(vec![0xff, 0xff]), 16).parts, 16);
        let bytes = |bytes: &[u8]| Some(Value::Bytes(bytes.to_vec()));
        assert_eq!(bits(bytes(&[0xff]), 16), None);
        assert_eq!(bits(None, 8), None);
        assert_eq!(bits(bytes(&[]), u64::MAX), None);
    }

    #[test]
    fn a_block_may_be_there_without_its_chunk() {
        let held = fetched(ChunkBits::Blocks(vec![0b0111_0010], 4), 2);
        assert_eq!((held.to_string().as_str(), held.is_partial()), ("4 of 8 blocks", true));
        let offsets = Offsets::Each(vec![0, 0]);
        assert!(held.has_block(&offsets, 0, 1) && !held.has_block(&offsets, 0, 0));
        assert!(!held.has_block(&offsets, 1, 4) && !held.has_chunk(&offsets, 1));
    }

    #[test]
    fn chunks_that_were_given_back_are_not_there() {
        let uninit = Offset::Special(Special::Uninit);
        let offsets = Offsets::Each(vec![0, uninit.to_raw()]);
        let held = ProxyChunks::new(&offsets, ChunkBits::Chunks(vec![0b11]));
        assert_eq!((held.parts, held.has_chunk(&offsets, 0), held.has_chunk(&offsets, 1)), (1, true, false));
        let all = Offsets::Same(uninit, u64::MAX);
        assert_eq!(ProxyChunks::new(&all, ChunkBits::Stored).parts, 0);
    }
}
