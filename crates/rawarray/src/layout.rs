//! Layout of a file, read from any source in time that does not depend on the data.
//!
//! A [`Layout`] needs only the magic and a whole 48-byte header. All other damage is recorded as [`Fault`]s, so that a damaged file can still be
//! shown, explained and repaired.

use std::ops::Range;

use container_core::container::Tolerance;
use container_core::dtype::{ByteOrder, DType};
use container_core::region::element_count;
use container_core::report::Severity;
use container_core::source::Source;
use container_core::{Limits, Result};

use crate::bits;
use crate::eltype::{EltypeError, describe, element_type, is_known_width};
use crate::fault::Fault;
use crate::header::{Eltype, FIXED_LEN, Flags, Header};

/// Encoding of the elements according to the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredEncoding {
    /// One after the other, as they are in memory.
    Plain,
    /// With flag bit 1: LZ4 or LEB128, which only the data determine.
    Encoded,
    /// Bits in 64-bit words.
    Bits,
}

/// The layout of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    header: Header,
    dims: Vec<u64>,
    dtype: Option<DType>,
    form: DeclaredEncoding,
    file_len: u64,
    data: Range<u64>,
    faults: Vec<Fault>,
}

impl Layout {
    /// Reads the header and the dimensions of a file.
    ///
    /// # Errors
    /// `WrongFormat` without the magic; `Truncated` when fewer than 48 bytes are there; those of the source.
    pub fn parse(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let file_len = source.len();
        let header = Header::parse(&source.read(0..file_len.min(FIXED_LEN))?)?;
        let mut faults = Vec::new();
        let dims = read_dims(source, &header, limits, &mut faults)?;
        let mut layout = Self {
            header,
            dims: dims.clone().unwrap_or_default(),
            dtype: None,
            form: form_of(header.flags),
            file_len,
            data: file_len..file_len,
            faults,
        };
        if header.flags.unknown() != 0 {
            layout.faults.push(Fault::UnknownFlag(header.flags.unknown()));
        }
        layout.find_type();
        if dims.is_some() {
            layout.find_data(source, limits)?;
        }
        layout.note_oddities();
        layout.faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
        Ok(layout)
    }

    /// The six words before the dimensions.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The dimensions, the first one fastest. Empty where they cannot be read; see [`Layout::faults`].
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Element type in the byte order of the stored data; `None` where the codes are not a type.
    #[must_use]
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// Declared encoding of the elements.
    #[must_use]
    pub fn form(&self) -> DeclaredEncoding {
        self.form
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Start of the data segment; the length of the file where its dimensions cannot be read.
    #[must_use]
    pub fn data_at(&self) -> u64 {
        self.data.start
    }

    /// The data segment, cut at the end of the file. In the encoded form it reaches to the end of the file; decoding shows the start of the trailer.
    #[must_use]
    pub fn data(&self) -> Range<u64> {
        self.data.clone()
    }

    /// Bytes of the elements when decoded: elbyte times the dimensions, or one byte for each bit. `None` where the
    /// dimensions or the type cannot be read.
    #[must_use]
    pub fn decoded_len(&self) -> Option<u64> {
        if !self.has_shape() {
            return None;
        }
        let dtype = self.dtype.as_ref()?;
        self.element_count()?.checked_mul(u64::try_from(dtype.itemsize()).ok()?)
    }

    /// Number of elements. `None` where the dimensions cannot be read.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        if self.has_shape() { element_count(self.dims.iter().copied()) } else { None }
    }

    /// Byte order of the elements.
    #[must_use]
    pub fn data_order(&self) -> ByteOrder {
        data_order(&self.header)
    }

    /// All faults and oddities of the header and the lengths; errors first.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The first fault that keeps the values from being read.
    #[must_use]
    pub fn blocking(&self, tolerance: Tolerance) -> Option<&Fault> {
        self.faults.iter().find(|fault| {
            let meant = match fault {
                // Read as it was meant: the dimensions are right and the data are all there.
                Fault::SizeMismatch { .. } | Fault::DataTruncated { .. } => self.data_fit_dims(),
                Fault::EmptyWithoutDims { .. } | Fault::ReshapeBug { .. } => true,
                _ => false,
            };
            fault.severity() == Severity::Error && !(meant && tolerance == Tolerance::Lenient)
        })
    }

    /// The layout with corrections of known mistakes of certain writers.
    pub(crate) fn with_corrections(&self) -> Self {
        let mut corrected = self.clone();
        for fault in &self.faults {
            match fault {
                Fault::ReshapeBug { dims, .. } => {
                    corrected.dims.clone_from(dims);
                    corrected.header.ndims = u64::try_from(dims.len()).unwrap_or(u64::MAX);
                    let data_at = corrected.header.dims_end().unwrap_or(u64::MAX);
                    corrected.data = data_at..data_at.saturating_add(self.header.size).min(self.file_len);
                }
                Fault::EmptyWithoutDims { .. } => corrected.dims = vec![0],
                Fault::SizeMismatch { expected, .. } => {
                    corrected.data.end = corrected.data.start.saturating_add(*expected).min(self.file_len);
                }
                _ => {}
            }
        }
        corrected
    }

    /// True where the file holds all the elements of its dimensions, whatever the size field.
    fn data_fit_dims(&self) -> bool {
        let expected = self.faults.iter().find_map(|fault| match fault {
            Fault::SizeMismatch { expected, .. } => self.data.start.checked_add(*expected),
            _ => None,
        });
        expected.is_some_and(|end| end <= self.file_len)
    }

    fn has_shape(&self) -> bool {
        let broken = |fault: &Fault| {
            matches!(
                fault,
                Fault::DimsTruncated { .. } | Fault::NdimsLimit { .. } | Fault::DimsOverflow { .. }
            )
        };
        !self.faults.iter().any(broken)
    }

