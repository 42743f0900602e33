//! Storage for a journal: a file next to another, or a substitute in tests.

use std::path::Path;

use super::JournalKind;
use crate::write::SidecarFile;
use crate::write::sidecar::Own;
use crate::{Limits, Result};

/// The content of a journal's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No journal.
    Absent,
    /// Something that is not read, written or removed: a link, a pipe or a directory, a file with several names, one of neither the file's
    /// owner nor this process's user, or one without the magic and length of a journal. The reason.
    Foreign(String),
    /// The bytes of a journal.
    Journal(Vec<u8>),
}

/// The place of a journal.
pub trait JournalStore: Send + Sync {
    /// Reads the content of the place.
    ///
    /// # Errors
    /// `Io`; `Limit` for a journal over the limits: without it the file may be neither the old nor the new one.
    fn read(&self, limits: &Limits) -> Result<Found>;

    /// Creates the journal in one step. When this returns it is on the disk. Never replaces an existing file.
    ///
    /// # Errors
    /// `Usage` where a file exists; `Io`. No journal exists then.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;

    /// Removes the journal durably. A [`Found::Foreign`] file stays.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&mut self) -> Result<()>;
}

/// No storage: changes are made without a journal, and a power cut may tear them. For storage that is not a disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl JournalStore for NoJournal {
    fn read(&self, _limits: &Limits) -> Result<Found> {
        Ok(Found::Absent)
    }

    fn put(&mut self, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    fn remove(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The file whose name is that of another with the suffix of a [`JournalKind`] after it.
#[derive(Clone, Debug)]
pub struct FileJournalStore {
    beside: SidecarFile,
    magic: [u8; 8],
}

impl FileJournalStore {
    /// The journal of the file at `path`.
    #[must_use]
    pub fn beside(path: &Path, kind: &JournalKind) -> Self {
        Self { beside: SidecarFile::new(path, kind.suffix), magic: kind.magic }
    }

    /// The name of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.beside.path()
    }

    /// Opens the file at the place and judges it by its head: a file of any size may have the name.
    fn open(&self) -> Result<Own> {
        let own = self.beside.open()?;
        if let Own::File(file) = &own {
            let mut head = [0; 16];
            let len = file.len();
            let is_journal = len >= head.len() as u64 && {
                file.read_at(0, &mut head)?;
                head == *[self.magic, len.to_le_bytes()].as_flattened()
            };
            if !is_journal {
                return Ok(Own::Foreign("incomplete, or of another version".to_owned()));
            }
        }
        Ok(own)
    }
}

impl JournalStore for FileJournalStore {
    fn read(&self, limits: &Limits) -> Result<Found> {
        let own = match self.open()? {
            Own::Absent => return Ok(Found::Absent),
            Own::Foreign(reason) => return Ok(Found::Foreign(reason)),
            Own::File(own) => own,
        };
        limits.allocate(own.len()).map_err(|error| self.beside.named(error))?;
        let mut bytes = vec![0; usize::try_from(own.len()).unwrap_or(0)];
        own.read_at(0, &mut bytes)?;
        Ok(Found::Journal(bytes))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.beside.put(bytes)
    }

    fn remove(&mut self) -> Result<()> {
        if !matches!(self.open()?, Own::File(_)) {
            return Ok(());
        }
        self.beside.remove()?;
        self.beside.sync_name()
    }
}
