//! Every block against its digest and through its codec.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use container_core::block::{Block, for_each_piece};
use container_core::codec::Codecs;
use container_core::container::ReadOptions;
use container_core::report::{Finding, Severity};
use container_core::source::Source;
use container_core::threads::on_threads;
use container_core::{Error, ErrorKind, Progress, Result};

use crate::block_header::BlockHeader;
use crate::digest::{self, DigestState};
use crate::layout::StoredBlock;

/// What is checked, and with what.
pub(super) struct Blocks<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) blocks: &'a [&'a StoredBlock],
    /// Numbers of those that arrays name: what nobody reads needs no codec.
    pub(super) referenced: &'a BTreeSet<usize>,
    pub(super) codecs: &'a Codecs,
    pub(super) options: &'a ReadOptions,
    /// The dataset of each block.
    pub(super) datasets: &'a HashMap<usize, String>,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) findings: Vec<Finding>,
    /// Blocks that were read.
    pub(super) checked: u64,
    /// Numbers of those that failed.
    pub(super) bad: Vec<usize>,
}

impl Blocks<'_> {
    /// Reads every block that is all there. Several at a time, each on its share of the threads.
    pub(super) fn check(&self, progress: Progress<'_>) -> Result<Outcome> {
        let whole: Vec<&StoredBlock> = self.blocks.iter().copied().filter(|block| block.is_whole()).collect();
        let total = whole.iter().map(|block| len(&block.data)).fold(0, u64::saturating_add);
        let threads = self.options.threads.max(1);
        let workers = threads.min(whole.len()).max(1);
        let share = (threads / workers).max(1);
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let outcome = Mutex::new(Outcome::default());
        let work = || {
            loop {
                let Some(block) = whole.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
                let found = self.one(block, share)?;
                let mut all = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                all.checked += 1;
                if let Some(finding) = found {
                    if finding.severity == Severity::Error {
                        all.bad.push(block.index);
                    }
                    let named = match self.datasets.get(&block.index) {
                        Some(path) => finding.dataset(path.clone()),
                        None => finding,
                    };
                    all.findings.push(named);
                }
                drop(all);
                let len = len(&block.data);
                progress.tick(done.fetch_add(len, Ordering::Relaxed).saturating_add(len), total)?;
            }
        };
        on_threads(workers, &work)?;
        Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn one(&self, block: &StoredBlock, threads: usize) -> Result<Option<Finding>> {
        let found = match self.state(block, threads) {
            Ok(DigestState::Stored | DigestState::Absent) => return Ok(None),
            Ok(DigestState::LegacyDecoded) => {
                let message = format!(
                    "block {}: the digest is that of the decoded bytes, as Python asdf before 5.3 wrote it",
                    block.index
                );
                Finding::new(Severity::Note, "legacy_checksum", message)
            }
            Ok(state @ DigestState::Bad { .. }) => match state.into_result(block) {
                Ok(()) => return Ok(None),
                Err(error) => Finding::new(
                    Severity::Error,
                    "checksum",
                    format!("block {}: {}", block.index, error.kind()),
                ),
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::Unsupported(_))
                    && !self.referenced.contains(&block.index) =>
            {
                return Ok(None);
            }
            Err(error) => undecodable(block, error)?,
        };
        Ok(Some(found.at(block.at..block.data.end)))
    }

    fn state(&self, block: &StoredBlock, threads: usize) -> Result<DigestState> {
        let stored = digest::expected(block);
        if !block.header.is_compressed() {
            return match stored {
                Some(_) => digest::state(self.source, block, self.codecs, &self.options.limits, threads),
                None => {
                    for_each_piece(self.source, block.range(), Progress::none(), |_| Ok(()))?;
                    Ok(DigestState::Absent)
                }
            };
        }
        let computed = stored.map(|_| digest::of_stored(self.source, block)).transpose()?;
        let decoded = digest::decoded(self.source, block, self.codecs, &self.options.limits, threads);
        let differs = match (stored, computed) {
            (Some(stored), Some(computed)) if stored != computed => Some((stored, computed)),
            (Some(_), _) => return decoded.map(|_| DigestState::Stored),
            (None, _) => return decoded.map(|_| DigestState::Absent),
        };
        let Some((stored, computed)) = differs else { return Ok(DigestState::Absent) };
        match decoded {
            Ok(bytes) if BlockHeader::ALGORITHM.digest(&bytes) == stored => Ok(DigestState::LegacyDecoded),
            // That the bytes changed says more than that they no longer decode.
            Err(error) if !is_finding(&error) => Err(error),
            Ok(_) | Err(_) => Ok(DigestState::Bad { stored, computed }),
        }
    }
}

/// True for what is told of a block; other errors are why a check cannot go on.
fn is_finding(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_))
}

fn undecodable(block: &StoredBlock, error: Error) -> Result<Finding> {
    let message = format!("block {}: {}", block.index, error.kind());
    match error.kind() {
        ErrorKind::Unsupported(_) => Ok(Finding::new(Severity::Error, "compression", message)),
        _ if error.is_damage() => Ok(Finding::new(Severity::Error, "undecodable_block", message)),
        _ => Err(error),
    }
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
