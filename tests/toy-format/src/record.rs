//! Records: bytes to struct and back.

use std::ops::Range;

use container_core::array::byte_len;
use container_core::block::Block;
use container_core::format::ItemKind;
use container_core::source::Source;
use container_core::{DType, Error, Result};

/// First bytes of a file.
pub(crate) const MAGIC: &[u8] = b"TOYARRAY";

/// Longest description of a record in bytes, without its elements.
const MAX_HEAD: u64 = 2 + 255 + 1 + 255 + 1 + 32 * 8;

/// Kinds by their number in a record.
const KINDS: [Option<ItemKind>; 4] =
    [None, Some(ItemKind::Text), Some(ItemKind::Bytes), Some(ItemKind::Numbers)];

/// One array of a file.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) kind: Option<ItemKind>,
    pub(crate) name: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    /// Start of the record.
    pub(crate) at: u64,
    /// Its elements.
    pub(crate) elements: Range<u64>,
    /// The stored sum.
    pub(crate) sum: u64,
}

impl Record {
    /// The record at an offset.
    ///
    /// # Errors
    /// `Truncated`; `Malformed`; those of the source.
    pub(crate) fn parse(source: &dyn Source, at: u64) -> Result<Self> {
        let len = source.len();
        let head = source.read(at..len.min(at.saturating_add(MAX_HEAD)))?;
        let mut rest = &*head;
        let cut = || Error::truncated(at..at.saturating_add(MAX_HEAD), len);
        let mut take = |len: usize| -> Result<&[u8]> {
            let (taken, more) = rest.split_at_checked(len).ok_or_else(cut)?;
            rest = more;
            Ok(taken)
        };
        let kind = take(1)?.first().and_then(|kind| KINDS.get(usize::from(*kind))).copied();
        let kind = kind.ok_or_else(|| Error::malformed("the kind of a record is 0 to 3"))?;
        let mut text = || -> Result<String> {
            let len = take(1)?.first().copied().unwrap_or(0);
            let text = take(len.into())?.to_vec();
            String::from_utf8(text).map_err(|_| Error::malformed("a record has text that is not UTF-8"))
        };
        let (name, dtype) = (text()?, DType::parse(&text()?)?);
        let ndim = take(1)?.first().copied().unwrap_or(0);
        let mut shape = Vec::new();
        for _ in 0..ndim {
            shape.push(take(8)?.try_into().map_or(0, u64::from_le_bytes));
        }
        let start = at.saturating_add((head.len() - rest.len()) as u64);
        let size = byte_len(&dtype, &shape).ok_or_else(|| Error::malformed("a shape exceeds 64 bits"))?;
        let elements = start..start.saturating_add(size);
        let end = elements.end.saturating_add(8);
        if end > len {
            return Err(Error::truncated(at..end, len));
        }
        let sum = source.read(elements.end..end)?;
        let sum = (*sum).try_into().map_or(0, u64::from_le_bytes);
        Ok(Self { kind, name, dtype, shape, at, elements, sum })
    }

    /// The whole record: description, elements and sum.
    pub(crate) fn range(&self) -> Range<u64> {
        self.at..self.elements.end.saturating_add(8)
    }

    /// True where the elements fit their sum.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn is_whole(&self, source: &dyn Source) -> Result<bool> {
        const STEP: usize = 1 << 20;
        let mut sum = 0_u64;
        for at in self.elements.clone().step_by(STEP) {
            sum = sum.wrapping_add(sum_of(&source.read(at..self.elements.end.min(at + STEP as u64))?));
        }
        Ok(sum == self.sum)
    }
}

impl Block for Record {
    fn range(&self) -> Range<u64> {
        self.elements.clone()
    }

    fn decoded_len(&self) -> u64 {
        self.elements.end - self.elements.start
    }

    fn codec(&self) -> Option<&str> {
        None
    }
}

/// The description that goes before the elements.
///
/// # Errors
/// `Unsupported` for names, types and shapes that are too long.
pub(crate) fn head(kind: Option<ItemKind>, name: &str, dtype: &DType, shape: &[u64]) -> Result<Vec<u8>> {
    let kind = KINDS.iter().position(|own| *own == kind).unwrap_or(0);
    let dtype = dtype.to_string();
    let short = |len: usize| u8::try_from(len).map_err(|_| Error::unsupported("Toy has lengths up to 255"));
    let mut bytes = vec![short(kind)?, short(name.len())?];
    bytes.extend(name.as_bytes());
    bytes.push(short(dtype.len())?);
    bytes.extend(dtype.as_bytes());
    bytes.push(short(shape.len())?);
    bytes.extend(shape.iter().flat_map(|len| len.to_le_bytes()));
    Ok(bytes)
}

/// Sum of bytes.
pub(crate) fn sum_of(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}
