//! libFuzzer over [`fuzz::rawarray_repair`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rawarray_repair(data));
