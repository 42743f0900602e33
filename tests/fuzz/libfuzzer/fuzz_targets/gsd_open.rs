//! libFuzzer over [`fuzz::gsd_open`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_open(data));
