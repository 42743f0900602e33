//! libFuzzer over [`fuzz::array_region`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::array_region(data));
