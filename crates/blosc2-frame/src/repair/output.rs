//! Reports the chunks kept and lost, and writes the new frame.

use std::borrow::Cow;
use std::ops::Range;

use blosc_chunk::{Chunk, Compressor, Decoder, Params, Special};
use container_core::block::for_each_piece;
use container_core::format::Output;
use container_core::report::RepairReport;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Progress, Result};

use super::chunk_order::{digests_name, parse_digests};
use super::input::DamagedFrame;
use super::item;
use super::recovered_frame::RecoveredFrame;
use super::verify_chunks::{ChunkStatus, ChunkVerifier};
use crate::b2nd::is_array;
use crate::checksums;
use crate::header::{ChunkSize, Kind};
use crate::offsets::{Offset, Offsets};
use crate::options::{FrameOptions, default_params};
use crate::tensor::{self, Tensor};
use crate::trailer::{Fingerprint, Trailer};
use crate::writer::Writer;

impl RecoveredFrame {
    /// Lists chunks and user metadata as kept, guessed or lost, and drops user metadata that are lost.
    ///
    /// Each chunk gets a line by its status; intact ones are joined to runs. Then the user metadata are decoded one by one. Digests
    /// are dropped in any case, as the writer computes new ones. Bytes after the frame are listed last.
    pub fn report(&mut self, origin: &DamagedFrame, statuses: &[ChunkStatus], report: &mut RepairReport) {
        let mut runs = Runs::default();
        for (index, status) in (0_u64..).zip(statuses) {
            let range = match self.offset(index) {
                Some(Offset::Stored(at)) => origin.chunk_header(self.base, at).map(|(_, range)| {
                    if origin.parts.is_some() { range } else { range.start..range.end.min(origin.len()) }
                }),
                _ => None,
            };
            let named = || match self.offset(index) {
                Some(Offset::Stored(at)) => match origin.part(at) {
                    Some(part) => format!("chunk {index} ({part})"),
                    None => format!("chunk {index}"),
                },
                _ => format!("chunk {index}"),
            };
            match status {
                ChunkStatus::Intact => runs.add(index, range.filter(|_| origin.parts.is_none())),
                ChunkStatus::HeaderRepaired => {
                    let Some(repaired) = self.repaired_headers.get(&index) else { continue };
                    let list = if repaired.fits_checksum { &mut report.kept } else { &mut report.guessed };
                    list.push(item(range.unwrap_or(0..0), format!("{}: {}", named(), repaired.what)));
                }
                ChunkStatus::PluginMissing => {
                    let what = format!("{}, which cannot be decoded here: copied as it is", named());
                    report.guessed.push(item(range.unwrap_or(0..0), what));
                }
                ChunkStatus::CodecUnknown => {
                    let what =
                        format!("{}: no codec or filter of this number is known; copied as it is", named());
                    report.lost.push(item(range.unwrap_or(0..0), what));
                }
                ChunkStatus::Previous => {
                    let Some(previous) = self.previous_chunks.get(&index) else { continue };
                    let what = format!(
                        "chunk {index}: as it was before; what replaced it, at byte {}, is damaged",
                        previous.damaged
                    );
                    let place = previous.damaged..previous.damaged;
                    report.guessed.push(item(previous.range.clone().unwrap_or(place), what));
                }
                ChunkStatus::Partial => {
                    let Some(partial) = self.partial_chunks.get(&index) else { continue };
                    let range = range.unwrap_or(0..0);
                    let what = format!(
                        "{}: {} of its {} blocks, which decode by themselves; nothing proves what they hold",
                        named(),
                        partial.kept,
                        partial.count
                    );
                    report.guessed.push(item(range.clone(), what));
                    let lines = partial.lost.iter();
                    report.lost.extend(lines.map(|lost| {
                        item(range.clone(), format!("{}, {lost}: zeros in the new frame", named()))
                    }));
                }
                ChunkStatus::Damaged => {
                    let what = format!("{}: zeros in the new frame", named());
                    let place = self.base..self.base;
                    report.lost.push(item(range.unwrap_or(place), what));
                }
                // Reported as one number.
                ChunkStatus::NotFound => {}
            }
        }
        report.kept.extend(runs.finish());
        if let Offsets::Same(Offset::Special(special), count) = self.offsets {
            if self.is_undefined_nan(special) {
                let typesize = self.header.typesize;
                let what = format!(
                    "{count} chunks of NaN, of which {typesize} bytes have none: zeros in the new frame"
                );
                report.lost.push(item(self.base..self.base, what));
            } else {
                report.kept.push(item(0..0, format!("{count} chunks that are not stored")));
            }
        }
        let mut decoder = Decoder::new().with_limits(self.limits);
        let limits = self.limits;
        let mut lost = Vec::new();
        let mut kept = Vec::new();
        let digests = digests_name(&self.trailer, &limits).map(str::to_owned);
        if let Some(name) = digests.as_ref().filter(|name| *name != checksums::NAME) {
            let what = format!("user metadata {name:?}: the checksums, whose name has another byte");
            report.guessed.push(item(self.trailer_range.clone(), what));
        }
        if digests.is_some() && self.digests.is_none() {
            let (list, what) = match parse_digests(&self.trailer, &limits) {
                Some(_) => {
                    (&mut report.guessed, "the checksums: of another state of the frame, and left out")
                }
                None => (&mut report.lost, "the checksums: they cannot be read, and no chunk was compared"),
            };
            list.push(item(self.trailer_range.clone(), what));
        }
        let is_plain = self.header.chunksize != ChunkSize::Variable && !is_array(&self.metalayers);
        let nbytes = Some(self.header.nbytes).filter(|_| is_plain);
        let mut misfits = Vec::new();
        self.trailer.vlmetalayers.retain(|(name, bytes)| {
            let decoded = Chunk::parse(bytes).and_then(|chunk| {
                let mut room: Vec<u8> = try_zeroed_vec(chunk.nbytes() as u64, &limits)?;
                decoder.decode(&chunk, &mut room)?;
                Ok(room)
            });
            // Digests are computed anew, or belong to other chunks.
            if digests.as_deref() == Some(name.as_str()) {
                return false;
            }
            // Type and shape that contradict the chunks would hide them.
            if let (Ok(value), Some(nbytes)) = (&decoded, nbytes.filter(|_| name == tensor::NAME))
                && let Err(error) = Tensor::parse(value, nbytes, &limits)
            {
                misfits.push(format!("type and shape of the tensor: {}", error.kind()));
                return false;
            }
            let good = decoded.is_ok() && name.len() <= usize::from(u8::MAX);
            let list = if good { &mut kept } else { &mut lost };
            list.push(name.clone());
            good
        });
        let lost = lost.into_iter().map(|name| format!("user metadata {name:?}")).chain(misfits);
        report.lost.extend(lost.map(|what| item(self.trailer_range.clone(), what)));
        if !kept.is_empty() {
            let what = format!("user metadata: {}", kept.join(", "));
            report.kept.push(item(self.trailer_range.clone(), what));
        }
        self.report_trailing_bytes(origin, report);
    }

