//! Checks a file for damage: first the layout, then every byte of the data.

use std::ops::Range;

use container_core::block::{Block, for_each_piece, read_block, verify_block};
use container_core::container::{CheckDepth, ReadOptions, Segment};
use container_core::dtype::Kind;
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::{Progress, Result};

use crate::bits::Bits;
use crate::fault::Fault;
use crate::file::{DataSegment, File};
use crate::header::FIXED_LEN;
use crate::{DATASET, Encoding, TRAILER};

/// Checks a file for damage and oddities.
pub(crate) fn check(
    file: &File,
    depth: CheckDepth,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    file.check_detected()?;
    let mut findings: Vec<Finding> = file.faults().into_iter().map(Fault::finding).collect();
    let mut blocks = BlockCounts { total: 1, ..BlockCounts::default() };
    match file.segment() {
        Err(_) => blocks.bad = 1,
        Ok(segment) if depth == CheckDepth::Full => {
            blocks.checked = 1;
            match check_data(file, &segment, options, progress) {
                Ok(more) => findings.extend(more.iter().map(Fault::finding)),
                Err(error) if error.is_damage() => {
                    blocks.bad = 1;
                    let finding = Finding::new(Severity::Error, "undecodable_data", error.to_string());
                    findings.push(finding.at(error.range().unwrap_or(segment.range())).dataset(DATASET));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(_) => {}
    }
    Ok(Report::new(findings, blocks))
}

/// Reads and decodes all data, and checks for values that their type does not allow.
fn check_data(
    file: &File,
    segment: &DataSegment,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Vec<Fault>> {
    let bools =
        file.layout().dtype().and_then(|dtype| dtype.as_scalar()).is_some_and(|it| it.kind == Kind::Bool);
    let limits = &file.options().limits;
    if segment.encoding() == Encoding::Bits {
        return check_bits(file, segment, progress);
    }
    if !bools {
        verify_block(file.source(), segment, file.codecs(), limits, progress)?;
        return Ok(Vec::new());
    }
    let mut strange = StrangeBools::default();
    if segment.encoding() == Encoding::Plain {
        let mut at = segment.range().start;
        for_each_piece(file.source(), segment.range(), progress, |piece| {
            strange.check_values(piece, at);
            at += piece.len() as u64;
            Ok(())
        })?;
    } else {
        let values = read_block(file.source(), segment, file.codecs(), limits, options.threads)?;
        strange.check_values(&values, 0);
        // Places in decoded data are not places in the file.
        strange.range = strange.range.map(|_| segment.range());
        progress.tick(values.len() as u64, values.len() as u64)?;
    }
    let found = strange.range.map(|range| Fault::BoolValue { range, count: strange.count });
    Ok(found.into_iter().collect())
}

/// Bytes of bools that are neither 0 nor 1.
#[derive(Default)]
struct StrangeBools {
    range: Option<Range<u64>>,
    count: u64,
}

impl StrangeBools {
    fn check_values(&mut self, values: &[u8], at: u64) {
        for (index, _) in values.iter().enumerate().filter(|(_, value)| **value > 1) {
            let place = at + index as u64;
            let start = self.range.as_ref().map_or(place, |range| range.start);
            self.range = Some(start..place + 1);
            self.count += 1;
        }
    }
}

/// Every word is legal but the last, whose unused bits are 0.
fn check_bits(file: &File, segment: &DataSegment, progress: Progress<'_>) -> Result<Vec<Fault>> {
    let range = segment.range();
    for_each_piece(file.source(), range.clone(), progress, |_| Ok(()))?;
    let count = file.len()?;
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let last = range.end - 8..range.end;
    let bits = Bits { order: file.layout().data_order() };
    let beyond = bits.beyond(&file.source().read(last.clone())?, count);
    Ok(beyond.then_some(Fault::BitsBeyondCount { range: last }).into_iter().collect())
}

/// The physical map of a file: its words, its data, its trailer. Other bytes are `unknown`.
pub(crate) fn segments(file: &File) -> Vec<Segment> {
    const WORDS: [&str; 6] = ["magic", "flags", "eltype", "elbyte", "size", "ndims"];
    let len = file.layout().file_len();
    let words = WORDS.iter().zip(0_u64..).map(|(role, at)| (at * 8..at * 8 + 8, *role));
    let mut segments: Vec<Segment> = words.map(|(range, role)| Segment::plain(range, role)).collect();
    let data_at = FIXED_LEN.saturating_add(file.dims().len() as u64 * 8).min(len);
    let mut add = |segment: Segment| {
        if !segment.range.is_empty() {
            segments.push(segment);
        }
    };
    add(Segment { dataset: Some(DATASET.into()), ..Segment::plain(FIXED_LEN..data_at, "dims") });
    let mut end = data_at;
    if let Ok(segment) = file.segment() {
        end = segment.range().end;
        add(Segment {
            codec: Some(segment.encoding().name().to_owned()),
            stored: Some(end - segment.range().start),
            decoded: Some(segment.decoded_len()),
            dataset: Some(DATASET.into()),
            ..Segment::plain(segment.range(), "data")
        });
    }
    if file.segment().is_err() && file.cut_short().is_some() {
        // The present part of the data can be read.
        add(Segment { dataset: Some(DATASET.into()), ..Segment::plain(end..len, "data") });
        end = len;
    }
    let trailer = file.trailer_range();
    add(Segment::plain(end..trailer.start.max(end), "unknown"));
    add(Segment { dataset: Some(TRAILER.into()), ..Segment::plain(trailer.start.max(end)..len, "trailer") });
    segments
}
