//! libFuzzer over [`fuzz::bloscpack_differential`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::bloscpack_differential(data));
