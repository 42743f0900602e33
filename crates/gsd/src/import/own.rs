//! All of another GSD file: chunk by chunk, with its names, types, shapes, schema and application.

use container_core::dtype::{ByteOrder, DType};
use container_core::format::{Import, Output};
use container_core::region::AxisSelection;
use container_core::report::Loss;
use container_core::{Error, Result};

use super::Words;
use super::part::{frame_at, frame_slice};
use crate::emit::Plan;
use crate::{File, IndexEntry};

/// Bytes of a chunk that pass at a time.
const PIECE: u64 = 1 << 20;

/// Writes the chunks of all frames, or of some, in the order in which they lie in the file, as file layer 2.1. Nothing that no
/// entry refers to is taken along.
pub(crate) fn copy(file: &File, words: &Words, job: &Import<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    let chosen = frame_slice(words.frames.as_deref().unwrap_or(":"), file.nframes())?;
    let mut plan = Plan::like(file.header());
    for id in 0..=u16::MAX {
        let Some(name) = file.names().bytes(id) else { break };
        // The id is the place in the list, unless a name is there twice.
        plan.name(name)?;
    }
    for_each_entry(file, chosen, |frame, entry| {
        let chunk_type = entry.chunk_type().ok_or_else(|| Error::malformed("a chunk without a type"))?;
        let name = file.names().bytes(entry.id).ok_or_else(|| Error::malformed("a chunk without a name"))?;
        let id = plan.name(name)?;
        // Readers show a chunk without columns as one without rows.
        plan.chunk(frame, id, chunk_type, if entry.m == 0 { 0 } else { entry.n }, entry.m.max(1))
    })?;
    let mut losses = Vec::new();
    if file.header().is_v1() || file.header().byte_order == ByteOrder::Big {
        let version = file.header().gsd_version;
        let order = if file.header().byte_order == ByteOrder::Big { ", big-endian" } else { "" };
        let what = format!("file layer {version}{order}: the new file is 2.1, little-endian");
        losses.push(Loss { dataset: None, what });
    }
    out.reserve(plan.file_len())?;
    let (total, mut done) = (plan.file_len(), 0);
    let mut emitter = plan.emit(out, &job.options.limits)?;
    for_each_entry(file, chosen, |_, entry| {
        pass(file, entry, &mut |bytes| {
            emitter.write(bytes)?;
            done += bytes.len() as u64;
            job.progress.tick(done.min(total), total)
        })
    })?;
    emitter.finish()?;
    Ok(losses)
}

/// Tells of the entries of chosen frames, with the frames' new numbers.
fn for_each_entry(
    file: &File,
    chosen: AxisSelection,
    mut look: impl FnMut(u64, &IndexEntry) -> Result<()>,
) -> Result<()> {
    let mut entries = Vec::new();
    for new in 0..chosen.count {
        entries_of(file, frame_at(chosen, new)?, &mut entries);
        entries.iter().try_for_each(|entry| look(new, entry))?;
    }
    Ok(())
}

/// The entries of a frame, in the order in which its chunks lie in the file.
pub(crate) fn entries_of(file: &File, frame: u64, entries: &mut Vec<IndexEntry>) {
    let index = file.index();
    entries.clear();
    entries.extend(file.frame_entries(frame).filter_map(|at| index.get(at)));
    entries.sort_by_key(|entry| entry.location);
}

/// Passes the bytes of a chunk, little-endian, piece by piece.
pub(crate) fn pass(file: &File, entry: &IndexEntry, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let size = entry.size().ok_or_else(|| Error::malformed("a chunk past 2^64 bytes"))?;
    if size == 0 {
        return Ok(());
    }
    let dtype: DType = file.stored_array(entry)?.dtype;
    let rows = PIECE.checked_div(size / entry.n.max(1)).unwrap_or(PIECE).max(1);
    let mut first = 0;
    while first < entry.n {
        let end = first.saturating_add(rows).min(entry.n);
        let bytes = file.read_rows(entry, first..end)?;
        if dtype.is_in_order(ByteOrder::Little) {
            sink(&bytes)?;
        } else {
            let mut bytes = bytes.into_owned();
            dtype.swap_to(ByteOrder::Little, &mut bytes)?;
            sink(&bytes)?;
        }
        first = end;
    }
    Ok(())
}
