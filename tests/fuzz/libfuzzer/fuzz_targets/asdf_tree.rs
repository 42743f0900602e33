//! libFuzzer over [`fuzz::asdf_tree`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_tree(data));
