//! LZ4 blocks, fast on shuffled data.
//!
//! A block is a list of sequences: a token of two nibbles (literals, match length - 4), more length bytes where a nibble is 15,
//! the literals, a two-byte little-endian offset, more length bytes. The last sequence stops after its literals.

mod decode;
mod encode;
mod fault;
pub(crate) mod high_compression;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use decode::{decode, decode_prefix, decode_prefix_with_dictionary, decode_with_dictionary};
pub(crate) use encode::Encoder;
pub(crate) use fault::Fault;

/// The farthest that a match reaches back.
const WINDOW: usize = 65_535;
/// The shortest match that the format can express.
const MIN_MATCH: usize = 4;
/// Matches start at least this far from the end of the data, which the reference decoder insists on.
const LAST_START: usize = 12;
/// Bytes at the end that are always literals.
const LAST_LITERALS: usize = 5;

/// Puts what matches can reach of `dictionary` and then `src` into `joined`; the length of the former.
fn join(joined: &mut Vec<u8>, dictionary: &[u8], src: &[u8]) -> usize {
    let reachable = &dictionary[dictionary.len().saturating_sub(WINDOW)..];
    joined.clear();
    joined.extend_from_slice(reachable);
    joined.extend_from_slice(src);
    reachable.len()
}
