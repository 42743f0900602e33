//! The entries of an index by slot, and checks of their order.

use std::collections::BTreeSet;

use container_core::Result;

use super::intervals::Intervals;
use crate::index::{IndexBlock, IndexEntry};
use crate::repair::damaged_file::DamagedFile;
use crate::repair::index;

/// Slots on either side among which one of the same name is looked for.
const MAX_NEIGHBOUR_DISTANCE: usize = 4096;

/// The slots of the index that the header points at.
pub(super) struct IndexTable<'t, 'a> {
    pub(super) damaged: &'t DamagedFile<'a>,
    pub(super) slots: Vec<IndexEntry>,
    /// Number of names that entries need.
    pub(super) names: Option<usize>,
}

impl<'t, 'a> IndexTable<'t, 'a> {
    pub(super) fn read(damaged: &'t DamagedFile<'a>) -> Result<Option<Self>> {
        let mut slots: Vec<IndexEntry> = Vec::new();
        let mut used = 0;
        for window in damaged.windows(damaged.index_block(), 0) {
            let (_, bytes) = window?;
            let entries = IndexBlock::new(&bytes, damaged.order());
            // With what is known of their places, 120 bytes for each.
            damaged.limits.allocate((slots.len() + entries.len()) as u64 * 120)?;
            for entry in entries.iter() {
                slots.push(entry);
                if entry != IndexEntry::default() {
                    used = slots.len();
                }
            }
        }
        slots.truncate(used);
        let sensible = |entry: &&IndexEntry| damaged.entry_problem(entry, None).is_none();
        let listed: Vec<IndexEntry> = slots.iter().filter(sensible).copied().collect();
        let names = index::needed_names(damaged, &listed)?;
        let table = Self { damaged, slots, names: Some(names).filter(|names| *names > 0) };
        Ok((u32::try_from(used).is_ok() && used > 1).then_some(table))
    }

    pub(super) fn is_sensible(&self, entry: &IndexEntry) -> bool {
        // Readers take no other frames, however many there may be.
        entry.frame < self.damaged.header.index_allocated_entries
            && self.damaged.entry_problem(entry, self.names).is_none()
    }

    pub(super) fn follows(&self, before: &IndexEntry, entry: &IndexEntry) -> bool {
        if self.damaged.header.is_v1() {
            before.frame <= entry.frame
        } else {
            (before.frame, before.id) < (entry.frame, entry.id)
        }
    }

    /// Whether an entry in a slot is in order with those around it.
    pub(super) fn in_order(&self, slot: usize, entry: &IndexEntry) -> bool {
        let sensible = |slot: &usize| self.is_sensible(&self.slots[*slot]);
        let before = (slot.saturating_sub(MAX_NEIGHBOUR_DISTANCE)..slot).rev().find(sensible);
        let behind = (slot + 1..self.slots.len()).take(MAX_NEIGHBOUR_DISTANCE).find(sensible);
        let same = |other: &IndexEntry| (other.frame, other.id) == (entry.frame, entry.id);
        before.is_none_or(|before| self.follows(&self.slots[before], entry))
            && behind.is_none_or(|behind| self.follows(entry, &self.slots[behind]))
            && (!self.damaged.header.is_v1() || !self.near(slot).any(|other| same(&self.slots[other])))
    }

    /// Slots of entries that make sense around a slot, the nearest before it first.
    pub(super) fn near(&self, slot: usize) -> impl Iterator<Item = usize> {
        let before = (slot.saturating_sub(MAX_NEIGHBOUR_DISTANCE)..slot).rev();
        let behind = (slot + 1..self.slots.len()).take(MAX_NEIGHBOUR_DISTANCE);
        before.chain(behind).filter(|slot| self.is_sensible(&self.slots[*slot]))
    }

    /// Whether an entry in a slot leaves frames before its own without any.
    pub(super) fn skips_frames(&self, slot: usize, entry: &IndexEntry) -> bool {
        let mut before =
            (slot.saturating_sub(MAX_NEIGHBOUR_DISTANCE)..slot).rev().map(|slot| &self.slots[slot]);
        let before = before.find(|before| self.is_sensible(before)).map(|before| before.frame);
        entry.frame > before.map_or(0, |frame| frame.saturating_add(1))
    }

    /// Whether a chunk lies behind one of a name that those of its own name do not lie behind in the frames around it. Names that those
    /// frames lack, as all but the first lack most, are passed over.
    pub(super) fn is_out_of_turn(
        &self,
        intervals: &Intervals,
        in_question: &BTreeSet<usize>,
        slot: usize,
        entry: &IndexEntry,
    ) -> bool {
        /// Frames that are looked at.
        const MAX_SAMPLE_FRAMES: usize = 8;
        /// Chunks that are passed over.
        const MAX_PASSED_CHUNKS: usize = 64;
        // The slot of the chunk before, in its frame: the first of a frame comes behind none.
        let before = |slot: usize, entry: &IndexEntry| {
            let [before, _] = intervals.neighbours(slot, entry);
            before.filter(|before| self.slots[*before].frame == entry.frame)
        };
        let turn = |slot: usize| before(slot, &self.slots[slot]).map(|before| self.slots[before].id);
        let is_other = |other: &usize| self.slots[*other].id == entry.id && !in_question.contains(other);
        let others: Vec<usize> = self.near(slot).filter(is_other).take(MAX_SAMPLE_FRAMES).collect();
        if others.is_empty() {
            return false;
        }
        let turns: BTreeSet<Option<u16>> = others.iter().map(|other| turn(*other)).collect();
        let is_listed = |id: u16| others.iter().any(|other| self.has_beside(*other, id));
        let mut own = before(slot, entry);
        for _ in 0..MAX_PASSED_CHUNKS {
            let id = own.map(|own| self.slots[own].id);
            if turns.contains(&id) {
                return false;
            }
            match own {
                Some(passed) if !is_listed(self.slots[passed].id) => {
                    own = before(passed, &self.slots[passed]);
                }
                _ => return true,
            }
        }
        true
    }

    /// Whether the frame of the entry in a slot has a chunk of a name.
    fn has_beside(&self, slot: usize, id: u16) -> bool {
        let frame = self.slots[slot].frame;
        let own = move |other: &&IndexEntry| other.frame == frame;
        let before = self.slots[..slot].iter().rev().take_while(own).take(MAX_NEIGHBOUR_DISTANCE);
        let behind = self.slots[slot..].iter().take_while(own).take(MAX_NEIGHBOUR_DISTANCE);
        before.chain(behind).any(|other| other.id == id)
    }
}
