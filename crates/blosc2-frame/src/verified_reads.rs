//! Verified reads: chunks are compared with their digests whenever their bytes are read.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use blosc_chunk::Header as ChunkHeader;
use container_codecs::checksum::Algorithm;
use container_core::format::TargetOptions;
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Result, Stop};

use crate::checksums::{self, ChecksumReport, Digests, Stored, check_checksums};
use crate::frame::{ChunkScan, Frame, ScannedChunk};
use crate::import::options::CHECKSUM;
use crate::offsets::{Offset, Offsets};

/// The digests of an open frame, and the chunks that have been verified.
#[derive(Default)]
pub(crate) struct VerifiedReads {
    digests: OnceLock<Option<Digests>>,
    /// Numbers that the index has for chunks that fit.
    fit: Mutex<HashSet<u64>>,
}

impl VerifiedReads {
    /// Returns the digests, unless there are none, or another program has changed the frame since.
    ///
    /// # Errors
    /// `Limit`, `Io` and `Cancelled`: the next call then tries again.
    fn digests(&self, frame: &Frame) -> Result<Option<&Digests>> {
        if let Some(digests) = self.digests.get() {
            return Ok(digests.as_ref());
        }
        let value = match frame.vlmetalayer(checksums::NAME) {
            Err(error) if error.is_interruption() => return Err(error),
            value => value.ok().flatten(),
        };
        let parse = |value: Vec<u8>| {
            let nbytes = frame.header().nbytes;
            Digests::parse(&value, frame.layout().offsets(), nbytes, &frame.options().limits)
        };
        Ok(self.digests.get_or_init(|| value.and_then(parse)).as_ref())
    }

    /// Returns the algorithm of the digests; `None` without valid ones.
    pub(crate) fn algorithm(&self, frame: &Frame) -> Option<Algorithm> {
        self.digests(frame).ok().flatten().map(Digests::algorithm)
    }

    /// Compares the stored bytes of the chunk `index` with its digest, unless they were found to fit before.
    ///
    /// # Errors
    /// `Checksum` where they do not fit; `Limit`, `Io`, `Cancelled`.
    pub(crate) fn compare(&self, frame: &Frame, index: u64, chunk: &[u8], stop: Stop) -> Result<()> {
        let Some(digests) = self.digests(frame)? else { return Ok(()) };
        let Some(Offset::Stored(number)) = frame.layout().offsets().get(index) else { return Ok(()) };
        if self.fit.lock().unwrap_or_else(PoisonError::into_inner).contains(&number) {
            return Ok(());
        }
        digests.require(number, chunk, stop)?;
        self.fit.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        Ok(())
    }
}

/// Findings of comparing all chunks with their digests, and the damaged chunks.
pub(crate) struct ChecksumFindings {
    pub(crate) findings: Vec<(Option<u64>, Finding)>,
    /// In ascending order.
    pub(crate) damaged: Vec<u64>,
}

/// Compares all chunks with their digests.
///
/// # Errors
/// `Io`, `Limit`, `Missing`.
pub(crate) fn check_digests(frame: &Frame, scan: &ChunkScan) -> Result<ChecksumFindings> {
    let mut found = ChecksumFindings { findings: Vec::new(), damaged: Vec::new() };
    let trailer = frame.layout().trailer_range();
    let checked = match check_checksums(frame) {
        Ok(checked) => checked,
        Err(error) if error.is_damage() => {
            // Undecodable ones are reported with the other user metadata.
            if frame.vlmetalayer(checksums::NAME).is_ok() {
                let message = "the checksums are damaged: not a map of digests, so no chunk is compared";
                let finding = Finding::new(Severity::Error, "user_metadata", message).at(trailer);
                found.findings.push((None, finding));
            }
            return Ok(found);
        }
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
            let message = format!("the checksums cannot be compared: {}", error.kind());
            let finding = Finding::new(Severity::Warning, "checksums_unknown", message).at(trailer);
            found.findings.push((None, finding));
            return Ok(found);
        }
        Err(error) => return Err(error),
    };
    match checked {
        None => found.findings.extend(other_name(frame).map(|finding| (None, finding))),
        Some(ChecksumReport::Stale) => {
            if let Some((index, at)) = find_misplaced_chunk(frame, scan)? {
                let message = format!(
                    "chunk {index}, as its checksum has it, lies at byte {at}, and the index leads to another one, which it \
                     has twice: the index is damaged; holdall repair puts chunks where their checksums have them"
                );
                let finding = Finding::new(Severity::Error, "offsets", message).at(frame.layout().index());
                found.findings.push((Some(index), finding));
                return Ok(found);
            }
            let message = "the checksums belong to an earlier state: another program has changed the frame";
            let finding = Finding::new(Severity::Note, "checksums_stale", message).at(trailer);
            found.findings.push((None, finding));
        }
        Some(ChecksumReport::Compared { algorithm, damaged, .. }) => {
            let places: HashMap<u64, &ScannedChunk> =
                scan.chunks.iter().map(|chunk| (chunk.index, chunk)).collect();
            for index in &damaged {
                // A missing one is reported with the index.
                let Some(chunk) = places.get(index) else { continue };
                let message = format!("chunk {index} does not match its {}", algorithm.name());
                let mut finding = Finding::new(Severity::Error, "checksum", message).at(chunk.range.clone());
                finding.part = chunk.part();
                found.findings.push((Some(*index), finding));
            }
            found.damaged = damaged;
        }
    }
    Ok(found)
}

