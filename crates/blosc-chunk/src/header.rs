//! The header of a chunk: 16 bytes in Blosc1, 32 in Blosc2.
//!
//! Spec: "Blosc1/Blosc2 chunk format", header section; where the documents and the C library differ, the library. Reader and
//! writer are next to each other, and a test holds them inverse.

use container_core::{Error, Result};
use nom::bytes::complete::take;
use nom::number::complete::{le_u32, u8 as byte};
use nom::{IResult, Parser};

use crate::filters::{Filter, Pipeline};
use crate::{Compressor, Special};

/// Both bits of the shuffles at once: the header is the long one.
const EXTENDED: u8 = SHUFFLE | BITSHUFFLE;
const SHUFFLE: u8 = 0x01;
const MEMCPYED: u8 = 0x02;
const BITSHUFFLE: u8 = 0x04;
const DELTA: u8 = 0x08;
const NOT_SPLIT: u8 = 0x10;

const VARIABLE_BLOCKS: u8 = 0x01;

const DICTIONARY: u8 = 0x01;
const RESERVED: u8 = 0x04;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;

/// The C library counts in `i32`, and keeps room for a header. Blosc1's bound is 16 bytes higher and holds for 16-byte headers.
const MAX_NBYTES: u32 = 0x7FFF_FFFF;
/// Largest number of data bytes in a chunk of Blosc2.
pub const MAX_CHUNK_NBYTES: u32 = MAX_NBYTES - 32;
/// Largest size of a block that C-Blosc2 takes (`BLOSC2_MAXBLOCKSIZE`), in bytes: 512 MiB less a page.
pub const MAX_BLOCKSIZE: u32 = 536_866_816;
/// A third of [`MAX_NBYTES`].
const MAX_BLOSC1_BLOCKSIZE: u32 = 715_827_542;

/// Chunk header: the first 16 or 32 bytes of a chunk. Parsing checks each field by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 1 and 2 are Blosc1; 3 (alpha), 4 (beta), 5 (stable) and 6 (blocks of variable length) are Blosc2.
    pub version: u8,
    /// Version of the codec's stream; 1 for all built-in codecs.
    pub versionlz: u8,
    /// Flags as stored.
    pub flags: u8,
    /// Bytes of an element, 1 to 255. A real typesize over 255 is stored as 1.
    pub typesize: u8,
    /// Bytes after decoding.
    pub nbytes: u32,
    /// Nominal bytes of a block; in a chunk of variable-length blocks their number.
    pub blocksize: u32,
    /// Bytes of the whole chunk, this header included.
    pub cbytes: u32,
    /// The filter pipeline, in the order of encoding; for 16-byte headers as the flags mean it.
    pub filters: Pipeline,
    /// The codec. Tells LZ4 from LZ4HC in extended headers only.
    pub compressor: Compressor,
    /// The codec's own byte, meaningful for plugins.
    pub codec_meta: u8,
    /// Second flags byte, 0x1E: bit 0 is set for blocks of variable length.
    pub blosc2_flags2: u8,
    /// Byte 0x1F: dictionary, big-endian writer, lazy, special value, instrumented.
    pub blosc2_flags: u8,
    /// Whether the header is the 32-byte one.
    pub extended: bool,
}

impl Header {
    /// Bytes of the shortest header.
    pub const MIN_LEN: usize = 16;
    /// Bytes of the longest header.
    pub const MAX_LEN: usize = 32;

