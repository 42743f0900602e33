//! libFuzzer over [`fuzz::gsd_differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_differential(data));
