//! libFuzzer over [`fuzz::npy_roundtrip`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::npy_roundtrip(data));
