//! A journal next to a file, for changes that no disk makes in one step.
//!
//! A disk writes a sector of 512 bytes whole or not at all. A change of more than one sector is first written to `<file><suffix>`: the old and
//! new length of the file, and the old and new bytes of each changed range. Only then is the file changed, and after a sync the journal is
//! removed. The states of the file that belong to its journal are therefore:
//!
//! | state | file |
//! |---|---|
//! | [`State::Old`] | unchanged: the journal has no effect |
//! | [`State::Cut`] | bytes were being added at the end, and all before is unchanged: the file ends at its old length |
//! | [`State::Torn`] | each sector is the old one, the new one, or begins as the new one: the file reads as changed |
//! | [`State::New`] | the change is complete: the journal has no effect |
//!
//! In every other state the journal does not belong to the file, which was replaced, cut or appended to since. It is then ignored, and
//! neither written nor removed, as is a journal that another user can have put there (see [`Found`]). A format decides which bytes change,
//! and has its own suffix and magic ([`JournalKind`]).
//!
//! Layout, in 64-bit little-endian numbers: the magic of 8 bytes; length of the journal; old and new length of the file; number of patches.
//! Each patch, in ascending order, has its offset, number of old and of new bytes, and these bytes. A CRC-32 of all before, 32-bit
//! little-endian, ends it. Old and new bytes are equally many, except in the last patch of a file whose length changes: it has all bytes up
//! to the old and the new end.

use std::ops::Range;

use super::sectors;
use super::storage::{Storage, StorageSource};
use crate::source::Source;
use crate::{Error, Limits, Result};

mod read;
mod sidecar;

pub use read::{Notice, open_recovered};
pub use sidecar::{FileJournalStore, Found, JournalStore, NoJournal};

/// Bytes before the first patch.
const HEAD: usize = 40;

/// Bytes of a patch before those that it replaces.
const PATCH_HEAD: usize = 24;

/// The journals of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalKind {
    /// Follows the name of the file.
    pub suffix: &'static str,
    /// The first bytes of a journal.
    pub magic: [u8; 8],
}

/// A change of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Absolute offset of the first byte.
    pub at: u64,
    /// The bytes before the change.
    pub old: Vec<u8>,
    /// The bytes after it.
    pub new: Vec<u8>,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    old_len: u64,
    new_len: u64,
    patches: Vec<Patch>,
}

/// A state of a file, as its journal explains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Before the change.
    Old,
    /// Before the change, but for bytes that follow the old end.
    Cut,
    /// Within the change.
    Torn,
    /// After the change.
    New,
    /// Any other state: the journal does not belong to this file.
    Other,
}

/// A change that was not made.
#[derive(Debug)]
pub struct Failed {
    /// The reason.
    pub error: Error,
    /// Whether the file was brought back to its state before the change.
    pub is_undone: bool,
}

/// The place of a journal after [`recover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is free.
    Free,
    /// Another file has the journal's name and is left alone: the reason.
    Taken(String),
}

impl Patch {
    /// The bytes from the first to the last that differ; `None` where none does. Both are of the same length, and begin at byte `at` of the
    /// file.
    #[must_use]
    pub fn between(at: u64, old: &[u8], new: &[u8]) -> Option<Self> {
        let Range { start, end } = sectors::differing(old, new)?;
        let (old, new) = (old.get(start..end)?, new.get(start..end)?);
        Some(Self { at: at.saturating_add(start as u64), old: old.to_vec(), new: new.to_vec() })
    }

    /// Whether it spans sectors, so that a disk may write only one part of it.
    #[must_use]
    pub fn spans_sectors(&self) -> bool {
        sectors::spans_sectors(&(self.at..self.at.saturating_add(self.new.len() as u64)))
    }

    /// The bytes that the file has before and after the change.
    fn replaced(&self) -> (&[u8], &[u8]) {
        let len = self.old.len().min(self.new.len());
        (self.old.get(..len).unwrap_or_default(), self.new.get(..len).unwrap_or_default())
    }

    /// The bytes that only the file before and only the file after the change has, and their place.
    fn rest(&self) -> (u64, &[u8], &[u8]) {
        let len = self.old.len().min(self.new.len());
        let at = self.at.saturating_add(len as u64);
        (at, self.old.get(len..).unwrap_or_default(), self.new.get(len..).unwrap_or_default())
    }

    fn old_end(&self) -> Option<u64> {
        self.at.checked_add(self.old.len() as u64)
    }

    fn new_end(&self) -> Option<u64> {
        self.at.checked_add(self.new.len() as u64)
    }
}

