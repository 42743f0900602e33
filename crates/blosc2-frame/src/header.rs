//! The header of a frame: 87 bytes of msgpack at fixed places, before the metalayers.
//!
//! Spec: docs/formats/blosc2.md, "Header". Numbers are big-endian. C-Blosc2 checks a few markers only; all of them are checked
//! here. Reader and writer are next to each other, and a test holds them inverse.

use blosc_chunk::{Compressor, Filter, Pipeline, SplitMode};
use container_core::{Error, Result};
use nom::bytes::complete::{tag, take};
use nom::number::complete::{be_i16, be_i32, be_i64, be_u32, be_u64, u8 as byte};
use nom::{IResult, Parser};

use crate::fault::FaultKind;

/// First bytes of every frame: an array of 14, and the magic as a string of 8.
pub const MAGIC: [u8; 10] = *b"\x9e\xa8b2frame\0";

/// Bytes of the header before its metalayers.
pub const FIXED_LEN: usize = 87;

/// Bytes of a header without metalayers.
pub const BARE_LEN: u32 = 97;

/// Widest element: the encoder of chunks takes no wider one (`BLOSC2_MAXTYPESIZE` is the largest block).
pub(crate) const MAX_TYPESIZE: u32 = 512 << 20;

/// Storage of the chunks of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All parts in one run of bytes.
    #[default]
    Contiguous,
    /// Each in a file of its own, in a directory.
    Sparse,
}

/// Bytes that each chunk holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkSize {
    /// Undecided, before the first chunk (−1).
    #[default]
    Unset,
    /// So many, but for a shorter last chunk.
    Fixed(u32),
    /// Each has its own (0; C-Blosc2 3.0).
    Variable,
}

/// The header of a frame, without its metalayers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole header, metalayers included.
    pub header_len: u32,
    /// Bytes of the frame; of a sparse one those of its index file.
    pub frame_len: u64,
    /// 1 beta, 2 regular, 3 chunks or blocks of variable length.
    pub version: u8,
    /// Flag bit 6 of the general flags: chunks of different sizes.
    pub variable_chunks: bool,
    /// Flag bit 7: chunks whose blocks are of different lengths.
    pub variable_blocks: bool,
    /// Storage of the chunks.
    pub kind: Kind,
    /// The codec for further chunks. Each chunk names its own.
    pub compressor: Compressor,
    /// Its level, 0 to 9.
    pub level: u8,
    /// Splitting for further chunks.
    pub split: SplitMode,
    /// Bytes of all chunks after decoding; of an array with its padding.
    pub nbytes: u64,
    /// Bytes of the chunks section, dead space included; of a sparse frame the sum of its chunks.
    pub cbytes: u64,
    /// Bytes of an element, which may be over 255.
    pub typesize: u32,
    /// Bytes of a block, 0 where that is left to each chunk.
    pub blocksize: u32,
    /// Bytes that each chunk holds.
    pub chunksize: ChunkSize,
    /// Threads that the writer used for encoding and decoding; for information.
    pub threads: (i16, i16),
    /// Whether the trailer has metalayers.
    pub has_vlmetalayers: bool,
    /// Filters for further chunks.
    pub filters: Pipeline,
    /// The codec's own byte.
    pub codec_meta: u8,
    /// Whether further chunks get dictionaries (C-Blosc2 3.0).
    pub use_dictionary: bool,
}

