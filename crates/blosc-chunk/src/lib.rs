#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![deny(unsafe_code)]

mod batch_encoder;
mod blosc_codec;
#[expect(clippy::expect_used, reason = "lengths that the code before them has set or bounded")]
mod blosclz;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod chunk;
mod codec;
mod decode;
#[expect(clippy::expect_used, reason = "lengths that the code before them has set or bounded")]
mod encode;
mod file;
pub mod filters;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod header;
#[expect(clippy::expect_used, reason = "lengths that the code before them has set or bounded")]
mod lz4;
mod ndlz;
mod plugins;
mod simd;
mod special_value;
mod tuning;
#[cfg(feature = "zfp")]
mod zfp;

pub use batch_encoder::BatchEncoder;
pub use blosc_codec::BloscCodec;
pub use chunk::Chunk;
pub use codec::Compressor;
pub use decode::{Decoder, Geometry};
pub use encode::{BloscVersion, Encoder, Params, SplitMode};
pub use file::FORMAT;
pub use filters::{Filter, Pipeline};
pub use header::{Header, MAX_BLOCKSIZE, MAX_CHUNK_NBYTES};
pub use plugins::{CodecPlugin, FilterPlugin, MissingPlugin, PluginContext, Plugins};
pub use special_value::Special;