impl Journal {
    /// A change of a file of `old_len` bytes to `new_len` bytes. Patches are sorted here.
    ///
    /// # Errors
    /// `Usage` for patches that overlap or leave the file, and where bytes that come or go at the end are not among them.
    pub fn new(old_len: u64, new_len: u64, mut patches: Vec<Patch>) -> Result<Self> {
        patches.sort_by_key(|patch| patch.at);
        let journal = Self { old_len, new_len, patches };
        match journal.is_valid() {
            true => Ok(journal),
            false => Err(Error::usage("the patches of a journal do not fit the file")),
        }
    }

    fn is_valid(&self) -> bool {
        let mut end = 0;
        for (index, patch) in self.patches.iter().enumerate() {
            let (Some(old_end), Some(new_end)) = (patch.old_end(), patch.new_end()) else { return false };
            let is_last = index.saturating_add(1) == self.patches.len();
            let is_at_end = old_end == self.old_len && new_end == self.new_len;
            let fits = old_end <= self.old_len && new_end <= self.new_len;
            if !fits || patch.at < end || old_end != new_end && !(is_last && is_at_end) {
                return false;
            }
            end = old_end.max(new_end);
        }
        // Without a patch at the end, bytes would come or go that the journal does not have.
        let is_whole = self.old_len == self.new_len || end == self.old_len.max(self.new_len);
        is_whole && self.patches.iter().any(|patch| patch.old != patch.new)
    }

    /// The bytes of a journal.
    #[must_use]
    pub fn encode(&self, kind: &JournalKind) -> Vec<u8> {
        let bytes =
            |patch: &Patch| PATCH_HEAD.saturating_add(patch.old.len()).saturating_add(patch.new.len());
        let len = self.patches.iter().map(bytes).fold(HEAD.saturating_add(4), usize::saturating_add);
        let mut out = Vec::with_capacity(len);
        out.extend_from_slice(&kind.magic);
        let number = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
        for head in [len as u64, self.old_len, self.new_len, self.patches.len() as u64] {
            number(&mut out, head);
        }
        for patch in &self.patches {
            for head in [patch.at, patch.old.len() as u64, patch.new.len() as u64] {
                number(&mut out, head);
            }
            out.extend_from_slice(&patch.old);
            out.extend_from_slice(&patch.new);
        }
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// Parses a journal; `None` where it is not a whole and valid one.
    #[must_use]
    pub fn parse(bytes: &[u8], kind: &JournalKind) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let mut rest = body.strip_prefix(&kind.magic)?;
        let number = |rest: &mut &[u8]| -> Option<u64> {
            let (number, after) = rest.split_first_chunk::<8>()?;
            *rest = after;
            Some(u64::from_le_bytes(*number))
        };
        // The length is compared before the digest: a long file that is not a journal is not hashed.
        if number(&mut rest)? != bytes.len() as u64 || crc32fast::hash(body).to_le_bytes() != *sum {
            return None;
        }
        let (old_len, new_len, count) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        let mut patches = Vec::new();
        for _ in 0..count {
            let (at, old, new) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
            let (old, after) = rest.split_at_checked(usize::try_from(old).ok()?)?;
            let (new, after) = after.split_at_checked(usize::try_from(new).ok()?)?;
            rest = after;
            patches.push(Patch { at, old: old.to_vec(), new: new.to_vec() });
        }
        let journal = Self { old_len, new_len, patches };
        (rest.is_empty() && journal.is_valid()).then_some(journal)
    }

    /// The state of a file: every byte that the journal has is compared.
    ///
    /// # Errors
    /// Those of the source.
    pub fn state(&self, source: &dyn Source) -> Result<State> {
        let len = source.len();
        if len < self.old_len.min(self.new_len) || len > self.old_len.max(self.new_len) {
            return Ok(State::Other);
        }
        let (mut is_old, mut is_new) = (true, true);
        for patch in &self.patches {
            let (old, new) = patch.replaced();
            let now = source.read(patch.at..patch.at.saturating_add(old.len() as u64))?;
            if !sectors::may_be_torn(patch.at, old, new, &now) {
                return Ok(State::Other);
            }
            is_old &= *now == *old;
            is_new &= *now == *new;
        }
        let (at, old, new) = self.patches.last().map_or((len, &[][..], &[][..]), Patch::rest);
        let now = source.read(at.min(len)..if self.old_len == self.new_len { at.min(len) } else { len })?;
        Ok(if self.new_len < self.old_len {
            // The end is cut in one step, when everything else is written; a disk may do it first.
            match () {
                () if len != self.new_len && *now != *old => State::Other,
                () if is_old && len == self.old_len => State::Old,
                () if is_new && len == self.new_len => State::New,
                () => State::Torn,
            }
        } else {
            // Bytes added at the end are on the disk before any other change.
            let is_added = *now == *new;
            let is_begun = || {
                let zeros = vec![0; now.len()];
                new.get(..now.len()).is_some_and(|new| sectors::may_be_torn(at, &zeros, new, &now))
            };
            match () {
                () if is_old && len == self.old_len => State::Old,
                () if is_added && is_new => State::New,
                () if is_added && !is_old => State::Torn,
                () if is_old && is_begun() => State::Cut,
                () => State::Other,
            }
        })
    }

