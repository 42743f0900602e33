//! libFuzzer over [`fuzz::gsd_lookup`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_lookup(data));
