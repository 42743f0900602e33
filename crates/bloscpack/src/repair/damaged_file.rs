//! The damaged file, its chunks, their verification, and the sizes of those that are lost.

use std::ops::Range;

use blosc_chunk::Decoder;
use container_core::array::byte_len;
use container_core::source::Source;
use container_core::{Limits, Progress, Result, Value};

use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::fault::FaultKind;
use crate::header::{Dialect, MAX_CHUNK};
use crate::layout::Layout;
use crate::stored_chunk::{StoredChunk, stored_range};

/// Result of verifying a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkStatus {
    /// It fits its digest and decodes to the size in its header.
    Intact,
    /// It does not decode, or does not fit its digest.
    Damaged,
    /// The file ends before it does.
    Truncated,
}

/// The damaged file, and the chunks found in it.
pub(super) struct DamagedFile {
    pub(super) source: Box<dyn Source>,
    pub(super) layout: Layout,
    /// The chunks where some were found by searching; otherwise those of the layout.
    pub(super) placed: Option<Vec<ChunkEntry>>,
    /// Offsets of the chunks whose size differs from that in their headers.
    pub(super) resized: Vec<u64>,
    /// Original number of chunks, where the file contains it.
    pub(super) count: Option<u64>,
    /// The metadata to be written, without byte strings.
    pub(super) tree: Option<Value>,
    /// Whether byte strings of the metadata became text.
    pub(super) has_spelt: bool,
    pub(super) limits: Limits,
}

impl DamagedFile {
    pub(super) fn open(source: Box<dyn Source>, limits: Limits) -> Result<Self> {
        let layout = Layout::parse(&*source, &limits)?;
        let hopeless = |kind| matches!(kind, FaultKind::UndefinedOptions | FaultKind::UnknownChecksum);
        if let Some(fault) = layout.faults().iter().find(|fault| hopeless(fault.kind())) {
            let hint = "the header does not describe the file, so no repair can be verified";
            return Err(fault.error().with_hint(hint));
        }
        let mut tree = layout.tree().cloned();
        let has_spelt = tree.as_mut().is_some_and(spell_bytes);
        let count = count_by_header(&layout);
        Ok(Self { source, layout, placed: None, resized: Vec::new(), count, tree, has_spelt, limits })
    }

    /// The chunks by number.
    pub(super) fn chunks(&self) -> &[ChunkEntry] {
        self.placed.as_deref().unwrap_or_else(|| self.layout.chunks())
    }

    /// Whether a chunk was found there.
    pub(super) fn found_in(&self, range: &Range<u64>) -> bool {
        self.placed.iter().flatten().any(|entry| range.contains(&entry.range().start))
    }

    /// Chunk and digest of an entry.
    pub(super) fn stored(&self, entry: &ChunkEntry) -> Result<StoredChunk<'_>> {
        StoredChunk::read_uncompared(&*self.source, self.layout.header().checksum, entry, &self.limits)
    }

    pub(super) fn stored_range(&self, entry: &ChunkEntry) -> Range<u64> {
        stored_range(self.layout.header().checksum, entry)
    }

    /// Verifies every chunk: its digest, and that it decodes.
    pub(super) fn verify_chunks(&self, progress: Progress<'_>) -> Result<Vec<ChunkStatus>> {
        let mut decoder = Decoder::new();
        let total = self.source.len();
        let verify = |entry: &ChunkEntry| {
            let end = self.stored_range(entry).end;
            let status = if end > total && entry.end() < total && !self.fits_so_far(entry)? {
                ChunkStatus::Damaged
            } else if end > total || entry.state() == ChunkState::Cut {
                ChunkStatus::Truncated
            } else if entry.state() != ChunkState::Whole {
                ChunkStatus::Damaged
            } else {
                self.verify(entry, &mut decoder)?
            };
            progress.tick(end.min(total), total)?;
            Ok(status)
        };
        self.layout.chunks().iter().map(verify).collect()
    }

    /// Whether the rest of the file is the start of the digest of a complete chunk: if a byte is missing before the end, all bytes after it
    /// move, and the file looks truncated.
    fn fits_so_far(&self, entry: &ChunkEntry) -> Result<bool> {
        let (chunk, rest) = (entry.range().start..entry.end(), entry.end()..self.source.len());
        if self.source.lend(chunk.clone()).is_none() {
            self.limits.allocate(chunk.end.saturating_sub(chunk.start))?;
        }
        let mut digest = Vec::new();
        self.layout.header().checksum.append_digest(&self.source.read(chunk)?, &mut digest);
        Ok(digest.starts_with(&self.source.read(rest)?))
    }

    /// Reads and decodes a complete chunk.
    pub(super) fn verify(&self, entry: &ChunkEntry, decoder: &mut Decoder) -> Result<ChunkStatus> {
        let proved = self.stored(entry).and_then(|stored| {
            stored.verify()?;
            stored.decode(decoder, &self.limits)
        });
        match proved {
            Ok(_) => Ok(ChunkStatus::Intact),
            // Errors of the machine and of limits are not damage.
            Err(error) if error.is_damage() => Ok(ChunkStatus::Damaged),
            Err(error) => Err(error),
        }
    }
}

/// Returns the number of chunks by the shape in the metadata and the sizes in the header, where these agree; otherwise the header's.
fn count_by_header(layout: &Layout) -> Option<u64> {
    count_by_shape(layout).or_else(|| layout.count())
}

