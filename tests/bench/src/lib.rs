//! Benchmarks of holdall against other libraries.
//!
//! `cargo xtask bench rawarray` sets up the Python peer and runs them. They have the feature `contenders`, which compiles for minutes; how they
//! measure and report is built and tested without it.
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
pub mod harness;
#[cfg(feature = "contenders")]
pub mod package;
#[cfg(feature = "contenders")]
pub mod rawarray;
pub mod report;
pub mod scratch;
pub mod summary;
