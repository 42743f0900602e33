//! libFuzzer over [`fuzz::bloscpack_roundtrip`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::bloscpack_roundtrip(data));
