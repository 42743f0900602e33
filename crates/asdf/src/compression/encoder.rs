//! Encodes blocks as their data come in.
//!
//! Data are cut into segments that threads encode apart: the result is one zlib stream, one bzip2 stream, chunks of LZ4. Memory is bounded by a few
//! segments for each thread. A Zstandard frame is made on one thread. The header of a Blosc chunk depends on all of its data, so these are kept until
//! the end; it has less than 2 GiB.

use std::io::Write;

use blosc_chunk::{BloscVersion, Compressor, Params, Pipeline, SplitMode};
use container_codecs::zstd;
use container_core::{Error, Result};

use segments::{Kind, Segments};

mod segments;

/// The labels that can be written.
pub const WRITABLE: [&str; 5] = ["zlib", "bzp2", "lz4", "zstd", "blsc"];

/// Whether the codec needs all of a block in memory at once.
pub(crate) fn needs_whole_block(label: &str) -> bool {
    label == "blsc"
}

/// Options for the encoding of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    /// The codec's own scale; `None` takes its default: for zlib, of 0 to 9, its own encoder or level 4; bzp2 9 of 1 to 9, zstd 3 of -7 to 22, blsc 5 of 0 to 9. `lz4`
    /// has none.
    pub level: Option<i32>,
    /// Maximum number of threads, this one included. The bytes do not depend on it.
    pub threads: usize,
    /// Bytes of an element, for `blsc`, which sorts the bytes of elements.
    pub typesize: usize,
    /// Number of bytes that will be written, if known in advance: a `zstd` frame then states it, which some readers need, and the last segments of
    /// others need not wait for [`Encoder::finish`].
    pub len: Option<u64>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { level: None, threads: 1, typesize: 8, len: None }
    }
}

/// Sizes of an encoded block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of data taken so far: the block's `data_size`.
    pub data: u64,
    /// Bytes that were written: its `used_size`.
    pub used: u64,
}

/// Encodes one block.
///
/// ```
/// use asdf::compression::{EncodeOptions, Encoder};
///
/// let mut stored = Vec::new();
/// let mut encoder = Encoder::new("zlib", &EncodeOptions::default())?;
/// for piece in [&b"counts "[..], &[7; 1000]] {
///     encoder.push(piece, &mut stored)?;
/// }
/// let sizes = encoder.finish(&mut stored)?;
/// assert_eq!(sizes.data, 1007);
/// assert_eq!(sizes.used, stored.len() as u64);
/// # Ok::<(), container_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    method: Method,
    threads: usize,
    len: Option<u64>,
    /// Data that do not fill a segment yet.
    kept: Vec<u8>,
    sizes: Sizes,
    /// Whether the last segment has been encoded.
    is_over: bool,
}

#[derive(Debug)]
enum Method {
    Segments(Box<Segments>),
    Zstd(zstd::FrameEncoder),
    Blosc(Box<blosc_chunk::Encoder>),
}

impl Encoder {
    /// An encoder of the codec with the label `label` on disk: one of [`WRITABLE`].
    ///
    /// # Errors
    /// `Unsupported` for other labels, `Usage` for a level that the codec does not have.
    pub fn new(label: &str, options: &EncodeOptions) -> Result<Self> {
        let EncodeOptions { level, threads, typesize, len } = *options;
        let method = match label {
            "zlib" => Method::Segments(Box::new(Segments::new(Kind::Zlib, level)?)),
            "bzp2" => Method::Segments(Box::new(Segments::new(Kind::Bzip2, level)?)),
            "lz4" => Method::Segments(Box::new(Segments::new(Kind::Lz4, level)?)),
            "zstd" => Method::Zstd(zstd::FrameEncoder::new(level, len)?),
            "blsc" => Method::Blosc(Box::new(blosc_chunk::Encoder::new(blosc(level, typesize, threads)?)?)),
            _ => {
                let known = WRITABLE.join(", ");
                return Err(Error::unsupported(format!(
                    "cannot write blocks as {label:?} (expected one of: {known})"
                )));
            }
        };
        let (kept, sizes) = (Vec::new(), Sizes::default());
        Ok(Self { method, threads: threads.max(1), len, kept, sizes, is_over: false })
    }

