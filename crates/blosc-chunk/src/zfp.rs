//! The ZFP codecs (compcodes 33 to 35): blocks of arrays of f32 or f64, read through container-core.
//!
//! The stream of a block is a ZFP stream without its header. Its mode is in the codec's meta byte of the chunk, the shape of the
//! block in the metadata of the array. C-Blosc2 stores streams of less than a block as they are (because the block is split, or is
//! a shorter last one). So a coded stream has to hold a whole block.

use container_codecs::zfp::{self, Mode, Scalar};
use container_core::{Error, Result};

use crate::Compressor;

/// Fills `dst` from the stream `src`. `meta` is the codec's byte of the chunk, `typesize` that of the array, or else of the chunk.
///
/// # Errors
/// `Malformed` when the stream is damaged, the values are not f32 or f64, or the block's length does not match its shape;
/// `Unsupported` without a shape.
pub(crate) fn decode(
    src: &[u8],
    dst: &mut [u8],
    compressor: Compressor,
    meta: u8,
    typesize: usize,
    blockshape: &[usize],
) -> Result<()> {
    if blockshape.is_empty() {
        return Err(Error::unsupported(format!(
            "codec {} ({compressor}) without the shape of the block, which only the array knows",
            compressor.0
        )));
    }
    let scalar = match typesize {
        4 => Scalar::F32,
        8 => Scalar::F64,
        _ => return Err(Error::malformed(format!("ZFP of {typesize}-byte items, neither f32 nor f64"))),
    };
    let len = blockshape.iter().try_fold(typesize, |len, side| len.checked_mul(*side));
    if blockshape.len() > 4 || len != Some(dst.len()) {
        return Err(Error::malformed(format!(
            "a ZFP stream that decodes to {} bytes (expected a block of shape {blockshape:?} and {typesize}-byte items)",
            dst.len()
        )));
    }
    zfp::decode(src, mode(compressor, meta, typesize, blockshape.len()), blockshape, scalar, dst)
}

/// Decodes the meaning of the codec's byte.
fn mode(compressor: Compressor, meta: u8, typesize: usize, axes: usize) -> Mode {
    match compressor {
        // Never 0, and within what f64 can hold.
        Compressor::ZFP_ACC => Mode::Accuracy(10_f64.powi(meta.cast_signed().into())),
        // The bits that ZFP's transform may take from the values, for each number of axes (5, 7, 9, 11), come on top.
        Compressor::ZFP_PREC => {
            let more = [5, 7, 9, 11][axes.clamp(1, 4) - 1];
            Mode::Precision((u32::from(meta) + more).min(64))
        }
        // Hundredths of the size of the items.
        _ => Mode::Rate(f64::from(meta) / 100.0 * if typesize == 4 { 32.0 } else { 64.0 }),
    }
}
