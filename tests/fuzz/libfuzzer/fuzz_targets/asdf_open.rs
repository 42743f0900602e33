//! libFuzzer over [`fuzz::asdf_open`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_open(data));
