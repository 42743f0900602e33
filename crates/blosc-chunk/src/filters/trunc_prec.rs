//! Reduced precision: clears low bits of values so that they compress better. Decoding does not restore the bits.

use container_core::{Error, Result};

/// Clears the low bits of the mantissa of floats.
///
/// `typesize` 4 (23 bits of mantissa) or 8 (52), little-endian. `bits` of 0 or more are kept, of a negative number as
/// many are cleared. The bytes after the last whole value are copied (C-Blosc2 leaves them unset).
///
/// # Errors
/// `Usage` for other typesizes, for more bits than the mantissa has, and when no bit of it would be left.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn trunc_prec(bits: i8, typesize: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let mantissa = match typesize {
        4 => 23,
        8 => 52,
        _ => {
            return Err(Error::usage(format!("trunc_prec takes f32 and f64, not items of {typesize} bytes")));
        }
    };
    clear(cleared("trunc_prec", bits, mantissa)?, typesize, src, dst);
    Ok(())
}

/// Clears the low bits of integers.
///
/// `typesize` 1, 2, 4 or 8, little-endian. `bits` of 0 or more are kept, of a negative number as many are cleared. The
/// bytes after the last whole value are copied.
///
/// # Errors
/// `Usage` for other typesizes, for more bits than the type has, and when no bit of it would be left.
///
/// # Panics
/// When `src` and `dst` differ in length.
pub fn int_trunc(bits: i8, typesize: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let width = match typesize {
        1 => 8,
        2 => 16,
        4 => 32,
        8 => 64,
        _ => return Err(Error::usage(format!("int_trunc takes integers, not items of {typesize} bytes"))),
    };
    clear(cleared("int_trunc", bits, width)?, typesize, src, dst);
    Ok(())
}

/// Returns the number of cleared bits, of `width`.
fn cleared(name: &str, bits: i8, width: u8) -> Result<u8> {
    let many = if bits < 0 { Some(bits.unsigned_abs()) } else { width.checked_sub(bits.unsigned_abs()) };
    many.filter(|many| *many < width)
        .ok_or_else(|| Error::usage(format!("{name}:{bits} does not leave 1 to {width} bits")))
}

/// Copies `src` with the low `bits` bits of each value cleared.
fn clear(bits: u8, typesize: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter keeps the length");
    dst.copy_from_slice(src);
    let mask = (u64::MAX << bits).to_le_bytes();
    // Eight bytes at a time for any typesize: the mask repeats.
    let mut pattern = [0; 8];
    for (byte, at) in pattern.iter_mut().zip(0..) {
        *byte = mask[at % typesize];
    }
    let whole = dst.len() / typesize * typesize;
    let (words, rest) = dst[..whole].as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_le_bytes(*word) & u64::from_le_bytes(pattern)).to_le_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(pattern) {
        *byte &= mask;
    }
}
