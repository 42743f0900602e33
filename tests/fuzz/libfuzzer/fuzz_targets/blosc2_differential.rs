//! libFuzzer over [`fuzz::blosc2_differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosc2_differential(data));
