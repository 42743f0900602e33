//! Inverse Burrows-Wheeler transform: restores text from bytes that are sorted by the text that follows them.
//!
//! Each byte gives the index of the next one, anywhere in a table of megabytes, so the time goes into cache misses. The walk therefore
//! starts at many places at once and advances a few of these lanes in turn. Their pieces are joined once their order is established.

use crate::shared::make_room;

/// Most bytes of a block.
pub(super) const MAX_BLOCK_LEN: usize = 900_000;

/// Number of starts: so many that the last pieces, for which the others wait, are short.
const STARTS: usize = 1024;

/// Number of lanes that advance in turn.
const LANES: usize = 8;

/// Number of steps between two checks whether a lane has reached the start of another.
const STEPS_PER_CHECK: usize = 128;

/// Set in the table where a piece begins, and another one ends.
const START: u32 = 1 << 31;

/// Memory that blocks have one after the other.
#[derive(Default)]
pub(super) struct Walk {
    /// For each byte of the sorted text: itself in the lowest eight bits, above it the place of the one that follows.
    table: Vec<u32>,
    lanes: Vec<Vec<u8>>,
    pieces: Vec<Piece>,
}

/// The part between two starts.
#[derive(Clone, Copy, Default)]
struct Piece {
    lane: usize,
    from: usize,
    to: usize,
    /// Index of the start after it.
    next: usize,
}

/// A piece in the making.
#[derive(Clone, Copy)]
struct Lane {
    /// Index of the lane that its bytes go to.
    lane: usize,
    piece: usize,
    from: usize,
    /// The place of its next byte.
    at: u32,
}

impl Walk {
    /// Appends the text whose transform is `last` to `out`; `first` is the index of its first byte among the sorted ones. `None` for an
    /// index out of range, more than [`MAX_BLOCK_LEN`], or when memory runs out.
    pub(super) fn text(&mut self, last: &[u8], first: usize, out: &mut Vec<u8>) -> Option<()> {
        if first >= last.len() || last.len() > MAX_BLOCK_LEN {
            return None;
        }
        out.clear();
        make_room(out, last.len()).ok()?;
        self.link(last)?;
        if last.len() < STARTS.checked_mul(LANES)? {
            let mut at = first;
            for _ in 0..last.len() {
                let [byte, ..] = self.table.get(at)?.to_le_bytes();
                out.push(byte);
                at = place(*self.table.get(at)?)?;
            }
            return Some(());
        }
        self.cut(first)?;
        // From piece to piece, until it is the first one's turn again.
        let mut number = STARTS;
        loop {
            let piece = self.pieces.get(number)?;
            out.extend_from_slice(self.lanes.get(piece.lane)?.get(piece.from..piece.to)?);
            number = piece.next;
            if number == STARTS {
                break;
            }
        }
        // Of a text that repeats itself this was only the first time.
        while out.len() < last.len() {
            let len = out.len().min(last.len().saturating_sub(out.len()));
            out.extend_from_within(..len);
        }
        Some(())
    }

    fn link(&mut self, last: &[u8]) -> Option<()> {
        let mut places = starts(last);
        let more = last.len().saturating_sub(self.table.len());
        make_room(&mut self.table, more).ok()?;
        self.table.resize(last.len(), 0);
        for (at, byte) in (0_u32..).zip(last) {
            let place = places.get_mut(usize::from(*byte))?;
            *self.table.get_mut(usize::try_from(*place).ok()?)? = at << 8 | u32::from(*byte);
            *place = place.wrapping_add(1);
        }
        Some(())
    }

    /// Walks from all starts, of which the last is `first`.
    fn cut(&mut self, first: usize) -> Option<()> {
        let stride = self.table.len().div_ceil(STARTS);
        let number_of = |at: usize| if at == first { STARTS } else { at.checked_div(stride).unwrap_or(0) };
        self.pieces.clear();
        self.pieces.resize(STARTS.checked_add(1)?, Piece::default());
        let mut starts = (0..self.table.len()).step_by(stride).filter(|at| *at != first).chain([first]);
        for at in starts.clone() {
            *self.table.get_mut(at)? |= START;
        }
        self.lanes.resize_with(LANES, Vec::new);
        let mut active: Vec<Lane> = Vec::with_capacity(LANES);
        for (lane, bytes) in self.lanes.iter_mut().enumerate() {
            bytes.clear();
            if let Some(at) = starts.next() {
                active.push(begin(&self.table, lane, bytes, number_of(at), at)?);
            }
        }
        while !active.is_empty() {
            let Self { table, lanes, .. } = self;
            let done = match active.len() {
                8.. => burst::<8>(table, lanes, &mut active)?,
                4.. => burst::<4>(table, lanes, &mut active)?,
                2.. => burst::<2>(table, lanes, &mut active)?,
                _ => burst::<1>(table, lanes, &mut active)?,
            };
            if !done {
                continue;
            }
            let mut at = 0;
            while let Some(lane) = active.get_mut(at) {
                let here = usize::try_from(lane.at).ok()?;
                let bytes = self.lanes.get_mut(lane.lane)?;
                if *self.table.get(here)? < START {
                    at = at.saturating_add(1);
                    continue;
                }
                *self.pieces.get_mut(lane.piece)? =
                    Piece { lane: lane.lane, from: lane.from, to: bytes.len(), next: number_of(here) };
                match starts.next() {
                    Some(start) => *lane = begin(&self.table, lane.lane, bytes, number_of(start), start)?,
                    None => _ = active.swap_remove(at),
                }
            }
        }
        Some(())
    }
}

