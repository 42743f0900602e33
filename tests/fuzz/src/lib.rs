//! Fuzz targets: one function for each target, given any bytes at all.
//!
//! A target panics when the code under test does, and when one of its claims does not hold. libFuzzer drives them through
//! `libfuzzer/fuzz_targets/`, on nightly; `smoke` drives them with fixed seeds and mutants of those, on any toolchain.
//!
//! To add one: write the function in the module of its subject, give it a line in [`TARGETS`], a wrapper in
//! `libfuzzer/fuzz_targets/` and a `[[bin]]` in the manifest beside those. A test below finds what is forgotten.
#![forbid(unsafe_code)]

mod array;
mod asdf_block;
mod asdf_file;
mod asdf_repair;
mod asdf_seeds;
mod asdf_tree;
mod blosc2_array;
mod blosc2_edit;
mod blosc2_file;
mod blosc2_msgpack;
mod blosc2_repair;
mod blosc2_seeds;
mod blosc_decode;
mod blosc_encode;
mod blosc_filters;
mod blosc_seeds;
mod blosc_streams;
mod bloscpack_file;
mod bloscpack_write;
mod codecs;
mod csv;
mod dialects;
mod feed;
mod gsd_file;
mod gsd_hoomd;
mod gsd_lookup;
mod gsd_repair;
mod gsd_rewrite;
mod gsd_seeds;
mod gsd_write;
mod kept;
mod lens;
mod lz4;
pub mod mutate;
mod npy;
mod options;
mod outcome;
mod python;
mod rawarray_file;
mod region;
mod repaired;
mod seeds;
mod sources;
mod values;
mod writers;

pub use array::array_region;
pub use asdf_block::{asdf_decode, asdf_journal, asdf_ndarray};
pub use asdf_file::asdf_open;
pub use asdf_repair::asdf_repair;
pub use asdf_tree::{asdf_editor, asdf_schema, asdf_tree};
pub use blosc_decode::blosc_chunk_decode;
pub use blosc_encode::blosc_chunk_roundtrip;
pub use blosc_filters::blosc_filters;
pub use blosc_streams::blosclz_lz4_streams;
pub use blosc2_array::{blosc2_array, blosc2_slices};
pub use blosc2_edit::blosc2_editor;
pub use blosc2_file::{blosc2_open, blosc2_store};
pub use blosc2_msgpack::blosc2_msgpack;
pub use blosc2_repair::blosc2_repair;
pub use bloscpack_file::{bloscpack_open, bloscpack_repair};
pub use bloscpack_write::bloscpack_roundtrip;
pub use codecs::codecs_decode;
pub use csv::csv_table;
pub use dialects::{rawarray_leb128, rawarray_roundtrip};
pub use gsd_file::gsd_open;
pub use gsd_hoomd::gsd_hoomd;
pub use gsd_lookup::gsd_lookup;
pub use gsd_repair::gsd_repair;
pub use gsd_rewrite::gsd_rewrite;
pub use gsd_write::gsd_writer;
pub use kept::kept;
pub use lz4::lz4_walk;
pub use npy::{npy_open, npy_roundtrip};
pub use options::MEMORY;
pub use outcome::outcome;
pub use python::{dtype_parse, literal_parse};
pub use rawarray_file::{rawarray_open, rawarray_repair};
pub use region::region_parse;
pub use sources::{
    asdf_differential, blosc2_differential, bloscpack_differential, gsd_differential, rawarray_differential,
    sparse_source,
};
pub use writers::{convert, export};

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: that of its function and of its binary.
    pub name: &'static str,
    /// Looks at one input.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident: $seeds:expr;)+) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: $name, seeds: $seeds }),+];
    };
}

targets! {
    rawarray_open: seeds::rawarray_files;
    rawarray_differential: seeds::rawarray_files;
    rawarray_repair: seeds::rawarray_files;
    rawarray_roundtrip: seeds::choices;
    rawarray_leb128: seeds::choices;
    npy_open: seeds::npy_files;
    npy_roundtrip: seeds::npy_files;
    literal_parse: seeds::literals;
    dtype_parse: seeds::dtypes;
    region_parse: seeds::selections;
    array_region: seeds::choices;
    sparse_source: seeds::choices;
    codecs_decode: seeds::encoded;
    lz4_walk: seeds::lz4_blocks;
    blosc_chunk_decode: blosc_seeds::chunks;
    blosc_chunk_roundtrip: blosc_seeds::choices;
    blosclz_lz4_streams: blosc_seeds::streams;
    blosc_filters: blosc_seeds::choices;
    blosc2_open: blosc2_seeds::frames;
    blosc2_store: blosc2_seeds::stores;
    blosc2_array: blosc2_seeds::arrays;
    blosc2_slices: blosc2_seeds::choices;
    blosc2_editor: blosc2_seeds::edits;
    blosc2_repair: blosc2_seeds::frames;
    blosc2_msgpack: blosc2_seeds::values;
    blosc2_differential: blosc2_seeds::frames;
    bloscpack_open: blosc_seeds::files;
    bloscpack_differential: blosc_seeds::files;
    bloscpack_repair: blosc_seeds::files;
    bloscpack_roundtrip: blosc_seeds::choices;
    gsd_open: gsd_seeds::files;
    gsd_differential: gsd_seeds::files;
    gsd_lookup: gsd_seeds::choices;
    gsd_repair: gsd_seeds::files;
    gsd_hoomd: gsd_seeds::hoomd_files;
    gsd_rewrite: gsd_seeds::files;
    gsd_writer: gsd_seeds::choices;
    asdf_open: asdf_seeds::files;
    asdf_differential: asdf_seeds::files;
    asdf_repair: asdf_seeds::files;
    asdf_tree: asdf_seeds::trees;
    asdf_editor: asdf_seeds::edits;
    asdf_schema: asdf_seeds::schemas;
    asdf_ndarray: seeds::choices;
    asdf_decode: asdf_block::payloads;
    asdf_journal: asdf_block::journals;
    convert: seeds::array_files;
    outcome: outcome::files;
    export: seeds::array_files;
    csv_table: csv::tables;
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_target_has_its_wrapper_and_its_binary() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("libfuzzer");
        let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let wrappers = std::fs::read_dir(root.join("fuzz_targets")).unwrap();
        let mut wrappers: Vec<String> =
            wrappers.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        wrappers.sort();
        let mut names: Vec<String> = TARGETS.iter().map(|target| format!("{}.rs", target.name)).collect();
        names.sort();
        assert_eq!(wrappers, names);
        for target in TARGETS {
            let wrapper = root.join(format!("fuzz_targets/{}.rs", target.name));
            assert!(std::fs::read_to_string(wrapper).unwrap().contains(&format!("fuzz::{}(", target.name)));
            assert!(
                manifest.contains(&format!("path = \"fuzz_targets/{}.rs\"", target.name)),
                "{}",
                target.name
            );
        }
    }

    #[test]
    fn targets_pass_on_their_seeds_and_on_empty_input() {
        for target in TARGETS {
            (target.run)(&[]);
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{}", target.name);
            // All of them are the smoke binary's work, which is optimised.
            seeds.iter().step_by(7).for_each(|seed| (target.run)(seed));
        }
    }
}