pub(super) fn count_by_shape(layout: &Layout) -> Option<u64> {
    let (header, numpy) = (layout.header(), layout.numpy()?);
    let size = u64::try_from(header.chunk_size).ok().filter(|size| *size > 0)?;
    let last = u64::try_from(header.last_chunk).ok().filter(|last| *last > 0)?;
    let item = numpy.dtype.itemsize() as u64;
    let len = numpy.shape.iter().try_fold(item, |len, axis| len.checked_mul(*axis))?;
    let whole = len.checked_sub(last).filter(|_| last <= size)?;
    let others = whole.checked_div(size).filter(|_| whole.is_multiple_of(size))?;
    others.checked_add(1)
}

/// Makes text of bytes, each byte the code point of that number; whether there were any. A Python literal has them, and is written as JSON.
fn spell_bytes(value: &mut Value) -> bool {
    match value {
        Value::Bytes(bytes) => {
            *value = Value::Text(bytes.iter().copied().map(char::from).collect());
            true
        }
        // Not short-circuited: every value is converted.
        Value::List(items) => items.iter_mut().map(spell_bytes).filter(|was| *was).count() > 0,
        Value::Map(entries) => {
            entries.iter_mut().map(|(_, item)| spell_bytes(item)).filter(|was| *was).count() > 0
        }
        _ => false,
    }
}

/// Number of chunks before a truncated end. Damaged chunks that are complete keep their index.
pub(super) fn without_truncated_end(states: &[ChunkStatus]) -> usize {
    states
        .iter()
        .rposition(|status| *status != ChunkStatus::Truncated)
        .map_or(0, |last| last.saturating_add(1))
}

/// Gives unproved chunks the size of the proved ones, as their own headers may be damaged, and the last one the size by the shape and the
/// header. Where the proved ones are not of one size, all stay as they are.
///
/// # Errors
/// `Limit`.
pub(super) fn set_lost_sizes(damaged: &mut DamagedFile, statuses: &[ChunkStatus]) -> Result<()> {
    let is_fixed = !damaged.layout.header().dialect.is_variable_length();
    if !is_fixed || statuses.iter().all(|status| *status == ChunkStatus::Intact) {
        return Ok(());
    }
    let entries = damaged.chunks();
    let count = entries.len() as u64;
    let last = if damaged.count.unwrap_or(count) <= count { entries.len().checked_sub(1) } else { None };
    let is_last = |index: usize| Some(index) == last;
    let Some(usual) = common_size(damaged, entries, statuses, last) else { return Ok(()) };
    damaged.limits.allocate(count.saturating_mul(size_of::<ChunkEntry>() as u64))?;
    let mut resolved = entries.to_vec();
    let mut resized = Vec::new();
    for (index, (entry, status)) in resolved.iter_mut().zip(statuses).enumerate() {
        if *status != ChunkStatus::Intact && !is_last(index) && entry.nbytes() != usual {
            entry.place(0, usual);
            resized.push(entry.range().start);
        }
    }
    if let (Some((last, others)), Some(status)) = (resolved.split_last_mut(), statuses.last())
        && *status != ChunkStatus::Intact
        && is_last(others.len())
    {
        let nbytes = size_of_last(damaged, last, others, usual);
        if nbytes != last.nbytes() {
            last.place(0, nbytes);
            resized.push(last.range().start);
        }
    }
    if !resized.is_empty() {
        (damaged.placed, damaged.resized) = (Some(resolved), resized);
    }
    Ok(())
}

/// Returns the size of all chunks but the last; `None` where those of the proved ones differ.
fn common_size(
    damaged: &DamagedFile,
    entries: &[ChunkEntry],
    statuses: &[ChunkStatus],
    last: Option<usize>,
) -> Option<u32> {
    let proved = entries.iter().zip(statuses).enumerate();
    let proved =
        proved.filter(|(index, (_, status))| Some(*index) != last && **status == ChunkStatus::Intact);
    let mut sizes = proved.map(|(_, (entry, _))| entry.nbytes());
    let by_header = || u32::try_from(damaged.layout.header().chunk_size).ok();
    let usual = match sizes.next() {
        Some(first) => sizes.all(|size| size == first).then_some(first),
        None => by_header(),
    };
    usual.filter(|size| (1..=MAX_CHUNK).contains(size))
}

fn size_of_last(damaged: &DamagedFile, last: &ChunkEntry, others: &[ChunkEntry], usual: u32) -> u32 {
    let layout = &damaged.layout;
    // Version 2 has a last chunk that is larger.
    let most = if layout.header().dialect == Dialect::V2 { MAX_CHUNK } else { usual };
    let before = others.iter().map(|entry| u64::from(entry.nbytes())).fold(0, u64::saturating_add);
    let by_shape = layout.numpy().and_then(|array| byte_len(&array.dtype, &array.shape)?.checked_sub(before));
    let by_shape = by_shape.and_then(|len| u32::try_from(len).ok());
    let by_header = u32::try_from(layout.header().last_chunk).ok();
    let mut sizes = [by_shape, by_header, Some(last.nbytes())].into_iter().flatten();
    sizes.find(|size| (1..=most).contains(size)).unwrap_or(usual)
}
