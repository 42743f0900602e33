//! Storage that records its operations.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use container_core::write::journal::{Found, JournalStore};
use container_core::write::sectors::SECTOR;
use container_core::write::storage::Storage;
use container_core::{Error, Limits, Result};

/// Operation of a writer on a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Bytes are written; those of a vectored write are one operation.
    Write {
        /// Offset of the first byte.
        at: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The length is set.
    SetLen(u64),
    /// All operations before are on the disk.
    Sync,
    /// Blocks are reserved.
    Reserve(Range<u64>),
    /// A hole is punched.
    Punch(Range<u64>),
}

impl Operation {
    /// Repeats the operation on `image`, as a disk without faults would.
    pub(crate) fn apply(&self, image: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Write { at, bytes } => image.write_at(*at, bytes),
            Self::SetLen(len) => Storage::set_len(image, *len),
            Self::Punch(range) => image.punch_hole(range.clone()),
            Self::Sync | Self::Reserve(_) => Ok(()),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { at, bytes } => write!(f, "a write of bytes {at}..{}", at + bytes.len() as u64),
            Self::SetLen(len) => write!(f, "a change of the length to {len}"),
            Self::Sync => write!(f, "a sync"),
            Self::Reserve(range) => write!(f, "a reservation of {range:?}"),
            Self::Punch(range) => write!(f, "a hole at {range:?}"),
        }
    }
}

/// Bytes for a journal, of files that change by some thousand bytes.
const JOURNAL_ROOM: u64 = 31 * SECTOR;

/// A file in memory, and all operations on it. Clones are the same file, so that a test can inspect it while a writer, or what
/// is left of one, holds it.
///
/// The file may have a journal ([`JournalStore`]), which is in the same image, so that the order of writes to both is replayed.
#[derive(Clone, Debug, Default)]
pub struct RecordingStorage {
    recording: Arc<Mutex<Recording>>,
    /// Offset of the file in the image: a sector with the journal's length and the journal are before it. A multiple of a sector, so that the
    /// file is divided as on a disk.
    file_at: u64,
}

#[derive(Debug, Default)]
struct Recording {
    image: Vec<u8>,
    operations: Vec<Operation>,
    room: Option<u64>,
    /// Syncs until the one that fails.
    syncs_left: Option<usize>,
}

impl RecordingStorage {
    /// A file of these bytes without a journal.
    #[must_use]
    pub fn new(file: Vec<u8>) -> Self {
        Self::default().with_image(file)
    }

    /// A file of these bytes, with room for a journal of 15.5 KiB.
    #[must_use]
    pub fn with_journal(file: &[u8]) -> Self {
        Self::with_journal_room(file, JOURNAL_ROOM)
    }

    /// A file of these bytes, with room for a journal of `room` bytes.
    #[must_use]
    pub fn with_journal_room(file: &[u8], room: u64) -> Self {
        let file_at = SECTOR + room.next_multiple_of(SECTOR);
        Self { file_at, ..Self::default() }.with_image([&vec![0; index_of(file_at)], file].concat())
    }

    /// A storage with another image and the same layout, to which nothing has been done.
    #[must_use]
    pub fn with_image(&self, image: Vec<u8>) -> Self {
        let recording = Recording { image, ..Recording::default() };
        Self { recording: Arc::new(Mutex::new(recording)), file_at: self.file_at }
    }

