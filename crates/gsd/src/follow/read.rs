//! Reads of a poll, from a file that another process may be writing.

use std::ops::Range;

use container_core::source::{FileSource, Source, try_zeroed_vec};
use container_core::{Error, Result};

use super::Follower;
use crate::header::{self, Header, INDEX_ENTRY_LEN, NAMELIST_ENTRY_LEN};
use crate::index::IndexBlock;
use crate::namelist::NameList;

impl Follower {
    /// Used slots after the last entry read so far, up to the first unused one; true where no unused slot was found.
    pub(super) fn new_slots(&self, source: &FileSource, header: &Header) -> Result<(Vec<u8>, bool)> {
        const MIN_SLOTS: u64 = 128;
        const MAX_SLOTS: u64 = 1 << 17;
        let limits = &self.file.options().limits;
        let mut at = self.file.layout().entries();
        let (mut new, mut piece) = (Vec::new(), MIN_SLOTS);
        loop {
            let more = self.slots(source, header, at, piece)?;
            let entries = IndexBlock::new(&more, header.byte_order);
            let used = entries.iter().position(|entry| entry.is_unused());
            let count = used.unwrap_or(entries.len());
            let len = (new.len() as u64).saturating_add((count as u64).saturating_mul(INDEX_ENTRY_LEN));
            limits.allocate(len)?;
            new.extend_from_slice(bytes_of(&more, 0..count));
            if used.is_some() || entries.is_empty() {
                return Ok((new, used.is_none()));
            }
            at = at.saturating_add(count as u64);
            piece = piece.saturating_mul(2).min(MAX_SLOTS);
        }
    }

    /// Up to `count` slots from slot `from` on, fewer at the end of the visible ones.
    pub(super) fn slots(
        &self,
        source: &FileSource,
        header: &Header,
        from: u64,
        count: u64,
    ) -> Result<Vec<u8>> {
        let range = header.index_range();
        let range = range.ok_or_else(|| Error::malformed("the index ends past 2^64").with_range(8..24))?;
        let start = range.start.saturating_add(from.saturating_mul(INDEX_ENTRY_LEN)).min(range.end);
        let end = start.saturating_add(count.saturating_mul(INDEX_ENTRY_LEN)).min(range.end);
        let mut bytes = try_zeroed_vec(end.saturating_sub(start), &self.file.options().limits)?;
        source.read_into(start, &mut bytes).map_err(|error| error.with_context("gsd index"))?;
        Ok(bytes)
    }

    /// The first `needed` names, or as many as there are, and at least those read so far; `None` where these have changed.
    pub(super) fn names(
        &self,
        source: &FileSource,
        header: &Header,
        needed: usize,
    ) -> Result<Option<NameList>> {
        let known = self.file.names();
        let before = self.file.header();
        let moved = (before.namelist_location, before.namelist_allocated_entries)
            != (header.namelist_location, header.namelist_allocated_entries);
        if needed <= known.len() && !moved {
            return Ok(Some(known.clone()));
        }
        let range = header.namelist_range();
        let range =
            range.ok_or_else(|| Error::malformed("the namelist ends past 2^64").with_range(24..40))?;
        // In place, a list only grows after its end.
        let skipped = if moved { 0 } else { names_len(known, header.is_v1()) };
        let start = range.start.saturating_add(skipped).min(range.end);
        let mut bytes = try_zeroed_vec(range.end.saturating_sub(start), &self.file.options().limits)?;
        source.read_into(start, &mut bytes).map_err(|error| error.with_context("gsd namelist"))?;
        let read = NameList::parse(&bytes, header.is_v1());
        let names = if moved { read } else { NameList::from_names(known.raw().chain(read.raw())) };
        let same = names.len() >= known.len() && known.raw().zip(names.raw()).all(|(a, b)| a == b);
        Ok(same.then(|| names.first(needed.max(known.len()))))
    }

    /// The header, once two reads find the same; `None` where it keeps changing.
    pub(super) fn stable_header(&self) -> Result<Option<Header>> {
        const MAX_TRIES: usize = 16;
        let source = self.source()?;
        let read = || {
            let mut bytes = [0; 256];
            source.read_into(0, &mut bytes).map(|()| bytes)
        };
        let mut bytes = read()?;
        if bytes == self.file.header().to_bytes() {
            return Ok(Some(*self.file.header()));
        }
        for _ in 0..MAX_TRIES {
            let again = read()?;
            if again == bytes {
                // An invalid header belongs to another file.
                return Ok(Some(Header::parse(&bytes).unwrap_or(NO_HEADER)));
            }
            bytes = again;
        }
        Ok(None)
    }

    pub(super) fn source(&self) -> Result<FileSource> {
        FileSource::new(self.handle.try_clone()?)
    }

    /// True where the file is shorter than before: a file that is being written only grows.
    pub(super) fn is_cut(&self) -> Result<bool> {
        Ok(self.handle.metadata()?.len() < self.file.layout().file_len())
    }

    /// True where the path still refers to the open file.
    pub(super) fn is_at_path(&self) -> bool {
        let open = self.handle.metadata();
        let there = std::fs::metadata(&self.path);
        open.is_ok_and(|open| there.is_ok_and(|there| is_same_file(&open, &there)))
    }
}

/// Stands in for bytes that are not a header.
const NO_HEADER: Header = Header {
    byte_order: container_core::dtype::ByteOrder::NATIVE,
    index_location: 0,
    index_allocated_entries: 0,
    namelist_location: 0,
    namelist_allocated_entries: 0,
    schema_version: header::Version(0),
    gsd_version: header::Version(0),
    application: [0; 64],
    schema: [0; 64],
    reserved: [0; 80],
};

/// True where a header can be a later one of the same file, of which `used` entries have been read. Writers that open a file
/// change the minor version.
pub(super) fn is_same(before: &Header, after: &Header, used: u64) -> bool {
    let fixed = |header: &Header| {
        (header.byte_order, header.schema_version, header.application, header.schema, header.is_v1())
    };
    after.is_supported() && after.index_allocated_entries >= used && fixed(before) == fixed(after)
}

/// Number of bytes of a namelist that names take.
fn names_len(names: &NameList, v1: bool) -> u64 {
    if v1 {
        return (names.len() as u64).saturating_mul(NAMELIST_ENTRY_LEN);
    }
    names.raw().fold(0, |len, name| len.saturating_add(name.len() as u64).saturating_add(1))
}

pub(super) fn bytes_of(slots: &[u8], range: Range<usize>) -> &[u8] {
    slots.get(range.start.saturating_mul(32)..range.end.saturating_mul(32)).unwrap_or_default()
}

#[cfg(unix)]
fn is_same_file(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On systems without file numbers, by creation time.
#[cfg(not(unix))]
fn is_same_file(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    one.created().ok() == other.created().ok()
}
