#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod bit_flips;
mod build;
mod damage;
mod gaps;
mod intact;
mod name_recovery;
mod shifted;
mod uncommitted;