    fn find_type(&mut self) {
        match element_type(&self.header, self.data_order()) {
            Ok(dtype) => self.dtype = Some(dtype),
            Err(EltypeError::Code) => self.faults.push(Fault::UnknownEltype(self.header.eltype.0)),
            Err(EltypeError::Width(why)) => {
                self.faults.push(Fault::ImpossibleElbyte { elbyte: self.header.elbyte, why });
            }
        }
    }

    /// Finds the data segment and compares it with size field and file.
    fn find_data(&mut self, source: &dyn Source, limits: &Limits) -> Result<()> {
        let data_at = self.header.dims_end().unwrap_or(u64::MAX);
        self.data = data_at..self.file_len;
        let count = element_count(self.dims.iter().copied());
        if self.header.elbyte == 0 && count != Some(0) {
            // More precise than the fault of the type alone.
            self.faults.retain(|fault| !matches!(fault, Fault::ImpossibleElbyte { .. }));
            self.faults
                .push(Fault::ImpossibleElbyte { elbyte: 0, why: "an element needs at least one byte" });
            return Ok(());
        }
        let full = match (self.form, count) {
            (DeclaredEncoding::Bits, Some(count)) => Some(bits::stored_len(count)),
            (_, count) => count.and_then(|count| count.checked_mul(self.header.elbyte)),
        };
        let size = self.header.size;
        if self.form == DeclaredEncoding::Plain
            && full != Some(size)
            && let Some(dims) = self.other_dims(source, limits)?
        {
            self.faults.push(Fault::ReshapeBug { ndims: self.header.ndims, dims });
            return Ok(());
        }
        let Some(full) = full else {
            self.faults.push(Fault::DimsOverflow { range: FIXED_LEN..data_at });
            return Ok(());
        };
        if self.form == DeclaredEncoding::Encoded {
            return Ok(());
        }
        let have = self.file_len.saturating_sub(data_at);
        if size != full && self.header.ndims == 0 && size == 0 && have == 0 {
            self.faults.push(Fault::EmptyWithoutDims { elbyte: self.header.elbyte });
        } else if size != full {
            self.faults.push(Fault::SizeMismatch { size, expected: full });
        }
        if size > have {
            self.faults.push(Fault::DataTruncated { claimed: data_at..data_at.saturating_add(size), have });
        }
        self.data.end = data_at.saturating_add(full).min(self.file_len);
        Ok(())
    }

    /// Finds another number of dimensions with which dimensions, size field and file length all fit together.
    fn other_dims(&self, source: &dyn Source, limits: &Limits) -> Result<Option<Vec<u64>>> {
        // A size of 0 fits any words with a 0 among them, so it is no evidence.
        if self.header.size == 0 {
            return Ok(None);
        }
        let room = self.file_len.saturating_sub(FIXED_LEN).checked_sub(self.header.size);
        // With another count the data must end exactly where the file does, which is the evidence of the mistake.
        let Some(count) = room.filter(|room| room.is_multiple_of(8)).map(|room| room / 8) else {
            return Ok(None);
        };
        if count == self.header.ndims || count == 0 || count > limits.ndims {
            return Ok(None);
        }
        let end = FIXED_LEN.saturating_add(count.saturating_mul(8));
        let words = self.header.parse_dims(&source.read(FIXED_LEN..end)?);
        let len =
            element_count(words.iter().copied()).and_then(|count| count.checked_mul(self.header.elbyte));
        Ok((len == Some(self.header.size)).then_some(words))
    }

    fn note_oddities(&mut self) {
        if let Some(dtype) = &self.dtype
            && !is_known_width(dtype)
            && dtype.itemsize() > 0
        {
            self.faults.push(Fault::OddWidth { what: describe(&self.header) });
        }
        if self.header.eltype == Eltype::USER && self.data_order() == ByteOrder::Big {
            self.faults.push(Fault::OpaqueBigEndian);
        }
        if self.header.byte_order == ByteOrder::Big {
            self.faults.push(Fault::BigEndianHeader);
        }
        // Encoded data reach to the end of the file until they are decoded.
        let is_damaged = self.faults.iter().any(|fault| fault.severity() == Severity::Error);
        if !is_damaged && self.data.end < self.file_len {
            self.faults.push(Fault::TrailingBytes { range: self.data.end..self.file_len });
        }
    }
}

/// Reads the dimensions; `None` where the file does not hold them or they are too many.
fn read_dims(
    source: &dyn Source,
    header: &Header,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> Result<Option<Vec<u64>>> {
    let end = header.dims_end().unwrap_or(u64::MAX);
    if end > source.len() {
        let have = source.len().saturating_sub(FIXED_LEN);
        faults.push(Fault::DimsTruncated { claimed: FIXED_LEN..end, have });
        return Ok(None);
    }
    if header.ndims > limits.ndims {
        faults.push(Fault::NdimsLimit { ndims: header.ndims, allowed: limits.ndims });
        return Ok(None);
    }
    Ok(Some(header.parse_dims(&source.read(FIXED_LEN..end)?)))
}

fn form_of(flags: Flags) -> DeclaredEncoding {
    if flags.has(Flags::BITS) {
        DeclaredEncoding::Bits
    } else if flags.has(Flags::ENCODED) {
        DeclaredEncoding::Encoded
    } else {
        DeclaredEncoding::Plain
    }
}

/// Python writes little-endian headers over big-endian data (flag bit 0); C and Julia on a big-endian machine write
/// everything big-endian, with or without the flag.
fn data_order(header: &Header) -> ByteOrder {
    if header.flags.has(Flags::BIG_ENDIAN) { ByteOrder::Big } else { header.byte_order }
}
