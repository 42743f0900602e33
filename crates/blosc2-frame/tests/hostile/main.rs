//! Frames that nobody should have made: nothing panics, hangs, takes memory that was not granted, or writes where it was not asked to.

mod bit_flips;
mod claims;
mod crafted;
mod metadata;
#[cfg(unix)]
mod neighbours;
mod repair;
