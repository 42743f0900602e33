//! libFuzzer over [`fuzz::gsd_repair`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_repair(data));
