//! Writing a file: chunks, frames, and when they are committed.
//!
//! A [`CommitScheme`] is the layout of a commit on the disk; the writes of the two schemes are in `commit_atomic` and `commit_reference`. Chunks go
//! to the end of the file in the order in which they are written, through a buffer where they are small. Entries of the index and new names wait in
//! memory for the commit.
//!
//! To change this: the atomic scheme never overwrites bytes that a committed header refers to, and the header is written
//! last, after a sync. `tests/crash` replays every write and finds what breaks this.

use std::path::Path;

use container_core::source::Source;
use container_core::write::storage::{FileStorage, Storage, StorageSource, Watched};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, ErrorKind, Limits, Result};

use crate::header::{self, Header, Version};
use crate::index::IndexEntry;

mod chunks;
mod commit_atomic;
mod commit_reference;
mod empty_file;
mod frames;
mod names;
mod options;
mod read_back;
mod reopen;
mod reservation;
mod restart_file;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod sequential;
mod truncate;
mod upgrade;

use names::NameTable;
pub use options::{ChunkAlignment, Commit, CommitScheme, WriteMode, WriterOptions};
pub use reservation::{Reservation, RowWriter};
pub use restart_file::write_restart;

/// Version of the file layer of new files.
pub(crate) const CURRENT_VERSION: Version = Version::new(2, 1);

/// Writes frames to a file, or to any other storage that can be changed in place.
///
/// ```
/// # fn main() -> gsd::Result<()> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("trajectory.gsd");
/// let mut options = gsd::WriterOptions::default();
/// options.schema = "hoomd".into();
/// let mut writer = gsd::Writer::create(&path, &options)?;
/// for step in 0..3_u64 {
///     writer.write_chunk("configuration/step", 1, 1, &[step])?;
///     writer.write_chunk("particles/position", 2, 3, &[0_f32; 6])?;
///     writer.end_frame()?;
/// }
/// writer.close()?;
/// assert_eq!(gsd::File::open(&path)?.nframes(), 3);
/// # Ok(())
/// # }
/// ```
///
/// # What survives
///
/// In [`CommitScheme::Atomic`], a file has at any moment the last committed state, complete: after the process is killed, after a power
/// cut, and after the disk ran full. Uncommitted frames are invisible. The caller chooses when frames are committed:
///
/// | [`Commit`] | killed process | power cut |
/// |---|---|---|
/// | `EveryFrame` | every ended frame survives | every ended frame survives |
/// | `Every(n)` | all but up to n − 1 ended frames survive | the same |
/// | `Manual` | frames up to the last `flush` survive | the same |
///
/// With [`Durability::Cached`] the column of the power cut does not apply: such a file may lose frames, or not open. The first column
/// applies unchanged.
///
/// [`CommitScheme::Reference`] is for files that must equal those of gsd byte for byte, and commits in the same way. A kill or a power cut
/// during a commit can leave a last frame that lacks chunks, and a file that no reader opens.
///
/// # Errors
///
/// After an error of the disk (`Io`) the writer stops writing. Every later call fails, and dropping the writer only cuts off what was
/// written since the last commit; the committed frames are as they were. Open the file again to go on. An error marked by
/// [`Error::after_change`] came after the change: the frames are committed, and may not survive a power cut. Errors in the arguments
/// (`Usage`) change nothing.
///
/// Frames without chunks count, but leave no trace unless a frame with chunks follows: trailing ones are gone when the file is
/// opened again.
///
/// Dropped without [`Writer::close`], a writer commits the frames that have ended, and ignores errors.
pub struct Writer<S: Storage = FileStorage> {
    storage: Watched<S>,
    options: WriterOptions,
    /// The header on the disk.
    header: Header,
    names: NameTable,
    /// Number of index entries of the header's frames.
    used: u64,
    /// Absolute offset of the first entry, written or not.
    index_at: u64,
    /// Number of entries with reserved space from there on. The space after the used and the stale ones is zero.
    capacity: u64,
    /// Slots after the used ones in which an interrupted commit may have left entries.
    stale: u64,
    /// Absolute offset of the next byte that is not in the buffer: at or after the end of the file.
    end: u64,
    /// Length of the file when it was opened or last committed; `None` while it is undetermined which header it has, and in the reference's
    /// scheme.
    durable_len: Option<u64>,
    /// Chunks that wait to be written at `end`.
    buffer: Vec<u8>,
    /// Entries that are not in the file, in the order of writing.
    entries: Vec<IndexEntry>,
    /// Number of those at the end of `entries` that belong to the frame that has not ended.
    pending: usize,
    /// Number of the frame that has not ended.
    frame: u64,
    /// Number of committed frames.
    committed: u64,
    /// Frames that have ended since the last commit.
    ended: u64,
    state: State,
    /// Room for names that no header points to.
    spare: Option<commit_atomic::SpareNamelist>,
    /// Whether the header's namelist is one that this writer made.
    owns_names: bool,
    /// Chunks of the current frame that row writers fill.
    reservations: Vec<std::sync::Arc<reservation::Rows>>,
    /// Encoded entries, a buffer that is reused.
    scratch: Vec<u8>,
    /// False while the index's space may not be on the disk: space released by an earlier writer is reused, and no writer has synced it.
    is_room_synced: bool,
    /// Whether committed frames have several chunks of one name. Which of them the reference finds depends on the length of the index, so
    /// the next commit writes an index without the others.
    has_duplicates: bool,
}

