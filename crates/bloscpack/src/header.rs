//! The header of a file, in all its dialects: 8 bytes, 16, or 32.
//!
//! Spec: "Description of the header" in the Bloscpack README for version 3, its history for the older ones, and the
//! proposal for variable-length data. Reader and writer are next to each other; a test checks that they are inverse. All numbers are
//! little-endian.

use container_core::{Error, Result};
use nom::number::complete::{le_i32, le_i64, le_u8, le_u32};
use nom::{IResult, Parser};

use crate::ChecksumCode;

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"blpk";

/// Length of the longest header in bytes.
pub const MAX_LEN: usize = 32;

/// Maximum number of bytes that a chunk may hold: 2^31 - 1 less Blosc's header.
pub const MAX_CHUNK: u32 = 2_147_483_631;

/// Dialect of a file: one of the layouts that share the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// 0.1.0-rc1 and rc2 (2012): magic, number of chunks, chunks.
    P0,
    /// 0.1.0-rc3 to 0.1.1, and every chunk file of bcolz, BLZ and Blaze: a 16-byte header and chunks.
    V1,
    /// 0.2 (2012): offsets and checksums.
    V2,
    /// 0.3 to today.
    V3,
    /// Snapshots of 0.3 between November 29 and December 6, 2012, never released: version byte 3, metadata without a
    /// header of its own, option bit 2 where they are zlib.
    V3Interim,
    /// The proposal for variable-length data, one item a chunk: version byte 4.
    Vl,
    /// The same with version byte 3, as a writer would set it that follows the proposal's text alone.
    VlAsV3,
}

impl Dialect {
    /// Length of the header in bytes.
    #[must_use]
    pub const fn header_len(self) -> u64 {
        match self {
            Self::P0 => 8,
            Self::V1 => 16,
            _ => 32,
        }
    }

    /// The byte after the magic; 0 for P0, which has none.
    #[must_use]
    pub const fn version_byte(self) -> u8 {
        match self {
            Self::P0 => 0,
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 | Self::V3Interim | Self::VlAsV3 => 3,
            Self::Vl => 4,
        }
    }

    /// The name in listings: `3`, `4 (variable length)`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P0 => "0 (before versions)",
            Self::V1 => "1",
            Self::V2 => "2",
            Self::V3 => "3",
            Self::V3Interim => "3 (interim)",
            Self::Vl => "4 (variable length)",
            Self::VlAsV3 => "3 (variable length)",
        }
    }

    /// True where every chunk is an item of its own.
    #[must_use]
    pub const fn is_variable_length(self) -> bool {
        matches!(self, Self::Vl | Self::VlAsV3)
    }

    /// True where the last eight bytes of the header are the size of the metadata and four reserved ones.
    const fn has_meta_size(self) -> bool {
        matches!(self, Self::V3Interim | Self::Vl | Self::VlAsV3)
    }
}

/// Option bits of a file. Unknown ones are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options(pub u8);

impl Options {
    /// The file has a table of offsets.
    pub const OFFSETS: u8 = 1;
    /// The file has metadata.
    pub const METADATA: u8 = 2;
    /// One item of any length a chunk (the proposal). In the interim version 3: the metadata are a zlib stream.
    pub const VARIABLE_LENGTH: u8 = 4;

    /// True where every bit of `mask` is set.
    #[must_use]
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask == mask
    }
}

/// File header: the fields of the first 8, 16 or 32 bytes, unchecked. Fields that a dialect lacks are 0, and are not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The layout of the header.
    pub dialect: Dialect,
    /// Option bits.
    pub options: Options,
    /// Checksum of the chunks.
    pub checksum: ChecksumCode,
    /// Bytes of an element, for information: each chunk has its own.
    pub typesize: u8,
    /// Decoded bytes of every chunk but the last; −1 unknown or not uniform.
    pub chunk_size: i32,
    /// Decoded bytes of the last chunk; −1 unknown.
    pub last_chunk: i32,
    /// Number of chunks; −1 unknown.
    pub nchunks: i64,
    /// Version 3: spare entries in the table of offsets.
    pub max_app_chunks: i64,
    /// Interim and variable length: bytes of the metadata.
    pub meta_size: u32,
    /// Version 1: three reserved bytes; version 2: eight; interim and variable length: four.
    pub reserved: u64,
}

