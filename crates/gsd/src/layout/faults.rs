//! Faults of the header and the namelist, and of the positions that the header gives to index and namelist.

use std::collections::HashSet;
use std::ops::Range;

use crate::fault::{FaultKind, Faults};
use crate::header::{self, Header, NAMELIST_ENTRY_LEN};
use crate::namelist::NameList;

/// Adds faults of index and namelist at impossible positions.
pub(crate) fn faults(header: &Header, file_len: u64) -> Faults {
    let mut faults = Faults::default();
    let (index, names) = (header.index_range(), header.namelist_range());
    let past = |range: &Option<Range<u64>>| range.as_ref().is_none_or(|range| range.end > file_len);
    // The claimed range, or the header field where no byte of the range is in the file.
    let claimed = |range: &Option<Range<u64>>, at: u64, field: Range<u64>| match range {
        _ if at > file_len => field,
        Some(range) => range.clone(),
        None => at..u64::MAX,
    };
    if header.index_allocated_entries == 0 {
        faults.add(FaultKind::IndexEmpty, 16..24, || "the index has no space for an entry".into());
    }
    if past(&index) {
        let range = claimed(&index, header.index_location, 8..24);
        faults.add(FaultKind::IndexPastEnd, range, || "the index runs past the end of the file".into());
    }
    if header.namelist_allocated_entries == 0 {
        faults.add(FaultKind::NamelistPastEnd, 32..40, || "the namelist has no space for a name".into());
    }
    if past(&names) {
        let range = claimed(&names, header.namelist_location, 24..40);
        faults.add(FaultKind::NamelistPastEnd, range, || "the namelist runs past the end of the file".into());
    }
    if faults.as_slice().is_empty()
        && let (Some(index), Some(names)) = (index, names)
    {
        let blocks = [(0..header::LEN, "header"), (index, "index"), (names, "namelist")];
        for (at, (one, name)) in blocks.iter().enumerate() {
            for (other, its_name) in blocks.iter().skip(at.saturating_add(1)) {
                let shared = one.start.max(other.start)..one.end.min(other.end);
                if shared.start < shared.end {
                    faults.add(FaultKind::BlocksOverlap, shared, || format!("{name} and {its_name} overlap"));
                }
            }
        }
    }
    faults
}

/// Finds faults of names, and of the text of the header.
pub(crate) fn name_faults(header: &Header, names: &NameList, block: &[u8], faults: &mut Faults) {
    for (field, at, what) in [(&header.application, 48_u64, "application"), (&header.schema, 112, "schema")] {
        let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
        let after = field.get(text.len()..).unwrap_or_default();
        let odd = after.is_empty() || after.iter().any(|byte| *byte != 0) || str::from_utf8(text).is_err();
        if odd {
            faults.add(FaultKind::HeaderText, at..at.saturating_add(64), || {
                format!("the {what} is not UTF-8 text padded with NULs")
            });
        }
    }
    if header.reserved.iter().any(|byte| *byte != 0) {
        faults.add(FaultKind::ReservedNotZero, 176..256, || "reserved bytes of the header are set".into());
    }
    let start = header.namelist_location;
    let end = start.saturating_add(block.len() as u64);
    if block.last().is_some_and(|byte| *byte != 0) {
        faults.add(FaultKind::NamelistUnterminated, end.saturating_sub(1)..end, || {
            "the last byte of the namelist is not 0".into()
        });
        return;
    }
    let used = usize::try_from(names.used_len()).unwrap_or(usize::MAX);
    if let Some(set) = block.get(used..).and_then(|tail| tail.iter().position(|byte| *byte != 0)) {
        let at = start.saturating_add(names.used_len()).saturating_add(set as u64);
        faults.add(FaultKind::NamelistTail, at..end, || "bytes are set after the last name".into());
    }
    let mut seen = HashSet::with_capacity(names.len());
    let mut at = start;
    for id in (0..=u16::MAX).take(names.len()) {
        let Some(name) = names.bytes(id) else { break };
        let len = if header.is_v1() { NAMELIST_ENTRY_LEN } else { (name.len() as u64).saturating_add(1) };
        let range = at..at.saturating_add(len);
        at = range.end;
        if str::from_utf8(name).is_err() {
            faults.add(FaultKind::NameNotUtf8, range.clone(), || format!("name {id} is not UTF-8"));
        }
        if !seen.insert(name) {
            faults.add(FaultKind::NameDuplicate, range, || {
                format!("name {id}, {:?}, is a duplicate", String::from_utf8_lossy(name))
            });
        }
    }
}