#[derive(Debug)]
enum State {
    Ready,
    Closed,
    /// Message of the disk error that ended the writing.
    Poisoned(String),
}

impl Writer<FileStorage> {
    /// Creates a file, replacing an existing one: mode `w`. The new file appears in one step.
    ///
    /// # Errors
    /// `Usage` for names that do not fit the header, and while another writer has the file; `Io`.
    pub fn create(path: impl AsRef<Path>, options: &WriterOptions) -> Result<Self> {
        Self::make(path.as_ref(), options, Overwrite::Replace)
    }

    /// Creates a file that does not exist yet: mode `x`.
    ///
    /// # Errors
    /// As [`Writer::create`]; `Usage` when the file exists.
    pub fn create_new(path: impl AsRef<Path>, options: &WriterOptions) -> Result<Self> {
        Self::make(path.as_ref(), options, Overwrite::Refuse)
    }

    /// Opens a file to add frames to it: mode `r+`. Application and schema stay as they are.
    ///
    /// # Errors
    /// As [`crate::File::open`]; `Malformed` for any fault of the index, so that a damaged file is not extended; `Unsupported`
    /// for big-endian files; `Usage` while another writer has the file.
    pub fn open(path: impl AsRef<Path>, options: &WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let storage = FileStorage::open(path).map_err(named)?;
        Self::open_storage(storage, options).map_err(named)
    }

    /// Opens a file to add frames to it, and creates it if it does not exist: mode `a`.
    ///
    /// # Errors
    /// As [`Writer::open`] and [`Writer::create`].
    pub fn append(path: impl AsRef<Path>, options: &WriterOptions) -> Result<Self> {
        let path = path.as_ref();
        match Self::open(path, options) {
            Err(error) if is_not_found(&error) => Self::make(path, options, Overwrite::Refuse),
            opened => opened,
        }
    }

    /// Opens a file as the reference's modes do.
    ///
    /// # Errors
    /// As the function that the mode names.
    pub fn open_mode(path: impl AsRef<Path>, mode: WriteMode, options: &WriterOptions) -> Result<Self> {
        match mode {
            WriteMode::ReadWrite => Self::open(path, options),
            WriteMode::Write => Self::create(path, options),
            WriteMode::Exclusive => Self::create_new(path, options),
            WriteMode::Append => Self::append(path, options),
        }
    }

    fn make(path: &Path, options: &WriterOptions, overwrite: Overwrite) -> Result<Self> {
        let named = |error: Error| error.in_file(path.display().to_string());
        let header = options.header()?;
        // Locked until the new file is in its place, so that no other writer is writing to the replaced file.
        let replaced = match (overwrite, FileStorage::open(path)) {
            (Overwrite::Replace, Err(error)) if !is_not_found(&error) => return Err(named(error)),
            (_, opened) => opened.ok(),
        };
        let mut file = AtomicFile::create(path, overwrite)?;
        std::io::Write::write_all(&mut file, &empty_file::empty(&header))?;
        file.commit(options.durability)?;
        drop(replaced);
        Self::open(path, options)
    }
}

impl<S: Storage> Writer<S> {
    /// Creates a file in a storage, replacing its content. The bytes that make it a GSD file are written last.
    ///
    /// # Errors
    /// `Usage` for names that do not fit the header; `Io`, marked by [`Error::after_change`] where the file is complete and may not survive a
    /// power cut.
    pub fn create_storage(mut storage: S, options: &WriterOptions) -> Result<Self> {
        let header = options.header()?;
        let image = empty_file::empty(&header);
        let (head, body) = image.split_at_checked(256).unwrap_or((&image, &[]));
        storage.set_len(0)?;
        storage.write_at(header::LEN, body)?;
        if options.durability == Durability::Synced {
            storage.sync()?;
        }
        storage.write_at(0, head)?;
        if options.durability == Durability::Synced {
            storage.sync_change()?;
        }
        Self::open_storage(storage, options)
    }

