//! libFuzzer over [`fuzz::codecs_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::codecs_decode(data));
