//! Chunk statistics for `info`, from the index and a few chunk headers.

use blosc_chunk::{Compressor, Header as ChunkHeader, Special};
use container_core::Value;

use crate::frame::Frame;
use crate::header::{ChunkSize, Kind};
use crate::offsets::{Offset, Offsets};

/// Number of occurrences of each word, in the order of the first one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts(Vec<(String, u64)>);

impl Counts {
    fn add(&mut self, word: impl AsRef<str>, count: u64) {
        let word = word.as_ref();
        match self.0.iter_mut().find(|(known, _)| known == word) {
            Some((_, known)) => *known = known.saturating_add(count),
            None if count > 0 => self.0.push((word.to_owned(), count)),
            None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn value(&self) -> Value {
        Value::Map(self.0.iter().map(|(word, count)| (word.clone(), (*count).into())).collect())
    }
}

/// The chunks of a frame, as far as its header, its index and its first stored chunk describe them: no other chunk is read, however
/// many there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChunkSummary {
    /// Bytes of the chunks section, dead space included; of a sparse frame the bytes that the header counts.
    pub(crate) stored: u64,
    /// The codec of the first chunk; of one that is stored as it is, the frame's, unless no chunk takes less than it holds.
    pub(crate) codec: String,
    /// Blocks of all stored chunks, if they have the length in the frame's header, or that of the first chunk's blocks.
    pub(crate) blocks: Option<u64>,
    /// Chunks of one value: those that are not stored, and stored ones where all are.
    pub(crate) special: Counts,
}

impl ChunkSummary {
    pub(crate) fn new(frame: &Frame) -> Self {
        let (header, layout) = (frame.header(), frame.layout());
        let mut summary = Self::default();
        let mut found = OffsetCounts::default();
        match layout.offsets() {
            Offsets::Same(offset, count) => found.add(*offset, 0, *count),
            Offsets::Each(_) => {
                (0..).zip(layout.offsets().iter()).for_each(|(index, offset)| found.add(offset, index, 1));
            }
        }
        for (special, count) in OffsetCounts::KINDS.into_iter().zip(found.special) {
            summary.special.add(word_of(special), count);
        }
        let count = found.stored;
        summary.stored = match header.kind {
            _ if count == 0 => 0,
            // The bytes before the first chunk are not a chunk.
            Kind::Contiguous => {
                let section = layout.chunks();
                section.end.saturating_sub(section.start).saturating_sub(found.least.unwrap_or(0))
            }
            Kind::Sparse => header.cbytes,
        };
        let first = found.first.and_then(|index| frame.chunk_header(index).ok());
        // No chunk takes less than one of one value.
        let least = first.as_ref().map_or(0, |first| count.saturating_mul(first.cbytes.into()));
        let special = first.as_ref().and_then(ChunkHeader::special).filter(|_| summary.stored <= least);
        if let Some(special) = special {
            summary.special.add(word_of(special), count);
        }
        let held = found.held(frame);
        let is_plain = header.level == 0
            || summary.stored >= held.saturating_add(CHUNK_HEADER_LEN.saturating_mul(count));
        summary.codec = match &first {
            _ if count == 0 || special.is_some() => "none".to_owned(),
            Some(first) if !first.is_memcpyed() && first.special().is_none() => {
                compressor_word(first.compressor)
            }
            _ if is_plain => "none".to_owned(),
            _ => compressor_word(header.compressor),
        };
        let block = match (header.blocksize, &first) {
            (0, Some(first)) => first.block_len(),
            (len, _) => len,
        };
        summary.blocks = match header.chunksize {
            _ if count == 0 || special.is_some() => Some(0),
            ChunkSize::Fixed(len) if block > 0 && !header.variable_blocks => {
                let last = layout.expected_len(found.last).unwrap_or(0).div_ceil(block.into());
                Some((count - 1).saturating_mul(len.div_ceil(block).into()).saturating_add(last))
            }
            _ => None,
        };
        summary
    }
}

impl Frame {
    /// True where no chunk takes more than `most` bytes, as far as header and index show: chunks of one size take little more than they
    /// hold, and others end before the next one.
    pub(crate) fn has_small_chunks(&self, most: u64) -> bool {
        let layout = self.layout();
        if let ChunkSize::Fixed(len) = self.header().chunksize
            && u64::from(len).saturating_add(CHUNK_HEADER_LEN) <= most
        {
            return true;
        }
        if self.header().kind == Kind::Sparse {
            return self.part_sizes().iter().all(|(_, len)| *len <= most);
        }
        let section = layout.chunks();
        let len = section.end.saturating_sub(section.start);
        let stored = |offset| if let Offset::Stored(at) = offset { Some(at) } else { None };
        if len <= most {
            return true;
        }
        if self.options().limits.allocate(layout.offsets().len().saturating_mul(8)).is_err() {
            return false;
        }
        let mut starts: Vec<u64> = layout.offsets().distinct().filter_map(stored).chain([len]).collect();
        starts.sort_unstable();
        starts.windows(2).all(|pair| matches!(pair, [start, end] if end.saturating_sub(*start) <= most))
    }
}

/// Statistics that need every stored chunk header, for frames with few chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampledChunks {
    /// Codecs of the stored chunks that hold more than one value.
    pub(crate) codecs: Counts,
    /// Bytes of the chunks section that no chunk has.
    pub(crate) dead: u64,
}

