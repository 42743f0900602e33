//! Invalid and malicious frames: no operation panics, hangs, takes memory over its limits, or writes outside of its files.

mod bit_flips;
mod claims;
mod crafted;
mod metadata;
#[cfg(unix)]
mod neighbours;
mod repair;
