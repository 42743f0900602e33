//! libFuzzer over [`fuzz::asdf_differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_differential(data));
