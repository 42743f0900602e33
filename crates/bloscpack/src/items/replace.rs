//! Changing one item of a variable-length file.
//!
//! The new chunk is written next to the old one and synced, if the slot of the item (up to the next chunk, with what was reserved) has
//! room for it, and only then does the item's offset point to it: a crash leaves the old item or the new one. The offset is eight
//! bytes, which disks write whole unless they straddle two sectors.

use std::ops::Range;
use std::path::Path;

use container_core::container::OpenOptions;
use container_core::write::storage::Storage;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result};

use crate::append::{AppendOptions, ExistingFile};
use crate::items::writer::check_item;
use crate::one_chunk::encode_chunk;
use crate::stored_chunk::stored_range;
use crate::writer::OrderedOutput;

/// Conditions under which an item is replaced in place, without writing the file anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InPlace {
    /// Only where a crash leaves the old item or the new one.
    #[default]
    Safe,
    /// Over the old item as well, where the new one fits: a crash may then leave neither, which its digest reveals.
    Over,
}

/// Outcome of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The item was written into its slot.
    InPlace,
    /// The file was written anew, and replaced the old one in one step.
    Rewritten,
}

/// Replaces item `index` of the variable-length file at `path`: in place where that is possible, or else in a new file that takes
/// the old one's place in one step, with `reserve` bytes left free after the item.
///
/// # Errors
/// `Usage` for a file of another kind, an item that does not exist, one that does not match the declared type, and while another
/// program holds the lock on the file; the first error of a file that is damaged; `Io`.
pub fn replace(
    path: impl AsRef<Path>,
    index: u64,
    item: &[u8],
    in_place: InPlace,
    reserve: u64,
    options: &AppendOptions,
) -> Result<Replaced> {
    let mut open = OpenOptions::default();
    open.limits = options.limits;
    let mut old = ExistingFile::open(path.as_ref(), &open)?;
    if !old.layout.header().dialect.is_variable_length() {
        return Err(Error::usage("this file has no items to replace"));
    }
    let slot = Slot::of(&old, index)?;
    if let Some(items) = old.layout.item_type() {
        check_item(&items, item)?;
    }
    let chunks = options.apply(old.own_options());
    let mut encoded = encode_chunk(item, &chunks)?;
    chunks.checksum.complete(&mut encoded);
    if let Some(at) = slot.place(encoded.len() as u64, in_place) {
        slot.write(&mut old.storage, at, &encoded, options.durability)?;
        return Ok(Replaced::InPlace);
    }
    slot.rewrite(&old, &encoded, reserve, options.durability)?;
    Ok(Replaced::Rewritten)
}

/// Offset of an item, and its slot.
#[derive(Clone, Debug)]
struct Slot {
    index: usize,
    /// Absolute position of its offset in the table.
    entry_at: u64,
    /// Range of chunk and digest.
    stored: Range<u64>,
    /// Slot: from the end of the previous chunk to the start of the next, in file order.
    free: Range<u64>,
}

impl Slot {
    fn of(old: &ExistingFile, index: u64) -> Result<Self> {
        let (layout, checksum) = (&old.layout, old.layout.header().checksum);
        let entries = layout.chunks();
        let place = usize::try_from(index).ok();
        let stored = place.and_then(|place| entries.get(place)).map(|entry| stored_range(checksum, entry));
        let (Some(index), Some(stored)) = (place, stored) else {
            return Err(Error::usage(format!("no item {index} (there are {})", entries.len())));
        };
        let ranges = || entries.iter().map(|entry| stored_range(checksum, entry));
        let before = ranges().filter(|range| range.start < stored.start).map(|range| range.end).max();
        let after = ranges().map(|range| range.start).filter(|start| *start > stored.start).min();
        let table = layout.offsets();
        let free = before.unwrap_or(table.end)..after.unwrap_or(layout.file_len());
        Ok(Self { index, entry_at: table.start.saturating_add(8 * index as u64), stored, free })
    }

    /// Finds an offset for `len` bytes: close to the old item, so that neighbours keep their reserved space.
    fn place(&self, len: u64, in_place: InPlace) -> Option<u64> {
        let after = Some(self.stored.end).filter(|at| at.saturating_add(len) <= self.free.end);
        let before = self.stored.start.checked_sub(len).filter(|at| *at >= self.free.start);
        let over = Some(self.stored.start).filter(|at| at.saturating_add(len) <= self.free.end);
        after.or(before).or(over.filter(|_| in_place == InPlace::Over))
    }

    /// Writes the chunk, and then the offset.
    fn write(&self, file: &mut dyn Storage, at: u64, encoded: &[u8], durability: Durability) -> Result<()> {
        let sync = |file: &mut dyn Storage| match durability {
            Durability::Synced => file.sync(),
            Durability::Cached => Ok(()),
        };
        file.write_at(at, encoded)?;
        if at == self.stored.start {
            return sync(file).map_err(Error::after_change);
        }
        sync(file)?;
        let offset = i64::try_from(at).map_err(|_| Error::usage("a file over 2^63 bytes"))?;
        file.write_at(self.entry_at, &offset.to_le_bytes())?;
        sync(file).map_err(Error::after_change)
    }

    /// Writes a new file with all other chunks, and the gaps between them, unchanged.
    fn rewrite(
        &self,
        old: &ExistingFile,
        encoded: &[u8],
        reserve: u64,
        durability: Durability,
    ) -> Result<()> {
        let entries = old.layout.chunks();
        let head = old.var_options(&old.own_options()).head(entries.len() as u64)?;
        let out = AtomicFile::create(&old.path, Overwrite::Replace)?;
        let mut sink = OrderedOutput::new(out, Some(&head))?;
        let start_of = |index: usize| entries.get(index).map_or(0, |entry| entry.range().start);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|index| start_of(*index));
        let (before, after): (Vec<usize>, Vec<usize>) = order
            .iter()
            .filter(|index| **index != self.index)
            .partition(|index| start_of(**index) < self.stored.start);
        if let Some(first) = before.first() {
            let range = start_of(*first)..self.free.start;
            sink.take_over_gaps(old.storage.file(), range, before.iter().map(|index| start_of(*index)))?;
        }
        sink.chunk(encoded, reserve)?;
        if let Some(first) = after.first() {
            let range = start_of(*first)..old.layout.file_len();
            sink.take_over_gaps(old.storage.file(), range, after.iter().map(|index| start_of(*index)))?;
        }
        // Offsets so far are in file order; the table has the order of the items.
        let written = before.iter().chain([&self.index]).chain(&after);
        sink.reorder(written.copied());
        old.replace_by(sink.finish(&head)?, durability)
    }
}

#[cfg(test)]
mod tests;
