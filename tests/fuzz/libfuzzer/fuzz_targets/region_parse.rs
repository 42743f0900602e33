//! libFuzzer over [`fuzz::region_parse`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::region_parse(data));
