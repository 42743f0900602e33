//! Reports chunks and user metadata as kept, corrected or lost.

use std::ops::Range;

use blosc_chunk::{Chunk, Decoder};
use container_core::Progress;
use container_core::block::for_each_piece;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::try_zeroed_vec;

use super::index::parse_digests;
use super::input::{DamagedFrame, header_at};
use super::recovered_frame::{ChunkStatus, RecoveredFrame};
use crate::b2nd::is_array;
use crate::checksums;
use crate::header::ChunkSize;
use crate::offsets::{Offset, Offsets};
use crate::tensor::{self, Tensor};

impl RecoveredFrame {
    /// Lists chunks and user metadata as kept, corrected or lost, and drops user metadata that are lost.
    ///
    /// Each chunk gets a line by its status; intact ones are joined to runs. Then the user metadata are decoded one by one. Digests
    /// are dropped in any case, as the writer computes new ones. Bytes after the frame are listed last.
    pub fn report(&mut self, origin: &DamagedFrame, statuses: &[ChunkStatus], report: &mut RepairReport) {
        let mut runs = Runs::default();
        for (index, status) in (0_u64..).zip(statuses) {
            let offset = self.offset(index);
            let place = match offset {
                Some(Offset::Stored(at)) => origin.chunk_header(self.base, at).map(|(_, range)| {
                    if origin.parts.is_some() { range } else { range.start..range.end.min(origin.len()) }
                }),
                _ => None,
            };
            let range = place.clone().unwrap_or(0..0);
            let part = match offset {
                Some(Offset::Stored(at)) => origin.part(at),
                _ => None,
            };
            let name =
                part.map_or_else(|| format!("chunk {index}"), |part| format!("chunk {index} ({part})"));
            let mut correct = |range, what: String, evidence| {
                let item = RepairItem::new(range, format!("{name}: {what}"));
                report.guessed.push(item.with_evidence(evidence));
            };
            match status {
                ChunkStatus::Intact => runs.add(index, place.filter(|_| origin.parts.is_none())),
                ChunkStatus::HeaderRepaired(repaired) => {
                    correct(range, repaired.what.clone(), repaired.evidence);
                }
                ChunkStatus::PluginMissing => {
                    let what = format!("{name}: cannot be decoded here, copied as it is");
                    report.kept.push(RepairItem::new(range, what));
                }
                ChunkStatus::CodecUnknown => {
                    let what = format!("{name}: no codec or filter decodes it, copied as it is");
                    report.lost.push(RepairItem::new(range, what));
                }
                ChunkStatus::Previous(previous) => {
                    let damaged = previous.damaged;
                    let what = format!("as it was before; what replaced it, at byte {damaged}, is damaged");
                    correct(previous.range.clone().unwrap_or(damaged..damaged), what, Evidence::Index);
                }
                ChunkStatus::Partial(partial) => {
                    let what = format!(
                        "{} of its {} blocks, which end where others begin",
                        partial.kept, partial.count
                    );
                    correct(range.clone(), what, Evidence::Walk);
                    let lines =
                        partial.lost.iter().map(|lost| format!("{name}, {lost}: zeros in the new frame"));
                    report.lost.extend(lines.map(|what| RepairItem::new(range.clone(), what)));
                }
                ChunkStatus::Damaged => {
                    let what = format!("{name}: zeros in the new frame");
                    report.lost.push(RepairItem::new(place.unwrap_or(self.base..self.base), what));
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
                    "{count} chunks of NaN: elements of {typesize} bytes have none; zeros in the new frame"
                );
                report.lost.push(RepairItem::new(self.base..self.base, what));
            } else {
                report.kept.push(RepairItem::new(0..0, format!("{count} chunks that are not stored")));
            }
        }
        let mut decoder = Decoder::new().with_limits(self.limits);
        let limits = self.limits;
        let mut lost = Vec::new();
        let mut kept = Vec::new();
        let has_digests = self.trailer.vlmetalayers.iter().any(|(name, _)| name == checksums::NAME);
        if has_digests && self.digests.is_none() {
            let range = self.trailer_range.clone();
            if parse_digests(&self.trailer, &limits).is_some() {
                let item = RepairItem::new(range, "checksums: of another state of the frame, left out");
                report.guessed.push(item.with_evidence(Evidence::KnownDamage));
            } else {
                report.lost.push(RepairItem::new(range, "checksums: unreadable, no chunk was compared"));
            }
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
            if name == checksums::NAME {
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
        report.lost.extend(lost.map(|what| RepairItem::new(self.trailer_range.clone(), what)));
        if !kept.is_empty() {
            let what = format!("user metadata: {}", kept.join(", "));
            report.kept.push(RepairItem::new(self.trailer_range.clone(), what));
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
            let what = match self.uncommitted_chunks(origin, end) {
                0 => "bytes after the frame: not a part of it".to_owned(),
                count => format!(
                    "bytes after the frame: {count} whole chunks that a writer did not commit, so that the file has no place for them"
                ),
            };
            report.lost.push(RepairItem::new(end..origin.len(), what));
        }
    }

    /// Number of chunks of this frame's element size that follow each other from byte `at` on: a writer that is killed leaves those of its changes since
    /// the last commit. They may be new, or replace others; the index that would say so was not written.
    fn uncommitted_chunks(&self, origin: &DamagedFrame, mut at: u64) -> u64 {
        // Chunks store a typesize over 255 as 1.
        let typesize = u8::try_from(self.header.typesize).unwrap_or(1);
        let mut count = 0_u64;
        while let Some((header, range)) = header_at(&*origin.source, at)
            && header.typesize == typesize
            && self.limits.stop.check().is_ok()
        {
            (count, at) = (count.saturating_add(1), range.end);
        }
        count
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

    fn finish(mut self) -> Vec<RepairItem> {
        self.done.extend(self.open.take());
        let line = |(first, last, range): (u64, u64, Range<u64>)| {
            let what =
                if first == last { format!("chunk {first}") } else { format!("chunks {first} to {last}") };
            RepairItem::new(range, what)
        };
        self.done.into_iter().map(line).collect()
    }
}
