//! Reads back what has been written, committed or not.

use std::cmp::Ordering;

use container_core::source::{Source, try_zeroed_vec};
use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::Writer;
use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;

impl<S: Storage> Writer<S> {
    /// The chunk called `name` in `frame`, which may be committed, ended or current.
    ///
    /// # Errors
    /// `Io`.
    pub fn find_chunk(&self, frame: u64, name: &str) -> Result<Option<IndexEntry>> {
        let Some(id) = self.names.find(name) else { return Ok(None) };
        if let Some(entry) = self.entries.iter().rev().find(|entry| entry.frame == frame && entry.id == id) {
            return Ok(Some(*entry));
        }
        let source = self.source()?;
        let entry_at = |at: u64| {
            let mut bytes = [0; 32];
            source.read_into(self.header.index_location + INDEX_ENTRY_LEN * at, &mut bytes)?;
            Ok::<_, Error>(IndexEntry::from_bytes(&bytes, self.header.byte_order))
        };
        let (mut low, mut high) = (0, self.used);
        while low < high {
            let middle = low.midpoint(high);
            if entry_at(middle)?.frame < frame { low = middle + 1 } else { high = middle }
        }
        // The entries of a frame are few, and those of 1.0 files in any order.
        let (mut found, mut several) = (None, false);
        while low < self.used {
            let entry = entry_at(low)?;
            if entry.frame != frame {
                break;
            }
            if entry.id == id {
                several |= found.is_some();
                found = Some(entry);
            }
            low += 1;
        }
        if !several || self.header.is_v1() {
            return Ok(found);
        }
        // Of several the one that the reference's search finds.
        let (mut low, mut high) = (0, self.used);
        while low < high {
            let middle = low.midpoint(high - 1);
            let entry = entry_at(middle)?;
            match (entry.frame, entry.id).cmp(&(frame, id)) {
                Ordering::Equal => return Ok(Some(entry)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok(found)
    }

    /// The bytes of a chunk, row by row, little-endian.
    ///
    /// # Errors
    /// `Malformed` for an entry that describes no chunk, `Truncated`, `Limit`, `Io`.
    pub fn read_chunk(&self, entry: &IndexEntry) -> Result<Vec<u8>> {
        let range = entry.byte_range().ok_or_else(|| Error::malformed("the entry is not a valid chunk"))?;
        let mut bytes = try_zeroed_vec(range.end - range.start, &self.options.limits)?;
        if range.start < self.end {
            // A chunk is written or buffered as a whole.
            self.storage.read_at(range.start, &mut bytes)?;
            return Ok(bytes);
        }
        let start = usize::try_from(range.start - self.end).unwrap_or(usize::MAX);
        let waiting = self.buffer.get(start..).and_then(|rest| rest.get(..bytes.len()));
        let waiting = waiting.ok_or_else(|| Error::truncated(range, 0))?;
        bytes.copy_from_slice(waiting);
        Ok(bytes)
    }
}
