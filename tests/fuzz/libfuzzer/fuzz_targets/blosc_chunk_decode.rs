//! libFuzzer over [`fuzz::blosc_chunk_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosc_chunk_decode(data));
