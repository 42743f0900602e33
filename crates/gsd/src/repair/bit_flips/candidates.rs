//! Entries that may have a flipped bit, and the rule that each violates.

use std::collections::{BTreeSet, HashMap};

use container_core::Result;

use super::index_table::IndexTable;
use super::intervals::Intervals;
use crate::index::IndexEntry;

/// Number of entries that are tried: an index with more has another kind of damage.
pub(super) const MAX_CANDIDATES: usize = 256;

/// The rule that an entry violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// A rule of all entries: it is not valid, is not in order or overlaps another.
    Rules,
    /// Nothing but that it lies apart from others.
    Place,
    /// Nothing but that it is unlike others of its name.
    Form,
}

/// Slots of entries that may have a flipped bit.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// They break a rule, or lie beside bytes that are nobody's.
    pub(super) wrong: BTreeSet<usize>,
    /// They are unlike others of their name, or those are.
    pub(super) unlike: BTreeSet<usize>,
}

impl Candidates {
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.wrong.iter().chain(&self.unlike).copied()
    }
}

impl IndexTable<'_, '_> {
    /// Slots of entries that make no sense, are not in order, lie over others or apart from them, or are unlike those of their
    /// name. `None` where there are too many.
    pub(super) fn candidates(&self, intervals: &Intervals) -> Result<Option<Candidates>> {
        let mut wrong = intervals.candidates(self.damaged, &self.slots)?;
        let mut unlike = BTreeSet::new();
        let mut forms: HashMap<u16, (u8, u32, usize)> = HashMap::new();
        let mut last: Option<usize> = None;
        for (slot, entry) in self.slots.iter().enumerate() {
            if wrong.len() > MAX_CANDIDATES {
                return Ok(None);
            }
            if !self.is_sensible(entry) {
                wrong.extend((*entry != IndexEntry::default()).then_some(slot));
                continue;
            }
            if let Some(before) = last.filter(|before| !self.follows(&self.slots[*before], entry)) {
                wrong.extend([before, slot]);
            }
            last = Some(slot);
            let before = forms.insert(entry.id, (entry.type_code, entry.m, slot));
            if let Some((type_code, m, before)) = before
                && (type_code, m) != (entry.type_code, entry.m)
                && unlike.len() < MAX_CANDIDATES
            {
                unlike.extend([before, slot]);
            }
        }
        unlike.retain(|slot| !wrong.contains(slot));
        Ok(Some(Candidates { wrong, unlike }))
    }

    /// Returns the rule that an entry violates.
    pub(super) fn violation(&self, intervals: &Intervals, slot: usize) -> Result<Violation> {
        let entry = &self.slots[slot];
        let is_wrong =
            !self.is_sensible(entry) || !self.in_order(slot, entry) || intervals.is_over_another(slot, entry);
        Ok(if is_wrong {
            Violation::Rules
        } else if entry.size() != Some(0)
            && intervals.is_between(self.damaged, &self.slots, slot, entry)?.is_some()
        {
            Violation::Form
        } else {
            Violation::Place
        })
    }
}
