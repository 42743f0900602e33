//! Benchmarks of holdall against other libraries, and what they share with the tests that both read each other's files.
//!
//! `cargo xtask bench rawarray` sets up the Python peer and runs them. They have the feature `contenders`, without which the tests
//! are built.
#![forbid(unsafe_code)]

#[cfg(feature = "contenders")]
pub mod asdf;
#[cfg(feature = "contenders")]
pub mod blosc;
#[cfg(feature = "contenders")]
pub mod blosc2;
#[cfg(feature = "contenders")]
pub mod bloscpack;
#[cfg(feature = "contenders")]
pub mod gsd;
pub mod gsd_calls;
pub mod harness;
pub mod json_peer;
pub mod peer;
pub mod random;
#[cfg(feature = "contenders")]
pub mod rawarray;
pub mod report;
pub mod scratch;
pub mod summary;
