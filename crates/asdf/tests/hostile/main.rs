//! Files made to harm, one test for each known way to harm a reader: an error or a finding, never a panic, and soon.
//!
//! Elsewhere: files with one fault each and the findings of `verify` in `testdata/asdf/bad`; bytes changed at random in `src/file/tests/hostile.rs`
//! and by the fuzz targets, which count the memory that is taken; crashes in `tests/crash`.

mod arrays;
mod blocks;
mod crafted;
mod flips;
mod journals;
mod large_counts;
mod layout;
mod path_escape;
mod trees;
mod values;
