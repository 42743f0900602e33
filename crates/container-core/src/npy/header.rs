//! Reading the header.

use std::ops::Range;

use nom::bytes::streaming::tag;
use nom::number::streaming::{le_u16, le_u32, u8};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::{Header, MAGIC};
use crate::array::byte_len;
use crate::dtype::{DType, Order};
use crate::python_literal::{self, Literal};
use crate::source::Source;
use crate::{Error, Limits, Result};

/// Maximum length of a header in bytes. numpy's default is 10 000; records of some thousand fields need more.
const MAX_HEADER_LEN: u64 = 1 << 20;

const CONTEXT: &str = "npy header";

/// The part with fixed offsets.
struct Prelude {
    version: (u8, u8),
    /// The Python dict and the spaces after it.
    text: Range<u64>,
}

impl Header {
    /// Number of first bytes of a file that [`Header::needed`] needs.
    pub const PRELUDE_LEN: usize = 12;

    /// Length of the whole header, which is the offset of the first element. `start` is the first
    /// [`Header::PRELUDE_LEN`] bytes of the file, or all of a shorter one; `file_len` is `u64::MAX` for a stream.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Truncated` when the file ends within its header; `Unsupported` versions;
    /// `Limit` for a header over 1 MiB.
    pub fn needed(start: &[u8], file_len: u64) -> Result<u64> {
        Ok(prelude(start, file_len)?.text.end)
    }

    /// Reads the header from the first [`Header::needed`] bytes of a file, or more of them. `file_len`, against which
    /// the elements are checked, is `u64::MAX` for a stream. Bytes after the elements are ignored, as by numpy.
    ///
    /// # Errors
    /// As [`Header::needed`], and `Truncated` when the file ends within its elements; `Malformed` for a header that is
    /// not the dict with the three keys, and for shapes and types that cannot be; `Unsupported` as
    /// [`DType::parse`]; `Limit` for too many axes.
    pub fn parse(head: &[u8], file_len: u64, limits: &Limits) -> Result<Self> {
        let Prelude { version, text } = prelude(head, file_len)?;
        let bytes = range_of(head, &text).ok_or_else(|| {
            let have = u64::try_from(head.len()).unwrap_or(u64::MAX).saturating_sub(text.start);
            Error::truncated(text.clone(), have).with_context(CONTEXT)
        })?;
        let dict = dict(bytes, version, text.start)?;
        let in_text = |error: Error| error.with_context(CONTEXT).with_range(text.clone());
        let (dtype, order, shape) = facts(&dict, limits).map_err(in_text)?;
        let too_large = || in_text(Error::malformed("the array is larger than a file can be"));
        let data_len = byte_len(&dtype, &shape).ok_or_else(too_large)?;
        let data_end = text.end.checked_add(data_len).ok_or_else(too_large)?;
        if data_end > file_len {
            let have = file_len.saturating_sub(text.end);
            return Err(Error::truncated(text.end..data_end, have).with_context("npy elements"));
        }
        Ok(Self { version, dtype, shape, order, data_at: text.end, data_len })
    }

    /// Reads the header of a file.
    ///
    /// # Errors
    /// As [`Header::parse`], and those of `source`.
    pub fn read(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let file_len = source.len();
        let prelude_len = u64::try_from(Self::PRELUDE_LEN).unwrap_or(u64::MAX);
        let start = source.read(0..prelude_len.min(file_len))?;
        let needed = Self::needed(&start, file_len)?;
        Self::parse(&source.read(0..needed)?, file_len, limits)
    }
}

