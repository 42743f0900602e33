//! The codecs, at the requested level.
//!
//! Spec: blosc2 section 3 and bloscpack section 3.3 for what a level means to each.

use std::sync::Arc;

use container_codecs::{zlib, zstd};
use container_core::{Error, Result};

use super::{BloscVersion, Params};
use crate::filters::BlockContext;
use crate::{CodecPlugin, Compressor, Plugins, blosclz, lz4};

/// A codec with its tables, which are kept from stream to stream and leave no trace in the next.
#[derive(Debug)]
pub(super) enum StreamCodec {
    BloscLz { encoder: blosclz::Encoder, level: u8 },
    Lz4 { encoder: lz4::Encoder, acceleration: u32, dictionary: Vec<u8> },
    Lz4Hc { encoder: Box<lz4::high_compression::Encoder>, level: u8, dictionary: Vec<u8> },
    Zlib(zlib::Deflater),
    Zstd(zstd::Compressor),
    Plugin { plugin: Arc<dyn CodecPlugin>, level: u8, meta: u8 },
}

impl StreamCodec {
    /// Returns the codec of `params`, which have been checked.
    pub(super) fn new(params: &Params, plugins: &Plugins) -> Result<Self> {
        // At level 0 no stream is encoded; any level of the codec will do.
        let level = params.level.clamp(1, 9);
        if let Some(plugin) = plugins.shared_codec(params.compressor.0) {
            return Ok(Self::Plugin { plugin, level, meta: params.codec_meta });
        }
        Ok(match params.compressor {
            Compressor::LZ4 => Self::Lz4 {
                encoder: lz4::Encoder::default(),
                acceleration: 10 - u32::from(level),
                dictionary: Vec::new(),
            },
            Compressor::LZ4HC => Self::Lz4Hc { encoder: Box::default(), level, dictionary: Vec::new() },
            Compressor::ZLIB => Self::Zlib(zlib::Deflater::new(i32::from(level))?),
            Compressor::ZSTD => Self::Zstd(zstd::Compressor::new(zstd_level(params.blosc_version, level))?),
            _ => Self::BloscLz { encoder: blosclz::Encoder::default(), level },
        })
    }

    /// Encodes `src` into `dst`, which is shorter than it, and returns the length; `None` when it does not fit.
    pub(super) fn encode(
        &mut self,
        src: &[u8],
        cx: &BlockContext<'_>,
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        Ok(match self {
            Self::BloscLz { encoder, level } => encoder.encode(src, dst, *level),
            Self::Lz4 { encoder, acceleration, dictionary } if dictionary.is_empty() => {
                encoder.encode(src, dst, *acceleration)
            }
            Self::Lz4 { encoder, acceleration, dictionary } => {
                encoder.encode_with_dictionary(src, dictionary, dst, *acceleration)
            }
            Self::Lz4Hc { encoder, level, dictionary } if dictionary.is_empty() => {
                encoder.encode(src, dst, *level)
            }
            Self::Lz4Hc { encoder, level, dictionary } => {
                encoder.encode_with_dictionary(src, dictionary, dst, *level)
            }
            Self::Zlib(encoder) => encoder.encode(src, dst)?,
            Self::Zstd(encoder) => encoder.encode(src, dst)?,
            Self::Plugin { plugin, level, meta } => {
                let len = plugin.encode(src, &cx.plugin(*meta), *level, dst)?;
                // Nothing, or more than there is room for, would end in a chunk that cannot be read.
                if let Some(len) = len.filter(|len| !(1..=dst.len()).contains(len)) {
                    let problem = format!(
                        "codec `{}` returned a length of {len} bytes (expected 1 to {})",
                        plugin.name(),
                        dst.len()
                    );
                    return Err(Error::usage(problem));
                }
                len
            }
        })
    }

    /// Sets the dictionary for further streams; empty for none. Codecs without dictionaries have been refused before.
    pub(super) fn set_dictionary(&mut self, new: &[u8]) -> Result<()> {
        match self {
            Self::Lz4 { dictionary, .. } | Self::Lz4Hc { dictionary, .. } => {
                dictionary.clear();
                dictionary.extend_from_slice(new);
                Ok(())
            }
            Self::Zstd(encoder) => encoder.set_dictionary(new),
            Self::BloscLz { .. } | Self::Zlib(_) | Self::Plugin { .. } => Ok(()),
        }
    }
}

/// Maps a level to one of zstd's 22. Both C libraries take every other one, and the last for 9.
fn zstd_level(_generation: BloscVersion, level: u8) -> i32 {
    if level == 9 { 22 } else { 2 * i32::from(level) - 1 }
}
