//! Checks every block: its checksum, and decoding by its codec.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use blosc_chunk::MissingPlugin;
use container_core::block::{Block, for_each_piece};
use container_core::checksum::Digest;
use container_core::codec::Codecs;
use container_core::container::ReadOptions;
use container_core::report::{Finding, Severity};
use container_core::source::Source;
use container_core::threads::on_threads;
use container_core::{Error, ErrorKind, Progress, Result};

use super::{Meter, md5_batch};
use crate::digest::{self, ChecksumStatus, Decoding};
use crate::layout::StoredBlock;

/// Blocks to check, with codecs and options.
pub(super) struct Blocks<'a> {
    pub(super) source: &'a dyn Source,
    /// The blocks that the file has as a whole.
    pub(super) blocks: &'a [&'a StoredBlock],
    /// Numbers of referenced blocks. Only these need a codec.
    pub(super) referenced: &'a BTreeSet<usize>,
    pub(super) codecs: &'a Codecs,
    pub(super) options: &'a ReadOptions,
    /// The dataset of each block.
    pub(super) datasets: &'a HashMap<usize, String>,
}

/// Result of the check of blocks.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) findings: Vec<Finding>,
    /// Blocks that were read.
    pub(super) checked: u64,
    /// Numbers of those that failed.
    pub(super) bad: Vec<usize>,
}

