//! libFuzzer over [`fuzz::blosc_chunk_roundtrip`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosc_chunk_roundtrip(data));
