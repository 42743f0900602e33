//! A disk that records: a file, and before it in the same image its journal, so that the order of writes to both is replayed.

use asdf::container_core::checksum::Algorithm;
use asdf::container_core::write::journal::{Found, JournalStore, NoJournal};
use asdf::container_core::write::recording::RecordingStorage;
use asdf::container_core::write::storage::Storage;
use asdf::container_core::{Limits, Result};
use asdf::update::{UpdateOptions, Updater};

/// Bytes of each of two places for a journal. Whole sectors, so that those of the file lie as they do on a disk.
const SLOT: u64 = 16 << 10;

/// Bytes before the file: a sector that says which place counts, and the places.
pub const JOURNAL: u64 = 512 + 2 * SLOT;

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
    pub fn update<'a>(&self, with_journal: bool) -> Result<Updater<'a>> {
        let file = Box::new(self.file());
        if with_journal {
            Updater::open_storage(file, Box::new(self.journal()), UpdateOptions::default())
        } else {
            Updater::open_storage(file, Box::new(NoJournal), UpdateOptions::default())
        }
    }

    pub fn file(&self) -> FileOf {
        FileOf(self.clone())
    }

    pub fn journal(&self) -> JournalOf {
        JournalOf(self.clone())
    }
}

/// The file of an image of a disk, and the journal, if there is one: that of the place that counts, or of the other where the new one
/// has not come. The first sector has, for the place that counts and the one that did before, its number and the digest of what is there.
pub fn parts(image: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (journal, file) = image.split_at(usize::try_from(JOURNAL).unwrap());
    let slot = |entry: &[u8]| {
        let number = usize::from(entry[0]).checked_sub(1)?;
        let bytes = &journal[512 + number * usize::try_from(SLOT).unwrap()..];
        let len = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).ok()?;
        let body = bytes[8..].get(..len)?;
        (digest(body) == entry[1..5]).then_some(body)
    };
    (file, slot(&journal[..5]).or_else(|| if journal[0] > 0 { slot(&journal[5..10]) } else { None }))
}

/// Four bytes that tell journals apart. Their CRC-32 is the same for all, since they end with it.
fn digest(journal: &[u8]) -> [u8; 4] {
    Algorithm::Md5.digest(journal).as_bytes()[..4].try_into().unwrap()
}

pub struct FileOf(Disk);

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

    fn set_len(&mut self, len: u64) -> Result<()> {
        self.0.0.set_len(len + JOURNAL)
    }

    fn sync(&mut self) -> Result<()> {
        self.0.0.sync()
    }
}

pub struct JournalOf(Disk);

impl JournalStore for JournalOf {
    fn read(&self, _limits: &Limits) -> Result<Found> {
        let image = self.0.0.image();
        Ok(parts(&image).1.map_or(Found::Absent, |journal| Found::Journal(journal.to_vec())))
    }

    /// As a file that is renamed: the old one counts until the new one is there.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        assert!(bytes.len() as u64 + 8 <= SLOT);
        let before = self.0.0.image()[..5].to_vec();
        let now = if before[0] == 1 { 2 } else { 1 };
        let at = 512 + u64::from(now - 1) * SLOT;
        self.0.0.write_at(at, &[&(bytes.len() as u64).to_le_bytes(), bytes].concat())?;
        self.0.0.write_at(0, &[&[now][..], &digest(bytes), &before].concat())?;
        self.0.0.sync()
    }

    fn remove(&mut self) -> Result<()> {
        self.0.0.write_at(0, &[0; 10])?;
        self.0.0.sync()
    }
}