    /// All operations so far.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.recording().operations.clone()
    }

    /// Number of operations so far.
    #[must_use]
    pub fn operation_count(&self) -> usize {
        self.recording().operations.len()
    }

    /// The current bytes, with those of the journal.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        self.recording().image.clone()
    }

    /// The current bytes of the file.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        self.recording().image[index_of(self.file_at)..].to_vec()
    }

    /// The journal, if there is one.
    #[must_use]
    pub fn journal(&self) -> Option<Vec<u8>> {
        let recording = self.recording();
        let area = recording.image.get(..index_of(self.file_at))?;
        let (len, rest) = area.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok().filter(|len| *len > 0)?;
        let body = rest.get(index_of(SECTOR) - 8..)?;
        Some(body[..len.min(body.len())].to_vec())
    }

    /// From now on the disk is full where the file would grow past `len` bytes, or has room again (`None`). A write that does not fit
    /// is done as far as there is room, and fails; a reservation that does not fit fails and changes nothing.
    pub fn set_room(&self, len: Option<u64>) {
        self.recording().room = len.map(|len| self.file_at + len);
    }

    /// Refuses one sync: that after the next `count`.
    pub fn refuse_sync_after(&self, count: usize) {
        self.recording().syncs_left = Some(count);
    }

    /// A panic elsewhere does not make the bytes wrong.
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A range of the file, as one of the image.
    fn in_image(&self, range: &Range<u64>) -> Range<u64> {
        range.start + self.file_at..range.end + self.file_at
    }
}

impl Recording {
    fn record(&mut self, operation: Operation) -> Result<()> {
        operation.apply(&mut self.image)?;
        self.operations.push(operation);
        Ok(())
    }

    fn check_room(&self, end: u64) -> Result<()> {
        match self.room {
            Some(room) if end > room.max(self.image.len() as u64) => {
                Err(io::Error::from(io::ErrorKind::StorageFull).into())
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, at: u64, mut bytes: Vec<u8>) -> Result<()> {
        let end = at.saturating_add(bytes.len() as u64);
        let fits = self.check_room(end);
        if fits.is_err() {
            let room = self.room.unwrap_or(u64::MAX).max(self.image.len() as u64);
            bytes.truncate(usize::try_from(room.saturating_sub(at)).unwrap_or(usize::MAX));
        }
        if !bytes.is_empty() {
            self.record(Operation::Write { at, bytes })?;
        }
        fits.map_err(|error| error.with_range(at..end))
    }

    fn sync(&mut self) -> Result<()> {
        match self.syncs_left {
            Some(0) => {
                self.syncs_left = None;
                return Err(io::Error::from(io::ErrorKind::Other).into());
            }
            Some(left) => self.syncs_left = Some(left - 1),
            None => {}
        }
        self.record(Operation::Sync)
    }
}

impl Storage for RecordingStorage {
    fn len(&self) -> Result<u64> {
        Ok(self.recording().image.len() as u64 - self.file_at)
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.recording().image.read_at(self.file_at + at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.recording().write(self.file_at + at, bytes.to_vec())
    }

    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        self.recording().write(self.file_at + at, parts.concat())
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        let len = self.file_at + len;
        let mut recording = self.recording();
        recording.check_room(len).map_err(|error| error.with_range(len..len))?;
        recording.record(Operation::SetLen(len))
    }

    fn sync(&mut self) -> Result<()> {
        self.recording().sync()
    }

    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        let range = self.in_image(&range);
        let mut recording = self.recording();
        recording.check_room(range.end).map_err(|error| error.with_range(range.clone()))?;
        recording.record(Operation::Reserve(range))
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        let range = self.in_image(&range);
        self.recording().record(Operation::Punch(range))
    }
}

/// As a file that is given its name when its bytes are on the disk: its length, in a sector of its own, is the name.
impl JournalStore for RecordingStorage {
    fn read(&self, _limits: &Limits) -> Result<Found> {
        Ok(self.journal().map_or(Found::Absent, Found::Journal))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let len = bytes.len() as u64;
        if self.journal().is_some() || SECTOR + len > self.file_at {
            return Err(Error::usage("no room for a journal"));
        }
        let mut recording = self.recording();
        recording.write(SECTOR, bytes.to_vec())?;
        recording.sync()?;
        recording.write(0, len.to_le_bytes().to_vec())?;
        recording.sync()
    }

    fn remove(&mut self) -> Result<()> {
        let mut recording = self.recording();
        recording.write(0, vec![0; 8])?;
        recording.sync()
    }
}

/// An offset in an image, which is in memory.
pub(crate) fn index_of(at: u64) -> usize {
    usize::try_from(at).expect("an image fits the memory")
}
