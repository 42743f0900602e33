//! Following a file that grows.
//!
//! A poll reads the header, the last entry read so far and the slot after it, and from there the new entries. The file is not mapped, so
//! that truncating it meanwhile cannot cause a fault. Names are read when an entry has a new one, and only as far as entries use them: a
//! name after those may be half written, the name of a committed entry is complete.
//!
//! The writer determines which frames are committed. In the atomic scheme the header counts entries, and those that it counts are committed. The
//! reference writes the entries of frames into visible slots, all in one write, which is not atomic for concurrent readers: see
//! [`LastFramePolicy`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use container_core::source::{FileSource, Source};
use container_core::{Error, ErrorKind, Result};

use crate::header::{Header, INDEX_ENTRY_LEN};
use crate::index::{IndexBlock, IndexEntry};
use crate::index_scan::Rules;
use crate::{File, OpenOptions};

mod read;

use read::{bytes_of, is_same};

/// Result of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// No new frame.
    Nothing,
    /// The frames of this nonempty range are complete now.
    Frames(Range<u64>),
    /// The file is a different one or does not exist: replaced, removed, truncated, written anew or upgraded. This follower keeps returning
    /// this answer until [`Follower::reopen`].
    Replaced,
}

/// The rule by which the last frame counts in a file with visible unused slots, where a reader may see part of a write of entries. The
/// reference writes such files, and all closed files are such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LastFramePolicy {
    /// When a later frame exists, or when two consecutive polls find the same entries. The reference writes all entries of a flush at once,
    /// which takes microseconds. Polls further apart than that never see a part twice, unless the writer was killed in the middle.
    #[default]
    Twice,
    /// When a later frame exists. The last frame of a finished file is never returned.
    Followed,
}

/// Follows a file that other processes write.
///
/// ```
/// use gsd::{Change, Follower, Writer, WriterOptions};
///
/// # fn main() -> gsd::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.gsd");
/// let mut writer = Writer::create(&path, &WriterOptions::default())?;
/// let mut follower = Follower::open(&path)?;
/// assert_eq!(follower.poll()?, Change::Nothing);
/// for step in 0..3_u64 {
///     writer.write_chunk("configuration/step", 1, 1, &[step])?;
///     writer.end_frame()?;
///     assert_eq!(follower.poll()?, Change::Frames(step..step + 1));
///     let chunk = follower.file().find_chunk(step, "configuration/step").expect("it was written");
///     assert_eq!(*follower.file().read_elements::<u64>(&chunk)?, [step]);
/// }
/// # Ok(())
/// # }
/// ```
///
/// A simulation that runs for hours is polled once in a while, for as long as the caller likes:
///
/// ```no_run
/// # fn main() -> gsd::Result<()> {
/// use gsd::{Change, Follower};
///
/// let mut follower = Follower::open("run.gsd")?;
/// loop {
///     match follower.wait(|| { std::thread::sleep(std::time::Duration::from_secs(1)); true })? {
///         Change::Frames(frames) => println!("frames {frames:?} are there"),
///         Change::Replaced => follower.reopen()?,
///         Change::Nothing => break,
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// Files that the reference truncates and writes again between two polls, with the same chunks at the same offsets, cannot be distinguished
/// from unchanged ones. Such restart files are better written by [`write_restart`](crate::write_restart), which makes a new file each time.
pub struct Follower {
    path: PathBuf,
    handle: std::fs::File,
    last_frame: LastFramePolicy,
    /// The frames that were returned, and no others.
    file: File,
    /// The last entry of these.
    anchor: Option<[u8; 32]>,
    /// The entries of the last frame, as found by a poll that did not return it.
    held: Vec<u8>,
    /// An invalid entry, as found by the last poll, and its number.
    doubt: Option<(u64, [u8; 32])>,
    replaced: bool,
}

