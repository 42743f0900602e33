//! Layout of a file: positions of header, names and index, and their faults.

use std::borrow::Cow;
use std::ops::Range;

use container_core::report::Severity;
use container_core::source::{Source, check_range, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::fault::{Fault, FaultKind, Faults};
use crate::header::{self, Header};
use crate::index::{IndexBlock, IndexEntry};
use crate::index_scan::{self, Rules};
use crate::namelist::NameList;

mod faults;

/// Extent of the checks when a file is opened, and treatment of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// The checks of the reference: header, namelist and the entries that its binary search for the end of the index reads. Opening takes
    /// the same time for any number of frames.
    #[default]
    Compatible,
    /// Every entry, in one pass. Opening fails at the first error, or at a second entry of one frame and name.
    Strict,
    /// Every entry, in one pass. Faults are recorded. Unsorted entries are sorted; those whose frame or name is impossible are left out,
    /// and those whose data are impossible are found, but not read.
    Lenient,
}

/// Positions of the structures of a file.
#[derive(Clone, Debug)]
pub struct Layout {
    file_len: u64,
    header: Header,
    names: NameList,
    entries: u64,
    frames: u64,
    faults: Vec<Fault>,
    /// Entries that no search can find.
    dropped: u64,
}

impl Layout {
    /// Finds header, names and the used part of the index.
    ///
    /// # Errors
    /// `WrongFormat`, `Unsupported` for versions the reference refuses, `Truncated` and `Malformed` for faults that the policy does
    /// not accept, `Limit`, and those of the source.
    pub fn parse(source: &dyn Source, limits: &Limits, strictness: Strictness) -> Result<Self> {
        Self::with_index(source, limits, strictness).map(|(layout, _)| layout)
    }

    /// The layout, and the index where it had to be copied or sorted.
    pub(crate) fn with_index(
        source: &dyn Source,
        limits: &Limits,
        strictness: Strictness,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        let empty = Self::without_frames(source)?;
        match strictness {
            Strictness::Compatible => empty.probed(source, limits),
            Strictness::Strict | Strictness::Lenient => empty.scanned(source, limits, strictness),
        }
    }

    /// The header alone, without the blocks that it points to.
    pub(crate) fn without_frames(source: &dyn Source) -> Result<Self> {
        let file_len = source.len();
        let head = source.read(0..file_len.min(header::LEN))?;
        let header = Header::parse(&head)?;
        if !header.is_supported() {
            let version = header.gsd_version;
            let problem = format!("unsupported GSD file layer {version} (expected 0.3, 1.x or 2.x)");
            return Err(Error::unsupported(problem).with_range(44..48).with_context("gsd header"));
        }
        let names = NameList::default();
        Ok(Self { file_len, header, names, entries: 0, frames: 0, faults: Vec::new(), dropped: 0 })
    }

    /// Makes this the layout of the file after it has grown: with another header and more entries, the last of `frame`.
    pub(crate) fn grow(&mut self, file_len: u64, header: &Header, more: u64, frame: u64) {
        (self.file_len, self.header) = (file_len, *header);
        self.entries = self.entries.saturating_add(more);
        self.frames = frame.saturating_add(1);
    }

    pub(crate) fn set_names(&mut self, names: NameList) {
        self.names = names;
    }

