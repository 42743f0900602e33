//! libFuzzer over [`fuzz::rawarray_open`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rawarray_open(data));
