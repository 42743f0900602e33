//! The metalayer `b2nd` (or `caterva`, its ancestor): shape, chunks, blocks and element type of an array.
//!
//! Spec: docs/formats/blosc2.md, "b2nd". C-Blosc2 checks only the marker before the dtype, and writes an invalid one for a
//! list of 16 dimensions. So places are counted here, and markers of lists are not checked either.

use container_core::{Error, Result};

use super::geometry::Geometry;
use crate::header::{ChunkSize, Header};
use crate::metalayer::Metalayers;

/// Name of the metalayer.
pub const NAME: &str = "b2nd";

/// Its name before C-Blosc2 2.5; without the element type.
pub const OLD_NAME: &str = "caterva";

/// Largest number of dimensions (8 before C-Blosc2 2.21.3).
pub const MAX_DIMENSIONS: usize = 16;

/// The fields of the b2nd metalayer, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Version of the metalayer, 0 until now.
    pub version: u8,
    /// Length of each axis, outermost first.
    pub shape: Vec<u64>,
    /// Elements of a chunk along each axis.
    pub chunkshape: Vec<u32>,
    /// Elements of a block along each axis.
    pub blockshape: Vec<u32>,
    /// Format of the string `dtype`: 0 for numpy's. `None` in `caterva`.
    pub dtype_format: Option<u8>,
    /// The element type. Empty in `caterva`, where C-Blosc2 takes `|u1`.
    pub dtype: String,
}

/// Returns the name of a metalayer that differs in one byte from that of an array: its value is valid, and fits a frame of
/// `count` chunks.
pub(crate) fn misnamed<'m>(metalayers: &'m Metalayers, header: &Header, count: u64) -> Option<&'m str> {
    if [NAME, OLD_NAME].iter().any(|name| metalayers.get(name).is_some()) {
        return None;
    }
    let is_near = |name: &str| {
        let other = |own: &str| own.bytes().zip(name.bytes()).filter(|(own, its)| own != its).count();
        name.len() == NAME.len() && other(NAME) == 1
    };
    let fits = |value: &[u8]| {
        let meta = Meta::parse(value).ok().filter(|meta| meta.encode() == value)?;
        let item = usize::try_from(header.typesize).ok()?;
        let geometry = Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item).ok()?;
        let is_of_chunks = match header.chunksize {
            ChunkSize::Fixed(len) => geometry.chunk_bytes() == u64::from(len),
            _ => false,
        };
        (is_of_chunks && geometry.chunk_count() == count).then_some(())
    };
    metalayers.iter().find(|(name, value)| is_near(name) && fits(value).is_some()).map(|(name, _)| name)
}

impl Meta {
    /// Parses the value of the metalayer.
    ///
    /// # Errors
    /// `Malformed`, with a range inside the value; `Unsupported` for over 16 dimensions.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor { bytes, at: 0 };
        cursor.skip(1)?;
        let version = cursor.byte()?;
        let dimensions = usize::from(cursor.byte()?);
        if dimensions > MAX_DIMENSIONS {
            let problem = format!("{dimensions} dimensions (expected at most {MAX_DIMENSIONS})");
            return Err(Error::unsupported(problem).with_range(2..3).with_context("metalayer b2nd"));
        }
        let shape = cursor.list(dimensions, Cursor::long)?;
        let chunkshape = cursor.list(dimensions, Cursor::word)?;
        let blockshape = cursor.list(dimensions, Cursor::word)?;
        let mut meta =
            Self { version, shape, chunkshape, blockshape, dtype_format: None, dtype: String::new() };
        if cursor.at < bytes.len() {
            // Of some time there was a type and no format of it; C-Blosc2 does not read these any more.
            let is_early = bytes.first() == Some(&0x96);
            if !is_early {
                meta.dtype_format = Some(cursor.byte()?);
            }
            if cursor.byte()? != 0xdb {
                return Err(cursor.wrong("the element type is not a string"));
            }
            let len = usize::try_from(u32::from_be_bytes(cursor.take()?)).unwrap_or(usize::MAX);
            let end = cursor.at.saturating_add(len);
            let text = bytes.get(cursor.at..end).ok_or_else(|| cursor.wrong("the element type is cut"))?;
            let text = std::str::from_utf8(text).map_err(|_| cursor.wrong("the element type is not text"))?;
            text.clone_into(&mut meta.dtype);
        }
        Ok(meta)
    }

    /// Encodes the value of the metalayer. Its length depends on the number of dimensions and on the dtype only.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let [dimensions, ..] = self.shape.len().to_le_bytes();
        // 0x90 + 16 is not a marker of a list of 16, but C-Blosc2 writes it and its readers skip it.
        let list = 0x90_u8.wrapping_add(dimensions);
        let has_dtype = self.dtype_format.is_some() || !self.dtype.is_empty();
        let items = match (has_dtype, self.dtype_format) {
            (false, _) => 5,
            (true, None) => 6,
            (true, Some(_)) => 7,
        };
        let mut out = vec![0x90 | items, self.version, dimensions, list];
        for len in &self.shape {
            out.push(0xd3);
            out.extend_from_slice(&len.to_be_bytes());
        }
        for lens in [&self.chunkshape, &self.blockshape] {
            out.push(list);
            for len in lens {
                out.push(0xd2);
                out.extend_from_slice(&len.to_be_bytes());
            }
        }
        out.extend(self.dtype_format);
        if has_dtype {
            out.push(0xdb);
            out.extend_from_slice(&u32::try_from(self.dtype.len()).unwrap_or(u32::MAX).to_be_bytes());
            out.extend_from_slice(self.dtype.as_bytes());
        }
        out
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn wrong(&self, what: &'static str) -> Error {
        let at = self.at as u64;
        Error::malformed(what).with_range(at..at.saturating_add(1)).with_context("metalayer b2nd")
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>).copied();
        let bytes = bytes.ok_or_else(|| self.wrong("it ends early"))?;
        self.skip(N)?;
        Ok(bytes)
    }

    fn skip(&mut self, count: usize) -> Result<()> {
        self.at = self.at.saturating_add(count);
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn list<T>(&mut self, count: usize, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.skip(1)?;
        (0..count).map(|_| item(self)).collect()
    }

    fn long(&mut self) -> Result<u64> {
        self.skip(1)?;
        let number = i64::from_be_bytes(self.take()?);
        u64::try_from(number).map_err(|_| self.wrong("a negative length"))
    }

    fn word(&mut self) -> Result<u32> {
        self.skip(1)?;
        let number = i32::from_be_bytes(self.take()?);
        u32::try_from(number).map_err(|_| self.wrong("a negative length"))
    }
}
