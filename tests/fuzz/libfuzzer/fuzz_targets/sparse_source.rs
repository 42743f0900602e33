//! libFuzzer over [`fuzz::sparse_source`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::sparse_source(data));
