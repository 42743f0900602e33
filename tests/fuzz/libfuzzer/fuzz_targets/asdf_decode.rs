//! libFuzzer over [`fuzz::asdf_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_decode(data));
