//! Chunks of one special value, without streams.
//!
//! Spec: blosc2 section 1.4.

use container_core::{Error, Result};

use super::{BloscVersion, Encoder, Params, check, reserve, to_u32};
use crate::tuning::{self, Blocks, MAX_BLOCKSIZE};
use crate::{Compressor, Pipeline, Special};

/// The repeated value of the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    Zeros,
    Nan,
    Value(&'a [u8]),
    /// Only written on request, never detected.
    Uninit,
}

/// Detects the value that `src` repeats, if there is one: a single byte or an element. Lossy filters change values, so under them only
/// zeros are found, which they keep.
pub(super) fn detect<'a>(params: &Params, src: &'a [u8]) -> Option<Found<'a>> {
    let typesize = params.typesize;
    let is_lossy = params.filters.is_lossy();
    if repeats(src, 1) {
        return match src[0] {
            0 => Some(Found::Zeros),
            _ if is_lossy || src.len() < 2 => None,
            _ if src.len().is_multiple_of(typesize)
                && src.len() >= 2 * typesize
                && typesize <= MAX_BLOCKSIZE =>
            {
                Some(Found::Value(&src[..typesize]))
            }
            _ if typesize == 1 => Some(Found::Value(&src[..1])),
            // C-Blosc2 2 takes no value of another length than an element.
            _ => None,
        };
    }
    if is_lossy || typesize > MAX_BLOCKSIZE || src.len() < 2 * typesize || !repeats(src, typesize) {
        return None;
    }
    let value = &src[..typesize];
    Some(if Special::nan(value.len()) == Some(value) { Found::Nan } else { Found::Value(value) })
}

/// Whether `src` is its first `period` bytes again and again. Both sides run through memory together, and nearly always stop
/// at once.
fn repeats(src: &[u8], period: usize) -> bool {
    src.len().is_multiple_of(period) && src[period..] == src[..src.len() - period]
}

impl Encoder {
    /// Appends a chunk of `nbytes` zeros to `out`, and returns its length.
    ///
    /// # Errors
    /// `Usage` for Blosc1, which has no such chunks, and for more bytes than a chunk holds.
    pub fn zeros(&self, nbytes: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.special(&Found::Zeros, nbytes, out)
    }

    /// Appends a chunk of `nbytes` full of NaN, as f32 or f64 by the typesize, to `out`, and returns its length.
    ///
    /// # Errors
    /// As [`Encoder::zeros`]; `Usage` for other typesizes and for `nbytes` that are not a multiple of it.
    pub fn nan(&self, nbytes: usize, out: &mut Vec<u8>) -> Result<usize> {
        if !matches!(self.params.typesize, 4 | 8) {
            return Err(Error::usage(format!("no NaN of {} bytes (expected 4 or 8)", self.params.typesize)));
        }
        self.check_multiple(nbytes, self.params.typesize)?;
        self.special(&Found::Nan, nbytes, out)
    }

    /// Appends a chunk of `nbytes` that repeat `value`, of any length, to `out`, and returns its length.
    ///
    /// # Errors
    /// As [`Encoder::zeros`]; `Usage` for an empty value and for `nbytes` that are not a multiple of its length.
    pub fn value(&self, value: &[u8], nbytes: usize, out: &mut Vec<u8>) -> Result<usize> {
        if value.is_empty() || nbytes == 0 || value.len() > MAX_BLOCKSIZE {
            return Err(Error::usage(format!("a value of {} bytes cannot fill {nbytes} bytes", value.len())));
        }
        self.check_multiple(nbytes, value.len())?;
        self.special(&Found::Value(value), nbytes, out)
    }

    /// Appends a chunk of `nbytes` of uninitialized data to `out`, and returns its length. They read as zeros here, as
    /// anything elsewhere.
    ///
    /// # Errors
    /// As [`Encoder::zeros`]; `Usage` for `nbytes` that are not a multiple of the typesize.
    pub fn uninit(&self, nbytes: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.check_multiple(nbytes, self.params.typesize)?;
        self.special(&Found::Uninit, nbytes, out)
    }

    fn check_multiple(&self, nbytes: usize, of: usize) -> Result<()> {
        if nbytes.is_multiple_of(of) {
            return Ok(());
        }
        Err(Error::usage(format!("{nbytes} bytes are not a multiple of {of}")))
    }

    fn special(&self, found: &Found<'_>, nbytes: usize, out: &mut Vec<u8>) -> Result<usize> {
        if self.params.blosc_version == BloscVersion::Blosc1 {
            return Err(Error::usage("chunks of Blosc1 have no special values"));
        }
        check::nbytes(BloscVersion::Blosc2, nbytes)?;
        let start = out.len();
        self.append_special(found, nbytes, out)?;
        Ok(out.len() - start)
    }

    /// Appends a header without filters and codec, as C-Blosc2's own constructors write it, and the value.
    pub(super) fn append_special(&self, found: &Found<'_>, nbytes: usize, out: &mut Vec<u8>) -> Result<()> {
        let (kind, value): (Special, &[u8]) = match found {
            Found::Zeros => (Special::Zeros, &[]),
            Found::Nan => (Special::Nan, &[]),
            Found::Value(value) => (Special::Value, value),
            Found::Uninit => (Special::Uninit, &[]),
        };
        let mut blocks = if nbytes == 0 { Blocks::ONE_BYTE } else { tuning::choose(&self.params, nbytes) };
        // There are no blocks, but C-Blosc2 fills as many and wants whole values in each.
        let unit = match kind {
            Special::Value => value.len(),
            Special::Zeros => 1,
            Special::Nan | Special::Uninit => self.params.typesize,
        };
        if nbytes > 0 {
            blocks.blocksize =
                (blocks.blocksize - blocks.blocksize % unit).max(unit).min(nbytes.min(MAX_BLOCKSIZE));
        }
        let mut header = self.header(nbytes, blocks);
        header.flags = 0x05;
        header.filters = Pipeline::default();
        header.compressor = Compressor::BLOSCLZ;
        header.versionlz = 1;
        header.codec_meta = 0;
        header.blosc2_flags = kind.code() << 4;
        header.cbytes = to_u32(header.len() + value.len());
        reserve(out, header.len() + value.len())?;
        header.encode(out);
        out.extend_from_slice(value);
        Ok(())
    }
}
