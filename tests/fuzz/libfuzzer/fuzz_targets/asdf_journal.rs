//! libFuzzer over [`fuzz::asdf_journal`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::asdf_journal(data));
