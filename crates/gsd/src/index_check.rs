//! Fast validation of index entries.
//!
//! Most files have a valid index. Each entry is checked by a few operations without a branch, so that ten million entries take no
//! longer than reading them. Where a check fails, `index_scan` determines the fault, starting at that slot. Slots that pass here
//! have no fault in `index_scan`.

use container_core::dtype::ByteOrder;

use crate::index::IndexBlock;
use crate::index_scan::Rules;

/// Number of entries that are checked together.
const ENTRIES_PER_BLOCK: usize = 64;

/// Number of leading slots that are used, valid and in order. Some valid ones may be left out at the end, and all of a big-endian
/// index.
pub(crate) fn valid_slots(index: IndexBlock<'_>, rules: &Rules<'_>) -> usize {
    if index.order() == ByteOrder::Big {
        return 0;
    }
    let slots = index.slots();
    if rules.header.is_v1() { count::<true>(slots, rules) } else { count::<false>(slots, rules) }
}

/// True where no bit is set in the slots from `start` on.
pub(crate) fn is_zero(index: IndexBlock<'_>, start: usize) -> bool {
    let rest = index.slots().get(start..).unwrap_or_default();
    rest.chunks(ENTRIES_PER_BLOCK).all(|block| {
        let words = block.iter().flat_map(|slot| slot.as_chunks::<8>().0);
        words.fold(0, |all, word| all | u64::from_ne_bytes(*word)) == 0
    })
}

fn count<const V1: bool>(slots: &[[u8; 32]], rules: &Rules<'_>) -> usize {
    let names = rules.names as u64;
    let mut last: Option<Key> = None;
    let mut sound = 0_usize;
    for block in slots.chunks(ENTRIES_PER_BLOCK) {
        let mut all = true;
        let mut before = last;
        for slot in block {
            let (entry, key) = fields(slot);
            let ordered = match before {
                None => true,
                Some(before) if V1 => key.frame >= before.frame,
                Some(before) => {
                    (key.frame > before.frame) | ((key.frame == before.frame) & (key.id > before.id))
                }
            };
            all &= ordered & (key.frame < rules.frames) & (key.id < names) & entry.is_sound(rules.file_len);
            before = Some(key);
        }
        if !all {
            break;
        }
        last = before;
        sound = sound.saturating_add(block.len());
    }
    sound
}

#[derive(Clone, Copy)]
struct Key {
    frame: u64,
    id: u64,
}

struct Words {
    n: u64,
    location: u64,
    m: u64,
    type_code: u64,
    flags: u64,
}

fn fields(slot: &[u8; 32]) -> (Words, Key) {
    let [frame, n, location, rest] = bytemuck::cast::<[u8; 32], [[u8; 8]; 4]>(*slot).map(u64::from_le_bytes);
    let words =
        Words { n, location, m: rest & 0xffff_ffff, type_code: (rest >> 48) & 0xff, flags: rest >> 56 };
    (words, Key { frame, id: (rest >> 32) & 0xffff })
}

impl Words {
    /// True for a valid type, at least one column, no flags, and a chunk within the file.
    fn is_sound(&self, file_len: u64) -> bool {
        /// By type code, four bits each: the logarithm of the element's size.
        const SIZES: u64 = 0x0323_2103_2100;
        let size = 1_u64 << ((SIZES >> ((self.type_code & 15) << 2)) & 15);
        // At most 2^32 · 8.
        let (len, over) = self.n.overflowing_mul(self.m.wrapping_mul(size));
        let known = self.type_code.wrapping_sub(1) < 11;
        // Neither unused nor below 0; the length of a file is below 2^63.
        let placed = self.location.wrapping_sub(1) < file_len;
        known
            & (self.m != 0)
            & (self.flags == 0)
            & placed
            & !over
            & (len <= file_len.wrapping_sub(self.location))
    }
}

#[cfg(test)]
mod tests;
