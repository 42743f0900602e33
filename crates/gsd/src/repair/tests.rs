#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

pub(in crate::repair) mod build;
mod damage;
mod gaps;
mod intact;
mod names;
mod reports;
mod uncommitted;
