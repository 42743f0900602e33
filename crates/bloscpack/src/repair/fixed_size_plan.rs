//! Repair plan for files with chunks of one size.

use blosc_chunk::Decoder;
use container_core::array::byte_len;
use container_core::dtype::Order;
use container_core::format::WriteSeek;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result, Value};

use super::damaged_file::{ChunkStatus, DamagedFile, without_truncated_end};
use super::intact_blocks::{self, PartialChunks};
use crate::ChunkEntry;
use crate::NumpyArray;
use crate::append::made_by;
use crate::fault::FaultKind;
use crate::items::writer::with_entry;
use crate::metadata::{MetadataOptions, Spelling, encode_section, from_json, to_python_json};
use crate::write::{ChunkOptions, MAX_CHUNK_SIZE, WriteOptions};
use crate::writer::{Chunker, OrderedOutput, Writer, head};

/// Contents of the new file.
pub(super) struct Plan {
    options: WriteOptions,
    section: Vec<u8>,
    states: Vec<ChunkStatus>,
    /// Chunks of which some blocks are kept.
    partials: PartialChunks,
    /// Length of the data in bytes; the last chunk may have more.
    total: u64,
    /// Decoded length of a chunk, where all can be copied.
    uniform: Option<usize>,
}

impl Plan {
    /// Determines the contents of the new file: its chunks, with zeros in place of lost ones, its shape and its options.
    ///
    /// Intact blocks of damaged chunks are recovered first. Chunks at a torn end are left out. The shape is then fitted to the bytes of the
    /// kept chunks, and codec, filter and typesize are those of the first chunk. Where all chunks but the last have one length, they
    /// can be copied without encoding them again.
    pub(super) fn new(
        damaged: &DamagedFile,
        states: &[ChunkStatus],
        report: &mut RepairReport,
    ) -> Result<Self> {
        let (layout, header) = (&damaged.layout, damaged.layout.header());
        let partials = intact_blocks::recover(damaged, states)?;
        damaged.report_chunks(states, &partials, "chunk", report);
        let from_partials = partials.last_key_value().map_or(0, |(last, _)| last + 1);
        let kept = without_truncated_end(states).max(from_partials);
        let states = states.get(..kept).unwrap_or_default();
        let len_of = |(index, entry): (usize, &ChunkEntry)| {
            partials.get(&index).map_or(u64::from(entry.nbytes()), |partial| partial.len() as u64)
        };
        let lens: Vec<u64> = damaged.chunks().iter().take(kept).enumerate().map(len_of).collect();
        let entries = damaged.chunks().get(..states.len()).unwrap_or_default();
        let filled = |(entry, status): (&ChunkEntry, &ChunkStatus)| match status {
            ChunkStatus::Intact => 0,
            _ => u64::from(entry.nbytes()),
        };
        // A header of a few bytes can claim 2 GiB.
        let zeros = entries.iter().zip(states).map(filled).fold(0, u64::saturating_add);
        damaged.limits.allocate(zeros)?;
        if !states.is_empty() && !states.contains(&ChunkStatus::Intact) && partials.is_empty() && zeros > 0 {
            return Err(Error::malformed("no chunk can be verified").with_range(0..layout.file_len()));
        }
        let have = lens.iter().copied().fold(0, u64::saturating_add);
        let (tree, total) = fit_shape(damaged, have, report);
        let typesize = match entries.first() {
            Some(first) if header.typesize == 0 => first.typesize,
            _ => header.typesize,
        };
        let usual = MetadataOptions::default();
        let mut chunks =
            ChunkOptions::default().with_typesize(typesize.max(1).into()).with_checksum(header.checksum);
        if let Some(first) = entries.first() {
            (chunks.compressor, chunks.shuffle) = made_by(first);
        }
        let own_size = usize::try_from(header.chunk_size).ok();
        let options = WriteOptions {
            chunks,
            chunk_size: own_size
                .filter(|size| (usize::from(typesize)..=MAX_CHUNK_SIZE).contains(size) && *size > 0),
            metadata_options: match layout.metadata().and_then(|metadata| metadata.header) {
                Some(own) if own.meta_checksum.is_known() => {
                    MetadataOptions { checksum: own.meta_checksum, ..usual }
                }
                _ => usual,
            },
            ..WriteOptions::default()
        };
        let json = tree.map(|tree| text_of(damaged, &tree)).transpose()?;
        let section = json.as_deref().map(|json| encode_section(json, &options.metadata_options));
        let section = section.transpose()?.unwrap_or_default();
        let uniform = if total == have { uniform(&lens) } else { None };
        Ok(Self {
            options: WriteOptions { json, ..options },
            section,
            states: states.to_vec(),
            partials,
            total,
            uniform,
        })
    }

