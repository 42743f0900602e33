//! libFuzzer over [`fuzz::outcome`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::outcome(data));
