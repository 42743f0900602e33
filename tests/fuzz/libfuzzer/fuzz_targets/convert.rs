//! libFuzzer over [`fuzz::convert`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::convert(data));
