//! A disk that records: a frame, and beside it the journal, in one image, so that the order of writes to both is replayed.

use blosc2_frame::container_core::write::journal::Found;
use blosc2_frame::container_core::write::recording::RecordingStorage;
use blosc2_frame::container_core::write::sectors::SECTOR;
use blosc2_frame::container_core::write::storage::Storage;
use blosc2_frame::container_core::{Limits, Result};
use blosc2_frame::{EditOptions, Editor, JournalStore, NoJournal};

/// Bytes for the journal before the file: a sector with its length, and what is in it. A multiple of a sector, so that those of the file lie as they do
/// on a disk.
pub const JOURNAL: u64 = 8192;

/// The disk. Clones are the same one.
#[derive(Clone)]
pub struct Disk(pub RecordingStorage);

impl Disk {
    /// A disk with a file of these bytes, and no journal.
    pub fn new(file: &[u8]) -> Self {
        let journal = vec![0; usize::try_from(JOURNAL).unwrap()];
        Self(RecordingStorage::new([&journal, file].concat()))
    }

    /// The file on the disk, to be changed with a journal or without.
    pub fn edit(&self, at: u64, with_journal: bool) -> Result<Editor> {
        let (file, options) = (Box::new(FileOf(self.clone())), EditOptions::default());
        if with_journal {
            Editor::open_storage_with(file, Box::new(JournalOf(self.clone())), at, &options)
        } else {
            Editor::open_storage_with(file, Box::new(NoJournal), at, &options)
        }
    }
}

/// The file of an image of a disk, and the journal, if it is there.
pub fn parts(image: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (journal, file) = image.split_at(usize::try_from(JOURNAL).unwrap().min(image.len()));
    let len = u64::from_le_bytes(journal[..8].try_into().unwrap());
    let start = usize::try_from(SECTOR).unwrap();
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(journal.len() - start);
    (file, (len > 0).then(|| &journal[start..start + len]))
}

struct FileOf(Disk);

impl Storage for FileOf {
    fn len(&self) -> Result<u64> {
        Ok(self.0.0.len()? - JOURNAL)
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.0.read_at(at + JOURNAL, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.0.0.write_at(at + JOURNAL, bytes)
    }

    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        self.0.0.write_vectored_at(at + JOURNAL, parts)
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        self.0.0.set_len(len + JOURNAL)
    }

    fn sync(&mut self) -> Result<()> {
        self.0.0.sync()
    }
}

struct JournalOf(Disk);

impl JournalStore for JournalOf {
    fn read(&self, _limits: &Limits) -> Result<Found> {
        let image = self.0.0.image();
        Ok(parts(&image).1.map_or(Found::Absent, |journal| Found::Journal(journal.to_vec())))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let len = bytes.len() as u64;
        assert!(len + SECTOR <= JOURNAL);
        // As a file that is given its name when it is on the disk.
        self.0.0.write_at(SECTOR, bytes)?;
        self.0.0.sync()?;
        self.0.0.write_at(0, &len.to_le_bytes())?;
        self.0.0.sync()
    }

    fn remove(&mut self) -> Result<()> {
        self.0.0.write_at(0, &[0; 8])?;
        self.0.0.sync()
    }
}
