//! Frames that nobody should have made: nothing panics, hangs, takes memory that was not granted, or writes where it was not asked to.

mod claims;
mod flips;
mod made;
mod metadata;
#[cfg(unix)]
mod neighbours;
mod repair;
