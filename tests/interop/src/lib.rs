//! Other implementations, as tests and benchmarks start them: Pythons that answer line by line, and what both sides are asked to do.
//!
//! The tests beside it hold that they and holdall read each other's files. They need the Python that `cargo xtask setup` makes.
#![forbid(unsafe_code)]

pub mod gsd_calls;
pub mod json_peer;
pub mod peer;
pub mod random;
