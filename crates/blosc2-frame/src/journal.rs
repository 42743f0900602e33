//! A journal beside the file, for headers that lie across sectors of a disk.
//!
//! A change is made the frame's by one write of its header. A disk writes a sector of 512 bytes whole or not at all, and headers with
//! much metadata have more: a power cut could leave a part of the old and a part of the new. So before such a write the bytes before
//! and after it go into `<file>.b2journal`, which is removed when the header is on the disk. Whoever finds one that is complete, while
//! each sector of the header is the old or the new one, reads the new header. Any other journal was left behind, and means nothing.
//!
//! The file: the magic `b2journ2`, then 64-bit little-endian numbers: where the bytes are in the file, and how many, and the least length of
//! a file that the new header leads into, so that a shorter one, such as a copy from before the change, is not taken for it; the old bytes; the
//! new bytes; CRC-32 of all before, 32-bit little-endian.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;
use std::path::Path;

use container_core::Result;
use container_core::checksum::Algorithm;
use container_core::source::{Overlay, Source};
use container_core::write::storage::Storage;
use container_core::write::{Beside, sectors};

const MAGIC: [u8; 8] = *b"b2journ2";

/// Magic and three numbers.
const HEAD: usize = 32;

/// A header of C-Blosc2 has 16 metalayers; one over this is no journal of ours.
const MOST: u64 = 64 << 20;

/// Where a journal is kept, so that tests can stand in for the disk.
pub trait Sidecar: Send + Sync {
    /// What is in it, if it is there.
    ///
    /// # Errors
    /// `Io`.
    fn read(&self) -> Result<Option<Vec<u8>>>;

    /// Makes `bytes` all that is in it. When this returns they are on the disk.
    ///
    /// # Errors
    /// `Io`.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;

    /// Takes it away. It may come back after a power cut.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&mut self) -> Result<()>;
}

/// None: headers across sectors are written without, and a power cut may tear them. For storage that is no disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSidecar;

impl Sidecar for NoSidecar {
    fn read(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn put(&mut self, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    fn remove(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The file beside a frame, named as that with `.b2journal` behind.
#[derive(Clone, Debug)]
pub(crate) struct FileSidecar(Beside);

impl FileSidecar {
    pub(crate) fn beside(path: &Path) -> Self {
        Self(Beside::new(path, ".b2journal"))
    }
}

impl Sidecar for FileSidecar {
    fn read(&self) -> Result<Option<Vec<u8>>> {
        self.0.len()?.filter(|len| *len <= MOST).map(|_| self.0.read()).transpose()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.put(bytes)
    }

    fn remove(&mut self) -> Result<()> {
        self.0.remove()
    }
}

/// A change of bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where they are in the file.
    pub at: u64,
    /// What they were.
    pub old: Vec<u8>,
    /// What they are to be; as many.
    pub new: Vec<u8>,
    /// The least length of a file that they lead into.
    pub least: u64,
}

impl Change {
    /// From the first byte that differs to the last; `None` where none does. Both are as long, and begin at byte `at` of the file.
    pub(crate) fn between(at: u64, old: &[u8], new: &[u8]) -> Option<Self> {
        let Range { start, end } = sectors::differing(old, new)?;
        let (old, new) = (old.get(start..end)?, new.get(start..end)?);
        let at = at.saturating_add(start as u64);
        Some(Self { at, old: old.to_vec(), new: new.to_vec(), least: 0 })
    }

    /// Whether a disk may do the one part of it and not the other.
    pub(crate) fn crosses_sectors(&self) -> bool {
        sectors::crosses(&self.range())
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.at..self.at.saturating_add(self.new.len() as u64)
    }

    /// The bytes of a journal.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.at.to_le_bytes());
        out.extend_from_slice(&(self.new.len() as u64).to_le_bytes());
        out.extend_from_slice(&self.least.to_le_bytes());
        out.extend_from_slice(&self.old);
        out.extend_from_slice(&self.new);
        let sum = Algorithm::Crc32.digest(&out);
        out.extend(sum.as_bytes().iter().rev());
        out
    }

    /// Parses a journal; `None` where it is not a whole one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let computed = Algorithm::Crc32.digest(body);
        if !computed.as_bytes().iter().rev().eq(sum) || !body.starts_with(&MAGIC) {
            return None;
        }
        let number = |at: usize| -> Option<u64> {
            let bytes = body.get(at..)?.first_chunk::<8>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let (at, len, least) = (number(8)?, usize::try_from(number(16)?).ok()?, number(24)?);
        at.checked_add(len as u64)?;
        let (old, new) = body.get(HEAD..)?.split_at_checked(len)?;
        (new.len() == len).then(|| Self { at, old: old.to_vec(), new: new.to_vec(), least })
    }

    /// Whether it can be about a file of so many bytes.
    fn fits(&self, len: u64) -> bool {
        self.range().end <= len && self.least <= len
    }

    /// Whether a crash in the middle of this change left `now`: each sector of it is the old one, the new one, or has the first bytes of
    /// the new one. At least one is not new, or there is nothing to do.
    pub(crate) fn explains(&self, now: &[u8]) -> bool {
        now != self.new && sectors::explain(self.at, &self.old, &self.new, now)
    }
}

/// Finishes the change that a journal has, if it has one, and removes it.
///
/// # Errors
/// `Io`.
pub(crate) fn recover(storage: &mut dyn Storage, sidecar: &mut dyn Sidecar) -> Result<()> {
    let Some(bytes) = sidecar.read()? else { return Ok(()) };
    if let Some(change) = Change::parse(&bytes)
        && change.fits(storage.len()?)
    {
        let mut now = vec![0; change.new.len()];
        storage.read_at(change.at, &mut now)?;
        if change.explains(&now) {
            storage.write_at(change.at, &change.new)?;
        }
        // Also where the header is the new one already: it may not be on the disk.
        storage.sync()?;
    }
    sidecar.remove()
}

/// The change that the journal beside `path` has to finish, if there is one. `source` is the file as it is.
///
/// # Errors
/// `Io`.
pub(crate) fn pending(path: &Path, source: &dyn Source) -> Result<Option<Change>> {
    let Some(bytes) = FileSidecar::beside(path).read()? else { return Ok(None) };
    let Some(change) = Change::parse(&bytes) else { return Ok(None) };
    if !change.fits(source.len()) {
        return Ok(None);
    }
    let now = source.read(change.range())?;
    Ok(change.explains(&now).then_some(change))
}

/// The file at `path` as it is to be read: with the header that a crash kept from being finished, if a journal has it.
///
/// # Errors
/// `Io`.
pub(crate) fn recovered(path: &Path, source: Box<dyn Source>) -> Result<Box<dyn Source>> {
    Ok(match pending(path, &source)? {
        Some(change) => Box::new(Overlay::patched(source, vec![(change.at, change.new)])),
        None => source,
    })
}

#[cfg(test)]
mod tests;