impl Follower {
    /// Opens the file at `path`. The first poll returns the existing frames.
    ///
    /// # Errors
    /// `WrongFormat`, `Truncated` and `Unsupported` for the header, `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default(), LastFramePolicy::default())
    }

    /// Opens the file at `path` with options, except policy and access: reads are positioned, and every entry is checked.
    ///
    /// # Errors
    /// As [`Follower::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        options: &OpenOptions,
        last_frame: LastFramePolicy,
    ) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let open = || {
            let handle = std::fs::File::open(path)?;
            let source = FileSource::new(handle.try_clone()?)?;
            Ok((handle, File::without_frames(Box::new(source), options)?))
        };
        let (handle, file) = open().map_err(named)?;
        Ok(Self {
            path: path.into(),
            handle,
            last_frame,
            file,
            anchor: None,
            held: Vec::new(),
            doubt: None,
            replaced: false,
        })
    }

    /// Opens the file that is at the path now, from its first frame on.
    ///
    /// # Errors
    /// As [`Follower::open`]; the follower is then as it was.
    pub fn reopen(&mut self) -> Result<()> {
        *self = Self::open_with(&self.path, self.file.options(), self.last_frame)?;
        Ok(())
    }

    /// The frames that polls have returned so far, as a file without any others. Its names are those that their chunks have.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// The same as an independent file, with a copy of the index: for
    /// [`Trajectory::from_file`](crate::hoomd::Trajectory::from_file).
    ///
    /// # Errors
    /// `Limit`, `Io`.
    pub fn snapshot(&self) -> Result<File> {
        self.file.duplicate(Box::new(self.source()?))
    }

    /// Polls until there is a change, with a `pause` before each poll but the first. A pause that returns `false` ends that: the answer is
    /// then [`Change::Nothing`].
    ///
    /// # Errors
    /// As [`Follower::poll`].
    pub fn wait(&mut self, mut pause: impl FnMut() -> bool) -> Result<Change> {
        loop {
            match self.poll()? {
                Change::Nothing if pause() => {}
                change => return Ok(change),
            }
        }
    }

    /// Polls once. Each frame is returned once, complete, in order. Without new frames that takes two short reads. A file that ends before
    /// its index returns [`Change::Nothing`]: its writer is still creating it.
    ///
    /// # Errors
    /// `Malformed` for an entry that is invalid in two consecutive polls, `Limit`, `Io`. The poll can be repeated.
    pub fn poll(&mut self) -> Result<Change> {
        if self.replaced {
            return Ok(Change::Replaced);
        }
        let change = match self.poll_file() {
            // Only a truncated file ends before its earlier content.
            Err(error) if matches!(error.kind(), ErrorKind::Truncated { .. }) && self.is_cut()? => None,
            // The reference creates a file in steps: the header is there before the index that it points to.
            Err(error) if matches!(error.kind(), ErrorKind::Truncated { .. }) && self.anchor.is_none() => {
                Some(Change::Nothing)
            }
            looked => looked.map_err(|error| error.in_file(self.path.display().to_string()))?,
        };
        if change.is_none() {
            self.replaced = true;
        }
        Ok(change.unwrap_or(Change::Replaced))
    }

    /// `None` for a different file.
    fn poll_file(&mut self) -> Result<Option<Change>> {
        if self.is_cut()? {
            return Ok(None);
        }
        let Some(header) = self.stable_header()? else { return Ok(Some(Change::Nothing)) };
        let used = self.file.layout().entries();
        if !is_same(self.file.header(), &header, used) {
            return Ok(None);
        }
        // The header may point to bytes written after the length was read.
        let source = self.source()?;
        let known = u64::from(self.anchor.is_some());
        let from = used.saturating_sub(known);
        let slots = self.slots(&source, &header, from, known.saturating_add(1))?;
        let mut slots = slots.as_slice();
        if let Some(anchor) = &self.anchor {
            match slots.split_first_chunk::<32>() {
                Some((first, rest)) if first == anchor => slots = rest,
                _ => return Ok(None),
            }
        }
        let is_new = IndexBlock::new(slots, header.byte_order).get(0).is_some_and(|entry| !entry.is_unused());
        let change = if is_new {
            self.take(&header)?
        } else {
            (self.held, self.doubt) = (Vec::new(), None);
            Some(Change::Nothing)
        };
        Ok(change.filter(|_| self.is_at_path()))
    }

    /// Reads the entries after those read so far.
    ///
    /// New entries are checked in order, up to the first invalid one. The last frame of the valid ones is held back if a slot after it is
    /// invalid or unused, since more of its entries may follow; [`LastFramePolicy`] decides when it is returned. The frames before it are
    /// added to the file. An invalid entry is an error only if the next poll finds the same bytes, because a writer may have been
    /// writing it.
    fn take(&mut self, header: &Header) -> Result<Option<Change>> {
        let used = self.file.layout().entries();
        let source = self.source()?;
        let (mut new, full) = self.new_slots(&source, header)?;
        // Chunks are written before the entries that point to them.
        let source = self.source()?;
        let needed = IndexBlock::new(&new, header.byte_order).iter().map(|entry| usize::from(entry.id));
        let needed = needed.max().map_or(0, |id| id.saturating_add(1));
        let mut names = self.names(&source, header, needed)?;
        let Some(all) = names.as_mut() else { return Ok(None) };
        let rules = Rules {
            header,
            file_len: source.len(),
            names: all.len(),
            frames: header.index_allocated_entries,
        };
        let mut good = 0_usize;
        let mut last = self.anchor.map(|bytes| IndexEntry::from_bytes(&bytes, header.byte_order));
        let mut wrong = None;
        let index = IndexBlock::new(&new, header.byte_order);
        for entry in index.iter() {
            let key = |entry: &IndexEntry| (entry.frame, if header.is_v1() { 0 } else { entry.id });
            // A frame that was returned has all its chunks.
            let given = good == 0 && entry.frame < self.file.nframes();
            wrong = rules.problem(&entry).map(|(_, why)| why).or_else(|| {
                let back = given || last.is_some_and(|last| key(&entry) < key(&last));
                back.then_some("it is not after the existing entries")
            });
            if wrong.is_some() {
                break;
            }
            (good, last) = (good.saturating_add(1), Some(entry));
        }
        // The first invalid entry, with its bytes.
        let doubt = wrong.and_then(|why| Some((why, *new.as_chunks::<32>().0.get(good)?)));
        let mut settled = good;
        // The last frame may be incomplete: compared with the entries that the previous poll held back.
        if doubt.is_some() || !full {
            let of_last = index
                .first(good)
                .iter()
                .rev()
                .take_while(|one| Some(one.frame) == last.map(|last| last.frame));
            let start = good.saturating_sub(of_last.count());
            let held = bytes_of(&new, start..good).to_vec();
            let twice = self.last_frame == LastFramePolicy::Twice && doubt.is_none() && held == self.held;
            if !twice {
                settled = start;
                self.held = held;
            }
        }
        if settled == good {
            self.held = Vec::new();
        }
        let frames = self.file.nframes();
        let at = used.saturating_add(good as u64);
        let before = std::mem::replace(&mut self.doubt, doubt.map(|(_, bytes)| (at, bytes)));
        if settled > 0 {
            new.truncate(settled.saturating_mul(32));
            let index = IndexBlock::new(&new, header.byte_order);
            let needed = index.iter().map(|entry| usize::from(entry.id).saturating_add(1)).max();
            let needed = needed.unwrap_or(0).max(self.file.names().len());
            let names = names.map(|names| names.first(needed));
            self.anchor = new.last_chunk::<32>().copied();
            self.file.extend(Box::new(source), header, names, &new)?;
            return Ok(Some(Change::Frames(frames..self.file.nframes())));
        }
        match doubt {
            Some((why, _)) if before == self.doubt => {
                let start = header.index_location.saturating_add(at.saturating_mul(INDEX_ENTRY_LEN));
                let range = start..start.saturating_add(INDEX_ENTRY_LEN);
                Err(Error::malformed(format!("index entry {at}: {why}")).with_range(range))
            }
            _ => Ok(Some(Change::Nothing)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