    /// Appends frames to the file in a storage.
    ///
    /// # Errors
    /// As [`Writer::open`].
    pub fn open_storage(storage: S, options: &WriterOptions) -> Result<Self> {
        options.check()?;
        let found = reopen::scan(&storage, options)?;
        let mut writer = Self {
            storage: Watched::new(storage),
            options: options.clone(),
            header: found.header,
            names: found.names,
            used: found.used,
            index_at: found.header.index_location,
            capacity: found.capacity,
            stale: found.stale,
            end: found.file_len,
            durable_len: (options.scheme == CommitScheme::Atomic).then_some(found.file_len),
            buffer: Vec::new(),
            entries: Vec::new(),
            pending: 0,
            frame: found.frames,
            committed: found.frames,
            ended: 0,
            state: State::Ready,
            spare: None,
            owns_names: false,
            reservations: Vec::new(),
            scratch: Vec::new(),
            is_room_synced: found.capacity <= found.header.index_allocated_entries,
            has_duplicates: found.has_duplicates,
        };
        if options.scheme == CommitScheme::Reference {
            writer.guard(|writer| commit_reference::set_version(writer))?;
        }
        Ok(writer)
    }

    /// The header as it is in the file.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the options with which it was opened.
    #[must_use]
    pub const fn options(&self) -> &WriterOptions {
        &self.options
    }

    /// Frames that have ended, committed or not.
    #[must_use]
    pub const fn nframes(&self) -> u64 {
        self.frame
    }

    /// Number of committed frames.
    #[must_use]
    pub const fn committed_frames(&self) -> u64 {
        self.committed
    }

    /// The names of chunks so far, by id, whether or not they are in the file yet.
    pub fn names(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        self.names.iter().map(String::from_utf8_lossy)
    }

    /// Number of bytes of chunks that are buffered in memory.
    #[must_use]
    pub const fn buffered_len(&self) -> usize {
        self.buffer.len()
    }

    /// Changes the maximum number of buffered bytes.
    ///
    /// # Errors
    /// `Usage` for 0. `Io`, where the buffer holds more already and is written.
    pub fn set_maximum_write_buffer_size(&mut self, bytes: usize) -> Result<()> {
        self.check_usable()?;
        options::check_buffer_size(bytes)?;
        if self.buffer.len() > bytes {
            self.guard(Self::write_buffer)?;
        }
        self.options.maximum_write_buffer_size = bytes;
        Ok(())
    }

    /// Fails where an earlier error has ended the writing.
    fn check_usable(&self) -> Result<()> {
        match &self.state {
            State::Ready => Ok(()),
            State::Closed => Err(Error::usage("the writer is closed")),
            State::Poisoned(why) => {
                Err(Error::usage(format!("the writer stopped at an earlier error: {why}"))
                    .with_hint("open the file again: the frames that were committed are in it"))
            }
        }
    }

    /// Runs an operation that can fail halfway; an error ends the writing.
    fn guard<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_usable()?;
        work(self).inspect_err(|error| self.state = State::Poisoned(error.to_string()))
    }

    fn sync_storage(&mut self) -> Result<()> {
        match self.options.durability {
            Durability::Synced => self.storage.sync()?,
            Durability::Cached => {}
        }
        self.is_room_synced = true;
        Ok(())
    }

    /// The last sync of a change.
    fn sync_change(&mut self) -> Result<()> {
        self.sync_storage().map_err(Error::after_change)
    }

    /// The file as it is now.
    fn source(&self) -> Result<impl Source> {
        StorageSource::new(&self.storage)
    }
}

fn is_not_found(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Copies a range within a storage, in pieces of up to 1 MiB.
fn copy_within(
    storage: &mut impl Storage,
    from: std::ops::Range<u64>,
    to: u64,
    limits: &Limits,
) -> Result<()> {
    const PIECE_LEN: u64 = 1 << 20;
    let mut piece =
        container_core::source::try_zeroed_vec(PIECE_LEN.min(from.end.saturating_sub(from.start)), limits)?;
    let mut done = 0;
    while from.start + done < from.end {
        let len = PIECE_LEN.min(from.end - from.start - done);
        // At most the length of the piece.
        let bytes = piece.get_mut(..usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or_default();
        storage.read_at(from.start + done, bytes)?;
        storage.write_at(to + done, bytes)?;
        done += len;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
