//! Where everything is in a file: header, names, index, and what is wrong with them.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::borrow::Cow;
use std::ops::Range;

use container_core::source::{Source, check_range, zeroed_vec};
use container_core::{Error, Limits, Result};

use crate::header::{self, Header};
use crate::index::{Index, IndexEntry};
use crate::namelist::Names;

/// How much of a file is checked when it is opened, and what becomes of one that is not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// What the reference accepts: header, namelist and the entries that its binary search for the end of the index meets.
    /// Opening costs the same for any number of frames.
    #[default]
    Compatible,
    /// Every entry, in one pass. Anything wrong is an error.
    Strict,
    /// Every entry, in one pass. What is wrong is recorded, and what it concerns cannot be read.
    Lenient,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Layout {
    file_len: u64,
    header: Header,
    names: Names,
    entries: u64,
    frames: u64,
}

impl Layout {
    /// Finds header, names and the used part of the index.
    ///
    /// # Errors
    /// `WrongFormat`, `Unsupported` for versions the reference refuses, `Truncated` and `Malformed` for what the policy does
    /// not let pass, `Limit`, and those of the source.
    pub fn parse(source: &dyn Source, limits: &Limits, policy: Policy) -> Result<Self> {
        let _ = policy;
        let file_len = source.len();
        let head = source.read(0..file_len.min(header::LEN))?;
        let header = Header::parse(&head)?;
        if !header.is_supported() {
            let version = header.gsd_version;
            let problem = format!("GSD file layer {version} (0.3 and 1.0 up to 2.x are read)");
            return Err(Error::unsupported(problem).at(44..48).context("gsd header"));
        }
        let names = namelist_bytes(source, &header, limits)?;
        let names = Names::parse(&names, header.is_v1());
        let mut layout = Self { file_len, header, names, entries: 0, frames: 0 };
        let bytes = index_bytes(source, &header, limits)?;
        let index = Index::new(&bytes, header.byte_order);
        layout.entries = layout.find_end(index)?;
        let last = usize::try_from(layout.entries).ok().and_then(|used| index.get(used.checked_sub(1)?));
        layout.frames = last.map_or(0, |entry| entry.frame.saturating_add(1));
        Ok(layout)
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
    pub const fn names(&self) -> &Names {
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

    /// What is wrong with an entry by itself; `None` where nothing is. What the reference checks, in checked arithmetic.
    #[must_use]
    pub fn entry_problem(&self, entry: &IndexEntry) -> Option<&'static str> {
        if entry.chunk_type().is_none() {
            Some("its type code has no meaning")
        } else if entry.byte_range().is_none_or(|range| range.end > self.file_len) {
            Some("its chunk is not within the file")
        } else if entry.frame >= self.header.index_allocated_entries {
            Some("its frame is not below the number of entries allocated")
        } else if usize::from(entry.id) >= self.names.len() {
            Some("its name is not in the namelist")
        } else if entry.flags != 0 {
            Some("its flags are not 0")
        } else {
            None
        }
    }

    /// The number of used entries, by the reference's binary search: where it looks, entries have to make sense.
    fn find_end(&self, index: Index<'_>) -> Result<u64> {
        let wrong = |at: usize, why: &str| {
            let start = self.header.index_location.saturating_add((at as u64).saturating_mul(32));
            Error::malformed(format!("index entry {at}: {why}")).at(start..start.saturating_add(32))
        };
        let Some(first) = index.get(0) else { return Ok(0) };
        if first.is_unused() {
            return Ok(0);
        }
        if let Some(why) = self.entry_problem(&first) {
            return Err(wrong(0, why));
        }
        let (mut low, mut high, mut frame) = (0_usize, index.len(), first.frame);
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            let Some(entry) = index.get(middle) else { break };
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
        Ok(high as u64)
    }
}

/// The namelist block.
fn namelist_bytes<'s>(source: &'s dyn Source, header: &Header, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    let range = header.namelist_range();
    let range = range.ok_or_else(|| Error::malformed("the namelist ends past 2^64").at(24..40))?;
    read(source, range, limits).map_err(|error| error.context("gsd namelist"))
}

/// The index block: every entry that there is room for.
pub(crate) fn index_bytes<'s>(
    source: &'s dyn Source,
    header: &Header,
    limits: &Limits,
) -> Result<Cow<'s, [u8]>> {
    let range = header.index_range();
    let range = range.ok_or_else(|| Error::malformed("the index ends past 2^64").at(8..24))?;
    read(source, range, limits).map_err(|error| error.context("gsd index"))
}

fn read<'s>(source: &'s dyn Source, range: Range<u64>, limits: &Limits) -> Result<Cow<'s, [u8]>> {
    check_range(&range, source.len())?;
    if let Some(bytes) = source.lend(range.clone()) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut bytes = zeroed_vec(range.end.saturating_sub(range.start), limits)?;
    source.read_into(range.start, &mut bytes)?;
    Ok(Cow::Owned(bytes))
}
