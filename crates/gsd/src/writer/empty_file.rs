//! Files without frames.

use super::{CURRENT_VERSION, CommitScheme};
use crate::header::{Header, LEN};

/// Number of slots of a new index.
const INDEX_SLOTS: u64 = 128;

/// The header of a file without frames; other fields are copied from `header`.
pub(super) fn header_of(scheme: CommitScheme, header: &Header) -> Header {
    let entries = INDEX_SLOTS;
    let names = match scheme {
        // The first commit moves the names: visible bytes are never overwritten. Readers fail without any namelist.
        CommitScheme::Atomic => 1,
        CommitScheme::Reference => 16,
    };
    Header {
        gsd_version: CURRENT_VERSION,
        index_location: LEN,
        index_allocated_entries: entries,
        namelist_location: LEN + 32 * entries,
        namelist_allocated_entries: names,
        ..*header
    }
}

/// A whole file with that header, made by [`header_of`].
pub(super) fn empty(header: &Header) -> Vec<u8> {
    let mut image = header.to_bytes().to_vec();
    let end = header.namelist_range().map_or(LEN, |range| range.end);
    // A few kibibytes.
    image.resize(usize::try_from(end).unwrap_or(256), 0);
    image
}
