//! Selects the entry to correct next: the correction with which the most other entries fit.

use std::collections::BTreeSet;

use container_core::Result;
use container_core::dtype::ByteOrder;

use super::candidates::Violation;
use super::index_table::IndexTable;
use super::intervals::Intervals;
use super::score::Score;
use crate::index::IndexEntry;

/// A slot, the corrected entry, and its score.
pub(super) type Written = (usize, IndexEntry, Score);

/// The selected correction.
pub(super) enum Selection {
    One(Written),
    /// Slots of entries of which each may be the one.
    Several(Vec<usize>),
    None,
}

impl IndexTable<'_, '_> {
    /// The entries that do not fit, and the one that each may have been.
    pub(super) fn likely(&self) -> Result<Vec<Written>> {
        let intervals = Intervals::of(self)?;
        let candidates = self.candidates(&intervals)?.unwrap_or_default();
        let mut found = Vec::new();
        for slot in candidates.all() {
            let entry = &self.slots[slot];
            if self.score(&intervals, &candidates, slot, entry)?.is_some() {
                continue;
            }
            let breaks = self.violation(&intervals, slot)?;
            let is_usual =
                self.similar_entries(&candidates, slot, entry.id).any(|other| is_alike(&other, entry));
            let (mut alike, mut beside) = (Vec::new(), Vec::new());
            for bit in 0..256 {
                let mut bytes = entry.to_bytes(ByteOrder::Little);
                bytes[bit / 8] ^= 1 << (bit % 8);
                let other = IndexEntry::from_bytes(&bytes, ByteOrder::Little);
                let is_unlikely = match breaks {
                    Violation::Rules => false,
                    // What is between chunks need not be one's own.
                    Violation::Place => is_usual && entry.size() != other.size(),
                    // Programs may change the type of a name, and mean it.
                    Violation::Form => other.id == entry.id,
                };
                if is_unlikely || (other.frame != entry.frame && self.skips_frames(slot, &other)) {
                    continue;
                }
                let Some(fit) = self.score(&intervals, &candidates, slot, &other)? else { continue };
                let is_moved = other.location != entry.location;
                if is_moved && self.is_out_of_turn(&intervals, &candidates.wrong, slot, &other) {
                    continue;
                }
                match fit {
                    Score::Alike => alike.push(other),
                    Score::SidecarFile => beside.push(other),
                }
            }
            match (&alike[..], &beside[..]) {
                ([one], _) => found.push((slot, *one, Score::Alike)),
                ([], [one]) if breaks == Violation::Rules => found.push((slot, *one, Score::SidecarFile)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Of entries that may have been others the one with which the most fit. Where it is one of several that would each do instead
    /// of the others, all of them.
    pub(super) fn best(&mut self, likely: &[Written]) -> Result<Selection> {
        let slots: BTreeSet<usize> = likely.iter().map(|(slot, ..)| *slot).collect();
        let (misfits, _) = self.cost(&slots)?;
        let mut costs = Vec::new();
        for (slot, is, fit) in likely {
            let was = std::mem::replace(&mut self.slots[*slot], *is);
            let cost = self.cost(&slots)?;
            self.slots[*slot] = was;
            if cost.0 < misfits {
                costs.push(((cost, *fit == Score::SidecarFile), (*slot, *is, *fit)));
            }
        }
        let Some(least) = costs.iter().map(|(cost, _)| *cost).min() else { return Ok(Selection::None) };
        let mut best = costs.into_iter().filter(|(cost, _)| *cost == least).map(|(_, one)| one);
        let Some(first) = best.next() else { return Ok(Selection::None) };
        let was = std::mem::replace(&mut self.slots[first.0], first.1);
        let intervals = Intervals::of(self)?;
        let candidates = self.candidates(&intervals)?.unwrap_or_default();
        let fits = |slot: usize| self.score(&intervals, &candidates, slot, &self.slots[slot]);
        let instead = best.map(|(slot, ..)| Ok(fits(slot)?.map(|_| slot))).collect::<Result<Vec<_>>>()?;
        let instead: Vec<usize> = instead.into_iter().flatten().chain([first.0]).collect();
        // What it lay over, or apart from, may be what is damaged.
        let [before, behind] = intervals.neighbours(first.0, &first.1);
        let beside = [before, behind].into_iter().flatten().map(fits).collect::<Result<Vec<_>>>()?;
        let is_alone = self.is_sensible(&was) && self.in_order(first.0, &was) && beside.contains(&None);
        self.slots[first.0] = was;
        let is_clear = instead.len() == 1 && !is_alone;
        Ok(if is_clear { Selection::One(first) } else { Selection::Several(instead) })
    }

    /// Counts the entries that do not fit, and those of the entries in question that are odd in another way.
    fn cost(&self, in_question: &BTreeSet<usize>) -> Result<(usize, usize)> {
        let intervals = Intervals::of(self)?;
        let Some(candidates) = self.candidates(&intervals)? else { return Ok((usize::MAX, 0)) };
        let fits = candidates.all().map(|slot| self.score(&intervals, &candidates, slot, &self.slots[slot]));
        let misfits = fits.collect::<Result<Vec<_>>>()?.into_iter().filter(Option::is_none).count();
        let is_odd = |slot: &&usize| {
            let (slot, entry) = (**slot, &self.slots[**slot]);
            self.skips_frames(slot, entry) || self.is_out_of_turn(&intervals, in_question, slot, entry)
        };
        Ok((misfits, in_question.iter().filter(is_odd).count()))
    }
}

fn is_alike(one: &IndexEntry, other: &IndexEntry) -> bool {
    (one.type_code, one.n, one.m) == (other.type_code, other.n, other.m)
}
