//! Decoder for one bzip2 block.
//!
//! Fast for the blocks that encoders write, it gives up on the rest: blocks that are damaged, that use features withdrawn in version 0.9.5,
//! or that no encoder produces. The library then decides about them. A block is only returned where its checksum and its end are right.
//!
//! Spec: only the source of bzip2; its constants are those of `BZ2_decompress`.

use std::ops::Range;

use super::bits::Reader;
use super::blocks::{BLOCK_MAGIC, CRC_LEN};
use super::huffman::{LONGEST, MAX_SYMBOLS, Table};
use super::inverse_bwt::Walk;
use super::move_to_front::Recent;
use super::rle::{crc, expand};
use crate::shared::make_room;

/// Symbols that are read with one table.
const GROUP: usize = 50;

/// Tables of a block.
const TABLES: Range<usize> = 2..7;

/// Memory that blocks have one after the other.
#[derive(Default)]
pub(super) struct Unpacker {
    walk: Walk,
    tables: Vec<Table>,
    selectors: Vec<u8>,
    /// The transform of the text.
    last: Vec<u8>,
    text: Vec<u8>,
    /// The decoded bytes of the block.
    pub(super) out: Vec<u8>,
}

impl Unpacker {
    /// Decodes the block in the bits `range`, of at most `most_text` bytes, which expand to at most `most`, into `out`. `None` where the
    /// block is to be left to the library.
    pub(super) fn unpack(
        &mut self,
        src: &[u8],
        range: &Range<u64>,
        most_text: usize,
        most: u64,
    ) -> Option<()> {
        self.out.clear();
        let mut bits = Reader::new(src, range.start);
        let is_block = bits.take(24)? == BLOCK_MAGIC >> 24 && bits.take(24)? == BLOCK_MAGIC & 0xff_ffff;
        let expected = bits.take(CRC_LEN)?;
        let is_randomised = bits.take(1)? == 1;
        if !is_block || is_randomised {
            return None;
        }
        let first = usize::try_from(bits.take(24)?).ok()?;
        let (recent, used) = alphabet(&mut bits)?;
        // Two symbols of runs, places from the second on, the end.
        let symbols = used.checked_add(2)?;
        self.codes(&mut bits, symbols)?;
        self.symbols(&mut bits, recent, symbols, most_text)?;
        if bits.position() != range.end {
            return None;
        }
        self.walk.text(&self.last, first, &mut self.text)?;
        expand(&self.text, most, &mut self.out)?;
        (u64::from(crc(&self.out)) == expected).then_some(())
    }

    /// Reads which tables are used when, and the tables.
    fn codes(&mut self, bits: &mut Reader<'_>, symbols: usize) -> Option<()> {
        let tables = usize::try_from(bits.take(3)?).ok().filter(|tables| TABLES.contains(tables))?;
        let count = usize::try_from(bits.take(15)?).ok()?;
        let mut order: [u8; 8] = std::array::from_fn(|at| at.to_le_bytes()[0]);
        self.selectors.clear();
        make_room(&mut self.selectors, count).ok()?;
        for _ in 0..count {
            let mut place = 0_usize;
            while bits.take(1)? == 1 {
                place = place.checked_add(1).filter(|place| *place < tables)?;
            }
            let upto = order.get_mut(..=place)?;
            upto.rotate_right(1);
            self.selectors.push(*upto.first()?);
        }
        self.tables.resize_with(6, || Table::EMPTY);
        for table in self.tables.get_mut(..tables)? {
            let mut lens = [0; MAX_SYMBOLS];
            let lens = lens.get_mut(..symbols)?;
            let mut len = bits.take(5)?;
            for slot in &mut *lens {
                loop {
                    if !(1..=LONGEST as u64).contains(&len) {
                        return None;
                    }
                    if bits.take(1)? == 0 {
                        break;
                    }
                    len = if bits.take(1)? == 0 { len.checked_add(1)? } else { len.checked_sub(1)? };
                }
                [*slot, ..] = len.to_le_bytes();
            }
            table.set(lens)?;
        }
        Some(())
    }

    /// Reads the symbols up to the end of the block, and makes of them the transform.
    fn symbols(&mut self, bits: &mut Reader<'_>, recent: Recent, symbols: usize, most: usize) -> Option<()> {
        let mut recent = recent;
        let end = symbols.checked_sub(1)?;
        let more = most.saturating_sub(self.last.len());
        make_room(&mut self.last, more).ok()?;
        self.last.resize(most, 0);
        // Bytes made, and the length of a run so far, to which the next digit adds multiples of `digit`.
        let (mut made, mut run, mut digit) = (0_usize, 0_usize, 1_usize);
        for selector in &self.selectors {
            let table = self.tables.get(usize::from(*selector))?;
            let mut left = GROUP;
            while left > 0 {
                // Room for two codes each time.
                bits.refill();
                for _ in 0..2 {
                    let symbol = table.symbol(bits)?;
                    if symbol < 2 {
                        // Digits of 1 and 2 with the least first.
                        run = run.checked_add(digit.checked_shl(u32::from(symbol == 1))?)?;
                        digit = digit.checked_mul(2).filter(|_| run <= most)?;
                        continue;
                    }
                    if run > 0 {
                        let after = made.checked_add(run)?;
                        self.last.get_mut(made..after)?.fill(recent.first());
                        (made, run, digit) = (after, 0, 1);
                    }
                    if symbol == end {
                        self.last.truncate(made);
                        return Some(());
                    }
                    *self.last.get_mut(made)? = recent.take(symbol.checked_sub(1)?);
                    made = made.checked_add(1)?;
                }
                left = left.saturating_sub(2);
            }
        }
        None
    }
}

/// The bytes that occur, in their order, and their number.
fn alphabet(bits: &mut Reader<'_>) -> Option<(Recent, usize)> {
    let mut bytes = [0; 256];
    let mut used = 0_usize;
    let sixteens = bits.take(16)?;
    for high in (0..16_u8).filter(|high| sixteens << high & 0x8000 != 0) {
        let sixteen = bits.take(16)?;
        for low in (0..16_u8).filter(|low| sixteen << low & 0x8000 != 0) {
            *bytes.get_mut(used)? = high << 4 | low;
            used = used.checked_add(1)?;
        }
    }
    (used > 0).then(|| (Recent::new(&bytes), used))
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests;
