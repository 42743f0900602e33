//! libFuzzer over [`fuzz::asdf_repair`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_repair(data));
