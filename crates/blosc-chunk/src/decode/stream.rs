//! The streams of a block: how each is stored, and which codec reads it.

use std::ops::Range;

use container_codecs::snappy::Snappy;
use container_codecs::zlib::Inflater;
use container_codecs::zstd::Decompressor;
use container_core::codec::Codec;
use container_core::{Error, Result};

use super::block::Job;
use crate::lz4::Fault;
use crate::{Chunk, CodecPlugin, Compressor, blosclz, lz4, ndlz};

/// Storage of a stream.
#[derive(Clone, Debug)]
pub(super) enum Stream {
    /// Nothing but this byte.
    Run(u8),
    /// These bytes of the chunk, as they are.
    Stored(Range<usize>),
    /// These bytes of the chunk, through the codec.
    Coded(Range<usize>),
}

/// Reads the streams of one block, one after the other.
#[derive(Debug)]
pub(super) struct Streams<'c, 'a> {
    chunk: &'c Chunk<'a>,
    /// Byte of the chunk where the next one begins.
    at: usize,
    /// Number of streams left.
    left: usize,
    /// Bytes of each after decoding.
    pub(super) len: usize,
    variable: Option<Range<usize>>,
}

impl<'c, 'a> Streams<'c, 'a> {
    /// Creates the iterator over the streams of the block `index`.
    pub(super) fn of(chunk: &'c Chunk<'a>, index: usize) -> Result<Self> {
        let count = chunk.stream_count(index);
        let len = chunk.block_len(index) / count;
        let at = chunk.block_start(index)?;
        let variable =
            if chunk.header().has_variable_blocks() { Some(chunk.variable_payload(index)?) } else { None };
        Ok(Self { chunk, at, left: count, len, variable })
    }

    /// Returns the byte of the chunk where the next one begins, or the last one ended.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Returns the next one.
    pub(super) fn next(&mut self) -> Result<Option<Stream>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        // The block as one stream, whose stored length is what is left of the span.
        if let Some(payload) = self.variable.take() {
            let is_stored = payload.len() == self.len;
            return Ok(Some(if is_stored { Stream::Stored(payload) } else { Stream::Coded(payload) }));
        }
        let at = self.at;
        let Some(size) = self.chunk.word(at) else {
            return Err(self.wrong(at..at + 4, "a stream starts after the end of the chunk".to_owned()));
        };
        self.at = at + 4;
        // A negative length marks a run.
        let size = size.cast_signed();
        match usize::try_from(size) {
            Ok(0) | Err(_) => self.run(at, size).map(Some),
            Ok(size) => {
                let range = self.at..self.at.saturating_add(size);
                if range.end > self.chunk.bytes().len() {
                    let problem = format!("a stream of {size} bytes ends after the end of the chunk");
                    return Err(self.wrong(at..at + 4, problem));
                }
                self.at = range.end;
                if size == self.len {
                    return Ok(Some(Stream::Stored(range)));
                }
                // Snappy alone was written where it did not help.
                if size > self.len && self.chunk.header().compressor != Compressor::SNAPPY {
                    let problem = format!("a stream of {size} bytes decodes to only {}", self.len);
                    return Err(self.wrong(at..at + 4, problem));
                }
                Ok(Some(Stream::Coded(range)))
            }
        }
    }

    /// Reads a stream of one repeated byte: no length, or its negative and a token.
    fn run(&mut self, at: usize, size: i32) -> Result<Stream> {
        if !self.chunk.header().extended {
            return Err(self.wrong(at..at + 4, format!("a stream of the invalid length {size}")));
        }
        if size == 0 {
            return Ok(Stream::Run(0));
        }
        let Ok(byte) = u8::try_from(size.unsigned_abs()) else {
            return Err(self.wrong(at..at + 4, format!("a stream of the invalid length {size}")));
        };
        match self.chunk.bytes().get(self.at) {
            Some(1) => {
                self.at += 1;
                Ok(Stream::Run(byte))
            }
            Some(token) => Err(self.wrong(at..at + 5, format!("unknown token {token:#04x} of a stream"))),
            None => Err(self.wrong(at..at + 5, "a stream ends after the end of the chunk".to_owned())),
        }
    }

    fn wrong(&self, range: Range<usize>, problem: String) -> Error {
        Error::malformed(problem)
            .with_range(range.start as u64..range.end as u64)
            .with_context("blosc stream")
    }
}

/// The codecs, with what they keep between streams.
#[derive(Debug, Default)]
pub(super) struct Codecs {
    zlib: Option<Inflater>,
    zstd: Option<Decompressor>,
    /// The dictionary that `zstd` has loaded.
    zstd_dictionary: Vec<u8>,
}

impl Codecs {
    /// Decodes the bytes `range` of the chunk into `dst`, which holds all of the stream; where the codec can stop early, only up
    /// to `need`, and what follows is unspecified.
    pub(super) fn decode(
        &mut self,
        job: Job<'_, '_>,
        range: Range<usize>,
        dst: &mut [u8],
        need: usize,
    ) -> Result<()> {
        let src = &job.chunk.bytes()[range.clone()];
        self.dispatch(job, src, dst, need)
            .map_err(|fault| fault.into_error(&range).with_context("blosc stream"))
    }

