//! Storage that keeps what is done to it, for [`replay`](super::replay).

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::storage::Storage;
use crate::Result;

/// Operation of a writer on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Bytes are written; those of a vectored write are one.
    Write {
        /// Offset of the first byte.
        at: u64,
        /// All of them.
        bytes: Vec<u8>,
    },
    /// The length is set.
    SetLen(u64),
    /// All that came before is on the disk.
    Sync,
    /// Blocks are set aside.
    Reserve(Range<u64>),
    /// Bytes are given up.
    Punch(Range<u64>),
}

impl Operation {
    /// Does it to `image`, as a disk without faults would.
    pub(super) fn apply(&self, image: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Write { at, bytes } => image.write_at(*at, bytes),
            Self::SetLen(len) => Storage::set_len(image, *len),
            Self::Punch(range) => image.punch_hole(range.clone()),
            Self::Sync | Self::Reserve(_) => Ok(()),
        }
    }
}

/// A file in memory, and all that was done to it. Clones are the same file, so that a test can look at it while a writer, or what
/// is left of one, holds it.
#[derive(Clone, Debug, Default)]
pub struct RecordingStorage(Arc<Mutex<Recording>>);

#[derive(Debug, Default)]
struct Recording {
    image: Vec<u8>,
    operations: Vec<Operation>,
    room: Option<u64>,
    /// Syncs until the one that fails.
    syncs_left: Option<usize>,
}

impl RecordingStorage {
    /// A file of these bytes, to which nothing has been done.
    #[must_use]
    pub fn new(start: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Recording { image: start, ..Recording::default() })))
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

    /// The bytes as they are now.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        self.recording().image.clone()
    }

    /// From now on the disk is full where the file would grow past `len` bytes, or has room again (`None`). A write that does not fit
    /// is done as far as there is room, and fails; so does setting room aside, which changes nothing.
    pub fn set_room(&self, len: Option<u64>) {
        self.recording().room = len;
    }

    /// Refuses one sync: that after the next `count`.
    pub fn refuse_sync_after(&self, count: usize) {
        self.recording().syncs_left = Some(count);
    }

    /// A panic elsewhere does not make the bytes wrong.
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
}

impl Storage for RecordingStorage {
    fn len(&self) -> Result<u64> {
        Ok(self.recording().image.len() as u64)
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.recording().image.read_at(at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.recording().write(at, bytes.to_vec())
    }

    fn write_vectored_at(&mut self, at: u64, parts: &[&[u8]]) -> Result<()> {
        self.recording().write(at, parts.concat())
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        let mut recording = self.recording();
        recording.check_room(len).map_err(|error| error.with_range(len..len))?;
        recording.record(Operation::SetLen(len))
    }

    fn sync(&mut self) -> Result<()> {
        let mut recording = self.recording();
        match recording.syncs_left {
            Some(0) => {
                recording.syncs_left = None;
                return Err(io::Error::from(io::ErrorKind::Other).into());
            }
            Some(left) => recording.syncs_left = Some(left - 1),
            None => {}
        }
        recording.record(Operation::Sync)
    }

    fn reserve(&mut self, range: Range<u64>) -> Result<()> {
        let mut recording = self.recording();
        recording.check_room(range.end).map_err(|error| error.with_range(range.clone()))?;
        recording.record(Operation::Reserve(range))
    }

    fn punch_hole(&mut self, range: Range<u64>) -> Result<()> {
        self.recording().record(Operation::Punch(range))
    }
}
