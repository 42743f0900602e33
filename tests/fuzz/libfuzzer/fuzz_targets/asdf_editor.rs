//! libFuzzer over [`fuzz::asdf_editor`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_editor(data));