    fn dispatch(&mut self, job: Job<'_, '_>, src: &[u8], dst: &mut [u8], need: usize) -> Result<(), Problem> {
        let is_prefix = need < dst.len();
        let dictionary = job.chunk.dictionary();
        match job.header().compressor {
            Compressor::BLOSCLZ if is_prefix => blosclz::decode_prefix(src, &mut dst[..need])?,
            Compressor::BLOSCLZ => blosclz::decode(src, dst)?,
            Compressor::LZ4 | Compressor::LZ4HC => match (is_prefix, dictionary.is_empty()) {
                (false, true) => lz4::decode(src, dst)?,
                (true, true) => lz4::decode_prefix(src, &mut dst[..need])?,
                (false, false) => lz4::decode_with_dictionary(src, dictionary, dst)?,
                (true, false) => lz4::decode_prefix_with_dictionary(src, dictionary, &mut dst[..need])?,
            },
            Compressor::SNAPPY => Snappy.decode(src, dst)?,
            Compressor::ZLIB => {
                let zlib = self.zlib.get_or_insert_default();
                if is_prefix { zlib.decode_prefix(src, &mut dst[..need])? } else { zlib.decode(src, dst)? }
            }
            Compressor::ZSTD => self.zstd(dictionary)?.decode(src, dst)?,
            Compressor::NDLZ => ndlz::decode(src, dst, job.header().codec_meta)?,
            #[cfg(feature = "zfp")]
            codec @ (Compressor::ZFP_ACC | Compressor::ZFP_PREC | Compressor::ZFP_RATE) => {
                let cx = job.context(None);
                let meta = job.header().codec_meta;
                crate::zfp::decode(src, dst, codec, meta, cx.schunk_typesize, cx.blockshape)?;
            }
            other => match job.plugins.codec(other.0) {
                Some(plugin) => decode_by(plugin, job, src, dst)?,
                None => return Err(Problem::Error(unsupported(other))),
            },
        }
        Ok(())
    }

    /// Returns the context of zstd, with `dictionary`. Digesting a dictionary is expensive, so the present one is kept.
    fn zstd(&mut self, dictionary: &[u8]) -> Result<&mut Decompressor> {
        let zstd = match &mut self.zstd {
            Some(zstd) => zstd,
            none => none.insert(Decompressor::new()?),
        };
        if self.zstd_dictionary != dictionary {
            // Whatever happens, not the old one.
            self.zstd_dictionary.clear();
            zstd.set_dictionary(&[])?;
            zstd.set_dictionary(dictionary)?;
            self.zstd_dictionary.extend_from_slice(dictionary);
        }
        Ok(zstd)
    }
}

/// A problem with a stream: a fault with its position, or an error.
enum Problem {
    Fault(Fault),
    Error(Error),
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Problem {
    /// Returns the error for the stream at `range`.
    fn into_error(self, range: &Range<usize>) -> Error {
        match self {
            Self::Fault(fault) => {
                let at = range.start.saturating_add(fault.position).min(range.end);
                Error::malformed(fault.reason).with_range(at as u64..range.end as u64)
            }
            // Ranges in errors of a codec count from the start of the stream.
            Self::Error(error) => {
                let inside = error.range().unwrap_or(0..range.len() as u64);
                let start = range.start as u64;
                let hint = error.hint().map(str::to_owned);
                let place = start.saturating_add(inside.start)..start.saturating_add(inside.end);
                let moved = Error::new(error.into_kind()).with_range(place);
                match hint {
                    Some(hint) => moved.with_hint(hint),
                    None => moved,
                }
            }
        }
    }
}

/// Decodes a whole stream by a plugin: none can stop early.
fn decode_by(plugin: &dyn CodecPlugin, job: Job<'_, '_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let header = job.header();
    if header.versionlz != plugin.version() {
        let problem = format!(
            "version {} of the streams of codec {} ({}), where version {} is registered",
            header.versionlz,
            header.compressor.0,
            plugin.name(),
            plugin.version()
        );
        return Err(Error::unsupported(problem).with_hint("register the codec in that version"));
    }
    plugin.decode(src, &job.context(None).plugin(header.codec_meta), dst)
}

/// Returns the error for codecs of missing plugins; a codec is never loaded.
fn unsupported(compressor: Compressor) -> Error {
    let why = match compressor {
        Compressor::ZFP_ACC | Compressor::ZFP_PREC | Compressor::ZFP_RATE => {
            "is not in this build: the feature `zfp` of blosc-chunk reads it"
        }
        _ => "is not supported",
    };
    let error = Error::unsupported(format!("codec {} ({compressor}) {why}", compressor.0));
    if compressor.0 >= 160 {
        error.with_hint("register it with `Plugins`, or read the file with its program")
    } else {
        error
    }
}
