//! A walk over the sequences of an LZ4 block, with and without writing them.
//!
//! A sequence is a token (two 4-bit lengths), more length bytes, literals, a 16-bit offset, more length bytes. The last one ends after its
//! literals, which is the only mark of a complete block. A block cut elsewhere is detected; one cut just after some literals passes for a
//! shorter block.

use std::ops::ControlFlow;

/// The shortest match; encoded lengths count from here.
const MIN_MATCH: u64 = 4;

/// Result of walking over a block without decoding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Bytes that decode: all of a complete block, those before the damage of another. Literals count
    /// as far as they are there, a match only as a whole.
    pub decoded_len: u64,
    /// Bytes of the source that these take, which is where the damage is.
    pub encoded_len: usize,
    /// End of the walk.
    pub end: BlockEnd,
}

/// End of the walk over a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// At the end of the block and of the source.
    Complete,
    /// At the end of the source, inside a sequence or where one more is due.
    Cut,
    /// At a match that refers to before the start of the data, or to itself (offset 0).
    BadOffset,
    /// After more decoded bytes than the caller cares for; `decoded_len` is larger than the limit.
    PastLimit,
}

impl BlockShape {
    /// Whether this is a complete block of `len` bytes.
    #[must_use]
    pub fn is_exactly(&self, len: u64) -> bool {
        self.end == BlockEnd::Complete && self.decoded_len == len
    }
}

/// Walks `src` without decoding it, and stops after more than `limit` decoded bytes.
///
/// Accepts exactly the blocks that [`Lz4`](super::Lz4) decodes, without memory for the result and in
/// time proportional to `src`.
#[must_use]
pub fn block_shape(src: &[u8], limit: u64) -> BlockShape {
    walk(
        src,
        |_, decoded_len| {
            if decoded_len > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
}

/// Decodes a damaged block as far as it exists and fits, and returns the number of bytes written to `dst`.
///
/// Those are the first bytes of the original if the block was only cut. If a byte of it was changed, the
/// damage shows later than it begins, or not at all, and the last bytes may be wrong.
pub fn decode_prefix(src: &[u8], dst: &mut [u8]) -> usize {
    let mut made = 0_usize;
    walk(src, |piece, _| {
        made = match piece {
            Piece::Literals(literals) => put(dst, made, literals),
            Piece::Match { offset, len } => repeat(dst, made, offset, len),
        };
        if made == dst.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    made
}

/// The parts of a sequence that decode to something.
enum Piece<'a> {
    Literals(&'a [u8]),
    Match { offset: usize, len: u64 },
}

/// Shows `take` each valid piece with the decoded length after it, until `take` or the block ends.
fn walk<'a>(src: &'a [u8], mut take: impl FnMut(Piece<'a>, u64) -> ControlFlow<()>) -> BlockShape {
    let mut input = Input { src, at: 0 };
    let mut shape = BlockShape { decoded_len: 0, encoded_len: 0, end: BlockEnd::Cut };
    while let Some(token) = input.byte() {
        let Some(len) = input.length(token >> 4) else { break };
        let literals = input.up_to(len);
        let present = literals.len() as u64;
        shape.advance(present, input.at);
        if take(Piece::Literals(literals), shape.decoded_len).is_break() {
            return BlockShape { end: BlockEnd::PastLimit, ..shape };
        }
        if present < len {
            break;
        }
        if input.is_at_end() {
            return BlockShape { end: BlockEnd::Complete, ..shape };
        }
        let Some(offset) = input.offset() else { break };
        if offset == 0 || u64::from(offset) > shape.decoded_len {
            return BlockShape { end: BlockEnd::BadOffset, ..shape };
        }
        let Some(len) = input.length(token & 0xF) else { break };
        let len = len.saturating_add(MIN_MATCH);
        shape.advance(len, input.at);
        if take(Piece::Match { offset: usize::from(offset), len }, shape.decoded_len).is_break() {
            return BlockShape { end: BlockEnd::PastLimit, ..shape };
        }
    }
    shape
}

impl BlockShape {
    fn advance(&mut self, decoded: u64, at: usize) {
        // At most 255 times the source, so this does not saturate.
        self.decoded_len = self.decoded_len.saturating_add(decoded);
        self.encoded_len = at;
    }
}

/// A position in the encoded bytes, never past their end.
struct Input<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        self.up_to(1).first().copied()
    }

    /// A length of which the token holds `nibble`: 15 means that bytes follow to be added, and each 255
    /// that one more does.
    fn length(&mut self, nibble: u8) -> Option<u64> {
        let mut len = u64::from(nibble);
        if nibble == 15 {
            loop {
                let more = self.byte()?;
                len = len.saturating_add(u64::from(more));
                if more != 255 {
                    break;
                }
            }
        }
        Some(len)
    }

    fn offset(&mut self) -> Option<u16> {
        self.up_to(2).try_into().ok().map(u16::from_le_bytes)
    }

    /// The next `len` bytes, or those that are left.
    fn up_to(&mut self, len: u64) -> &'a [u8] {
        let rest = self.src.get(self.at..).unwrap_or_default();
        let len = usize::try_from(len).map_or(rest.len(), |len| len.min(rest.len()));
        self.at = self.at.saturating_add(len);
        rest.get(..len).unwrap_or_default()
    }

    const fn is_at_end(&self) -> bool {
        self.at >= self.src.len()
    }
}

/// Copies `literals` to `dst[made..]` as far as they fit; returns the new `made`.
fn put(dst: &mut [u8], made: usize, literals: &[u8]) -> usize {
    let room = dst.get_mut(made..).unwrap_or_default();
    let len = literals.len().min(room.len());
    if let (Some(room), Some(literals)) = (room.get_mut(..len), literals.get(..len)) {
        room.copy_from_slice(literals);
    }
    made.saturating_add(len)
}

/// Repeats `len` bytes from `offset` back as far as they fit; returns the new `made`.
fn repeat(dst: &mut [u8], made: usize, offset: usize, len: u64) -> usize {
    let Some(from) = made.checked_sub(offset) else { return made };
    let room = dst.len().saturating_sub(made);
    let end = made.saturating_add(usize::try_from(len).map_or(room, |len| len.min(room)));
    let mut to = made;
    while to < end {
        // A match may reach into its own output. The output repeats with period `offset`, so each round can copy everything since `from`.
        let step = end.saturating_sub(to).min(to.saturating_sub(from));
        dst.copy_within(from..from.saturating_add(step), to);
        to = to.saturating_add(step);
    }
    end
}

#[cfg(test)]
mod tests;
