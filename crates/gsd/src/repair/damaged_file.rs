//! The damaged file: its bytes, and its header as assumed.

use std::borrow::Cow;
use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::report::{Evidence, RepairItem};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::header::{self, Header, MAGIC, Version};
use crate::index::IndexEntry;

/// Problem of an entry whose other fields may be valid: the file was truncated.
pub(super) const PAST_END: &str = "a chunk past the end of the file";

/// Length of one read in bytes, where the source lends nothing.
const WINDOW_LEN: u64 = 4 << 20;

/// The bytes of the input, with the header that they are read by.
pub(super) struct DamagedFile<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) limits: Limits,
    pub(super) len: u64,
    pub(super) header: Header,
    /// Frames that entries may be of, where more is known than what the file has room for.
    pub(super) frames: Option<u64>,
}

impl<'a> DamagedFile<'a> {
    /// Reads the header; what had to be assumed of it joins `guessed`.
    pub(super) fn open(
        source: &'a dyn Source,
        limits: Limits,
        guessed: &mut Vec<RepairItem>,
    ) -> Result<Self> {
        let len = source.len();
        let mut head = [0; 256];
        if len < header::LEN {
            let head = source.read(0..len)?;
            return Err(Header::parse(&head).err().unwrap_or_else(|| Error::truncated(0..header::LEN, len)));
        }
        source.read_into(0, &mut head)?;
        let mut header = match Header::parse(&head) {
            Ok(header) => header,
            Err(wrong) => without_magic(&head, len).ok_or(wrong)?,
        };
        let absurd = !header.is_supported() && header.index_range().is_none_or(|range| range.end > len);
        if let Some(other) = without_magic(&head, len).filter(|_| absurd) {
            header = other;
        }
        if header::byte_order(&head) != Some(header.byte_order) {
            let item = RepairItem::new(0..8, "the first 8 bytes are those of a GSD file");
            guessed.push(item.with_evidence(Evidence::Walk));
        }
        if !header.is_supported() {
            let slots = namelist_has_slots(source, &header)?;
            let layer = if slots { Version::new(1, 0) } else { Version::new(2, 0) };
            let found = header.gsd_version;
            header.gsd_version = layer;
            let what = format!("file layer {layer}, by the form of the namelist, not {found}");
            guessed.push(RepairItem::new(44..48, what).with_evidence(Evidence::Index));
        }
        Ok(Self { source, limits, len, header, frames: None })
    }

    pub(super) fn order(&self) -> ByteOrder {
        self.header.byte_order
    }

    /// The bytes of `range`, which is within the file: lent, or copied within the limits.
    pub(super) fn read(&self, range: Range<u64>) -> Result<Cow<'a, [u8]>> {
        read(self.source, range, &self.limits)
    }

    /// The part of `range` that the file has; empty for what is nowhere.
    pub(super) fn clip(&self, range: Option<Range<u64>>) -> Range<u64> {
        let range = range.unwrap_or(self.len..u64::MAX);
        range.start.min(self.len)..range.end.min(self.len)
    }

    /// The part of the index block that is in the file. A block whose claimed end is nowhere ends with the file.
    pub(super) fn index_block(&self) -> Range<u64> {
        let start = self.header.index_location;
        if start < header::LEN || start >= self.len {
            return self.len..self.len;
        }
        self.clip(Some(start..self.header.index_range().map_or(self.len, |range| range.end)))
    }

    /// Frames that the index can have: each needs an entry, or at least room for one.
    pub(super) fn max_frames(&self) -> u64 {
        if let Some(frames) = self.frames {
            return frames;
        }
        let room = self.len / header::INDEX_ENTRY_LEN;
        let block = self.index_block();
        ((block.end - block.start) / header::INDEX_ENTRY_LEN).max(room).max(128)
    }

    /// Describes what makes an entry impossible by itself; `None` where it is possible. `names` is the number of names, if known.
    pub(super) fn entry_problem(&self, entry: &IndexEntry, names: Option<usize>) -> Option<&'static str> {
        if entry.chunk_type().is_none() {
            return Some("unknown type");
        }
        let Some(range) = entry.byte_range() else { return Some("impossible size or location") };
        // A chunk without rows may lie anywhere but where an unused slot says that it does.
        if range.start < header::LEN && (!range.is_empty() || entry.is_unused()) {
            Some("a chunk in the header")
        } else if range.end > self.len {
            Some(PAST_END)
        } else if entry.m == 0 {
            Some("no columns")
        } else if entry.frame >= self.max_frames() {
            Some("impossible frame number")
        } else if entry.flags != 0 {
            Some("unknown flags")
        } else if usize::from(entry.id) >= names.unwrap_or(crate::MAX_NAMES) {
            Some("a name that is not in the namelist")
        } else {
            None
        }
    }

    /// The parts of `range` one after the other, each with its offset, overlapping by `overlap` bytes.
    pub(super) fn windows(
        &self,
        range: Range<u64>,
        overlap: u64,
    ) -> impl Iterator<Item = Result<(u64, Cow<'a, [u8]>)>> + use<'a> {
        let (source, limits) = (self.source, self.limits);
        let lent = source.lend(range.clone()).is_some();
        let step = if lent { (range.end - range.start).max(1) } else { WINDOW_LEN };
        let mut at = range.start;
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let (start, end) = (at, range.end.min(at.saturating_add(step).saturating_add(overlap)));
            at = at.saturating_add(step);
            Some(read(source, start..end, &limits).map(|bytes| (start, bytes)))
        })
    }
}

fn read<'a>(source: &'a dyn Source, range: Range<u64>, limits: &Limits) -> Result<Cow<'a, [u8]>> {
    if let Some(bytes) = source.lend(range.clone()) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut bytes = try_zeroed_vec(range.end.saturating_sub(range.start), limits)?;
    source.read_into(range.start, &mut bytes)?;
    Ok(Cow::Owned(bytes))
}

/// The header of a file whose first bytes are wrong, where everything else is right.
fn without_magic(head: &[u8; 256], len: u64) -> Option<Header> {
    [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].into_iter().find_map(|magic| {
        let mut head = *head;
        head[..8].copy_from_slice(&magic);
        let header = Header::parse(&head).ok()?;
        let within = |range: Option<Range<u64>>| {
            range.is_some_and(|range| range.start >= header::LEN && range.end <= len && !range.is_empty())
        };
        let fits = header.is_supported() && within(header.index_range()) && within(header.namelist_range());
        fits.then_some(header)
    })
}

/// True where names stand in slots of 64 bytes: after the first name zeros fill its slot, and another name follows.
fn namelist_has_slots(source: &dyn Source, header: &Header) -> Result<bool> {
    let start = header.namelist_location;
    if start.checked_add(65).is_none_or(|end| end > source.len()) {
        return Ok(false);
    }
    let mut slots = [0; 65];
    source.read_into(start, &mut slots)?;
    let name = slots[..64].iter().take_while(|byte| **byte != 0).count();
    Ok(slots[name..64].iter().all(|byte| *byte == 0) && slots[64] != 0)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;