    /// Parses the header at the start of `bytes`, which may be longer, down to the header alone.
    ///
    /// # Errors
    /// `Truncated` when there are too few bytes, `Malformed` when fields are out of range or contradict each other,
    /// `Unsupported` for versions over 6 and for undefined codecs and flags.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let have = bytes.len() as u64;
        let short = |len: usize| Error::truncated(0..len as u64, have).with_context("blosc chunk header");
        let (rest, mut header) = prefix(bytes).map_err(|_| short(Self::MIN_LEN))?;
        header.check_version()?;
        if header.extended {
            extension(rest, &mut header).map_err(|_| short(Self::MAX_LEN))?;
        } else {
            header.filters = header.filters_of_flags();
        }
        header.check().map_err(|error| error.with_context("blosc chunk header"))?;
        Ok(header)
    }

    /// Parses the 16 bytes that all headers share, unchecked: enough to walk from chunk to chunk. `None` when there are fewer.
    ///
    /// The fields of the other 16 bytes are 0, as is the pipeline.
    #[must_use]
    #[inline]
    pub fn parse_prefix(bytes: &[u8]) -> Option<Self> {
        prefix(bytes).map(|(_, header)| header).ok()
    }

    /// Appends the bytes of this header to `out`.
    ///
    /// The pipeline of a 16-byte header is in its flags, which are written as they are.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.version, self.versionlz, self.flags, self.typesize]);
        for word in [self.nbytes, self.blocksize, self.cbytes] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        if self.extended {
            out.extend(self.filters.0.iter().map(|filter| filter.id));
            out.extend_from_slice(&[self.compressor.0, self.codec_meta]);
            out.extend(self.filters.0.iter().map(|filter| filter.meta));
            out.extend_from_slice(&[self.blosc2_flags2, self.blosc2_flags]);
        }
    }

    /// Bytes of this header, 16 or 32.
    #[must_use]
    pub const fn len(&self) -> usize {
        if self.extended { Self::MAX_LEN } else { Self::MIN_LEN }
    }

    /// Returns false: a header has bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Whether the rules of Blosc1 hold: versions 1 and 2.
    #[must_use]
    pub const fn is_blosc1(&self) -> bool {
        self.version <= 2
    }

    /// Whether the payload is the data themselves, without streams and filters.
    #[must_use]
    pub const fn is_memcpyed(&self) -> bool {
        self.flags & MEMCPYED != 0
    }

    /// Returns the special value of the chunk, if it has no payload for it.
    #[must_use]
    pub const fn special(&self) -> Option<Special> {
        Special::from_code(self.special_bits())
    }

    /// Whether a dictionary follows the starts of the blocks.
    #[must_use]
    pub const fn has_dictionary(&self) -> bool {
        self.blosc2_flags & DICTIONARY != 0
    }

    /// Whether blocks are of variable length, each on its own.
    #[must_use]
    pub const fn has_variable_blocks(&self) -> bool {
        self.blosc2_flags2 & VARIABLE_BLOCKS != 0
    }

    /// Whether the streams hold measurements of the codec instead of data.
    #[must_use]
    pub const fn is_instrumented(&self) -> bool {
        self.blosc2_flags & INSTRUMENTED != 0
    }

    /// Bytes of every block but a shorter last one; meaningless where blocks are of variable length.
    #[must_use]
    pub const fn block_len(&self) -> u32 {
        if self.blocksize > self.nbytes && self.nbytes > 0 { self.nbytes } else { self.blocksize }
    }

    /// Returns the number of blocks; in memcpyed and special chunks the number that it would be.
    #[must_use]
    pub const fn block_count(&self) -> u32 {
        if self.nbytes == 0 {
            0
        } else if self.has_variable_blocks() || self.blocksize == 0 {
            self.blocksize
        } else {
            self.nbytes.div_ceil(self.block_len())
        }
    }

    /// Whether whole blocks are stored as one stream for each byte of the element.
    ///
    /// Blosc1 did not split wide elements and short blocks, and before 1.11 had no flag for it.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        let by_flag = self.flags & NOT_SPLIT == 0;
        if self.is_blosc1() {
            // The typesize was checked not to be 0.
            let elements = self.block_len().checked_div(self.typesize as u32);
            by_flag && self.typesize <= 16 && matches!(elements, Some(128..))
        } else {
            by_flag && !self.has_variable_blocks()
        }
    }

    /// Returns the codec's number as the flags have it.
    const fn format(&self) -> u8 {
        self.flags >> 5
    }

    const fn special_bits(&self) -> u8 {
        (self.blosc2_flags >> 4) & 7
    }

    /// Whether the codec and its version are in use.
    const fn has_streams(&self) -> bool {
        !self.is_memcpyed() && self.special_bits() == 0 && self.nbytes > 0
    }

    fn filters_of_flags(&self) -> Pipeline {
        let last = if self.flags & SHUFFLE != 0 && self.typesize > 1 {
            Filter::SHUFFLE
        } else if self.flags & BITSHUFFLE != 0 {
            Filter::BITSHUFFLE
        } else {
            Filter::NONE
        };
        let delta = if self.flags & DELTA != 0 { Filter::DELTA } else { Filter::NONE };
        let none = Filter::default();
        Pipeline([none, none, none, none, Filter::new(delta, 0), Filter::new(last, 0)])
    }

    fn check_version(&self) -> Result<()> {
        match self.version {
            1..=6 => Ok(()),
            version => Err(Error::unsupported(format!("unsupported version {version} (expected 1 to 6)"))
                .with_range(0..1)
                .with_context("blosc chunk header")),
        }
    }

    /// Checks fields against each other.
    fn check(&self) -> Result<()> {
        let (max_nbytes, max_blocksize) = if self.is_blosc1() {
            (MAX_NBYTES.saturating_sub(16), MAX_BLOSC1_BLOCKSIZE)
        } else {
            (MAX_CHUNK_NBYTES, MAX_BLOCKSIZE)
        };
        if self.is_blosc1() && self.flags & DELTA != 0 {
            return Err(Error::malformed("the reserved flag 0x08 is set").with_range(2..3));
        }
        if self.typesize == 0 {
            return Err(Error::malformed("a typesize of 0").with_range(3..4));
        }
        if self.nbytes > max_nbytes {
            let problem = format!("{} bytes of data (expected at most {max_nbytes})", self.nbytes);
            return Err(Error::malformed(problem).with_range(4..8));
        }
        if self.blocksize == 0 || self.blocksize > max_blocksize {
            let problem = format!("blocksize {} (expected 1 to {max_blocksize})", self.blocksize);
            return Err(Error::malformed(problem).with_range(8..12));
        }
        if (self.cbytes as usize) < self.len() || self.cbytes > MAX_NBYTES {
            let problem =
                format!("cbytes {} does not fit a chunk with a header of {} bytes", self.cbytes, self.len());
            return Err(Error::malformed(problem).with_range(12..16));
        }
        if self.is_memcpyed()
            && u64::from(self.nbytes).saturating_add(self.len() as u64) != u64::from(self.cbytes)
        {
            let problem = format!("{} bytes of copied data do not fit cbytes {}", self.nbytes, self.cbytes);
            return Err(Error::malformed(problem).with_range(12..16));
        }
        self.check_codec()?;
        self.check_flags()?;
        self.check_special()
    }

    /// Checks that the special value consists of whole elements, and that the chunk has the length for it.
    fn check_special(&self) -> Result<()> {
        let Some(special) = self.special() else { return Ok(()) };
        let value = self.cbytes.saturating_sub(32);
        let wrong = |problem: String| Err(Error::malformed(problem).with_range(12..16));
        match special {
            // The length of the value is that of the bytes after the header. The typesize cannot store more than 255.
            Special::Value => match self.nbytes.checked_rem(value) {
                Some(0) if self.nbytes > 0 => Ok(()),
                _ => wrong(format!(
                    "{} bytes of data are not a multiple of a value of {value} bytes",
                    self.nbytes
                )),
            },
            _ if value != 0 => wrong(format!("{value} bytes follow the header of a chunk without data")),
            // Buffers of zeros of any length were always taken.
            Special::Zeros => Ok(()),
            Special::Nan if !matches!(self.typesize, 4 | 8) => {
                Err(Error::malformed(format!("NaN with a typesize of {} (expected 4 or 8)", self.typesize))
                    .with_range(3..4))
            }
            Special::Nan | Special::Uninit => match self.nbytes.checked_rem(u32::from(self.typesize)) {
                Some(0) => Ok(()),
                _ => {
                    let problem = format!(
                        "{} bytes of data are not a multiple of the typesize {}",
                        self.nbytes, self.typesize
                    );
                    Err(Error::malformed(problem).with_range(4..8))
                }
            },
        }
    }

    fn check_codec(&self) -> Result<()> {
        if !self.has_streams() {
            return Ok(());
        }
        let known = match self.format() {
            0 | 1 | 3 | 4 => true,
            2 => !self.extended,
            6 => self.extended && self.compressor.0 >= 32,
            _ => false,
        };
        if !known {
            return Err(
                Error::unsupported(format!("unknown codec format {}", self.format())).with_range(2..3)
            );
        }
        if self.versionlz != 1 && self.format() != 6 {
            let problem =
                format!("unsupported version {} of the streams of {}", self.versionlz, self.compressor);
            return Err(Error::unsupported(problem).with_range(1..2));
        }
        Ok(())
    }

    /// Checks the two bytes of flags that only long headers have.
    fn check_flags(&self) -> Result<()> {
        let bad =
            |what: &'static str, at: u64| Err(Error::malformed(what).with_range(at..at.saturating_add(1)));
        if self.blosc2_flags2 & !VARIABLE_BLOCKS != 0 {
            return Err(
                Error::unsupported(format!("unknown flags {:#04x}", self.blosc2_flags2)).with_range(30..31)
            );
        }
        if self.blosc2_flags & LAZY != 0 {
            return bad("a lazy chunk, which is only valid in memory", 31);
        }
        if self.blosc2_flags & RESERVED != 0 {
            return Err(Error::unsupported("the reserved flag 0x04 is set").with_range(31..32));
        }
        if self.special_bits() > 4 {
            let problem = format!("unknown special value {}", self.special_bits());
            return Err(Error::unsupported(problem).with_range(31..32));
        }
        if self.special_bits() != 0 && self.is_memcpyed() {
            return bad("a special value and a copy at once", 31);
        }
        if self.has_variable_blocks() {
            if self.version < 6 {
                return bad("blocks of variable length before version 6", 30);
            }
            if self.special_bits() != 0 || self.is_memcpyed() {
                return bad("blocks of variable length in a chunk without blocks", 30);
            }
        }
        if self.has_dictionary() && self.has_streams() && !matches!(self.format(), 1 | 4) {
            return bad("a dictionary for a codec that takes none", 31);
        }
        Ok(())
    }
}