/// Reports digests under another name, which are not compared.
fn other_name(frame: &Frame) -> Option<Finding> {
    let limits = &frame.options().limits;
    let is_digests = |name: &&str| {
        let value = frame.vlmetalayer(name).ok().flatten();
        value.is_some_and(|value| Stored::parse(&value, limits).is_ok())
    };
    let name = frame.vlmetalayer_names().find(is_digests)?;
    let message = format!(
        "user metadata {name:?} are checksums, which are compared only under the name {:?}",
        checksums::NAME
    );
    let range = frame.layout().trailer_range();
    Some(Finding::new(Severity::Warning, "checksums_unknown", message).at(range))
}

/// Finds a chunk that matches its digest at an unreferenced offset, while the index has another one twice: no program leaves that.
/// Returns its number and its offset.
fn find_misplaced_chunk(frame: &Frame, scan: &ChunkScan) -> Result<Option<(u64, u64)>> {
    let limits = &frame.options().limits;
    let (Some(value), Offsets::Each(numbers)) =
        (frame.vlmetalayer(checksums::NAME)?, frame.layout().offsets())
    else {
        return Ok(None);
    };
    let stored = Stored::parse(&value, limits)?;
    let mut seen = HashSet::new();
    if stored.count() != numbers.len() || numbers.iter().filter(|raw| **raw >= 0).all(|raw| seen.insert(*raw))
    {
        return Ok(None);
    }
    let wanted: HashMap<&[u8], u64> = (0..stored.count())
        .zip(0..)
        .filter_map(|(place, index)| Some((stored.chunk(place)?, index)))
        .collect();
    let fits =
        |index: u64| frame.chunk_uncompared(index).is_ok_and(|own| stored.fit(index, &own) == Some(true));
    for gap in &scan.dead {
        let mut at = gap.start;
        while at.saturating_add(32) <= gap.end {
            let mut head = [0; 32];
            frame.source().read_into(at, &mut head)?;
            let len = ChunkHeader::parse(&head).map(|header| u64::from(header.cbytes)).ok();
            let Some(len) = len.filter(|len| (32..=gap.end - at).contains(len)) else { break };
            limits.allocate(len)?;
            let digest = stored.algorithm().digest(&frame.source().read(at..at + len)?);
            if let Some(index) = wanted.get(digest.as_bytes()).filter(|index| !fits(**index)) {
                return Ok(Some((*index, at)));
            }
            at += len;
        }
    }
    Ok(None)
}

/// Returns the checksum algorithm for a new frame: the requested one, else that of its source.
///
/// # Errors
/// `Usage` for an unknown name, listing those there are.
pub(crate) fn target_checksum(options: &TargetOptions, source: Option<&Frame>) -> Result<Option<Algorithm>> {
    match options.get(CHECKSUM) {
        Some("none") => Ok(None),
        Some(name) => Algorithm::from_name(name).map(Some).map_err(|_| {
            let known: Vec<&str> = Algorithm::ALL.iter().map(|kind| kind.name()).collect();
            Error::usage(format!("unknown checksum {name:?} (expected one of: none, {})", known.join(", ")))
        }),
        None => Ok(source.and_then(|frame| frame.verified_reads().algorithm(frame))),
    }
}

#[cfg(test)]
mod tests;