impl Header {
    /// Parses the first [`FIXED_LEN`] bytes of `bytes`; ignores the others.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Truncated`; `Malformed` for another marker or an impossible value, with its byte range
    /// inside the header; `Unsupported` for a version over 3, offsets that are not of 64 bits, and kinds of frames other than
    /// contiguous and sparse.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let (header, impossible) = Self::parse_any(bytes)?;
        impossible.into_iter().next().map_or(Ok(header), |(_, error)| Err(error))
    }

    /// As [`Header::parse`], but returns impossible numbers as faults, with neutral ones in their places.
    pub(crate) fn parse_any(bytes: &[u8]) -> Result<(Self, Vec<(FaultKind, Error)>)> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::wrong_format("a Blosc2 frame"));
        }
        let fixed = bytes.get(..FIXED_LEN).ok_or_else(|| {
            Error::truncated(0..FIXED_LEN as u64, bytes.len() as u64).with_context("blosc2 frame header")
        })?;
        let (_, raw) = raw(fixed).map_err(|error| {
            let left = match &error {
                nom::Err::Error(error) | nom::Err::Failure(error) => error.input.len(),
                nom::Err::Incomplete(_) => 0,
            };
            let at = (FIXED_LEN.saturating_sub(left)) as u64;
            Error::malformed("unexpected msgpack marker")
                .with_range(at..at.saturating_add(1))
                .with_context("blosc2 frame header")
        })?;
        let mut impossible = Vec::new();
        let header =
            raw.check_fields(&mut impossible).map_err(|error| error.with_context("blosc2 frame header"))?;
        let named = |(kind, error): (FaultKind, Error)| (kind, error.with_context("blosc2 frame header"));
        Ok((header, impossible.into_iter().map(named).collect()))
    }

    /// Encodes the [`FIXED_LEN`] bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED_LEN);
        out.extend_from_slice(&MAGIC);
        out.push(0xd2);
        out.extend_from_slice(&self.header_len.to_be_bytes());
        out.push(0xcf);
        out.extend_from_slice(&self.frame_len.to_be_bytes());
        let variable = (u8::from(self.variable_blocks) << 7) | (u8::from(self.variable_chunks) << 6);
        let codec = match self.compressor.0 {
            code @ 0..=5 => code,
            _ => 6,
        };
        let split = match self.split {
            SplitMode::Always => 0,
            SplitMode::Never => 1,
            SplitMode::Auto => 2,
            SplitMode::ForwardCompat => 3,
        };
        let kind = u8::from(self.kind == Kind::Sparse);
        out.extend_from_slice(&[0xa4, variable | 0x10 | self.version, kind, self.level << 4 | codec, split]);
        for number in [self.nbytes, self.cbytes] {
            out.push(0xd3);
            out.extend_from_slice(&number.to_be_bytes());
        }
        let chunksize = match self.chunksize {
            ChunkSize::Unset => u32::MAX,
            ChunkSize::Variable => 0,
            ChunkSize::Fixed(len) => len,
        };
        for number in [self.typesize, self.blocksize, chunksize] {
            out.push(0xd2);
            out.extend_from_slice(&number.to_be_bytes());
        }
        for threads in [self.threads.0, self.threads.1] {
            out.push(0xd1);
            out.extend_from_slice(&threads.to_be_bytes());
        }
        out.push(if self.has_vlmetalayers { 0xc3 } else { 0xc2 });
        out.extend_from_slice(&[0xd8, 6]);
        out.extend(self.filters.0.iter().map(|filter| filter.id));
        out.extend_from_slice(&[self.compressor.0, self.codec_meta]);
        out.extend(self.filters.0.iter().map(|filter| filter.meta));
        out.extend_from_slice(&[u8::from(self.use_dictionary), 0]);
        out
    }
}

/// The fields as they are stored.
struct Raw {
    header_len: u32,
    frame_len: u64,
    flags: [u8; 4],
    nbytes: i64,
    cbytes: i64,
    typesize: u32,
    blocksize: u32,
    chunksize: i32,
    threads: (i16, i16),
    has_vlmetalayers: u8,
    filters: [u8; 17],
}

fn raw(bytes: &[u8]) -> IResult<&[u8], Raw> {
    let (rest, _) = tag(&MAGIC[..])(bytes)?;
    let (rest, (_, header_len)) = (tag(&[0xd2][..]), be_u32).parse(rest)?;
    let (rest, (_, frame_len)) = (tag(&[0xcf][..]), be_u64).parse(rest)?;
    let (rest, (_, flags)) = (tag(&[0xa4][..]), (byte, byte, byte, byte)).parse(rest)?;
    let (rest, (_, nbytes)) = (tag(&[0xd3][..]), be_i64).parse(rest)?;
    let (rest, (_, cbytes)) = (tag(&[0xd3][..]), be_i64).parse(rest)?;
    let (rest, (_, typesize)) = (tag(&[0xd2][..]), be_u32).parse(rest)?;
    let (rest, (_, blocksize)) = (tag(&[0xd2][..]), be_u32).parse(rest)?;
    let (rest, (_, chunksize)) = (tag(&[0xd2][..]), be_i32).parse(rest)?;
    let (rest, (_, compress)) = (tag(&[0xd1][..]), be_i16).parse(rest)?;
    let (rest, (_, decompress)) = (tag(&[0xd1][..]), be_i16).parse(rest)?;
    let (rest, has_vlmetalayers) = byte(rest)?;
    let (rest, (_, block)) = (tag(&[0xd8][..]), take(17_usize)).parse(rest)?;
    let mut filters = [0; 17];
    filters.copy_from_slice(block);
    let raw = Raw {
        header_len,
        frame_len,
        flags: flags.into(),
        nbytes,
        cbytes,
        typesize,
        blocksize,
        chunksize,
        threads: (compress, decompress),
        has_vlmetalayers,
        filters,
    };
    Ok((rest, raw))
}

