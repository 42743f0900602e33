//! Digests of chunks, compared before values are read from them.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use container_core::checksum::Algorithm;
use container_core::format::ImportOptions;
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Result};

use crate::checksums::{self, Checked, Digests, check_checksums};
use crate::frame::{Frame, Survey, SurveyedChunk};
use crate::offsets::Offset;
use crate::words::{CHECKSUM, word};

/// The digests of an open frame, and which chunks were found to fit theirs.
#[derive(Default)]
pub(crate) struct Guard {
    digests: OnceLock<Option<Digests>>,
    /// Numbers that the index has for chunks that fit.
    fit: Mutex<HashSet<u64>>,
}

impl Guard {
    /// The digests, unless there are none, or another program has changed the frame since.
    fn digests(&self, frame: &Frame) -> Option<&Digests> {
        let read = || {
            let value = frame.vlmetalayer(checksums::NAME).ok().flatten()?;
            let nbytes = frame.header().nbytes;
            Digests::parse(&value, frame.layout().offsets(), nbytes, &frame.options().limits)
        };
        self.digests.get_or_init(read).as_ref()
    }

    /// How the digests are computed; `None` where there are none that mean anything.
    pub(crate) fn algorithm(&self, frame: &Frame) -> Option<Algorithm> {
        self.digests(frame).map(Digests::algorithm)
    }

    /// Compares chunks with their digests, each once.
    ///
    /// # Errors
    /// `Checksum` for the first that does not fit; those of reading its bytes.
    pub(crate) fn compare(&self, frame: &Frame, chunks: impl Iterator<Item = u64>) -> Result<()> {
        let Some(digests) = self.digests(frame) else { return Ok(()) };
        for index in chunks {
            let Some(Offset::Stored(number)) = frame.layout().offsets().get(index) else { continue };
            if self.fit.lock().unwrap_or_else(PoisonError::into_inner).contains(&number) {
                continue;
            }
            let chunk = frame.chunk(index)?;
            if let Some((stored, computed)) = digests.differ(number, &chunk) {
                let error = Error::new(ErrorKind::Checksum { stored, computed });
                let entry = frame.chunk_entry(index)?;
                let error = error.at(container_core::block::Block::range(&entry));
                return Err(error.context(format!("blosc2 chunk {index}")));
            }
            self.fit.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        }
        Ok(())
    }
}

/// What the digests say of a frame, and the chunks that they condemn.
pub(crate) struct Verdict {
    pub(crate) findings: Vec<(Option<u64>, Finding)>,
    /// In ascending order.
    pub(crate) damaged: Vec<u64>,
}

/// Compares all chunks with their digests.
///
/// # Errors
/// `Io`, `Limit`, `Missing`.
pub(crate) fn verdict(frame: &Frame, survey: &Survey) -> Result<Verdict> {
    let mut verdict = Verdict { findings: Vec::new(), damaged: Vec::new() };
    let trailer = frame.layout().trailer_range();
    let checked = match check_checksums(frame) {
        Ok(checked) => checked,
        // What is wrong with user metadata is told with the others.
        Err(error) if error.is_damage() => return Ok(verdict),
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
            let message = format!("the checksums cannot be compared: {}", error.kind());
            let finding = Finding::new(Severity::Note, "checksums_unknown", message).at(trailer);
            verdict.findings.push((None, finding));
            return Ok(verdict);
        }
        Err(error) => return Err(error),
    };
    match checked {
        None => {}
        Some(Checked::Stale) => {
            let message =
                "the checksums are those of an earlier state: another program has changed the frame";
            let finding = Finding::new(Severity::Note, "checksums_stale", message).at(trailer);
            verdict.findings.push((None, finding));
        }
        Some(Checked::Compared { algorithm, damaged, .. }) => {
            let places: HashMap<u64, &SurveyedChunk> =
                survey.chunks.iter().map(|chunk| (chunk.index, chunk)).collect();
            for index in &damaged {
                // One that is not there is told with the index.
                let Some(chunk) = places.get(index) else { continue };
                let message = format!("chunk {index} does not fit its {}", algorithm.name());
                let mut finding = Finding::new(Severity::Error, "checksum", message).at(chunk.range.clone());
                finding.part = chunk.part();
                verdict.findings.push((Some(*index), finding));
            }
            verdict.damaged = damaged;
        }
    }
    Ok(verdict)
}

/// The digests that a new frame is to have: those asked for, else those that its source has.
///
/// # Errors
/// `Usage` for an unknown name, listing those there are.
pub(crate) fn wanted(options: &ImportOptions, source: Option<&Frame>) -> Result<Option<Algorithm>> {
    match word(options, CHECKSUM) {
        Some("none") => Ok(None),
        Some(name) => Algorithm::from_name(name).map(Some),
        None => Ok(source.and_then(|frame| Guard::default().algorithm(frame))),
    }
}

#[cfg(test)]
mod tests;
