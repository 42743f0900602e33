//! Files without frames.

use super::{CURRENT_VERSION, Scheme};
use crate::header::{Header, LEN};

/// What the reference gives a new file: 128 entries, and 1024 bytes for names.
const REFERENCE_ENTRIES: u64 = 128;
const REFERENCE_NAMES: u64 = 16;

/// Length of a new file in the atomic scheme: one sector.
const ATOMIC_LEN: usize = 512;

/// The header of a file without frames that is otherwise as `header` says.
pub(super) fn header_of(scheme: Scheme, header: &Header) -> Header {
    let (entries, names) = match scheme {
        // Readers trip over an index of no entries, and over a namelist of none. The first commit moves both: what is
        // visible is never written to.
        Scheme::Atomic => (1, 1),
        Scheme::Reference => (REFERENCE_ENTRIES, REFERENCE_NAMES),
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

/// A whole file of that header, which one of [`header_of`] is.
pub(super) fn empty(header: &Header) -> Vec<u8> {
    let mut image = header.to_bytes().to_vec();
    let end = header.namelist_range().map_or(LEN, |range| range.end);
    // A few kibibytes.
    image.resize(usize::try_from(end).unwrap_or(ATOMIC_LEN).max(ATOMIC_LEN), 0);
    image
}
