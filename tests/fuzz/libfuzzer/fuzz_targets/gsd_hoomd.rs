//! libFuzzer over [`fuzz::gsd_hoomd`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gsd_hoomd(data));