impl Header {
    /// A header of `dialect` with the options that it requires; all other fields are zero.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        let options = if matches!(dialect, Dialect::Vl | Dialect::VlAsV3) {
            Options::OFFSETS | Options::VARIABLE_LENGTH
        } else {
            0
        };
        Self {
            dialect,
            options: Options(options),
            checksum: ChecksumCode::NONE,
            typesize: 0,
            chunk_size: 0,
            last_chunk: 0,
            nchunks: 0,
            max_app_chunks: 0,
            meta_size: 0,
            reserved: 0,
        }
    }

    /// Parses the header at the start of `bytes`, the first [`MAX_LEN`] bytes of a file or all that there are.
    ///
    /// Only the fields that determine the layout are checked. Version byte 3 with option bit 2 comes out as
    /// [`Dialect::V3Interim`]; only the bytes after the header distinguish it from [`Dialect::VlAsV3`], which has the same
    /// fields.
    ///
    /// # Errors
    /// `WrongFormat` without the magic, `Truncated` when the header is cut, `Unsupported` for other version bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(Error::wrong_format("a Bloscpack file").with_range(0..4));
        }
        let rest = bytes.get(MAGIC.len()..).unwrap_or_default();
        let cut = |need: u64| Error::truncated(0..need, bytes.len() as u64).with_context("bloscpack header");
        let short = |rest: &[u8]| rest.len() < 4;
        if short(rest) {
            return Err(cut(8));
        }
        // Chunks that start at byte 8 are the surest sign: see `is_chunk_of_2012`.
        let first = rest.get(4..).unwrap_or_default();
        if is_chunk_of_2012(first) || (first.is_empty() && rest == [0; 4]) {
            return p0(rest).map(|(_, header)| header).map_err(|_| cut(8));
        }
        let options = Options(rest.get(1).copied().unwrap_or_default());
        let dialect = match rest.first() {
            Some(1) => Dialect::V1,
            Some(2) => Dialect::V2,
            Some(3) if options.has(Options::VARIABLE_LENGTH) => Dialect::V3Interim,
            Some(3) => Dialect::V3,
            Some(4) => Dialect::Vl,
            other => {
                let version = other.copied().unwrap_or_default();
                let problem = format!("unsupported version {version} (expected 1 to 4)");
                return Err(Error::unsupported(problem).with_range(4..5).with_context("bloscpack header"));
            }
        };
        fields(dialect, rest).map(|(_, header)| header).map_err(|_| cut(dialect.header_len()))
    }

    /// The bytes of the header.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        if self.dialect == Dialect::P0 {
            out.extend(u32::try_from(self.nchunks).unwrap_or(u32::MAX).to_le_bytes());
            return out;
        }
        out.push(self.dialect.version_byte());
        if self.dialect == Dialect::V1 {
            out.extend(self.reserved.to_le_bytes().iter().take(3));
        } else {
            out.extend([self.options.0, self.checksum.0, self.typesize]);
            out.extend(self.chunk_size.to_le_bytes());
            out.extend(self.last_chunk.to_le_bytes());
        }
        out.extend(self.nchunks.to_le_bytes());
        match self.dialect {
            Dialect::P0 | Dialect::V1 => {}
            Dialect::V2 => out.extend(self.reserved.to_le_bytes()),
            Dialect::V3 => out.extend(self.max_app_chunks.to_le_bytes()),
            Dialect::V3Interim | Dialect::Vl | Dialect::VlAsV3 => {
                out.extend(self.meta_size.to_le_bytes());
                out.extend(u32::try_from(self.reserved).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        out
    }

    /// True where the file has a table of offsets.
    #[must_use]
    pub fn has_offsets(&self) -> bool {
        !matches!(self.dialect, Dialect::P0 | Dialect::V1) && self.options.has(Options::OFFSETS)
    }

    /// Number of entries of the table of offsets: the chunks, and in version 3 the spare ones. `None` if a count is negative, or the sum is
    /// over 2^63.
    #[must_use]
    pub fn offset_count(&self) -> Option<u64> {
        if !self.has_offsets() {
            return Some(0);
        }
        let count = self.nchunks.checked_add(self.max_app_chunks.max(0))?;
        u64::try_from(count).ok().filter(|_| self.nchunks >= 0)
    }

    /// Decoded bytes of all chunks as the header announces them; `None` where it does not.
    #[must_use]
    pub fn decoded_len(&self) -> Option<u64> {
        if matches!(self.dialect, Dialect::P0 | Dialect::V1) || self.dialect.is_variable_length() {
            return None;
        }
        let chunk = u64::try_from(self.chunk_size).ok()?;
        let last = u64::try_from(self.last_chunk).ok()?;
        match u64::try_from(self.nchunks).ok()?.checked_sub(1) {
            None => Some(0),
            Some(whole) => whole.checked_mul(chunk)?.checked_add(last),
        }
    }
}

/// True where `bytes` start with the header of a chunk as a Blosc of 2012 writes it.
///
/// This distinguishes [`Dialect::P0`] from every other: read as fields of those, the same bytes announce more than 2^32 chunks,
/// or (an empty first chunk) 2^24 in version 1.
fn is_chunk_of_2012(bytes: &[u8]) -> bool {
    let header: IResult<&[u8], _> = (le_u8, le_u8, le_u8, le_u8, le_u32, le_u32, le_u32).parse(bytes);
    let Ok((_, (version, versionlz, flags, typesize, nbytes, blocksize, cbytes))) = header else {
        return false;
    };
    // Shuffle and memcpy are all the flags there were, and BloscLZ the only codec.
    let known = version == 2 && versionlz == 1 && flags & !0b11 == 0 && typesize > 0;
    let sizes = nbytes <= MAX_CHUNK && (1..=nbytes.max(1)).contains(&blocksize);
    known && sizes && (16..=nbytes.saturating_add(16)).contains(&cbytes)
}

fn p0(bytes: &[u8]) -> IResult<&[u8], Header> {
    le_u32.map(|nchunks| Header { nchunks: nchunks.into(), ..Header::new(Dialect::P0) }).parse(bytes)
}

/// Parses the fields after the magic, from version 1 on.
fn fields(dialect: Dialect, bytes: &[u8]) -> IResult<&[u8], Header> {
    let (rest, (_version, options, checksum, typesize)) = (le_u8, le_u8, le_u8, le_u8).parse(bytes)?;
    let sizes =
        |bytes| if dialect == Dialect::V1 { Ok((bytes, (0, 0))) } else { (le_i32, le_i32).parse(bytes) };
    let (rest, (chunk_size, last_chunk)) = sizes(rest)?;
    let (rest, nchunks) = le_i64(rest)?;
    let mut header = Header {
        options: Options(options),
        checksum: ChecksumCode(checksum),
        typesize,
        chunk_size,
        last_chunk,
        nchunks,
        ..Header::new(dialect)
    };
    if dialect.has_meta_size() {
        let (rest, (meta_size, reserved)) = (le_u32, le_u32).parse(rest)?;
        (header.meta_size, header.reserved) = (meta_size, reserved.into());
        return Ok((rest, header));
    }
    if dialect == Dialect::V1 {
        let reserved = u32::from_le_bytes([options, checksum, typesize, 0]).into();
        return Ok((rest, Header { nchunks, reserved, ..Header::new(dialect) }));
    }
    let (rest, last) = le_i64(rest)?;
    if dialect == Dialect::V3 {
        header.max_app_chunks = last;
    } else {
        header.reserved = last.cast_unsigned();
    }
    Ok((rest, header))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