    pub(super) fn write(&self, damaged: &DamagedFile, out: &mut dyn WriteSeek) -> Result<()> {
        match self.uniform {
            Some(chunk_size) => self.copy(damaged, chunk_size, out),
            None => self.encode_anew(damaged, out),
        }
    }

    /// Copies chunks unchanged.
    fn copy(&self, damaged: &DamagedFile, chunk_size: usize, out: &mut dyn WriteSeek) -> Result<()> {
        let head = head(&self.options, &self.section, chunk_size, Some(self.total))?;
        let mut sink = OrderedOutput::new(out, Some(&head))?;
        let chunks = &self.options.chunks;
        let mut encoder = chunks.encoder()?;
        for (index, (entry, status)) in damaged.chunks().iter().zip(&self.states).enumerate() {
            if *status == ChunkStatus::Intact {
                sink.chunk(damaged.stored(entry)?.bytes(), 0)?;
            } else {
                let mut chunk = Vec::new();
                encoder.encoder()?.encode(&self.left(damaged, index, entry)?, &mut chunk)?;
                chunks.checksum.complete(&mut chunk);
                sink.chunk(&chunk, 0)?;
            }
        }
        if self.states.is_empty() {
            Chunker::new(chunks, 1, Some(0))?.finish(&mut sink)?;
        }
        sink.finish(&head).map(|_| ())
    }

    /// Returns the replacement of a damaged chunk: its whole blocks, and zeros.
    fn left(&self, damaged: &DamagedFile, index: usize, entry: &ChunkEntry) -> Result<Vec<u8>> {
        if let Some(partial) = self.partials.get(&index)
            && let Some(intact_blocks::DecodedBlocks { mut data, .. }) =
                intact_blocks::decode(damaged, entry, &mut Decoder::new())?
        {
            data.truncate(partial.len());
            return Ok(data);
        }
        try_zeroed_vec(entry.nbytes().into(), &damaged.limits)
    }

    /// Encodes chunks of another size, up to the last whole row.
    fn encode_anew(&self, damaged: &DamagedFile, out: &mut dyn WriteSeek) -> Result<()> {
        let mut writer = Writer::new(out, Some(self.total), &self.options)?;
        let mut decoder = Decoder::new();
        let mut left = self.total;
        for (index, (entry, status)) in damaged.chunks().iter().zip(&self.states).enumerate() {
            let bytes = match status {
                ChunkStatus::Intact => damaged.stored(entry)?.decode(&mut decoder, &damaged.limits)?,
                _ => self.left(damaged, index, entry)?,
            };
            let take = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
            writer.push(bytes.get(..take).unwrap_or_default())?;
            left -= take as u64;
        }
        writer.complete().map(|_| ())
    }
}

/// The common length of the chunks, where version 3 allows their lengths: the last one may be shorter, and empty if it is the only one.
fn uniform(lens: &[u64]) -> Option<usize> {
    let Some((last, others)) = lens.split_last() else { return Some(0) };
    let size = *others.first().unwrap_or(last);
    let fits = others.iter().all(|len| *len == size) && *last <= size && (*last > 0 || others.is_empty());
    usize::try_from(size).ok().filter(|_| fits)
}

/// Metadata as text: the stored text where its values are the same, and it is JSON or text that Python accepts.
fn text_of(damaged: &DamagedFile, tree: &Value) -> Result<Vec<u8>> {
    let text = to_python_json(tree)?.into_bytes();
    let Some(stored) = damaged.layout.metadata().and_then(|metadata| metadata.json.as_deref()) else {
        return Ok(text);
    };
    let (old, spelling) = from_json(stored, &damaged.limits)?;
    // Compared as text: NaN is not equal to itself.
    let says_the_same = to_python_json(&old).is_ok_and(|old| old.as_bytes() == text);
    Ok(if says_the_same && spelling != Spelling::Python { stored.to_vec() } else { text })
}

