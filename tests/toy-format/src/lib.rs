//! A format for tests: named arrays one after the other, each with a digest.
//!
//! ```text
//! file    "TOYARRAY" record…
//! record  kind u8 | name_len u8 | name | dtype_len u8 | dtype | ndim u8 | ndim × u64 | elements | sum u64
//! ```
//!
//! Integers are little-endian. `kind` is 0 for an array, 1 to 3 for an item of text, bytes or numbers. `dtype` is numpy's spelling, elements are in C order,
//! and `sum` is the sum of their bytes. The crate depends on `container-core` alone; its one line in a program is the call of `main_with` in
//! `src/bin/holdall_with_toy.rs`.

#![forbid(unsafe_code)]

mod container;
mod record;
mod repair;
mod write;

use container_core::format::{CodecSpec, Format, Level, OptionSpec, Support};

/// The entry for a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["toy"],
    order: Some(container_core::Order::C),
    support: &[Support {
        version: "1",
        read: Level::Yes,
        write: Level::Yes,
        verify: Level::Yes,
        repair: Level::Yes,
    }],
    magics: &[record::MAGIC],
    codecs: &[CodecSpec::NONE],
    options: &[OptionSpec::new("colour", "red|blue")],
    import: Some(write::import),
    repair: Some(repair::repair),
    pack: Some(write::pack),
    ..Format::new("toy", "Toy", |probe| probe.head.starts_with(record::MAGIC), container::open)
};
