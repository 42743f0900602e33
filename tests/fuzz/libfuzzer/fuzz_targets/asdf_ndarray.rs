//! libFuzzer over [`fuzz::asdf_ndarray`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_ndarray(data));
