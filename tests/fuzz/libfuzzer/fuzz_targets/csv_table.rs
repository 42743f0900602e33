//! libFuzzer over [`fuzz::csv_table`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::csv_table(data));
