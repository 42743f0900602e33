#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![deny(unsafe_code)]

#[cfg(feature = "bzip2")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod bzip2;
#[cfg(feature = "checksums")]
pub mod checksum;
#[cfg(feature = "zlib")]
mod deflate;
#[cfg(any(feature = "zlib", feature = "bzip2", feature = "zstd", feature = "lz4", feature = "xz"))]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod feed;
#[cfg(feature = "lz4")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod lz4;
mod registry;
#[cfg(any(
    feature = "zlib",
    feature = "bzip2",
    feature = "zstd",
    feature = "lz4",
    feature = "snappy",
    feature = "xz",
    feature = "zfp"
))]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod shared;
#[cfg(feature = "snappy")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod snappy;
#[cfg(any(feature = "zlib", feature = "bzip2", feature = "zstd", feature = "xz"))]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod streaming;
#[cfg(test)]
mod tests;
#[cfg(feature = "xz")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod xz;
#[cfg(feature = "zfp")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod zfp;
#[cfg(feature = "zlib")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod zlib;
#[cfg(feature = "zstd")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod zstd;

pub use container_core;
pub use registry::built_in;
