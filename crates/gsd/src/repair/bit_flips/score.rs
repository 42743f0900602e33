//! How well an entry fits in a slot.

use container_core::Result;

use super::candidates::Suspects;
use super::index_table::Table;
use super::intervals::{End, Places};
use crate::index::IndexEntry;

/// How well an entry fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Among the others, and with the shape of one of the same name.
    Alike,
    /// Among the others.
    Beside,
}

impl Table<'_, '_> {
    /// How an entry would fit in a slot.
    pub(super) fn fit(
        &self,
        places: &Places,
        suspects: &Suspects,
        slot: usize,
        entry: &IndexEntry,
    ) -> Result<Option<Fit>> {
        if !self.is_sensible(entry) || entry.size() == Some(0) || !self.in_order(slot, entry) {
            return Ok(None);
        }
        let Some(end) = places.meets(self.damaged, &self.slots, slot, entry)? else { return Ok(None) };
        let mut named = self.models(suspects, slot, entry.id).peekable();
        let is_new = named.peek().is_none();
        let mut formed = named.filter(|other| (other.type_code, other.m) == (entry.type_code, entry.m));
        let first = formed.next();
        let is_resized = self.slots[slot].size() != entry.size();
        // Nothing says which type a name has that is there once.
        let is_new = is_new && self.slots[slot].type_code == entry.type_code;
        Ok(if first.is_some_and(|first| first.n == entry.n) || formed.any(|other| other.n == entry.n) {
            Some(Fit::Alike)
        } else {
            // A last chunk that is too long may as well have lost its end.
            let is_clear = end == End::AtAnother || !is_resized;
            (is_clear && (is_new || first.is_some())).then_some(Fit::Beside)
        })
    }

    /// Entries of a name around a slot that nothing is wrong with.
    pub(super) fn models(
        &self,
        suspects: &Suspects,
        slot: usize,
        id: u16,
    ) -> impl Iterator<Item = IndexEntry> {
        let is_sound = move |other: &usize| !suspects.wrong.contains(other);
        let own = move |other: &IndexEntry| other.id == id;
        self.near(slot).filter(is_sound).map(|other| self.slots[other]).filter(own)
    }
}
