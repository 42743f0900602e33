//! Blocks out of which a text tool took white space at ends of lines, or into which it put some: the sizes of their headers lead nowhere,
//! and their digests prove the bytes that they had.

use std::ops::Range;
use std::sync::Arc;

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::{Joined, Source};
use container_core::{ErrorKind, Result};

use super::encoded_block::Tools;
use super::find_blocks::last_marker;
use super::line_ends::{self, LineEndChange, Proof, changed};
use crate::blocks::header::{BlockHeader, MIN_LEN};
use crate::digest;
use crate::fault::FaultKind;
use crate::layout::{Layout, StoredBlock, find_magic};

/// Bytes that are hashed, or decoded, for all blocks together: a second or two.
const MAX_HASHED_BYTES: u64 = 1 << 30;

/// Ends of a block that are tried: magics after its own.
const MAX_ENDS: usize = 4;

/// Magics that are looked at.
const MAX_MAGICS: usize = 1 << 12;

/// Bytes of a block in which its header was, whatever was put into it.
const MAX_HEAD: usize = 128;

/// First byte of a header that can be white space: magic and most header sizes are none.
const FIRST_BLANK_OFFSET: usize = 6;

/// The source with the bytes put back, or left out, that digests prove; `None` where none of its blocks is proved so.
///
/// # Errors
/// Those of the source.
pub(super) fn undo_text_tool(
    source: &Arc<dyn Source>,
    layout: &Layout,
    tools: &Tools<'_>,
    report: &mut RepairReport,
) -> Result<Option<Joined<Arc<dyn Source>>>> {
    let is_of_blocks = |kind| {
        matches!(kind, FaultKind::JunkAfterBlocks | FaultKind::Gap | FaultKind::BlockTruncated)
            || matches!(kind, FaultKind::BlockHeaderSize | FaultKind::BlockHeaderTruncated)
            || matches!(kind, FaultKind::BlockMissing | FaultKind::UsedOverAllocated | FaultKind::PlainSizes)
    };
    if layout.blocks.is_empty() || !layout.faults.iter().any(|fault| is_of_blocks(fault.kind())) {
        return Ok(None);
    }
    let size = layout.size;
    let end = last_marker(&**source, layout.padding.end..size)?.unwrap_or(size);
    let mut places = Vec::new();
    let mut from = layout.padding.end;
    while let Some(at) = find_magic(&**source, from..end)? {
        places.push(at);
        from = at.saturating_add(1);
        if places.len() > MAX_MAGICS {
            return Ok(None);
        }
    }
    places.push(end);
    let mut out = Joined::new(Arc::clone(source));
    let (mut copied, mut unhashed_bytes, mut number, mut at) = (0_u64, MAX_HASHED_BYTES, 0_usize, 0_usize);
    while let Some((start, ends)) =
        places.get(at..).and_then(<[u64]>::split_first).filter(|(_, ends)| !ends.is_empty())
    {
        let mut next = at.saturating_add(1);
        for (tried, end) in ends.iter().take(MAX_ENDS).enumerate() {
            let region = *start..*end;
            if is_whole(&**source, &region)? {
                next = at.saturating_add(tried).saturating_add(1);
                break;
            }
            let Some(changes) = restore(region.clone(), tools, &mut unhashed_bytes)? else { continue };
            report.guessed.push(item(number, &region, &changes));
            for change in changes {
                let place = start.saturating_add(change.at as u64);
                out.push_range(copied..place)?;
                copied = place.saturating_add(change.removed as u64);
                out.push_bytes(change.inserted);
            }
            next = at.saturating_add(tried).saturating_add(1);
            break;
        }
        number = number.saturating_add(1);
        at = next;
    }
    if copied == 0 {
        return Ok(None);
    }
    out.push_range(copied..size)?;
    Ok(Some(out))
}

fn item(number: usize, region: &Range<u64>, changes: &[LineEndChange]) -> RepairItem {
    let count = |of: fn(&LineEndChange) -> usize| changes.iter().map(of).fold(0, usize::saturating_add);
    let (back, out) = (count(|change| change.inserted.len()), count(|change| change.removed));
    let bytes = |count: usize| if count == 1 { "a byte".to_owned() } else { format!("{count} bytes") };
    let what = match (back, out) {
        (back, 0) => {
            format!("{} of white space at line ends restored, which a text tool had removed", bytes(back))
        }
        (0, out) => {
            format!("{} of white space at line ends left out, which a text tool had added", bytes(out))
        }
        (back, out) => {
            format!(
                "white space at line ends, which a text tool had changed: {back} bytes restored, {out} left out"
            )
        }
    };
    let what = format!("block {number}: {what}: its digest matches");
    RepairItem::new(region.clone(), what).with_evidence(Evidence::Digest)
}

/// Whether the header at the start of a region leads to its end.
fn is_whole(source: &dyn Source, region: &Range<u64>) -> Result<bool> {
    let len = region.end.saturating_sub(region.start);
    if len < MIN_LEN {
        return Ok(false);
    }
    let header = BlockHeader::parse(&source.read(region.start..region.start.saturating_add(MIN_LEN))?);
    Ok(header.is_some_and(|header| {
        let fits = header.used_size <= header.allocated_size
            && (header.is_compressed() || header.used_size == header.data_size);
        header.is_streamed() || fits && header.len().checked_add(header.allocated_size) == Some(len)
    }))
}