    /// Checks as the reference does on opening.
    fn probed(mut self, source: &dyn Source, limits: &Limits) -> Result<(Self, Option<Vec<u8>>)> {
        let block = namelist_bytes(source, &self.header, limits)?;
        let range = self.header.namelist_range().unwrap_or_default();
        match block.last() {
            Some(0) => {}
            Some(_) => {
                let last = range.end.saturating_sub(1)..range.end;
                return Err(Error::malformed("the last byte of the namelist is not 0").with_range(last));
            }
            None => return Err(Error::malformed("the namelist has a length of 0").with_range(32..40)),
        }
        self.names = NameList::parse(&block, self.header.is_v1());
        let bytes = index_bytes(source, &self.header, limits)?;
        let start = self.header.index_location;
        let entry_at = |at: u64| {
            let (mut entry, offset) = ([0; 32], at.saturating_mul(header::INDEX_ENTRY_LEN));
            match &bytes {
                // Only a few of many pages are read: a read takes less time than touching a page of a map.
                Cow::Borrowed(_) => source.read_into(start.saturating_add(offset), &mut entry)?,
                Cow::Owned(bytes) => bytes.as_slice().read_into(offset, &mut entry)?,
            }
            Ok(IndexEntry::from_bytes(&entry, self.header.byte_order))
        };
        let slots = bytes.len() as u64 / header::INDEX_ENTRY_LEN;
        self.entries = self.find_end(slots, &entry_at)?;
        let last = self.entries.checked_sub(1).map(&entry_at).transpose()?;
        self.frames = last.map_or(0, |entry| entry.frame.saturating_add(1));
        let copy = match bytes {
            Cow::Borrowed(_) => None,
            Cow::Owned(bytes) => Some(bytes),
        };
        Ok((self, copy))
    }

    /// Checks every slot.
    ///
    /// Namelist and index are cut to the part that is in the file, and are not used where they overlap. Under [`Strictness::Strict`] the
    /// first error of header, names or entries is returned. Otherwise faults are recorded, and the index is copied and sorted where
    /// the scan requires that.
    fn scanned(
        mut self,
        source: &dyn Source,
        limits: &Limits,
        strictness: Strictness,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        let strict = strictness == Strictness::Strict;
        let mut faults = faults::faults(&self.header, self.file_len);
        let torn = !faults.as_slice().is_empty();
        let refuse = |faults: &Faults| {
            // Doubtful names and text do not prevent reading; a second entry of one name does.
            let wrong = |fault: &&Fault| {
                fault.severity() == Severity::Error || fault.kind() == FaultKind::EntryDuplicate
            };
            let first = faults.as_slice().iter().find(wrong);
            first.filter(|_| strict).map_or(Ok(()), |first| Err(first.error()))
        };
        refuse(&faults)?;
        let clip = |range: Option<Range<u64>>, start: u64| {
            let range = range.unwrap_or(start..u64::MAX);
            range.start.min(self.file_len)..range.end.min(self.file_len)
        };
        let overlap = faults.as_slice().iter().any(|fault| fault.kind() == FaultKind::BlocksOverlap);
        let block = clip(self.header.namelist_range(), self.header.namelist_location);
        let bytes =
            read(source, block.clone(), limits).map_err(|error| error.with_context("gsd namelist"))?;
        if !overlap {
            self.names = NameList::parse(&bytes, self.header.is_v1());
            if !torn {
                faults::name_faults(&self.header, &self.names, &bytes, &mut faults);
                refuse(&faults)?;
            }
        }
        let block = clip(self.header.index_range(), self.header.index_location);
        let room = block.end.saturating_sub(block.start) / header::INDEX_ENTRY_LEN;
        let block = block.start..block.start.saturating_add(room.saturating_mul(header::INDEX_ENTRY_LEN));
        let bytes = match overlap {
            true => Cow::Borrowed(&[][..]),
            false => read(source, block, limits).map_err(|error| error.with_context("gsd index"))?,
        };
        let index = IndexBlock::new(&bytes, self.header.byte_order);
        let rules = Rules {
            header: &self.header,
            file_len: self.file_len,
            names: self.names.len(),
            frames: self.header.index_allocated_entries.min(room),
        };
        // Faults of entries are a consequence of truncated blocks.
        let mut own = Faults::default();
        let scan = index_scan::scan(index, &rules, &mut own, strict);
        refuse(&own)?;
        self.dropped = scan.dropped;
        self.entries = scan.used as u64;
        let copy = if scan.rebuild {
            let (copy, frames) = index_scan::rebuilt(index.first(scan.used), &rules, limits)?;
            self.entries = copy.len() as u64 / header::INDEX_ENTRY_LEN;
            self.frames = frames;
            Some(copy)
        } else {
            let last = scan.used.checked_sub(1).and_then(|last| index.get(last));
            self.frames = last.map_or(0, |entry| entry.frame.saturating_add(1));
            match bytes {
                Cow::Borrowed(_) => None,
                Cow::Owned(bytes) => Some(bytes),
            }
        };
        self.faults = faults.into_vec();
        if !torn {
            self.faults.extend(own.into_vec());
        }
        Ok((self, copy))
    }