/// Position of the first byte of each value when the bytes are sorted.
fn starts(bytes: &[u8]) -> [u32; 256] {
    // Several counts, so that equal bytes in a row need not wait for each other.
    let mut counts = [[0_u32; 256]; 4];
    for four in bytes.chunks(4) {
        for (count, byte) in counts.iter_mut().zip(four) {
            if let Some(count) = count.get_mut(usize::from(*byte)) {
                *count = count.wrapping_add(1);
            }
        }
    }
    let mut starts = [0; 256];
    let mut sum = 0_u32;
    for (value, start) in starts.iter_mut().enumerate() {
        *start = sum;
        let all = counts.iter().filter_map(|count| count.get(value));
        sum = all.fold(sum, |sum, count| sum.wrapping_add(*count));
    }
    starts
}

/// Takes the first byte of the piece that begins at `at`.
fn begin(table: &[u32], lane: usize, bytes: &mut Vec<u8>, piece: usize, at: usize) -> Option<Lane> {
    let entry = *table.get(at)? & !START;
    let from = bytes.len();
    let [byte, ..] = entry.to_le_bytes();
    bytes.push(byte);
    Some(Lane { lane, piece, from, at: entry >> 8 })
}

fn place(entry: u32) -> Option<usize> {
    usize::try_from(entry >> 8).ok()
}

/// Advances the first `N` lanes for some steps, or until one of them reaches a start; returns whether one did.
fn burst<const N: usize>(table: &[u32], lanes: &mut [Vec<u8>], active: &mut [Lane]) -> Option<bool> {
    let active = active.first_chunk_mut::<N>()?;
    let mut at = active.map(|lane| lane.at);
    let mut taken = [[0_u8; N]; STEPS_PER_CHECK];
    let mut steps = 0_usize;
    for bytes in &mut taken {
        let mut entries = [0; N];
        for (entry, at) in entries.iter_mut().zip(at) {
            *entry = *table.get(usize::try_from(at).ok()?)?;
        }
        if entries.iter().fold(0, |any, entry| any | entry) >= START {
            break;
        }
        for ((entry, at), to) in entries.iter().zip(&mut at).zip(bytes) {
            let [byte, ..] = entry.to_le_bytes();
            *to = byte;
            *at = entry >> 8;
        }
        steps = steps.saturating_add(1);
    }
    let taken = taken.get(..steps)?;
    for (number, (lane, at)) in active.iter_mut().zip(at).enumerate() {
        lane.at = at;
        let out = lanes.get_mut(lane.lane)?;
        make_room(out, steps).ok()?;
        out.extend(taken.iter().filter_map(|bytes| bytes.get(number)));
    }
    Some(steps < STEPS_PER_CHECK)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::cast_possible_truncation)]
mod tests {
    use super::*;

    /// The transform by its definition: the last bytes of all rotations in their order, and which of them is the text itself.
    fn transform(text: &[u8]) -> (Vec<u8>, usize) {
        let twice = [text, text].concat();
        let mut rotations: Vec<usize> = (0..text.len()).collect();
        rotations.sort_by_key(|at| &twice[*at..*at + text.len()]);
        let last = rotations.iter().map(|at| twice[at + text.len() - 1]).collect();
        (last, rotations.iter().position(|at| *at == 0).unwrap())
    }

    #[test]
    fn inverse_bwt_restores_the_text() {
        let mixed = |len: u32, mask: u32| -> Vec<u8> {
            (0..len).map(|at| ((at.wrapping_mul(2_654_435_761) >> 15) & mask).to_le_bytes()[0]).collect()
        };
        let least = (STARTS * LANES) as u32;
        let mut walk = Walk::default();
        for text in [
            b"a".to_vec(),
            b"mississippi".to_vec(),
            mixed(5000, 255),
            mixed(least - 1, 255),
            mixed(least, 255),
            mixed(3 * least + 77, 255),
            mixed(2 * least + 1, 1),
            // A repeated text has a cycle for each repetition.
            mixed(1000, 255).repeat(20),
            mixed(7, 255).repeat(1201),
            vec![9; 9000],
        ] {
            let (last, first) = transform(&text);
            let mut out = Vec::new();
            walk.text(&last, first, &mut out).unwrap();
            assert!(out == text, "{} bytes", text.len());
        }
        let mut out = Vec::new();
        assert!(walk.text(b"", 0, &mut out).is_none());
        assert!(walk.text(b"ab", 2, &mut out).is_none());
        assert!(walk.text(&vec![0; MAX_BLOCK_LEN + 1], 0, &mut out).is_none());
        // Whatever the bytes are, they are some transform.
        walk.text(&mixed(20_000, 255), 17, &mut out).unwrap();
        assert_eq!(out.len(), 20_000);
    }
}
