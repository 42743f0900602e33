//! libFuzzer over [`fuzz::lz4_walk`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::lz4_walk(data));
