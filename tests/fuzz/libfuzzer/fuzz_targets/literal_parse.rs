//! libFuzzer over [`fuzz::literal_parse`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::literal_parse(data));
