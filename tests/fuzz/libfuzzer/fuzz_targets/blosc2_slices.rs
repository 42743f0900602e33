//! libFuzzer over [`fuzz::blosc2_slices`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosc2_slices(data));
