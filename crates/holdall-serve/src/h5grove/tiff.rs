//! Header of a TIFF file of one grey image: uncompressed, one strip, little-endian.

use container_core::dtype::DType;
use container_core::{Error, Result};

use super::types::Class;

/// Fields of the directory: tag, type and value. `SHORT` values are stored as `LONG` ones.
const FIELDS: u16 = 10;

/// Offset of the pixels: the header, the directory, and the offset of a next one.
const DATA_AT: u32 = 8 + 2 + 12 * FIELDS as u32 + 4;

/// The bytes before the pixels of an image of `shape`, whose elements follow in C order, little-endian.
///
/// # Errors
/// `Usage` for a type that is not real, other than two axes, and images of 4 GiB.
pub(super) fn header(dtype: &DType, shape: &[u64]) -> Result<Vec<u8>> {
    let format = match dtype.as_scalar().map(Class::of) {
        Some(Class::Bool | Class::Integer { signed: false }) => 1,
        Some(Class::Integer { signed: true }) => 2,
        Some(Class::Float) => 3,
        _ => return Err(Error::usage("Unsupported encoding tiff for non-numeric content")),
    };
    let &[rows, columns] = shape else {
        return Err(Error::usage("a TIFF has two axes").with_hint("choose a plane"));
    };
    let size = u64::try_from(dtype.itemsize()).unwrap_or(u64::MAX);
    let len = rows.checked_mul(columns).and_then(|count| count.checked_mul(size));
    let len = len.and_then(|len| u32::try_from(len).ok()).filter(|len| len.checked_add(DATA_AT).is_some());
    let (Some(len), Ok(rows), Ok(columns)) = (len, u32::try_from(rows), u32::try_from(columns)) else {
        return Err(Error::usage("an image of 4 GiB or more is no TIFF").with_hint("choose a part"));
    };
    let bits = u32::try_from(size.saturating_mul(8)).unwrap_or(u32::MAX);
    let (short, long) = (3_u16, 4_u16);
    // ImageWidth, ImageLength, BitsPerSample, Compression, PhotometricInterpretation, StripOffsets, SamplesPerPixel, RowsPerStrip,
    // StripByteCounts, SampleFormat.
    let fields: [(u16, u16, u32); FIELDS as usize] = [
        (256, long, columns),
        (257, long, rows),
        (258, short, bits),
        (259, short, 1),
        (262, short, 1),
        (273, long, DATA_AT),
        (277, short, 1),
        (278, long, rows),
        (279, long, len),
        (339, short, format),
    ];
    let mut header = b"II*\0\x08\0\0\0".to_vec();
    header.extend(FIELDS.to_le_bytes());
    for (tag, kind, value) in fields {
        header.extend(tag.to_le_bytes());
        header.extend(kind.to_le_bytes());
        header.extend(1_u32.to_le_bytes());
        // A short value is in the first two bytes of the four.
        header.extend(value.to_le_bytes());
    }
    header.extend(0_u32.to_le_bytes());
    Ok(header)
}