/// Parses the 16 bytes that every header has.
#[inline]
fn prefix(bytes: &[u8]) -> IResult<&[u8], Header> {
    let (rest, (version, versionlz, flags, typesize)) = (byte, byte, byte, byte).parse(bytes)?;
    let (rest, (nbytes, blocksize, cbytes)) = (le_u32, le_u32, le_u32).parse(rest)?;
    let header = Header {
        version,
        versionlz,
        flags,
        typesize,
        nbytes,
        blocksize,
        cbytes,
        filters: Pipeline::default(),
        compressor: of_format(flags >> 5),
        codec_meta: 0,
        blosc2_flags2: 0,
        blosc2_flags: 0,
        // Blosc1 never knew long headers: there both shuffles at once mean the first.
        extended: flags & EXTENDED == EXTENDED && version > 2,
    };
    Ok((rest, header))
}

/// Parses the 16 bytes that follow them in long headers.
fn extension<'a>(bytes: &'a [u8], header: &mut Header) -> IResult<&'a [u8], ()> {
    let (rest, ids) = take(6_usize)(bytes)?;
    let (rest, (udcodec, codec_meta)) = (byte, byte).parse(rest)?;
    let (rest, metas) = take(6_usize)(rest)?;
    let (rest, (flags2, flags)) = (byte, byte).parse(rest)?;
    for (slot, (&id, &meta)) in header.filters.0.iter_mut().zip(ids.iter().zip(metas)) {
        *slot = Filter::new(id, meta);
    }
    // The alpha had five slots.
    if header.version == 3 {
        header.filters.0[5] = Filter::default();
    }
    header.codec_meta = codec_meta;
    header.blosc2_flags2 = flags2;
    header.blosc2_flags = flags;
    // Writers store the codec here even where the flags name it, so this field distinguishes LZ4HC from LZ4. In chunks
    // without streams the flags are left over from an attempt.
    let stored = Compressor(udcodec);
    if header.format() == 6 || !header.has_streams() || stored.format() == header.format() {
        header.compressor = stored;
    }
    Ok((rest, ()))
}

/// Returns the codec that writes a format, for formats of one codec.
const fn of_format(format: u8) -> Compressor {
    match format {
        0 => Compressor::BLOSCLZ,
        1 => Compressor::LZ4,
        2 => Compressor::SNAPPY,
        3 => Compressor::ZLIB,
        4 => Compressor::ZSTD,
        // Not the code of any codec.
        _ => Compressor(u8::MAX),
    }
}

mod block_count;
#[cfg(test)]
mod tests;
