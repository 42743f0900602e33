//! libFuzzer over [`fuzz::bloscpack_repair`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::bloscpack_repair(data));