/// Metadata without the claim to describe an array, where they do not: as they are stored, or as text where bytes hid the claim.
fn without_claim(damaged: &DamagedFile, tree: Value, have: u64, report: &mut RepairReport) -> Value {
    if damaged.layout.faults().iter().any(|fault| fault.kind() == FaultKind::NumpyMetadata) {
        return unclaimed(tree);
    }
    let fits = |numpy: NumpyArray| byte_len(&numpy.dtype, &numpy.shape) == Some(have);
    // The file was not read as an array, so that its data are not cut to one.
    let is_none_or_fits = match NumpyArray::from_metadata(&tree, &damaged.limits) {
        Ok(numpy) => numpy.is_none_or(fits),
        Err(_) => false,
    };
    if is_none_or_fits || !damaged.has_spelt {
        return tree;
    }
    if let Some(metadata) = damaged.layout.metadata() {
        let what = "metadata: without the claim to describe an array, which the data are not";
        let item = RepairItem::new(metadata.range.clone(), what);
        report.guessed.push(item.with_evidence(Evidence::Walk));
    }
    unclaimed(tree)
}

fn unclaimed(tree: Value) -> Value {
    match tree {
        Value::Map(entries) => {
            Value::Map(entries.into_iter().filter(|(key, _)| key != "container").collect())
        }
        tree => tree,
    }
}

/// Returns metadata and length of the data that agree with each other.
fn fit_shape(damaged: &DamagedFile, have: u64, report: &mut RepairReport) -> (Option<Value>, u64) {
    let layout = &damaged.layout;
    let Some(tree) = damaged.tree.clone() else { return (None, have) };
    let Some(numpy) = layout.numpy() else {
        return (Some(without_claim(damaged, tree, have, report)), have);
    };
    let need = byte_len(&numpy.dtype, &numpy.shape);
    if need == Some(have) {
        return (Some(tree), have);
    }
    let place = layout.metadata().map(|metadata| metadata.range.clone());
    let mut shape = numpy.shape.clone();
    // The slowest axis is the one that can be cut.
    let (slowest, rest) = match numpy.order {
        Order::C => (shape.first().copied(), shape.get(1..)),
        Order::F => (shape.last().copied(), shape.get(..shape.len().saturating_sub(1))),
    };
    let row = rest.and_then(|rest| byte_len(&numpy.dtype, rest));
    let whole = slowest.zip(row.filter(|row| *row > 0)).map(|(rows, row)| (rows, row, have / row));
    let is_meant = |(rows, row, kept): &(u64, u64, u64)| {
        if *kept < *rows {
            (*kept > 0 || have == 0) && need.is_some_and(|need| is_end_missing(damaged, have, need))
        } else {
            // `blpk append` leaves the shape as it was.
            *rows > 0 && have.is_multiple_of(*row)
        }
    };
    let Some((rows, row, kept)) = whole.filter(is_meant) else {
        let what = format!("shape {:?}: not one of {have} bytes, which become plain bytes", numpy.shape);
        report.lost.push(RepairItem::new(place, what));
        return (Some(unclaimed(tree)), have);
    };
    let axis = if numpy.order == Order::C { 0 } else { shape.len().saturating_sub(1) };
    if let Some(len) = shape.get_mut(axis) {
        *len = kept;
    }
    let what = format!("shape: corrected to {shape:?}, that of {have} bytes (found {:?})", numpy.shape);
    report.guessed.push(RepairItem::new(place.clone(), what).with_evidence(Evidence::KnownDamage));
    if kept < rows {
        let what = format!("{} of {rows} rows of {row} bytes: not found", rows - kept);
        report.lost.push(RepairItem::new(place, what));
    }
    let shape: Vec<Value> = shape.into_iter().map(Value::from).collect();
    (Some(with_entry(&tree, "shape", shape.into())), kept * row)
}

/// Whether `need` bytes were written of which only `have` are there: as many as the sizes in the header make, where it has them; or a part
/// of an element less for each chunk but the last, which bloscpack 0.11 to 0.14 lost.
fn is_end_missing(damaged: &DamagedFile, have: u64, need: u64) -> bool {
    let header = damaged.layout.header();
    let size = |size: i32| u64::try_from(size).ok().filter(|size| *size > 0);
    let (Some(chunk), Some(last), Some(others)) = (
        size(header.chunk_size),
        size(header.last_chunk),
        damaged.count.and_then(|count| count.checked_sub(1)),
    ) else {
        return true;
    };
    let written = others.saturating_mul(chunk).saturating_add(last);
    let cut = need.saturating_sub(have);
    let is_cut_of_each =
        others > 0 && cut.is_multiple_of(others) && cut / others < u64::from(header.typesize);
    need <= written || (have == written && is_cut_of_each)
}
