//! Streams of ZFP without its header, as Blosc2 chunks hold them, by zfp-rs. Only read.
//!
//! ZFP cuts an array of f32 or f64 with one to four axes into cells of side 4 and keeps as much of each as its [`Mode`] allows. The stream
//! contains neither the mode nor the shape: they come from elsewhere. With wrong ones a stream decodes without error, but to another array.
//!
//! The bits are those of little-endian words of 8 bytes (`stream_word_bits` 64 of the C library); the last one is filled up.

use zfp_rs::{
    ZfpBitStreamRef, ZfpConfig, ZfpConfigError, ZfpDimensionality, ZfpFieldMut, ZfpScalar, ZfpStreamAlignment,
};

use super::shared::{make_room, wrong_length};
use container_core::{Error, Result};

/// Mode in which a stream was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Maximum absolute error of a value, rounded down to a power of two.
    Accuracy(f64),
    /// Number of bit planes of each cell, 1 to 64.
    Precision(u32),
    /// Bits per value, whatever the error: a whole number for a cell, at least those of an exponent and at most 16658.
    Rate(f64),
}

/// Type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Four bytes each.
    F32,
    /// Eight bytes each.
    F64,
}

impl Scalar {
    /// Bytes of a value.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// Fills `dst` with the values of the stream `src`, little-endian and in C order; `shape` has one to four axes, the last of which
/// runs fastest (`nx` of ZFP).
///
/// # Errors
/// `Malformed` when the stream ends too early or continues past the last cell. `Usage` for a shape that does not have `dst.len()` bytes,
/// and for an invalid mode. `Io` when memory runs out for a copy of the stream (and of the values, where `dst` is not aligned for them).
/// `dst` then holds unspecified bytes.
pub fn decode(src: &[u8], mode: Mode, shape: &[usize], scalar: Scalar, dst: &mut [u8]) -> Result<()> {
    let len = shape.iter().try_fold(scalar.size(), |len, side| len.checked_mul(*side));
    if len != Some(dst.len()) || dst.is_empty() {
        return Err(Error::usage(format!(
            "an array of shape {shape:?} and {}-byte values is not {} bytes",
            scalar.size(),
            dst.len()
        )));
    }
    match scalar {
        Scalar::F32 => decode_as::<f32>(src, mode, shape, dst),
        Scalar::F64 => decode_as::<f64>(src, mode, shape, dst),
    }
}

fn decode_as<T: ZfpScalar>(src: &[u8], mode: Mode, shape: &[usize], dst: &mut [u8]) -> Result<()> {
    let (axes, dims) = axes(shape)?;
    let config = config::<T>(mode, axes)
        .map_err(|_| Error::usage(format!("ZFP has no {mode:?} for {} axes", shape.len())))?;
    let count = shape.iter().product();
    let words = words(src)?;
    // The buffers of most callers are aligned as large ones are.
    if let Ok(values) = bytemuck::try_cast_slice_mut::<u8, T>(dst) {
        run(&words, src.len(), &config, dims, values)?;
    } else {
        let mut values = Vec::new();
        make_room(&mut values, count)?;
        values.resize(count, T::default());
        run(&words, src.len(), &config, dims, &mut values)?;
        dst.copy_from_slice(bytemuck::cast_slice(&values));
    }
    if cfg!(target_endian = "big") {
        dst.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(())
}

/// Number and lengths of the axes, the fastest first.
fn axes(shape: &[usize]) -> Result<(ZfpDimensionality, [usize; 4])> {
    Ok(match *shape {
        [x] => (ZfpDimensionality::D1, [x, 0, 0, 0]),
        [y, x] => (ZfpDimensionality::D2, [x, y, 0, 0]),
        [z, y, x] => (ZfpDimensionality::D3, [x, y, z, 0]),
        [w, z, y, x] => (ZfpDimensionality::D4, [x, y, z, w]),
        _ => return Err(Error::usage(format!("ZFP takes one to four axes, not {}", shape.len()))),
    })
}

fn config<T: ZfpScalar>(mode: Mode, axes: ZfpDimensionality) -> Result<ZfpConfig, ZfpConfigError> {
    Ok(match mode {
        Mode::Accuracy(tolerance) => ZfpConfig::fixed_accuracy(tolerance),
        Mode::Precision(bits) => ZfpConfig::fixed_precision(bits),
        Mode::Rate(bits) => ZfpConfig::fixed_rate(bits, T::SCALAR_TYPE, axes, ZfpStreamAlignment::Unaligned)?,
    })
}

/// The stream as the words that it is made of, the last with zeros where `src` ends before it does.
fn words(src: &[u8]) -> Result<Vec<u64>> {
    let (whole, rest) = src.as_chunks::<8>();
    let mut words = Vec::new();
    make_room(&mut words, src.len().div_ceil(8))?;
    words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        words.push(rest.iter().rfold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    Ok(words)
}

/// Decodes all cells. Past the end zfp-rs reads zeros and reports it afterwards, which costs no more than valid cells would.
fn run<T: ZfpScalar>(
    words: &[u64],
    len: usize,
    config: &ZfpConfig,
    dims: [usize; 4],
    values: &mut [T],
) -> Result<()> {
    let want = size_of_val(values);
    let wrong = |problem: String| wrong_length("zfp", want, problem);
    let mut field = ZfpFieldMut::new(values, dims).map_err(|error| wrong(error.to_string()))?;
    let mut stream = ZfpBitStreamRef::from_words(words);
    let used = stream.decompress(config, &mut field).map_err(|error| wrong(error.to_string()))?;
    if used.div_ceil(8) == words.len() {
        Ok(())
    } else {
        Err(wrong(format!("the encoded data end at byte {used} of {len}")))
    }
}

#[cfg(test)]
mod tests;