    /// Makes the change. Bytes added at the end are synced before any other change.
    ///
    /// # Errors
    /// `Io`.
    fn apply(&self, storage: &mut dyn Storage) -> Result<()> {
        if let Some((at, _, added)) = self.patches.last().map(Patch::rest)
            && !added.is_empty()
        {
            storage.write_at(at, added)?;
            storage.sync()?;
        }
        for patch in &self.patches {
            storage.write_at(patch.at, patch.replaced().1)?;
        }
        if self.new_len < self.old_len {
            storage.set_len(self.new_len)?;
        }
        Ok(())
    }

    /// Takes the change back.
    ///
    /// # Errors
    /// `Io`.
    fn undo(&self, storage: &mut dyn Storage) -> Result<()> {
        if storage.len()? > self.old_len {
            storage.set_len(self.old_len)?;
        }
        if self.state(&StorageSource::new(storage)?)? == State::Old {
            return Ok(());
        }
        for patch in &self.patches {
            storage.write_at(patch.at, &patch.old)?;
        }
        Ok(())
    }
}

/// Makes a change by way of a journal, which is on the disk before the file changes and is removed when the change is on the disk. A failed
/// change is undone.
///
/// # Errors
/// `Io`, which states whether the file is unchanged. Where it is not, the journal stays, and the error states that the change takes effect.
pub fn carry_out(
    journal: &Journal,
    kind: &JournalKind,
    storage: &mut dyn Storage,
    sidecar: &mut dyn JournalStore,
) -> std::result::Result<(), Failed> {
    let as_it_was = |error| Failed { error, is_undone: true };
    sidecar.put(&journal.encode(kind)).map_err(as_it_was)?;
    let Err(error) = journal.apply(storage).and_then(|()| storage.sync()) else {
        // The change is complete: a journal that stays is ignored.
        let _ = sidecar.remove();
        return Ok(());
    };
    match journal.undo(storage).and_then(|()| storage.sync()) {
        Ok(()) => {
            // In this state a journal that stays is ignored.
            let _ = sidecar.remove();
            Err(as_it_was(error))
        }
        Err(_) => {
            let hint = format!(
                "the change may have been made in part: the journal ({}) stays, and the change takes effect if it was begun",
                kind.suffix
            );
            Err(Failed { error: error.with_hint(hint), is_undone: false })
        }
    }
}

/// Finishes the change that a journal has, or removes bytes that were only added at the end, and removes the journal. One that does not
/// belong to the file is left alone.
///
/// # Errors
/// `Io`; `Limit` for a journal over the limits.
pub fn recover(
    storage: &mut dyn Storage,
    sidecar: &mut dyn JournalStore,
    kind: &JournalKind,
    limits: &Limits,
) -> Result<Place> {
    let bytes = match sidecar.read(limits)? {
        Found::Absent => return Ok(Place::Free),
        Found::Foreign(reason) => return Ok(Place::Taken(reason)),
        Found::Journal(bytes) => bytes,
    };
    let Some(journal) = Journal::parse(&bytes, kind) else { return Ok(Place::Taken(NOT_WHOLE.to_owned())) };
    let state = journal.state(&StorageSource::new(storage)?)?;
    match state {
        State::Other => return Ok(Place::Taken(NOT_ABOUT.to_owned())),
        State::Old => {}
        // It may not be on the disk.
        State::New => storage.sync()?,
        State::Cut => {
            storage.set_len(journal.old_len)?;
            storage.sync()?;
        }
        State::Torn => {
            journal.apply(storage)?;
            storage.sync()?;
        }
    }
    sidecar.remove()?;
    Ok(Place::Free)
}

const NOT_WHOLE: &str = "incomplete";
const NOT_ABOUT: &str = "it does not match the file";

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
