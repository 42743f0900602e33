//! libFuzzer over [`fuzz::rawarray_leb128`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rawarray_leb128(data));
