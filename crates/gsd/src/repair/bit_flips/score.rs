//! Scores an entry in a slot.

use container_core::Result;

use super::candidates::Candidates;
use super::index_table::IndexTable;
use super::intervals::{IntervalEnd, Intervals};
use crate::index::IndexEntry;

/// Score of an entry that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Score {
    /// Among the others, and with the shape of one of the same name.
    Alike,
    /// Among the others.
    SidecarFile,
}

impl IndexTable<'_, '_> {
    /// Scores the fit of an entry in a slot.
    pub(super) fn score(
        &self,
        intervals: &Intervals,
        candidates: &Candidates,
        slot: usize,
        entry: &IndexEntry,
    ) -> Result<Option<Score>> {
        if !self.is_sensible(entry) || entry.size() == Some(0) || !self.in_order(slot, entry) {
            return Ok(None);
        }
        let Some(end) = intervals.is_between(self.damaged, &self.slots, slot, entry)? else {
            return Ok(None);
        };
        let mut named = self.similar_entries(candidates, slot, entry.id).peekable();
        let is_new = named.peek().is_none();
        let mut formed = named.filter(|other| (other.type_code, other.m) == (entry.type_code, entry.m));
        let first = formed.next();
        let is_resized = self.slots[slot].size() != entry.size();
        // Nothing says which type a name has that is there once.
        let is_new = is_new && self.slots[slot].type_code == entry.type_code;
        Ok(if first.is_some_and(|first| first.n == entry.n) || formed.any(|other| other.n == entry.n) {
            Some(Score::Alike)
        } else {
            // A last chunk that is too long may as well have lost its end.
            let is_clear = end == IntervalEnd::AtAnother || !is_resized;
            (is_clear && (is_new || first.is_some())).then_some(Score::SidecarFile)
        })
    }

    /// Entries of a name around a slot that nothing is wrong with.
    pub(super) fn similar_entries(
        &self,
        candidates: &Candidates,
        slot: usize,
        id: u16,
    ) -> impl Iterator<Item = IndexEntry> {
        let is_sound = move |other: &usize| !candidates.wrong.contains(other);
        let own = move |other: &IndexEntry| other.id == id;
        self.near(slot).filter(is_sound).map(|other| self.slots[other]).filter(own)
    }
}
