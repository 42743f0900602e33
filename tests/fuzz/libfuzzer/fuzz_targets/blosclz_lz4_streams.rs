//! libFuzzer over [`fuzz::blosclz_lz4_streams`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosclz_lz4_streams(data));
