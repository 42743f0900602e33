//! libFuzzer over [`fuzz::gsd_rewrite`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_rewrite(data));