/// Parses the fixed part and checks the length it gives, first against the file, then against the bound.
fn prelude(start: &[u8], file_len: u64) -> Result<Prelude> {
    let numbers: IResult<&[u8], _> = preceded(tag(MAGIC.as_slice()), (u8, u8)).parse(start);
    let (rest, version) = numbers.map_err(|error| cut(start, 8, &error))?;
    let (text_at, step) = match version {
        (1, 0) => (10, le_u16.map(u32::from).parse(rest)),
        (2 | 3, 0) => (12, le_u32.parse(rest)),
        (major, minor) => {
            let what = format!("unsupported version {major}.{minor} (expected 1.0, 2.0 or 3.0)");
            return Err(Error::unsupported(what).with_context(CONTEXT).with_range(6..8));
        }
    };
    let (_, text_len) = step.map_err(|error: nom::Err<_>| cut(start, text_at, &error))?;
    let text = text_at..u64::from(text_len).saturating_add(text_at);
    if text.end > file_len {
        let have = file_len.saturating_sub(text_at);
        return Err(Error::truncated(text, have).with_context(CONTEXT));
    }
    if u64::from(text_len) > MAX_HEADER_LEN {
        let what = "length of the header in bytes";
        return Err(Error::limit(what, u64::from(text_len), MAX_HEADER_LEN)
            .with_context(CONTEXT)
            .with_range(text));
    }
    Ok(Prelude { version, text })
}

/// The error for a fixed part that ends before `need` bytes. With less than the magic it is not a `.npy` file.
fn cut(start: &[u8], need: u64, error: &nom::Err<nom::error::Error<&[u8]>>) -> Error {
    let have = u64::try_from(start.len()).unwrap_or(u64::MAX);
    match error {
        nom::Err::Incomplete(_) if start.len() >= MAGIC.len() => {
            Error::truncated(0..need, have).with_context(CONTEXT)
        }
        _ => Error::wrong_format("a .npy file"),
    }
}

fn range_of<'a>(head: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    head.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// The Python literal in `bytes`, which start at offset `at` of the file.
fn dict(bytes: &[u8], version: (u8, u8), at: u64) -> Result<Literal> {
    let place = |index: usize| {
        let start = at.saturating_add(u64::try_from(index).unwrap_or(u64::MAX));
        start..start.saturating_add(1)
    };
    let is_utf8 = version.0 >= 3;
    let text = if is_utf8 {
        String::from_utf8(bytes.to_vec()).map_err(|error| {
            let place = place(error.utf8_error().valid_up_to());
            Error::malformed("text is not UTF-8").with_context(CONTEXT).with_range(place)
        })?
    } else {
        bytes.iter().map(|&byte| char::from(byte)).collect()
    };
    python_literal::locate(&text).map_err(|fault| {
        let before = text.get(..fault.at).unwrap_or_default();
        // One character of the text was one byte of latin-1.
        let index = if is_utf8 { fault.at } else { before.chars().count() };
        Error::malformed(fault.what).with_context(CONTEXT).with_range(place(index))
    })
}

/// Type, order and shape from the dict, its three keys checked as numpy checks them.
fn facts(dict: &Literal, limits: &Limits) -> Result<(DType, Order, Vec<u64>)> {
    let Literal::Dict(pairs) = dict else {
        return Err(Error::malformed("not a dict"));
    };
    let values = (pairs.len() == 3)
        .then(|| Some((dict.get("descr")?, dict.get("fortran_order")?, dict.get("shape")?)));
    let Some((descr, order, shape)) = values.flatten() else {
        return Err(Error::malformed("the keys are not descr, fortran_order and shape"));
    };
    let order = match order {
        Literal::Bool(false) => Order::C,
        Literal::Bool(true) => Order::F,
        _ => return Err(Error::malformed("fortran_order is neither True nor False")),
    };
    let Literal::Tuple(dims) = shape else {
        return Err(Error::malformed("shape is not a tuple"));
    };
    let ndims = u64::try_from(dims.len()).unwrap_or(u64::MAX);
    if ndims > limits.ndims {
        return Err(Error::limit("number of axes", ndims, limits.ndims));
    }
    let dim = |dim: &Literal| match dim {
        Literal::Int(len) => u64::try_from(*len).ok(),
        _ => None,
    };
    let shape = dims.iter().map(dim).collect::<Option<_>>();
    let shape = shape.ok_or_else(|| Error::malformed("shape contains an item that is not a length"))?;
    match DType::from_descr(descr)? {
        (dtype, sub_array) if sub_array.is_empty() => Ok((dtype, order, shape)),
        // numpy.save gives the axes of a sub-array to the array, and numpy.load fails on them.
        _ => Err(Error::unsupported("a sub-array as the type of elements")),
    }
}
