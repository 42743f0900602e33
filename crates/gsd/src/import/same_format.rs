//! All of another GSD file: chunk by chunk, with its names, types, shapes, schema and application.

use container_core::dtype::{ByteOrder, DType};
use container_core::format::{Output, WriteRequest};
use container_core::report::Loss;
use container_core::{Error, Result};

use super::planned_chunk::frame_slice;
use super::{ImportSettings, no_frames};
use crate::frames::Frames;
use crate::rewrite::{RedundantChunks, RewriteOptions, slice};
use crate::stacked::Defaults;
use crate::{File, IndexEntry};

/// Number of bytes of a chunk that are copied at a time.
const PIECE_LEN: u64 = 1 << 20;

/// Writes the chunks of all frames as they are stored, or of some so that they read as they did, as file layer 2.1. Unreferenced
/// bytes are not copied.
pub(crate) fn copy(
    file: &File,
    settings: &ImportSettings,
    job: &WriteRequest<'_>,
    out: &mut dyn Output,
) -> Result<Vec<Loss>> {
    let chosen = frame_slice(settings.frames.as_deref().unwrap_or(":"), file.nframes())?;
    let frames = Frames { start: chosen.start, step: chosen.step, count: chosen.count };
    let equal = if settings.drop_repeats { RedundantChunks::Drop } else { RedundantChunks::Keep };
    let whole = frames == Frames::all(file) && !settings.drop_repeats;
    let defaults = if whole { Defaults::StoredOnly } else { Defaults::Schema };
    let mut options = RewriteOptions::default().with_defaults(defaults).with_redundant_chunks(equal);
    options.header = settings.header;
    let rewritten = slice(file, &frames, out, &options, job.progress)?;
    let mut losses = rewritten.losses;
    if chosen.count == 0 && file.nframes() > 0 {
        losses.push(no_frames());
    }
    if file.header().is_v1() || file.header().byte_order == ByteOrder::Big {
        let version = file.header().gsd_version;
        let order = if file.header().byte_order == ByteOrder::Big { ", big-endian" } else { "" };
        let what = format!("file layer {version}{order}: the new file is 2.1, little-endian");
        losses.push(Loss { dataset: None, what });
    }
    Ok(losses)
}

/// The chunks of a frame, each name once, in file order.
pub(crate) fn entries_of(file: &File, frame: u64, entries: &mut Vec<IndexEntry>) {
    *entries = file.found_of_frame(frame);
    entries.sort_by_key(|entry| entry.location);
}

/// Passes the bytes of a chunk, little-endian, piece by piece.
pub(crate) fn copy_chunk(
    file: &File,
    entry: &IndexEntry,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = entry.size().ok_or_else(|| Error::malformed("a chunk past 2^64 bytes"))?;
    if size == 0 {
        return Ok(());
    }
    let dtype: DType = file.stored_array(entry)?.dtype;
    let rows = PIECE_LEN.checked_div(size / entry.n.max(1)).unwrap_or(PIECE_LEN).max(1);
    let mut first = 0;
    while first < entry.n {
        let end = first.saturating_add(rows).min(entry.n);
        sink(&dtype.little_endian(file.read_rows(entry, first..end)?)?)?;
        first = end;
    }
    Ok(())
}
