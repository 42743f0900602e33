//! libFuzzer over [`fuzz::asdf_schema`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_schema(data));