impl Raw {
    fn check_fields(self, impossible: &mut Vec<(FaultKind, Error)>) -> Result<Header> {
        let [general, kind, codec, other] = self.flags;
        let version = general & 0x0f;
        if !(1..=3).contains(&version) {
            let problem = format!("unsupported version {version} of the frame (expected 1 to 3)");
            return Err(Error::unsupported(problem).with_range(25..26));
        }
        let width = (general >> 4) & 3;
        if width != 1 {
            let bits = [32, 64, 128, 256].get(usize::from(width)).copied().unwrap_or(0);
            return Err(Error::unsupported(format!("unsupported offsets of {bits} bits (expected 64)"))
                .with_range(25..26));
        }
        let kind = match kind & 0x0f {
            0 => Kind::Contiguous,
            1 => Kind::Sparse,
            other => {
                let problem = format!("unknown frame type {other} (expected 0, contiguous, or 1, sparse)");
                return Err(Error::unsupported(problem).with_range(26..27));
            }
        };
        let [count, f0, f1, f2, f3, f4, f5, udcodec, codec_meta, m0, m1, m2, m3, m4, m5, other2, _] =
            self.filters;
        if count > 6 {
            let problem = format!("{count} filters (expected at most 6)");
            impossible.push((FaultKind::Filters, Error::malformed(problem).with_range(70..71)));
        }
        let compressor = match codec & 0x0f {
            6 => Compressor(udcodec),
            code => Compressor(code),
        };
        let mut bytes = |kind: FaultKind, number: i64, at: u64| {
            u64::try_from(number).unwrap_or_else(|_| {
                let problem =
                    Error::malformed(format!("{number} bytes")).with_range(at..at.saturating_add(9));
                impossible.push((kind, problem));
                0
            })
        };
        let nbytes = bytes(FaultKind::Nbytes, self.nbytes, 29);
        let cbytes = bytes(FaultKind::Cbytes, self.cbytes, 38);
        let chunksize = match self.chunksize {
            -1 => ChunkSize::Unset,
            0 => ChunkSize::Variable,
            len => match u32::try_from(len) {
                Ok(len) => ChunkSize::Fixed(len),
                Err(_) => {
                    let problem = Error::malformed(format!("chunks of {len} bytes")).with_range(57..62);
                    impossible.push((FaultKind::Chunksize, problem));
                    ChunkSize::Unset
                }
            },
        };
        let has_vlmetalayers = match self.has_vlmetalayers {
            0xc2 => false,
            0xc3 => true,
            other => {
                return Err(Error::malformed(format!("{other:#04x} is not a bool")).with_range(68..69));
            }
        };
        let filters = [(f0, m0), (f1, m1), (f2, m2), (f3, m3), (f4, m4), (f5, m5)];
        Ok(Header {
            header_len: self.header_len,
            frame_len: self.frame_len,
            version,
            variable_chunks: general & 0x40 != 0,
            variable_blocks: general & 0x80 != 0,
            kind,
            compressor,
            level: codec >> 4,
            split: match other & 3 {
                0 => SplitMode::Always,
                1 => SplitMode::Never,
                2 => SplitMode::Auto,
                _ => SplitMode::ForwardCompat,
            },
            nbytes,
            cbytes,
            typesize: self.typesize,
            blocksize: self.blocksize,
            chunksize,
            threads: self.threads,
            has_vlmetalayers,
            filters: Pipeline(filters.map(|(id, meta)| Filter::new(id, meta))),
            codec_meta,
            use_dictionary: other2 & 1 != 0,
        })
    }
}
