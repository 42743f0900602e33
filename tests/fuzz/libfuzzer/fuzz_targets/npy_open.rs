//! libFuzzer over [`fuzz::npy_open`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::npy_open(data));
