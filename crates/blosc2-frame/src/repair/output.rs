//! Writes the new frame, and checks the leaves of a store in it.

use std::borrow::Cow;
use std::io::{BufWriter, Seek, SeekFrom};

use blosc_chunk::{Chunk, Compressor, Params, Special};
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::format::{Input, Output, Pipe};
use container_core::report::{Finding, RepairItem, RepairReport, Severity};
use container_core::source::FileSource;
use container_core::{Error, Progress, Result};

use super::input::DamagedFrame;
use super::recovered_frame::{ChunkStatus, RecoveredFrame};
use super::verify_chunks::ChunkVerifier;
use crate::checksums;
use crate::container::FORMAT;
use crate::header::{ChunkSize, Kind};
use crate::offsets::{Offset, Offsets};
use crate::options::{FrameOptions, default_params};
use crate::stores::MARKS;
use crate::trailer::{Fingerprint, Trailer};
use crate::writer::Writer;

/// Writes the new frame, and lists the findings of a check in the leaves, if it is a store. Without an output it only lists
/// them.
///
/// # Errors
/// `Limit`, `Cancelled`, those of the source and of the output; `Io` of the file without a name.
pub(super) fn write(
    origin: &DamagedFrame,
    recovered: &RecoveredFrame,
    statuses: &[ChunkStatus],
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<()> {
    if !MARKS.iter().any(|mark| recovered.metalayers.get(mark).is_some()) {
        return out.map_or(Ok(()), |out| write_frame(origin, recovered, statuses, out, progress));
    }
    let mut spool = Pipe(BufWriter::new(tempfile::tempfile()?));
    write_frame(origin, recovered, statuses, &mut spool, progress)?;
    let mut file = spool.0.into_inner().map_err(|error| Error::from(error.into_error()))?;
    report.lost.extend(lost_leaves(FileSource::new(file.try_clone()?)?, options, progress)?);
    if let Some(out) = out {
        file.seek(SeekFrom::Start(0))?;
        std::io::copy(&mut file, out)?;
    }
    Ok(())
}

/// Errors of a store, which the repair of its frame cannot do anything about.
fn lost_leaves(frame: FileSource, options: &OpenOptions, progress: Progress<'_>) -> Result<Vec<RepairItem>> {
    let item = |what: String| RepairItem::of_file(format!("in the new store: {what}"));
    let opened = match (FORMAT.open)(Input::bytes(Box::new(frame)), options) {
        Ok(opened) => opened,
        Err(error) if error.is_damage() => return Ok(vec![item(error.to_string())]),
        Err(error) => return Err(error),
    };
    let read = ReadOptions::default().with_limits(options.limits);
    let report = opened.check(CheckDepth::Full, &read, progress)?;
    let errors = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    let named = |finding: Finding| match finding.dataset {
        Some(leaf) => format!("{leaf}: {}", finding.message),
        None => finding.message,
    };
    Ok(errors.map(named).map(item).collect())
}

/// Writes the new frame.
///
/// Header, metalayers and trailer are those of `recovered`. A frame that consists of one mark is written as such. Otherwise each chunk
/// is written by its status: copied as it is stored, encoded again from its intact blocks, or replaced by zeros of its length. In a
/// frame of chunks of different sizes a lost chunk becomes one element of zeros.
fn write_frame(
    origin: &DamagedFrame,
    recovered: &RecoveredFrame,
    statuses: &[ChunkStatus],
    out: &mut dyn Output,
    progress: Progress<'_>,
) -> Result<()> {
    let mut header = recovered.header.clone();
    header.kind = Kind::Contiguous;
    if header.compressor == Compressor(3) || header.level > 9 {
        header.compressor = Compressor::BLOSCLZ;
        header.level = header.level.min(9);
    }
    let is_variable = header.chunksize == ChunkSize::Variable;
    header.variable_chunks = is_variable;
    let is_vl = header.variable_blocks;
    let options = FrameOptions {
        // Only replacements are encoded here; the header keeps the parameters of the frame's own chunks.
        params: default_params(usize::try_from(header.typesize).unwrap_or(1)),
        metalayers: recovered.metalayers.clone(),
        variable_chunks: is_variable || is_vl,
        checksums: recovered.digests.as_ref().map(checksums::Stored::algorithm),
        ..FrameOptions::default()
    };
    let typesize = usize::try_from(header.typesize).unwrap_or(1).clamp(1, 255);
    let mut writer = Writer::with_header(out, header, options)?;
    let trailer = Trailer { fingerprint: Fingerprint::default(), ..recovered.trailer.clone() };
    writer.take_trailer(trailer);
    if let Offsets::Same(Offset::Special(special), _) = recovered.offsets {
        let special = if recovered.is_undefined_nan(special) { Special::Zeros } else { special };
        write_same(recovered, special, &mut writer)?;
        return writer.finish();
    }
    let count = statuses.len() as u64;
    let mut verifier = ChunkVerifier::new(recovered);
    for (index, status) in (0_u64..).zip(statuses) {
        progress.tick(index, count)?;
        match (status, recovered.offset(index)) {
            (
                ChunkStatus::Intact
                | ChunkStatus::HeaderRepaired(_)
                | ChunkStatus::Previous(_)
                | ChunkStatus::PluginMissing
                | ChunkStatus::CodecUnknown,
                Some(Offset::Stored(at)),
            ) => {
                let stored = match status {
                    ChunkStatus::HeaderRepaired(repaired) => {
                        Cow::Owned(repaired.apply(&origin.bytes(recovered.base, at)?))
                    }
                    _ => origin.chunk(recovered.base, at)?,
                };
                let chunk = Chunk::parse(&stored)?;
                if is_vl
                    && !chunk.header().has_variable_blocks()
                    && !matches!(status, ChunkStatus::PluginMissing | ChunkStatus::CodecUnknown)
                {
                    // The two kinds cannot be in one frame: it becomes a chunk of one block.
                    writer.append_blocks(&[verifier.decode(&stored, &recovered.limits)?])?;
                } else {
                    writer.append_chunk(&stored)?;
                }
            }
            (ChunkStatus::Partial(_), Some(Offset::Stored(at))) => {
                let stored = origin.bytes(recovered.base, at)?;
                let blocksize = Chunk::parse(&stored)?.header().block_len() as usize;
                let params = writer.options().params.clone();
                writer.set_params(Params { blocksize: Some(blocksize), ..params })?;
                let have = origin.available_len(recovered.base, at, stored.len());
                writer.append(verifier.blocks(&stored, have, &recovered.limits)?.0)?;
            }
            (ChunkStatus::Intact | ChunkStatus::Previous(_), Some(Offset::Special(special))) => {
                writer.take_marks(special, mark_len(recovered, index)?, 1)?;
            }
            _ if is_vl => writer.append_blocks(&[&vec![0; typesize]])?,
            _ if is_variable => writer.append(&vec![0; typesize])?,
            _ => writer.append_special(Special::Zeros, mark_len(recovered, index)?)?,
        }
    }
    writer.finish()
}

/// Checks that the lengths of all lost chunks are known, which a report without a target needs as well.
///
/// # Errors
/// `Malformed` for the first chunk of unknown length.
pub(super) fn check_lengths(recovered: &RecoveredFrame, statuses: &[ChunkStatus]) -> Result<()> {
    if let Offsets::Same(Offset::Special(_), _) = recovered.offsets {
        return match recovered.count().checked_sub(1) {
            Some(last) => mark_len(recovered, last).map(|_| ()),
            None => Ok(()),
        };
    }
    let has_own_len = recovered.header.variable_blocks || recovered.header.chunksize == ChunkSize::Variable;
    for (index, status) in (0_u64..).zip(statuses) {
        let is_mark = match (status, recovered.offset(index)) {
            (ChunkStatus::Intact | ChunkStatus::Previous(_), Some(Offset::Special(_))) => true,
            (
                ChunkStatus::Intact
                | ChunkStatus::HeaderRepaired(_)
                | ChunkStatus::Previous(_)
                | ChunkStatus::PluginMissing
                | ChunkStatus::CodecUnknown
                | ChunkStatus::Partial(_),
                Some(_),
            ) => false,
            _ => !has_own_len,
        };
        if is_mark {
            mark_len(recovered, index)?;
        }
    }
    Ok(())
}

/// Chunks that are all alike and not stored.
fn write_same(recovered: &RecoveredFrame, special: Special, writer: &mut Writer<'_>) -> Result<()> {
    let count = recovered.count();
    let Some(last) = count.checked_sub(1) else { return Ok(()) };
    if last > 0 {
        writer.take_marks(special, mark_len(recovered, 0)?, last)?;
    }
    writer.take_marks(special, mark_len(recovered, last)?, 1)
}

/// Bytes of a chunk that is not stored.
fn mark_len(recovered: &RecoveredFrame, index: u64) -> Result<u32> {
    let whole = match recovered.header.chunksize {
        ChunkSize::Fixed(len) => Some(u64::from(len)),
        _ => None,
    };
    recovered
        .expected_len(index)
        .or(whole)
        .and_then(|len| u32::try_from(len).ok())
        .ok_or_else(|| Error::malformed(format!("chunk {index}: length unknown")))
}