    /// Lists bytes after the frame that are not zeros: another file perhaps, for which the new frame has no place.
    fn report_trailing_bytes(&self, origin: &DamagedFrame, report: &mut RepairReport) {
        let start = self.base.saturating_sub(self.header.header_len.into());
        let by_header = start.saturating_add(self.header.frame_len);
        let end = self.trailer_range.end.max(self.index.end).max(by_header);
        if origin.parts.is_some() || !self.trusted || end >= origin.len() {
            return;
        }
        let mut is_set = false;
        // Unreadable bytes do not count as zeros.
        let read = for_each_piece(&*origin.source, end..origin.len(), Progress::none(), |piece| {
            is_set |= piece.iter().any(|byte| *byte != 0);
            Ok(())
        });
        if is_set || read.is_err() {
            report
                .lost
                .push(item(end..origin.len(), "bytes after the frame: what they are nothing in it says"));
        }
    }
}

/// Neighbouring chunks as one line.
#[derive(Default)]
struct Runs {
    open: Option<(u64, u64, Range<u64>)>,
    done: Vec<(u64, u64, Range<u64>)>,
}

impl Runs {
    fn add(&mut self, index: u64, range: Option<Range<u64>>) {
        match (&mut self.open, range) {
            (Some((_, last, _)), None) if *last + 1 == index => *last = index,
            (Some((_, last, whole)), Some(range)) if *last + 1 == index && whole.end == range.start => {
                *last = index;
                whole.end = range.end;
            }
            (_, range) => self.done.extend(self.open.replace((index, index, range.unwrap_or(0..0)))),
        }
    }

    fn finish(mut self) -> Vec<container_core::report::RepairItem> {
        self.done.extend(self.open.take());
        let line = |(first, last, range): (u64, u64, Range<u64>)| {
            let what =
                if first == last { format!("chunk {first}") } else { format!("chunks {first} to {last}") };
            item(range, what)
        };
        self.done.into_iter().map(line).collect()
    }
}

/// Writes the new frame.
///
/// Header, metalayers and trailer are those of `recovered`. A frame that consists of one mark is written as such. Otherwise each chunk
/// is written by its status: copied as it is stored, encoded again from its intact blocks, or replaced by zeros of its length. In a
/// frame of chunks of different sizes a lost chunk becomes one element of zeros.
pub(super) fn write(
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
                | ChunkStatus::HeaderRepaired
                | ChunkStatus::Previous
                | ChunkStatus::PluginMissing
                | ChunkStatus::CodecUnknown,
                Some(Offset::Stored(at)),
            ) => {
                let stored = match recovered
                    .repaired_headers
                    .get(&index)
                    .filter(|_| *status == ChunkStatus::HeaderRepaired)
                {
                    Some(repaired) => Cow::Owned(repaired.apply(&origin.bytes(recovered.base, at)?)),
                    None => origin.chunk(recovered.base, at)?,
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
            (ChunkStatus::Partial, Some(Offset::Stored(at))) => {
                let stored = origin.bytes(recovered.base, at)?;
                let blocksize = Chunk::parse(&stored)?.header().block_len() as usize;
                let params = writer.options().params.clone();
                writer.set_params(Params { blocksize: Some(blocksize), ..params })?;
                let have = origin.available_len(recovered.base, at, stored.len());
                writer.append(verifier.blocks(&stored, have, &recovered.limits)?.0)?;
            }
            (ChunkStatus::Intact | ChunkStatus::Previous, Some(Offset::Special(special))) => {
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
            (ChunkStatus::Intact | ChunkStatus::Previous, Some(Offset::Special(_))) => true,
            (
                ChunkStatus::Intact
                | ChunkStatus::HeaderRepaired
                | ChunkStatus::Previous
                | ChunkStatus::PluginMissing
                | ChunkStatus::CodecUnknown
                | ChunkStatus::Partial,
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
        .ok_or_else(|| Error::malformed(format!("nothing tells how long chunk {index} is")))
}
