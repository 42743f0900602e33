//! Writing, byte for byte as `numpy.save` does.

use std::io::Write;

use super::{Header, MAGIC};
use crate::array::byte_len;
use crate::dtype::{DType, Order};
use crate::python_literal::Literal;
use crate::{Error, Result};

/// Elements start at a multiple of this, so that a map of the file is aligned for any of them.
const ALIGN: usize = 64;

/// Magic, version and the 2-byte length of version 1.0.
const SHORT_PRELUDE: usize = 10;

/// Magic, version and the 4-byte length of versions 2.0 and 3.0.
const LONG_PRELUDE: usize = 12;

/// Digits that numpy leaves room for in the axis that grows, so that appending can rewrite the header in place.
const GROWTH_DIGITS: usize = 21;

/// Largest element that numpy opens: it keeps the size in a C int.
const MAX_ITEMSIZE: usize = 0x7fff_ffff;

impl Header {
    /// The header that `numpy.save` writes for such an array: version 1.0, or 2.0 where it is over 64 KiB, or 3.0 where
    /// a name is not latin-1.
    ///
    /// Arrays with the same layout in either order (at most one axis is longer than 1, or one is 0) are marked as C.
    ///
    /// # Errors
    /// `Unsupported` for types that numpy cannot describe: bfloat16, fields that overlap or go backwards, elements of 2 GiB. `Usage` for
    /// arrays larger than a file can be.
    pub fn to_bytes(dtype: &DType, shape: &[u64], order: Order) -> Result<Vec<u8>> {
        let descr = npy_descr(dtype)?;
        if shape.iter().any(|dim| i64::try_from(*dim).is_err()) {
            return Err(
                Error::unsupported("numpy has no axes longer than 2^63 - 1").with_context("npy header")
            );
        }
        byte_len(dtype, shape).ok_or_else(too_large)?;
        let is_fortran =
            order == Order::F && !shape.contains(&0) && shape.iter().filter(|&&dim| dim > 1).count() > 1;
        let dims = shape.iter().map(|&dim| Literal::Int(dim.into())).collect();
        let text = format!(
            "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}",
            descr.repr(),
            Literal::Bool(is_fortran).repr(),
            Literal::Tuple(dims).repr()
        );
        let growing = if is_fortran { shape.last() } else { shape.first() };
        let room = growing.map_or(0, |dim| GROWTH_DIGITS.saturating_sub(dim.to_string().len()));
        wrap(&text, room)
    }
}

fn too_large() -> Error {
    Error::usage("an array larger than a file can be").with_context("npy header")
}

fn npy_descr(dtype: &DType) -> Result<Literal> {
    let unsupported = |what: &'static str| Err(Error::unsupported(what).with_context("npy header"));
    if dtype.has_bfloat() {
        return unsupported("numpy has no bfloat16");
    }
    if dtype.itemsize() > MAX_ITEMSIZE {
        return unsupported("numpy has no elements of 2 GiB or more");
    }
    if has_dict(&dtype.descr()) {
        return unsupported(
            "a record whose fields overlap or go backwards has no description in a .npy file",
        );
    }
    Ok(dtype.descr())
}

/// True where a part of the description is a dict, which `numpy.load` does not take.
fn has_dict(descr: &Literal) -> bool {
    match descr {
        Literal::Dict(_) => true,
        _ => descr.items().is_some_and(|items| items.iter().any(has_dict)),
    }
}

/// Puts magic, version, length, spaces and the line end around the text, with `room` to grow.
fn wrap(text: &str, room: usize) -> Result<Vec<u8>> {
    let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    let (wide_version, text) = match latin1 {
        Some(text) => (2, text),
        None => (3, text.as_bytes().to_vec()),
    };
    // numpy puts at least one space before the line end: a header that fits already grows by a whole unit.
    let end = |prelude_len: usize| {
        let used = [text.len(), room, 2].iter().fold(prelude_len, |sum, &len| sum.saturating_add(len));
        used.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX)
    };
    let mut out = MAGIC.to_vec();
    let short = u16::try_from(end(SHORT_PRELUDE).saturating_sub(SHORT_PRELUDE)).ok();
    let end = match short.filter(|_| wide_version == 2) {
        Some(len) => {
            out.extend([1, 0]);
            out.extend(len.to_le_bytes());
            end(SHORT_PRELUDE)
        }
        None => {
            let len = u32::try_from(end(LONG_PRELUDE).saturating_sub(LONG_PRELUDE));
            let len = len.map_err(|_| Error::usage("a header over 4 GiB").with_context("npy header"))?;
            out.extend([wide_version, 0]);
            out.extend(len.to_le_bytes());
            end(LONG_PRELUDE)
        }
    };
    out.extend(text);
    out.resize(end.saturating_sub(1), b' ');
    out.push(b'\n');
    Ok(out)
}

/// Writes a `.npy` file piece by piece.
///
/// ```
/// # use container_core::{dtype::{ByteOrder, DType, Kind, Order}, npy};
/// let dtype = DType::new(Kind::Uint, 2, ByteOrder::Little);
/// let mut file = npy::Writer::new(Vec::new(), &dtype, &[3], Order::C)?;
/// file.write(&[1, 0, 2])?;
/// file.write(&[0, 3, 0])?;
/// assert_eq!(file.finish()?.len(), 128 + 6);
/// # Ok::<(), container_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    len: u64,
    /// Bytes of elements that are still to come.
    left: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header of an array; its elements follow in `order`.
    ///
    /// # Errors
    /// As [`Header::to_bytes`]; `Io`.
    pub fn new(mut out: W, dtype: &DType, shape: &[u64], order: Order) -> Result<Self> {
        let header = Header::to_bytes(dtype, shape, order)?;
        let len = byte_len(dtype, shape).ok_or_else(too_large)?;
        out.write_all(&header)?;
        Ok(Self { out, len, left: len })
    }

    /// Writes the next bytes of the elements, which may end within one.
    ///
    /// # Errors
    /// `Usage`, before anything is written, when they exceed the shape; `Io`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let left = u64::try_from(bytes.len()).ok().and_then(|len| self.left.checked_sub(len));
        let Some(left) = left else {
            let what = format!("too many bytes: {} (expected at most {})", bytes.len(), self.left);
            return Err(Error::usage(what).with_context("npy elements"));
        };
        self.out.write_all(bytes)?;
        self.left = left;
        Ok(())
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// `Usage` when elements are missing; `Io`.
    pub fn finish(mut self) -> Result<W> {
        if self.left > 0 {
            let what = format!("the array is not complete: {} of {} bytes are missing", self.left, self.len);
            return Err(Error::usage(what).with_context("npy elements"));
        }
        self.out.flush()?;
        Ok(self.out)
    }
}
