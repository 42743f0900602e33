#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod address;
pub mod append;
#[cfg(feature = "asdf")]
mod asdf_blosc2;
#[cfg(any(feature = "fits", feature = "zarr"))]
mod attributes;
pub mod catalog;
mod concurrent_writer;
pub mod convert;
mod created_folders;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod csv;
pub mod diff;
pub mod digest;
pub mod explode;
pub mod export;
pub mod extract;
#[cfg(feature = "fits")]
pub mod fits;
pub mod folder;
mod foreign;
pub mod formats;
pub mod glob;
#[cfg(test)]
mod huge;
mod items;
pub mod json;
mod leading_bytes;
mod lines;
mod missing_file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod nearest;
pub mod open;
mod option_words;
mod other_targets;
pub mod output_file;
pub mod pack;
mod pack_records;
pub mod query;
mod raw_bytes;
pub mod recode;
#[cfg(feature = "remote")]
pub mod remote;
pub mod repair;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod repr;
pub mod schema;
pub mod set_meta;
pub mod stat;
#[cfg(test)]
mod testing;
pub mod verify;
pub mod views;
pub mod yaml_text;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use address::Address;
pub use append::append;
#[cfg(feature = "asdf")]
pub use asdf;
#[cfg(feature = "blosc2")]
pub use blosc2_frame;
#[cfg(feature = "bloscpack")]
pub use bloscpack;
pub use container_codecs;
pub use container_core;
pub use container_core::{
    Array, Container, DType, Element, Error, ErrorKind, Limits, OpenDataset, OpenOptions, Order, Progress,
    ReadOptions, Region, Result, Selection, Stop, TypedArray, Value,
};
pub use convert::convert;
pub use csv::{open_csv, pack_csv};
pub use diff::diff;
pub use export::export;
pub use extract::{extract_files, extract_lines};
#[cfg(feature = "gsd")]
pub use gsd;
pub use open::{Accept, OpenFile, open, open_for_streaming, open_with};
pub use pack::{pack_items, pack_raw};
#[cfg(feature = "rawarray")]
pub use rawarray;
pub use recode::recode;
pub use repair::{repair, repair_with};
pub use stat::stat;
pub use verify::{verify, verify_with};

/// The guide, whose examples run with the documentation's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct LibraryGuide;

/// The README of the repository, whose example is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct FrontPage;