    /// Takes the next bytes, and writes finished output to `out`.
    ///
    /// # Errors
    /// `Io` of `out` or for want of memory, `Unsupported` for more than a Blosc chunk holds, `Usage` for more than
    /// [`EncodeOptions::len`] announced.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut dyn Write) -> Result<()> {
        self.sizes.data += bytes.len() as u64;
        match &mut self.method {
            Method::Segments(segments) => {
                if self.is_over && !bytes.is_empty() {
                    return Err(Error::usage("more data than were announced"));
                }
                let is_last = self.len == Some(self.sizes.data);
                // Large pieces are encoded in place, small ones gathered until all threads have work.
                let batch = segments.batch_len(self.threads);
                if self.kept.is_empty() && (is_last || bytes.len() >= batch) {
                    let taken = segments.encode(bytes, is_last, self.threads, out, &mut self.sizes)?;
                    bytes = &bytes[taken..];
                    self.is_over = is_last;
                }
                while !bytes.is_empty() {
                    let room = batch.saturating_sub(self.kept.len()).max(segments.least_len());
                    let (head, rest) = bytes.split_at(bytes.len().min(room));
                    append_output(&mut self.kept, head)?;
                    bytes = rest;
                    if self.kept.len() >= batch {
                        let taken = segments.encode(&self.kept, false, self.threads, out, &mut self.sizes)?;
                        self.kept.drain(..taken);
                    }
                }
                if is_last && !self.is_over {
                    segments.encode(&self.kept, true, self.threads, out, &mut self.sizes)?;
                    self.is_over = true;
                }
                Ok(())
            }
            Method::Zstd(frame) => {
                for piece in bytes.chunks(1 << 20) {
                    self.kept.clear();
                    frame.push(piece, &mut self.kept)?;
                    out.write_all(&self.kept)?;
                    self.sizes.used += self.kept.len() as u64;
                }
                Ok(())
            }
            Method::Blosc(_) => {
                let most = BloscVersion::Blosc1.max_nbytes();
                if bytes.len() > most - self.kept.len().min(most) {
                    return Err(Error::unsupported(format!("blsc blocks have at most {most} bytes"))
                        .with_hint("zlib, bzp2, lz4 and zstd have no such limit"));
                }
                if self.kept.capacity() == 0 {
                    // Growing step by step could take twice as much.
                    let len = self.len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0).min(most);
                    self.kept.try_reserve_exact(len).map_err(|_| out_of_memory())?;
                }
                append_output(&mut self.kept, bytes)
            }
        }
    }

    /// Writes the rest, and returns the block's sizes.
    ///
    /// # Errors
    /// As [`Encoder::push`]; `Usage` when there was less than [`EncodeOptions::len`] announced.
    pub fn finish(mut self, out: &mut dyn Write) -> Result<Sizes> {
        match self.method {
            Method::Segments(_) if self.is_over => {}
            Method::Segments(mut segments) => {
                segments.encode(&self.kept, true, self.threads, out, &mut self.sizes)?;
            }
            Method::Zstd(frame) => {
                self.kept.clear();
                frame.finish(&mut self.kept)?;
                out.write_all(&self.kept)?;
                self.sizes.used += self.kept.len() as u64;
            }
            Method::Blosc(mut chunk) => {
                let mut encoded = Vec::new();
                chunk.encode(&self.kept, &mut encoded)?;
                out.write_all(&encoded)?;
                self.sizes.used += encoded.len() as u64;
            }
        }
        Ok(self.sizes)
    }
}

/// Appends the encoded form of `src` to `out`.
///
/// # Errors
/// As those of [`Encoder`].
pub fn encode(label: &str, src: &[u8], options: &EncodeOptions, out: &mut Vec<u8>) -> Result<Sizes> {
    let options = EncodeOptions { len: Some(src.len() as u64), ..options.clone() };
    let mut encoder = Encoder::new(label, &options)?;
    encoder.push(src, out)?;
    encoder.finish(out)
}

/// Parameters with the defaults of C-Blosc.
fn blosc(level: Option<i32>, typesize: usize, threads: usize) -> Result<Params> {
    let level = level.unwrap_or(5);
    let level = u8::try_from(level)
        .ok()
        .filter(|level| *level <= 9)
        .ok_or_else(|| Error::usage(format!("blsc has no level {level} (expected 0 to 9)")))?;
    Ok(Params {
        blosc_version: BloscVersion::Blosc1,
        compressor: Compressor::BLOSCLZ,
        codec_meta: 0,
        level,
        // Wider elements are records, whose bytes gain nothing from a shuffle.
        typesize: if (1..=255).contains(&typesize) { typesize } else { 1 },
        filters: Pipeline::shuffle(),
        split: SplitMode::default(),
        blocksize: None,
        dictionary: false,
        threads,
    })
}

fn append_output(kept: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    kept.try_reserve(bytes.len()).map_err(|_| out_of_memory())?;
    kept.extend_from_slice(bytes);
    Ok(())
}

fn out_of_memory() -> Error {
    std::io::Error::from(std::io::ErrorKind::OutOfMemory).into()
}

#[cfg(test)]
mod tests;
