#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod build;
mod damage;
mod gaps;
mod intact;
mod names;
mod uncommitted;