    /// Returns the faults and oddities of header, names and index. Empty except under [`Strictness::Lenient`].
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Entries that no search can find because their frame or their name is impossible.
    #[must_use]
    pub const fn dropped_entries(&self) -> u64 {
        self.dropped
    }

    /// False where the file ends before something that it announces.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let cut = |fault: &Fault| {
            matches!(
                fault.kind(),
                FaultKind::IndexPastEnd | FaultKind::NamelistPastEnd | FaultKind::EntryRange
            )
        };
        !self.faults.iter().any(cut)
    }

    /// Length of the file.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The names of chunks.
    #[must_use]
    pub const fn names(&self) -> &NameList {
        &self.names
    }

    /// Used entries of the index.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Committed frames: the last entry's, plus one. Trailing frames without chunks leave no trace.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Absolute bytes of the used part of the index.
    #[must_use]
    pub fn used_index(&self) -> Range<u64> {
        let start = self.header.index_location;
        start..start.saturating_add(self.entries.saturating_mul(header::INDEX_ENTRY_LEN))
    }

    /// Describes the problem of an entry by itself; `None` for a valid one. The checks of the reference, in checked arithmetic.
    #[must_use]
    pub fn entry_problem(&self, entry: &IndexEntry) -> Option<&'static str> {
        let rules = Rules {
            header: &self.header,
            file_len: self.file_len,
            names: self.names.len(),
            frames: self.header.index_allocated_entries,
        };
        rules.problem(entry).map(|(_, why)| why)
    }

    /// The number of used entries among so many slots, by the reference's binary search: the entries that it reads have to be valid.
    fn find_end(&self, slots: u64, entry_at: &dyn Fn(u64) -> Result<IndexEntry>) -> Result<u64> {
        let wrong = |at: u64, why: &str| {
            let offset = at.saturating_mul(header::INDEX_ENTRY_LEN);
            let start = self.header.index_location.saturating_add(offset);
            let range = start..start.saturating_add(header::INDEX_ENTRY_LEN);
            Error::malformed(format!("index entry {at}: {why}")).with_range(range)
        };
        if slots == 0 {
            return Ok(0);
        }
        let first = entry_at(0)?;
        if first.is_unused() {
            return Ok(0);
        }
        if let Some(why) = self.entry_problem(&first) {
            return Err(wrong(0, why));
        }
        let (mut low, mut high, mut frame) = (0, slots, first.frame);
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            let entry = entry_at(middle)?;
            if entry.is_unused() {
                high = middle;
                continue;
            }
            if let Some(why) = self.entry_problem(&entry) {
                return Err(wrong(middle, why));
            }
            if entry.frame < frame {
                return Err(wrong(middle, "its frame comes before that of an earlier entry"));
            }
            (low, frame) = (middle, entry.frame);
        }
        Ok(high)
    }
}

/// The namelist block.
fn namelist_bytes<'s>(source: &'s dyn Source, header: &Header, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    let range = header.namelist_range();
    let range = range.ok_or_else(|| Error::malformed("the namelist ends past 2^64").with_range(24..40))?;
    read(source, range, limits).map_err(|error| error.with_context("gsd namelist"))
}

/// The index block: every slot, used or not.
fn index_bytes<'s>(source: &'s dyn Source, header: &Header, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    let range = header.index_range();
    let range = range.ok_or_else(|| Error::malformed("the index ends past 2^64").with_range(8..24))?;
    read(source, range, limits).map_err(|error| error.with_context("gsd index"))
}

fn read<'s>(source: &'s dyn Source, range: Range<u64>, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    check_range(&range, source.len())?;
    if let Some(bytes) = source.lend(range.clone()) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut bytes = try_zeroed_vec(range.end.saturating_sub(range.start), limits)?;
    source.read_into(range.start, &mut bytes)?;
    Ok(Cow::Owned(bytes))
}
