//! libFuzzer over [`fuzz::dtype_parse`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::dtype_parse(data));