impl SampledChunks {
    /// Largest number of chunks that are sampled.
    const MAX_SAMPLED: usize = 8;

    /// Samples a frame; `None` if more than [`Self::MAX_SAMPLED`] chunks are stored, except all in one place, or if they are unreadable.
    pub(crate) fn new(frame: &Frame) -> Option<Self> {
        let offsets = frame.layout().offsets();
        // Chunks in one place are read once.
        let same = match offsets {
            Offsets::Same(_, count) => Some(*count),
            Offsets::Each(_) => None,
        };
        let is_stored = |offset: &Offset| !matches!(offset, Offset::Special(_));
        if same.is_none() && offsets.iter().filter(is_stored).nth(Self::MAX_SAMPLED).is_some() {
            return None;
        }
        let scan = frame.scan_chunks().ok()?;
        let mut sampled = Self::default();
        let met = if same.is_some() { 1 } else { scan.chunks.len() };
        for chunk in scan.chunks.iter().take(met).filter(|chunk| chunk.special.is_none()) {
            let count = same.unwrap_or(1);
            if chunk.is_memcpyed {
                sampled.codecs.add("none", count);
            } else {
                sampled.codecs.add(compressor_word(chunk.compressor), count);
            }
        }
        let dead = scan.dead.iter().map(|gap| gap.end.saturating_sub(gap.start));
        sampled.dead = dead.fold(0, u64::saturating_add);
        Some(sampled)
    }
}

/// Bytes of the header of a chunk.
const CHUNK_HEADER_LEN: u64 = ChunkHeader::MAX_LEN as u64;

/// Chunks, counted by their offsets.
#[derive(Default)]
struct OffsetCounts {
    /// Those that are not stored, by [`OffsetCounts::KINDS`].
    special: [u64; 3],
    stored: u64,
    first: Option<u64>,
    /// The last stored one.
    last: u64,
    /// The least offset of a stored one.
    least: Option<u64>,
}

impl OffsetCounts {
    const KINDS: [Special; 3] = [Special::Zeros, Special::Uninit, Special::Nan];

    fn add(&mut self, offset: Offset, index: u64, count: u64) {
        match offset {
            Offset::Special(special) => {
                let mut known = self.special.iter_mut().zip(Self::KINDS);
                if let Some((known, _)) = known.find(|(_, kind)| *kind == special) {
                    *known = known.saturating_add(count);
                }
            }
            Offset::Stored(at) if count > 0 => {
                self.least = Some(self.least.map_or(at, |least| least.min(at)));
                self.stored = self.stored.saturating_add(count);
                self.first.get_or_insert(index);
                self.last = index.saturating_add(count - 1);
            }
            _ => {}
        }
    }

    /// Bytes that the stored chunks hold, where they are of one size.
    fn held(&self, frame: &Frame) -> u64 {
        let ChunkSize::Fixed(len) = frame.header().chunksize else { return 0 };
        let missing = u64::from(len).saturating_sub(frame.layout().expected_len(self.last).unwrap_or(0));
        self.stored.saturating_mul(len.into()).saturating_sub(missing)
    }
}

/// Returns the command's word for the codec of a chunk.
pub(crate) fn codec_word(header: &ChunkHeader) -> String {
    if header.is_memcpyed() || header.special().is_some() {
        return "none".to_owned();
    }
    compressor_word(header.compressor)
}

/// Returns the command's word for a codec, with its number where it has no name.
pub(crate) fn compressor_word(compressor: Compressor) -> String {
    match compressor.name() {
        "unknown" | "user-defined" => format!("{} ({})", compressor.name(), compressor.0),
        name => name.to_owned(),
    }
}

/// Returns the word for a special value.
const fn word_of(special: Special) -> &'static str {
    match special {
        Special::Zeros => "zeros",
        Special::Nan => "nan",
        Special::Value => "value",
        Special::Uninit => "uninit",
    }
}
