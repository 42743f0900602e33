//! Index entries with one flipped bit.
//!
//! Entries are sorted, and chunks lie one behind the other in the order of writing, each of the type and with the columns that its
//! name has in other frames. Where an entry fits none of this, and of the 256 entries that are one bit away exactly one does, that
//! one was written. An entry that breaks no rule, and only leaves a gap, has to have the very shape of a neighbour as well.

mod candidates;
mod index_table;
mod intervals;
mod score;
mod select;

use std::collections::{BTreeMap, BTreeSet};

use container_core::Result;
use container_core::dtype::ByteOrder;
use container_core::report::RepairItem;

use super::damaged_file::DamagedFile;
use super::name_recovery;
use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;
use index_table::IndexTable;
use select::Selection;

/// Entries that are gone through for what is wrong with them when one of them is another, for all that are tried.
const MAX_WORK: usize = 1 << 26;

/// An entry as it is, and as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flip {
    /// Offset of its slot.
    pub(crate) at: u64,
    pub(crate) was: IndexEntry,
    pub(crate) is: IndexEntry,
}

impl Flip {
    /// Returns the field that differs, and its two values.
    fn change(&self) -> (&'static str, i128, i128) {
        let (was, is) = (&self.was, &self.is);
        let fields: [(&'static str, i128, i128); 7] = [
            ("frame", was.frame.into(), is.frame.into()),
            ("N", was.n.into(), is.n.into()),
            ("location", was.location.into(), is.location.into()),
            ("M", was.m.into(), is.m.into()),
            ("id", was.id.into(), is.id.into()),
            ("type", was.type_code.into(), is.type_code.into()),
            ("flags", was.flags.into(), is.flags.into()),
        ];
        fields.into_iter().find(|(_, was, is)| was != is).unwrap_or(fields[6])
    }

    /// Describes the flip: the field that has another value.
    pub(crate) fn what(&self, name: &str) -> String {
        let (field, was, is) = self.change();
        let frame = self.is.frame;
        format!(
            "{name} of frame {frame}: {field} {is} in its index entry, not {was}, is one bit away and fits"
        )
    }
}

/// The entries that are one bit off; none where there is no whole index.
pub(crate) fn find(damaged: &DamagedFile<'_>) -> Result<Vec<Flip>> {
    let Some(block) = damaged.header.index_range().filter(|_| damaged.has_index()) else {
        return Ok(Vec::new());
    };
    let Some(mut table) = IndexTable::read(damaged)? else { return Ok(Vec::new()) };
    // Where the names are elsewhere, chunks may seem to lie among them, and fit where the names are.
    if name_recovery::at_header_offset(damaged, table.names.unwrap_or(0))?.is_none() {
        return Ok(Vec::new());
    }
    let mut work = MAX_WORK;
    let mut written: BTreeMap<usize, IndexEntry> = BTreeMap::new();
    // Slots of which more than one could be the damaged one.
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    loop {
        let mut likely = table.likely()?;
        likely.retain(|(slot, ..)| !written.contains_key(slot) && !unclear.contains(slot));
        let evaluations = (likely.len() + 1) * table.slots.len();
        let Some(rest) = work.checked_sub(evaluations).filter(|_| !likely.is_empty()) else { break };
        work = rest;
        match table.best(&likely)? {
            Selection::One((slot, is, _)) => {
                written.insert(slot, std::mem::replace(&mut table.slots[slot], is));
            }
            Selection::Several(slots) => unclear.extend(slots),
            Selection::None => break,
        }
    }
    // An index that begins with nothing that makes sense may begin elsewhere.
    if !table.slots.first().is_some_and(|first| table.is_sensible(first)) {
        return Ok(Vec::new());
    }
    let flip = |(slot, was): (usize, IndexEntry)| Flip {
        at: block.start + slot as u64 * INDEX_ENTRY_LEN,
        was,
        is: table.slots[slot],
    };
    Ok(written.into_iter().map(flip).collect())
}

/// Reports the entries that were repaired.
pub(super) fn report(damaged: &DamagedFile<'_>, flips: &[Flip]) -> Result<Vec<RepairItem>> {
    let listed = name_recovery::at_header_offset(damaged, 0)?.map(|found| found.names).unwrap_or_default();
    let item = |flip: &Flip| {
        let name = listed.get(usize::from(flip.is.id)).and_then(Option::as_deref);
        let name =
            name.map_or_else(|| format!("name {}", flip.is.id), |name| String::from_utf8_lossy(name).into());
        RepairItem::new(flip.at..flip.at + INDEX_ENTRY_LEN, flip.what(&name))
    };
    Ok(flips.iter().map(item).collect())
}

/// The entries as they were written, and where.
pub(super) fn patches(flips: &[Flip], order: ByteOrder) -> Vec<(u64, Vec<u8>)> {
    flips.iter().map(|flip| (flip.at, flip.is.to_bytes(order).to_vec())).collect()
}