impl Blocks<'_> {
    /// Reads every block. Several are read at a time, each on its share of the threads. Plain blocks with a digest are hashed in groups.
    pub(super) fn check(&self, meter: &Meter<'_>) -> Result<Outcome> {
        let threads = self.options.threads.max(1);
        let is_plain =
            |block: &&StoredBlock| !block.header.is_compressed() && digest::expected(block).is_some();
        let (plain, others): (Vec<_>, Vec<_>) = self.blocks.iter().copied().partition(is_plain);
        let mut jobs = md5_batch::groups(plain, threads);
        jobs.extend(others.into_iter().map(|block| vec![block]));
        let workers = threads.min(jobs.len()).max(1);
        let most = self.options.limits.memory / 4 / workers as u64;
        let share = ThreadShare { threads: (threads / workers).max(1), most };
        let next = AtomicUsize::new(0);
        let tick = |bytes| meter.tick(bytes);
        let outcome = Mutex::new(Outcome::default());
        let keep = |block: &StoredBlock, found: Option<Finding>| {
            let mut all = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            all.checked += 1;
            let Some(finding) = found else { return };
            if finding.severity == Severity::Error {
                all.bad.push(block.index);
            }
            let dataset = self.datasets.get(&block.index);
            all.findings.push(match dataset {
                Some(path) => finding.dataset(path.clone()),
                None => finding,
            });
        };
        let work = || {
            loop {
                match jobs.get(next.fetch_add(1, Ordering::Relaxed)).map(Vec::as_slice) {
                    None => return Ok(()),
                    Some([block]) => {
                        keep(block, self.check_block(block, self.state(block, share, &tick), &tick)?);
                    }
                    Some(group) => {
                        let digests = md5_batch::digests(self.source, group, tick)?;
                        for (block, computed) in group.iter().zip(digests) {
                            let state = match digest::expected(block) {
                                Some(stored) if stored != computed => {
                                    ChecksumStatus::Bad { stored, computed }
                                }
                                _ => ChecksumStatus::Stored,
                            };
                            keep(block, self.check_block(block, Ok(state), &tick)?);
                        }
                    }
                }
            }
        };
        on_threads(workers, &work)?;
        Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn check_block(
        &self,
        block: &StoredBlock,
        state: Result<ChecksumStatus>,
        tick: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<Finding>> {
        let found = match state {
            Ok(ChecksumStatus::Absent) if block.header.is_streamed() => {
                // Its bytes have been counted.
                let fits = digest::matching_prefix_len(self.source, block, || tick(0))?;
                let Some(len) = fits else { return Ok(None) };
                let message = format!(
                    "block {}: streamed, but its digest matches its first {len} bytes, as in a block that is not streamed",
                    block.index
                );
                Finding::new(Severity::Warning, "block_flags", message)
            }
            Ok(ChecksumStatus::Stored | ChecksumStatus::Absent) => return Ok(None),
            Ok(ChecksumStatus::LegacyDecoded) => {
                let message = format!(
                    "block {}: the digest is that of the decoded bytes, as Python asdf before 5.3 wrote it",
                    block.index
                );
                Finding::new(Severity::Note, "legacy_checksum", message)
            }
            Ok(state @ ChecksumStatus::Bad { .. }) => match state.into_result(block) {
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
                if block.has_name() {
                    return Ok(None);
                }
                // A label that is not a name was changed by damage.
                Finding::new(
                    Severity::Warning,
                    "compression",
                    format!("block {}: {}", block.index, error.kind()),
                )
            }
            Err(error) => undecodable(block, error)?,
        };
        Ok(Some(found.at(block.at..block.data.end)))
    }

    /// Computes the result of checking a block's digest; each byte of the block is ticked once.
    fn state(
        &self,
        block: &StoredBlock,
        share: ThreadShare,
        tick: &dyn Fn(u64) -> Result<()>,
    ) -> Result<ChecksumStatus> {
        let stored = digest::expected(block);
        if block.header.is_compressed() {
            let state = self.compressed(block, stored, share)?;
            tick(len(&block.data))?;
            return Ok(state);
        }
        let Some(stored) = stored else {
            for_each_piece(self.source, block.range(), Progress::none(), |piece| tick(piece.len() as u64))?;
            return Ok(ChecksumStatus::Absent);
        };
        let computed = digest::of_stored_ticking(self.source, block, tick)?;
        let fits = stored == computed;
        Ok(if fits { ChecksumStatus::Stored } else { ChecksumStatus::Bad { stored, computed } })
    }

    fn compressed(
        &self,
        block: &StoredBlock,
        stored: Option<Digest>,
        share: ThreadShare,
    ) -> Result<ChecksumStatus> {
        let (source, codecs, limits, ThreadShare { threads, most }) =
            (self.source, self.codecs, &self.options.limits, share);
        let decoding = Decoding { source, block, codecs, limits, threads, most };
        let computed = stored.map(|_| digest::of_stored(self.source, block)).transpose()?;
        let Some((stored, computed)) = stored.zip(computed).filter(|(stored, computed)| stored != computed)
        else {
            decoding.pass(&mut |_| Ok(()))?;
            return Ok(if stored.is_some() { ChecksumStatus::Stored } else { ChecksumStatus::Absent });
        };
        match decoding.digest() {
            Ok(digest) if digest == stored => Ok(ChecksumStatus::LegacyDecoded),
            // A checksum mismatch is the more precise finding than a decoding error.
            Err(error) if !is_finding(&error) => Err(error),
            Ok(_) | Err(_) => Ok(ChecksumStatus::Bad { stored, computed }),
        }
    }
}

/// Threads and memory that one block may use.
#[derive(Clone, Copy)]
struct ThreadShare {
    /// Threads.
    threads: usize,
    /// Bytes that are decoded at once: those of all blocks at a time are a quarter of the memory.
    most: u64,
}

/// True for errors that become findings; others end the check.
fn is_finding(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_))
}

fn undecodable(block: &StoredBlock, error: Error) -> Result<Finding> {
    let message = format!("block {}: {}", block.index, error.kind());
    match error.kind() {
        kind if MissingPlugin::of(kind).is_some() => {
            Ok(Finding::new(Severity::Unchecked, "compression", message))
        }
        ErrorKind::Unsupported(_) => Ok(Finding::new(Severity::Error, "compression", message)),
        _ if error.is_damage() => Ok(Finding::new(Severity::Error, "undecodable_block", message)),
        _ => Err(error),
    }
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