/// The changes that make a block with a digest that fits out of a region of the file.
fn restore(
    region: Range<u64>,
    tools: &Tools<'_>,
    unhashed_bytes: &mut u64,
) -> Result<Option<Vec<LineEndChange>>> {
    let len = region.end.saturating_sub(region.start);
    if len < MIN_LEN.saturating_sub(FIRST_BLANK_OFFSET as u64)
        || tools.limits.allocate(len.saturating_mul(3)).is_err()
    {
        return Ok(None);
    }
    let is_end = region.end == tools.source.len();
    let bytes = tools.source.read(region)?;
    for of_header in header_changes(&bytes) {
        let head = changed(bytes.get(..bytes.len().min(MAX_HEAD)).unwrap_or_default(), &of_header);
        let Some(header) = BlockHeader::parse(&head).filter(|header| !header.is_streamed()) else { continue };
        let Some(expected) = header.digest() else { continue };
        let Some(room) = header.allocated_size.checked_sub(header.used_size) else { continue };
        // The data of the file begin where those of the changed header do, less what was put into it.
        let put = |of: fn(&LineEndChange) -> usize| of_header.iter().map(of).fold(0, usize::saturating_add);
        let (inserted, removed) = (put(|change| change.inserted.len()), put(|change| change.removed));
        let sizes = (usize::try_from(header.len()), usize::try_from(room), usize::try_from(header.used_size));
        let (Ok(start), Ok(room), Ok(used)) = sizes else { continue };
        let Some(start) = start.saturating_add(removed).checked_sub(inserted) else { continue };
        let Some(end) = bytes.len().checked_sub(room).filter(|end| *end >= start) else { continue };
        let data = bytes.get(start..end).unwrap_or_default();
        let is_end = is_end && room == 0;
        let mut digest = Proof::Digest(BlockHeader::ALGORITHM, expected);
        let found = match data.len() == used {
            // The sizes fit, so that nothing but the header was changed.
            true if of_header.is_empty() => None,
            true => (BlockHeader::ALGORITHM.digest(data) == expected).then(Vec::new),
            false => line_ends::undo(data, used, is_end, &mut digest, unhashed_bytes)?,
        };
        let found = match found {
            None if header.is_compressed() && data.len() != used => {
                // Python asdf before 5.3 wrote the digest of the decoded bytes.
                let each =
                    header.data_size.checked_div(data.len().max(1) as u64).unwrap_or(0).saturating_add(1);
                let mut stored = unhashed_bytes.checked_div(each).unwrap_or(0);
                let had = stored;
                let mut decodes = |stored: &[u8]| decodes(stored, header, tools);
                let found = line_ends::undo(data, used, is_end, &mut Proof::Look(&mut decodes), &mut stored)?;
                *unhashed_bytes =
                    unhashed_bytes.saturating_sub(had.saturating_sub(stored).saturating_mul(each));
                found
            }
            found => found,
        };
        if let Some(found) = found {
            let moved = found
                .into_iter()
                .map(|change| LineEndChange { at: change.at.saturating_add(start), ..change });
            return Ok(Some(of_header.into_iter().chain(moved).collect()));
        }
    }
    Ok(None)
}

/// Whether stored bytes decode to those of the digest.
fn decodes(stored: &[u8], header: BlockHeader, tools: &Tools<'_>) -> Result<bool> {
    let data = 0..stored.len() as u64;
    let block = StoredBlock { index: 0, at: 0, header, end: data.end, data };
    let decoded = digest::decoded(&stored, &block, tools.codecs, tools.limits, 1);
    match decoded {
        Ok(bytes) => Ok(header.digest() == Some(BlockHeader::ALGORITHM.digest(&bytes))),
        Err(error) if matches!(error.kind(), ErrorKind::Cancelled) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Candidate changes of the header itself: first none, then a change at each end of a line in it, or at all.
fn header_changes(bytes: &[u8]) -> Vec<Vec<LineEndChange>> {
    let least = usize::try_from(MIN_LEN).unwrap_or(usize::MAX);
    let head = bytes.get(..bytes.len().min(least.saturating_add(FIRST_BLANK_OFFSET))).unwrap_or_default();
    let lines = head
        .iter()
        .enumerate()
        .skip(FIRST_BLANK_OFFSET)
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at);
    let lines: Vec<usize> = lines.filter(|at| *at < least).collect();
    let mut all = vec![Vec::new()];
    for blank in [b"\r", b" ", b"\t", b"\x0b", b"\x0c"] {
        all.extend(
            lines.iter().map(|at| vec![LineEndChange { at: *at, removed: 0, inserted: blank.to_vec() }]),
        );
    }
    let is_crlf = |at: &usize| at.checked_sub(1).and_then(|before| head.get(before)) == Some(&b'\r');
    let added = head
        .iter()
        .enumerate()
        .skip(FIRST_BLANK_OFFSET)
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at);
    let added = added.filter(is_crlf).map(|at| LineEndChange {
        at: at.saturating_sub(1),
        removed: 1,
        inserted: Vec::new(),
    });
    let added: Vec<LineEndChange> = added.collect();
    all.extend(added.iter().map(|change| vec![change.clone()]));
    if added.len() > 1 {
        all.push(added);
    }
    if lines.len() > 1 {
        let put = lines.iter().map(|at| LineEndChange { at: *at, removed: 0, inserted: b"\r".to_vec() });
        all.push(put.collect());
    }
    all
}
