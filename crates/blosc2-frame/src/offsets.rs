//! Offsets of the chunks of a frame: one 64-bit number for each, or a special value without stored bytes.
//!
//! Spec: docs/formats/blosc2.md, "Chunks and offsets". The numbers are the contents of one Blosc2 chunk, little-endian.

use blosc_chunk::{BloscVersion, Chunk, Compressor, Decoder, Encoder, Params, Pipeline, Special, SplitMode};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

/// Fewer offsets than these are stored plainly.
const MIN_COMPRESSED_OFFSETS: u64 = 4;

/// Offset of one chunk, or its special value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// In a contiguous frame the bytes from the end of the header to the chunk; in a sparse one the number of its file.
    Stored(u64),
    /// A mark: the chunk is not stored and repeats this value. Never [`Special::Value`].
    Special(Special),
    /// A negative number without a defined meaning.
    Unknown(i64),
}

impl Offset {
    /// Decodes a stored number. C-Blosc2 checks the bits in the order zeros, uninit, NaN; other bits of the top byte are reserved.
    #[must_use]
    pub const fn from_raw(raw: i64) -> Self {
        if raw >= 0 {
            return Self::Stored(raw.cast_unsigned());
        }
        match (raw >> 56).cast_unsigned() & 0x7f {
            1 => Self::Special(Special::Zeros),
            4 => Self::Special(Special::Uninit),
            2 => Self::Special(Special::Nan),
            _ => Self::Unknown(raw),
        }
    }

    /// Returns the number that is stored.
    #[must_use]
    pub const fn to_raw(self) -> i64 {
        let kind = match self {
            Self::Stored(at) => return at.cast_signed(),
            Self::Unknown(raw) => return raw,
            Self::Special(Special::Nan) => 2,
            Self::Special(Special::Uninit) => 4,
            Self::Special(_) => 1,
        };
        (0x80_i64 | kind) << 56
    }
}

/// The offsets of all chunks. One that all have in common takes no memory, so that an array of zeros of any size opens at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// So many times the same.
    Same(Offset, u64),
    /// As stored, one for each chunk.
    Each(Vec<i64>),
}

impl Offsets {
    /// Decodes the chunk `bytes` (of which more may follow), which has to hold `count` numbers; with `None`, the number in its
    /// header.
    ///
    /// # Errors
    /// Those of the chunk, with ranges inside it; `Malformed` when it holds another number of bytes; `Limit` when the numbers do not
    /// fit `limits`.
    pub fn decode(bytes: &[u8], count: Option<u64>, limits: &Limits) -> Result<Self> {
        let chunk = Chunk::parse(bytes)?;
        let held = chunk.nbytes() as u64;
        let count = count.unwrap_or(held / 8);
        if Some(held) != count.checked_mul(8) {
            let problem = format!("an index of {held} bytes does not fit {count} chunks");
            return Err(Error::malformed(problem).with_range(4..8));
        }
        let same = match (chunk.header().special(), chunk.bytes().get(32..).unwrap_or_default()) {
            (Some(Special::Zeros | Special::Uninit), _) => Some(0),
            (Some(Special::Nan), _) => {
                return Err(Error::malformed("an index of NaN").with_range(31..32));
            }
            (Some(Special::Value), value) => match value.try_into() {
                Ok(value) => Some(i64::from_le_bytes(value)),
                Err(_) => {
                    let problem = format!("an index that repeats a value of {} bytes", value.len());
                    return Err(Error::malformed(problem).with_range(12..16));
                }
            },
            (None, _) => None,
        };
        if let Some(raw) = same {
            return Ok(Self::Same(Offset::from_raw(raw), count));
        }
        let mut numbers: Vec<i64> = try_zeroed_vec(count, limits)?;
        Decoder::new().with_limits(*limits).decode(&chunk, bytemuck::cast_slice_mut(&mut numbers))?;
        if cfg!(target_endian = "big") {
            for number in &mut numbers {
                *number = number.swap_bytes();
            }
        }
        Ok(Self::Each(numbers))
    }

    /// Appends the chunk that holds them to `out`, as C-Blosc2 makes it: BloscLZ at level 5, byte shuffle, blocks of 16 KiB.
    /// Without chunks it appends no bytes.
    ///
    /// # Errors
    /// `Usage` for more than a chunk can hold (268 million), `Io` when there is no memory.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let params = Params {
            blosc_version: BloscVersion::Blosc2,
            compressor: Compressor::BLOSCLZ,
            codec_meta: 0,
            level: 5,
            typesize: 8,
            filters: Pipeline::shuffle(),
            split: SplitMode::Never,
            blocksize: Some(16 << 10),
            dictionary: false,
            threads: 1,
        };
        let bytes: Vec<u8> = match self {
            Self::Each(numbers) => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
            // All numbers are equal, so a chunk that repeats one is enough.
            Self::Same(offset, count) if *count >= MIN_COMPRESSED_OFFSETS => {
                let nbytes = usize::try_from(count.saturating_mul(8)).unwrap_or(usize::MAX);
                Encoder::new(params)?.value(&offset.to_raw().to_le_bytes(), nbytes, out)?;
                return Ok(());
            }
            Self::Same(offset, count) => {
                offset.to_raw().to_le_bytes().repeat(usize::try_from(*count).unwrap_or(0))
            }
        };
        // A single 0 is not to become a chunk of zeros: C-Blosc2 stores so few as they are.
        let level = if self.len() < MIN_COMPRESSED_OFFSETS { 0 } else { params.level };
        Encoder::new(Params { level, ..params })?.encode(&bytes, out)?;
        Ok(())
    }

    /// Returns the number of chunks.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Same(_, count) => *count,
            Self::Each(numbers) => numbers.len() as u64,
        }
    }

    /// True for a frame without chunks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offset of the chunk `index`.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<Offset> {
        match self {
            Self::Same(offset, count) => (index < *count).then_some(*offset),
            Self::Each(numbers) => {
                numbers.get(usize::try_from(index).ok()?).map(|raw| Offset::from_raw(*raw))
            }
        }
    }

    /// Returns the stored number of the chunk `index`.
    pub(crate) fn raw(&self, index: u64) -> Option<i64> {
        match self {
            Self::Same(offset, count) => (index < *count).then(|| offset.to_raw()),
            Self::Each(numbers) => numbers.get(usize::try_from(index).ok()?).copied(),
        }
    }

    /// Returns each of them, but one that all have in common only once.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = Offset> + '_ {
        let count = if matches!(self, Self::Same(..)) { 1 } else { usize::MAX };
        self.iter().take(count)
    }

    /// Returns all of them, in the order of the chunks.
    pub fn iter(&self) -> impl Iterator<Item = Offset> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
