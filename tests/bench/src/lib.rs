//! Benchmarks of holdall against other libraries, and what they share with the tests that both read each other's files.
//!
//! `cargo xtask bench rawarray` sets up the Python peer and runs them.
#![forbid(unsafe_code)]

pub mod asdf;
pub mod blosc;
pub mod blosc2;
pub mod bloscpack;
pub mod gsd;
pub mod gsd_calls;
pub mod harness;
pub mod peer;
pub mod rawarray;
pub mod report;
pub mod scratch;
pub mod summary;
