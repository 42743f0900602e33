//! A journal beside the file, for changes that no disk makes in one step.
//!
//! A disk writes a sector of 512 bytes whole or not at all. A change of more than one is written into `<file>.asdfjournal` first. Two kinds
//! of journal there are. A *growing* one says that bytes are being written behind the end of the file: whoever finds it cuts them off. A
//! *changing* one has the bytes of all places that change, before and after: whoever finds it, while each sector of them is the old or the
//! new one, makes the change. It is put in the place of the growing one in one step, when what was written behind the end is on the disk.
//! Any other journal was left behind by something else, and means nothing.
//!
//! The file: the magic `asdfjrn1`, then 64-bit little-endian numbers: kind, length of the file before and after, number of places; for each
//! place where it is, how long, the old bytes, the new bytes; at the end CRC-32 of all before, 32-bit little-endian.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

use container_core::checksum::Algorithm;
use container_core::source::Source;
use container_core::write::sectors;
use container_core::write::storage::{Storage, StorageSource};
use container_core::{Limits, Result};

use super::sidecar::Sidecar;

const MAGIC: &[u8; 8] = b"asdfjrn1";

/// A change of bytes within the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// Where they are.
    pub(crate) at: u64,
    /// What they were.
    pub(crate) old: Vec<u8>,
    /// What they are to be; as many.
    pub(crate) new: Vec<u8>,
}

/// What a journal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Bytes are being written behind the end.
    Grow,
    /// Everything is on the disk but what the patches have.
    Change,
}

/// A journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) intent: Intent,
    /// Length of the file before.
    pub(crate) old_len: u64,
    /// Length of the file after; as before where it is not known yet.
    pub(crate) new_len: u64,
    /// What changes; of a growing journal places by which the file is known, whose old and new bytes are equal.
    pub(crate) patches: Vec<Patch>,
}

/// What a journal makes of the file as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// It ends here: what follows was never made part of it.
    Cut(u64),
    /// Bytes to be written, and its length then.
    Redo(Journal),
}

impl Patch {
    /// From the first byte that differs to the last; `None` where none does. Both are as long, and begin at byte `at` of the file.
    pub(crate) fn between(at: u64, old: &[u8], new: &[u8]) -> Option<Self> {
        let Range { start, end } = sectors::differing(old, new)?;
        let (old, new) = (old.get(start..end)?, new.get(start..end)?);
        Some(Self { at: at.saturating_add(start as u64), old: old.to_vec(), new: new.to_vec() })
    }

    pub(crate) fn end(&self) -> u64 {
        self.at.saturating_add(self.new.len() as u64)
    }

    /// Whether a disk may do the one part of it and not the other.
    pub(crate) fn crosses_sectors(&self) -> bool {
        sectors::crosses(&(self.at..self.end()))
    }
}

impl Journal {
    /// The bytes of a journal.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let kind = match self.intent {
            Intent::Grow => 1,
            Intent::Change => 2,
        };
        let number = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
        for head in [kind, self.old_len, self.new_len, self.patches.len() as u64] {
            number(&mut out, head);
        }
        for patch in &self.patches {
            number(&mut out, patch.at);
            number(&mut out, patch.new.len() as u64);
            out.extend_from_slice(&patch.old);
            out.extend_from_slice(&patch.new);
        }
        let sum = Algorithm::Crc32.digest(&out);
        out.extend(sum.as_bytes().iter().rev());
        out
    }

    /// Parses a journal; `None` where it is not a whole one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let mut rest = body.strip_prefix(MAGIC)?;
        if !Algorithm::Crc32.digest(body).as_bytes().iter().rev().eq(sum) {
            return None;
        }
        let number = |rest: &mut &[u8]| -> Option<u64> {
            let (number, after) = rest.split_first_chunk::<8>()?;
            *rest = after;
            Some(u64::from_le_bytes(*number))
        };
        let intent = match number(&mut rest)? {
            1 => Intent::Grow,
            2 => Intent::Change,
            _ => return None,
        };
        let (old_len, new_len, count) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        let mut patches = Vec::new();
        for _ in 0..count {
            let (at, len) = (number(&mut rest)?, usize::try_from(number(&mut rest)?).ok()?);
            at.checked_add(len as u64).filter(|end| *end <= old_len)?;
            let (old, after) = rest.split_at_checked(len)?;
            let (new, after) = after.split_at_checked(len)?;
            rest = after;
            patches.push(Patch { at, old: old.to_vec(), new: new.to_vec() });
        }
        // A file is known by bytes: a journal without any would be about every file of that length.
        let known = patches.iter().any(|patch| !patch.new.is_empty());
        (rest.is_empty() && known).then_some(Self { intent, old_len, new_len, patches })
    }

    /// What is to be done with the file as it is; `None` where this journal is not about it, or is done.
    ///
    /// # Errors
    /// Those of the source.
    fn pending(self, source: &dyn Source) -> Result<Option<Pending>> {
        let len = source.len();
        let fits = match self.intent {
            Intent::Grow => len >= self.old_len,
            // Nothing was ever cut off before all that was to be written behind the end was there.
            Intent::Change => len == self.new_len.max(self.old_len) || len == self.new_len,
        };
        if !fits {
            return Ok(None);
        }
        let mut is_new = len == self.new_len;
        for patch in &self.patches {
            // What is cut off at the end needs no look.
            let end = patch.end().min(len);
            if patch.at >= end {
                continue;
            }
            let now = source.read(patch.at..end)?;
            let (Some(old), Some(new)) = (patch.old.get(..now.len()), patch.new.get(..now.len())) else {
                return Ok(None);
            };
            if !sectors::explain(patch.at, old, new, &now) {
                return Ok(None);
            }
            is_new &= *now == *new;
        }
        Ok(match self.intent {
            Intent::Grow if len == self.old_len => None,
            Intent::Grow => Some(Pending::Cut(self.old_len)),
            Intent::Change if is_new => None,
            Intent::Change => Some(Pending::Redo(self)),
        })
    }
}

/// What the journal has to do to the file, if anything.
///
/// # Errors
/// `Io`; those of the source.
pub(crate) fn pending(
    sidecar: &dyn Sidecar,
    source: &dyn Source,
    limits: &Limits,
) -> Result<Option<Pending>> {
    match sidecar.read(limits)?.and_then(|bytes| Journal::parse(&bytes)) {
        Some(journal) => journal.pending(source),
        None => Ok(None),
    }
}

/// Does what the journal has to do, if there is one, and removes it.
///
/// # Errors
/// `Io`.
pub(crate) fn recover(storage: &mut dyn Storage, sidecar: &mut dyn Sidecar, limits: &Limits) -> Result<()> {
    if sidecar.read(limits)?.is_none() {
        return Ok(());
    }
    let pending = pending(sidecar, &StorageSource::new(storage)?, limits)?;
    match pending {
        None => {}
        Some(Pending::Cut(len)) => storage.set_len(len)?,
        Some(Pending::Redo(journal)) => apply(&journal, storage)?,
    }
    // Also where there is nothing to do: what is there may not be on the disk.
    storage.sync()?;
    sidecar.remove()
}

/// Makes the change of a journal.
///
/// # Errors
/// `Io`.
pub(super) fn apply(journal: &Journal, storage: &mut dyn Storage) -> Result<()> {
    for patch in &journal.patches {
        storage.write_at(patch.at, &patch.new)?;
    }
    if storage.len()? != journal.new_len {
        storage.set_len(journal.new_len)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
