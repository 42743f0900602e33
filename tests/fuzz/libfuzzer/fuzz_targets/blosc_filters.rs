//! libFuzzer over [`fuzz::blosc_filters`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::blosc_filters(data));
