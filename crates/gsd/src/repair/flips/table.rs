//! The entries of an index in their slots, and the order that they stand in.

use std::collections::BTreeSet;

use container_core::Result;

use super::places::Places;
use crate::index::{Index, IndexEntry};
use crate::repair::index;
use crate::repair::input::Damaged;

/// Slots on either side among which one of the same name is looked for.
const NEAR: usize = 4096;

/// The slots of the index that the header points at.
pub(super) struct Table<'t, 'a> {
    pub(super) damaged: &'t Damaged<'a>,
    pub(super) slots: Vec<IndexEntry>,
    names: Option<usize>,
}

impl<'t, 'a> Table<'t, 'a> {
    pub(super) fn read(damaged: &'t Damaged<'a>) -> Result<Option<Self>> {
        let mut slots: Vec<IndexEntry> = Vec::new();
        let mut used = 0;
        for window in damaged.windows(damaged.index_block(), 0) {
            let (_, bytes) = window?;
            let entries = Index::new(&bytes, damaged.order());
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
        let before = (slot.saturating_sub(NEAR)..slot).rev().find(sensible);
        let behind = (slot + 1..self.slots.len()).take(NEAR).find(sensible);
        let same = |other: &IndexEntry| (other.frame, other.id) == (entry.frame, entry.id);
        before.is_none_or(|before| self.follows(&self.slots[before], entry))
            && behind.is_none_or(|behind| self.follows(entry, &self.slots[behind]))
            && (!self.damaged.header.is_v1() || !self.near(slot).any(|other| same(&self.slots[other])))
    }

    /// Slots of entries that make sense around a slot, the nearest before it first.
    pub(super) fn near(&self, slot: usize) -> impl Iterator<Item = usize> {
        let before = (slot.saturating_sub(NEAR)..slot).rev();
        let behind = (slot + 1..self.slots.len()).take(NEAR);
        before.chain(behind).filter(|slot| self.is_sensible(&self.slots[*slot]))
    }

    /// Whether an entry in a slot leaves frames before its own without any.
    pub(super) fn leaps(&self, slot: usize, entry: &IndexEntry) -> bool {
        let mut before = (slot.saturating_sub(NEAR)..slot).rev().map(|slot| &self.slots[slot]);
        let before = before.find(|before| self.is_sensible(before)).map(|before| before.frame);
        entry.frame > before.map_or(0, |frame| frame.saturating_add(1))
    }

    /// Whether a chunk lies behind one of a name that those of its own name do not lie behind in the frames around it.
    pub(super) fn is_out_of_turn(
        &self,
        places: &Places,
        in_question: &BTreeSet<usize>,
        slot: usize,
        entry: &IndexEntry,
    ) -> bool {
        /// Frames that are looked at.
        const FRAMES: usize = 8;
        let turn = |slot: usize, entry: &IndexEntry| {
            let [before, _] = places.beside(slot, entry);
            // The first of its frame comes behind none.
            before
                .map(|before| &self.slots[before])
                .filter(|before| before.frame == entry.frame)
                .map(|before| before.id)
        };
        let own = turn(slot, entry);
        let is_other = |other: &usize| self.slots[*other].id == entry.id && !in_question.contains(other);
        let mut others = self.near(slot).filter(is_other).take(FRAMES).peekable();
        others.peek().is_some() && !others.any(|other| turn(other, &self.slots[other]) == own)
    }
}
