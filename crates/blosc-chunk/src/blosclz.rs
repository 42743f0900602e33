//! BloscLZ, the descendant of FastLZ that Blosc brought along.
//!
//! A stream is a list of operations that each begin with a control byte. Under 32 it is one less than a number of literals;
//! otherwise its upper three bits are the length of a match (less 2; 7 means that more bytes follow) and the lower five the high
//! bits of its distance. The first operation is a run of literals with a marker in the bit that would make it a match, and the
//! last one is a run of literals, too.

mod decode;
mod encode;
mod entropy_probe;
mod hash_table;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use crate::lz4::Fault;
pub(crate) use decode::{decode, decode_prefix};
pub(crate) use encode::Encoder;

/// Largest number of literals in a run.
const MAX_RUN: usize = 32;
/// Distances from here on take two bytes more.
const MIN_FAR_DISTANCE: usize = 8192;
/// The farthest that a match is written, by us as by C-Blosc.
const MAX_DISTANCE: usize = 73_724;
/// The shortest match that the format can express.
const MIN_MATCH: usize = 3;
