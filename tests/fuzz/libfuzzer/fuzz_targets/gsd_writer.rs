//! libFuzzer over [`fuzz::gsd_writer`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_writer(data));
