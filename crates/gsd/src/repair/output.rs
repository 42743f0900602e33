//! The new file.

use std::borrow::Cow;
use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::{Error, Progress, Result};

use super::plan::RepairPlan;
use crate::index::IndexEntry;
use crate::writer::sequential::Plan;

/// Bytes that are turned round together.
const PIECE_LEN: usize = 1 << 16;

impl RepairPlan<'_> {
    /// All that the new file will have, with what it may not have refused.
    fn plan(&self) -> Result<Plan> {
        let mut plan = Plan::like(self.header());
        let mut ids = Vec::with_capacity(self.names().len());
        for name in self.names() {
            let id = plan.name(name)?;
            if usize::from(id) != ids.len() {
                let name = String::from_utf8_lossy(name);
                return Err(Error::usage(format!("{name:?} is the name of several ids")));
            }
            ids.push(id);
        }
        let mut moves = Moves { left_out: self.left_out(), moved: 0 };
        for entry in self.entries() {
            let (Some(id), Some(chunk_type)) = (ids.get(usize::from(entry.id)), entry.chunk_type()) else {
                continue;
            };
            plan.chunk(moves.number(entry), *id, chunk_type, entry.n, entry.m)?;
        }
        Ok(plan)
    }

    /// Fails as writing the file would, but for writing.
    pub(super) fn dry_run(&self) -> Result<()> {
        self.plan()?.emit(std::io::sink(), &self.damaged().limits).map(drop)
    }

    /// Writes the new file.
    pub(super) fn write(
        &self,
        out: &mut dyn container_core::format::Output,
        progress: Progress<'_>,
    ) -> Result<()> {
        let damaged = self.damaged();
        let plan = self.plan()?;
        let total = plan.file_len();
        out.reserve(total)?;
        let mut emitter = plan.emit(out, &damaged.limits)?;
        for entry in self.entries() {
            let width = entry.chunk_type().and_then(|of| usize::try_from(of.size()).ok()).unwrap_or(1);
            for window in damaged.windows(entry.byte_range().unwrap_or(0..0), 0) {
                let (_, bytes) = window?;
                if damaged.order() == ByteOrder::Little || width == 1 {
                    emitter.write(&bytes)?;
                    continue;
                }
                for piece in bytes.chunks(PIECE_LEN) {
                    let mut piece = Cow::Borrowed(piece);
                    piece.to_mut().chunks_exact_mut(width).for_each(<[u8]>::reverse);
                    emitter.write(&piece)?;
                }
            }
            progress.tick(emitter.position(), total)?;
        }
        emitter.finish()?;
        Ok(())
    }
}

/// Numbers of frames that move up over others.
struct Moves<'m> {
    /// In order, apart from one another.
    left_out: &'m [Range<u64>],
    moved: u64,
}

impl Moves<'_> {
    /// The new number of an entry's frame; entries come in order.
    fn number(&mut self, entry: &IndexEntry) -> u64 {
        while let Some((first, rest)) = self.left_out.split_first()
            && first.end <= entry.frame
        {
            self.moved += first.end - first.start;
            self.left_out = rest;
        }
        entry.frame - self.moved
    }
}
