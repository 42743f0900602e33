#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod build;
mod damage;
mod flips;
mod inserted;
mod middle;
mod names;
mod sound;
mod uncommitted;
