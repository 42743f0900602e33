//! libFuzzer over [`fuzz::rawarray_differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rawarray_differential(data));
