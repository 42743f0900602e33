//! libFuzzer over [`fuzz::rawarray_roundtrip`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rawarray_roundtrip(data));
