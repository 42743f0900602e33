//! libFuzzer over [`fuzz::bloscpack_open`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::bloscpack_open(data));
